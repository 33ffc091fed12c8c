// SPDX-License-Identifier: MIT
// Matrix fragments of every shape and element type against a triple loop; conversions of half
// and bfloat16, atomics of half.
#include "kit.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <math.h>
#include <mma.h>

using namespace nvcuda;

__host__ __device__ static int small(int i, int seed) { return (i * 31 + seed * 17) % 13 - 6; }

template <int M, int N, class T, class D, class LA, class LB>
__global__ void multiply(const T *a, const T *b, D *d, wmma::layout_t layout) {
    wmma::fragment<wmma::matrix_a, M, N, 16, T, LA> fa;
    wmma::fragment<wmma::matrix_b, M, N, 16, T, LB> fb;
    wmma::fragment<wmma::accumulator, M, N, 16, D> fc;
    wmma::load_matrix_sync(fa, a, std::is_same<LA, wmma::row_major>::value ? 16 : M);
    wmma::load_matrix_sync(fb, b, std::is_same<LB, wmma::row_major>::value ? N : 16);
    wmma::fill_fragment(fc, (D)1);
    wmma::mma_sync(fc, fa, fb, fc);
    for (int i = 0; i < fc.num_elements; i++) fc.x[i] = fc.x[i] + fc.x[i];
    wmma::store_matrix_sync(d, fc, layout == wmma::mem_row_major ? N : M, layout);
    // What was stored can be loaded: d + a * b.
    wmma::load_matrix_sync(fc, d, layout == wmma::mem_row_major ? N : M, layout);
    wmma::mma_sync(fc, fa, fb, fc);
    wmma::store_matrix_sync(d, fc, layout == wmma::mem_row_major ? N : M, layout);
}

template <int M, int N, class T, class D, class LA, class LB> static void check_shape(void) {
    enum { K = 16, A = M * K, B = K * N, C = M * N };
    T a[A], b[B], *da, *db;
    D d[C], *dd;
    const bool ra = std::is_same<LA, wmma::row_major>::value;
    const bool rb = std::is_same<LB, wmma::row_major>::value;
    const bool positive = std::is_same<T, unsigned char>::value;
    for (int i = 0; i < A; i++) a[i] = (T)(float)(small(i, 1) + (positive ? 6 : 0));
    for (int i = 0; i < B; i++) b[i] = (T)(float)(small(i, 2) + (positive ? 6 : 0));
    CHECK(cudaMalloc(&da, sizeof a));
    CHECK(cudaMalloc(&db, sizeof b));
    CHECK(cudaMalloc(&dd, sizeof d));
    CHECK(cudaMemcpy(da, a, sizeof a, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(db, b, sizeof b, cudaMemcpyHostToDevice));
    for (int layout = 0; layout < 2; layout++) {
        CHECK(cudaMemset(dd, 0x5a, sizeof d));
        multiply<M, N, T, D, LA, LB><<<1, 32>>>(
            da, db, dd, layout ? wmma::mem_col_major : wmma::mem_row_major);
        CHECK(cudaMemcpy(d, dd, sizeof d, cudaMemcpyDeviceToHost));
        for (int r = 0; r < M; r++)
            for (int c = 0; c < N; c++) {
                int sum = 0;
                for (int k = 0; k < K; k++)
                    sum += (int)(float)a[ra ? r * K + k : k * M + r] *
                           (int)(float)b[rb ? k * N + c : c * K + k];
                RETURNS((float)d[layout ? c * M + r : r * N + c], 2 * (sum + 1) + sum);
            }
    }
    CHECK(cudaFree(da));
    CHECK(cudaFree(db));
    CHECK(cudaFree(dd));
}

template <class T, class D> static void check_shapes(void) {
    using row = wmma::row_major;
    using col = wmma::col_major;
    check_shape<16, 16, T, D, row, col>();
    check_shape<16, 16, T, D, col, row>();
    check_shape<32, 8, T, D, row, row>();
    check_shape<8, 32, T, D, col, col>();
}

// Round to nearest even, written out by search: the closest half, ties to the even pattern.
static unsigned nearest_half(float v) {
    unsigned best = 0;
    double least = INFINITY;
    for (unsigned h = 0; h < 0x7c00; h++) {
        int e = (int)(h >> 10), m = (int)(h & 0x3ff);
        double w = e ? ldexp(1024 + m, e - 25) : ldexp(m, -24);
        double distance = fabs(fabs((double)v) - w);
        if (distance < least || (distance == least && h % 2 == 0)) least = distance, best = h;
    }
    if (fabs((double)v) >= 65520) best = 0x7c00;
    return best | (signbit(v) ? 0x8000u : 0u);
}

__global__ void halves(const float *in, unsigned short *out, int n) {
    int t = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (t < n) out[t] = __half_as_ushort(__float2half(in[t]));
}
__global__ void floats(float *out) {
    int t = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    out[t] = __half2float(__ushort_as_half((unsigned short)t));
}
__global__ void half_arithmetic(float *out) {
    half a = __int2half_rn(2049), b = __float2half(0.5f); // 2049 is a tie: 2048
    out[0] = __half2float(a);
    out[1] = __half2float(__hadd(a, b));
    out[2] = __half2float(__hmul(a, b));
    out[3] = __half2float(__hfma(b, b, b));
    half2 v = __floats2half2_rn(1.5f, -2.0f), w = __hadd2(v, v);
    out[4] = __low2float(w);
    out[5] = __high2float(w);
    out[6] = (float)__half2int_rz(__float2half(-3.75f));
    out[7] = __hgt(a, b) ? 1.0f : 0.0f;
    out[8] = __half2float(__shfl_sync(1u, b, 0));
}

__global__ void bfloats(const float *in, unsigned short *out, int n) {
    int t = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (t < n) out[t] = __bfloat16_as_ushort(__float2bfloat16(in[t]));
}
__global__ void bfloat_values(float *out) {
    int t = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    out[t] = __bfloat162float(__ushort_as_bfloat16((unsigned short)t));
}

// All values, and what lies between two neighbours: next to each, in the middle, next to that. The
// nearer one is right, of two equally near ones the even one. Above the largest is 2^128 in its
// place, infinity.
static void check_bfloat16(void) {
    static float all[65536], in[5 * 0x7f80];
    static unsigned short out[5 * 0x7f80];
    enum { N = 5 * 0x7f80 };
    float *values;
    unsigned short *bits;
    CHECK(cudaMalloc(&values, sizeof all > sizeof in ? sizeof all : sizeof in));
    CHECK(cudaMalloc(&bits, sizeof out));
    bfloat_values<<<256, 256>>>(values);
    CHECK(cudaMemcpy(all, values, sizeof all, cudaMemcpyDeviceToHost));
    for (int h = 0; h < 65536; h++) {
        int e = h >> 7 & 255, m = h & 0x7f;
        double w = e ? ldexp(128 + m, e - 134) : ldexp(m, -133);
        if (h & 0x8000) w = -w;
        if (e == 255) HOLDS(m ? all[h] != all[h] : isinf(all[h]) && (all[h] < 0) == (w < 0));
        else HOLDS((double)all[h] == w && !signbit(all[h]) == !(h & 0x8000));
    }
    for (int h = 0; h < 0x7f80; h++) {
        double low = all[h], high = h < 0x7f7f ? all[h + 1] : ldexp(1, 128);
        float middle = (float)(low + (high - low) / 2); // exact
        float *at = in + 5 * h;
        at[0] = all[h], at[1] = nextafterf(all[h], INFINITY), at[2] = nextafterf(middle, 0);
        at[3] = middle, at[4] = nextafterf(middle, INFINITY);
        for (int i = 0; i < 5; i++)
            if (h % 2) at[i] = -at[i];
    }
    CHECK(cudaMemcpy(values, in, sizeof in, cudaMemcpyHostToDevice));
    bfloats<<<(N + 255) / 256, 256>>>(values, bits, N);
    CHECK(cudaMemcpy(out, bits, sizeof out, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++) {
        int h = i / 5, up = i % 5 == 4 || (i % 5 == 3 && h % 2);
        RETURNS(out[i], (unsigned)(h + up) | (h % 2 ? 0x8000u : 0u));
    }
    // Doubles are rounded once: 1 + 2^-8 + 2^-40 is above the middle, as a float it is the middle.
    RETURNS(__bfloat16_as_ushort(__double2bfloat16(1 + ldexp(1, -8) + ldexp(1, -40))), 0x3f81);
    RETURNS(__bfloat16_as_ushort(__float2bfloat16(INFINITY)), 0x7f80);
    RETURNS(__bfloat16_as_ushort(__float2bfloat16(-INFINITY)), 0xff80);
    HOLDS((__bfloat16_as_ushort(__float2bfloat16(NAN)) & 0x7fff) > 0x7f80);
    CHECK(cudaFree(values));
    CHECK(cudaFree(bits));
}

__global__ void half_atomics(half *sum, half2 *sums) {
    atomicAdd(sum, __float2half(0.5f));
    half2 before = atomicAdd(sums, __floats2half2_rn(1.0f, -2.0f));
    if (__high2float(before) != -2 * __low2float(before)) *sum = __float2half(-1000);
}
static void check_half_atomics(void) {
    struct { half2 sums; half sum; } h, *p;
    CHECK(cudaMalloc(&p, sizeof h));
    CHECK(cudaMemset(p, 0, sizeof h));
    half_atomics<<<3, 64>>>(&p->sum, &p->sums);
    CHECK(cudaMemcpy(&h, p, sizeof h, cudaMemcpyDeviceToHost));
    RETURNS(__half2float(h.sum), 96);
    RETURNS(__low2float(h.sums), 192);
    RETURNS(__high2float(h.sums), -384);
    CHECK(cudaFree(p));
}

int main(void) {
    check_shapes<half, float>();
    check_shapes<half, half>();
    check_shapes<__nv_bfloat16, float>();
    check_shapes<signed char, int>();
    check_shapes<unsigned char, int>();

    enum { N = 600 };
    float in[N], *d_in, *d_float;
    unsigned short out[N], *d_out;
    for (int i = 0; i < N; i++) { // every binade, ties among them
        in[i] = ldexpf((float)(2048 + i * 7 % 2048) + (float)(i % 3) * 0.5f, i % 45 - 38);
        if (i % 2) in[i] = -in[i];
    }
    const float special[] = {0.0f, -0.0f, 65504, 65519.996f, 65520, 1e9f, INFINITY, 5.9604645e-8f,
                             2.9802322e-8f, 2.9802326e-8f, 6.1035156e-5f, 6.0975552e-5f};
    memcpy(in, special, sizeof special);
    CHECK(cudaMalloc(&d_in, sizeof in));
    CHECK(cudaMalloc(&d_out, sizeof out));
    CHECK(cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice));
    halves<<<3, 256>>>(d_in, d_out, N);
    CHECK(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++)
        if (out[i] != nearest_half(in[i])) {
            printf("half of %.9g:\n", in[i]);
            RETURNS(out[i], nearest_half(in[i]));
        }

    static float all[65536];
    CHECK(cudaMalloc(&d_float, sizeof all));
    floats<<<256, 256>>>(d_float);
    CHECK(cudaMemcpy(all, d_float, sizeof all, cudaMemcpyDeviceToHost));
    for (int h = 0; h < 65536; h++) {
        int e = h >> 10 & 31, m = h & 0x3ff;
        double w = e ? ldexp(1024 + m, e - 25) : ldexp(m, -24);
        if (h & 0x8000) w = -w;
        if (e == 31) HOLDS(m ? all[h] != all[h] : isinf(all[h]) && (all[h] < 0) == (w < 0));
        else HOLDS((double)all[h] == w);
    }

    half_arithmetic<<<1, 1>>>(d_float);
    CHECK(cudaMemcpy(all, d_float, 9 * sizeof(float), cudaMemcpyDeviceToHost));
    const float want[9] = {2048, 2048, 1024, 0.75f, 3, -4, -3, 1, 0.5f};
    for (int i = 0; i < 9; i++) RETURNS(all[i] * 4, want[i] * 4);

    check_half_atomics();
    check_bfloat16();
    CHECK(cudaGetLastError());
    CHECK(cudaFree(d_in));
    CHECK(cudaFree(d_out));
    CHECK(cudaFree(d_float));
    return kit_end("simt wmma");
}
