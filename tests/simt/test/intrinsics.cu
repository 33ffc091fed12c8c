// SPDX-License-Identifier: MIT
// Integer, conversion, atomic and load/store intrinsics against written-out host arithmetic.
#include "kit.h"

#include <limits.h>
#include <math.h>

enum { N = 64, OPS = 37 };
typedef unsigned long long u64;

__constant__ int constant_table[4];
__device__ int device_counter;

__global__ void integers(const u64 *in, u64 *out) {
    int t = (int)threadIdx.x, i = 0;
    u64 a = in[t], b = in[(t + 1) % N];
    unsigned x = (unsigned)a, y = (unsigned)b;
#define PUT(v)                                                                                     \
    out[i * N + t] = (u64)(v);                                                                     \
    i++
    PUT(__popc(x));
    PUT(__popcll(a));
    PUT(__clz((int)x));
    PUT(__clzll((long long)a));
    PUT(__ffs((int)x));
    PUT(__ffsll((long long)a));
    PUT(__brev(x));
    PUT(__brevll(a));
    PUT(__umulhi(x, y));
    PUT(__mulhi((int)x, (int)y));
    PUT(__umul64hi(a, b));
    PUT(__mul64hi((long long)a, (long long)b));
    PUT(__umul24(x, y));
    PUT(__usad(x, y, 5u));
    PUT(__uhadd(x, y));
    PUT(__byte_perm(x, y, 0x6140));
    PUT(__funnelshift_l(x, y, y));
    PUT(__funnelshift_r(x, y, y));
    PUT(__dp4a((int)x, (int)y, 3));
    PUT(min((int)x, (int)y));
    PUT(max(x, y));
    PUT(__ldg(&in[t]));
    PUT(__ldcs(&in[t]));
    PUT(__ldca(&in[t]));
    PUT(__ldcg(&in[t]));
    PUT(__ldcv(&in[t]));
    PUT(__ldcg((const uint2 *)in + t).y);
    PUT((unsigned char)__ldg((const signed char *)&in[t]));
    PUT(__ldcs((const ushort4 *)&in[t]).z);
    PUT(__double_as_longlong(__ldca((const double *)&in[t])));
    __stcs(&out[i * N + t], a + 1), i++;
    __stcg(&out[i * N + t], a + 2), i++;
    __stwt(&out[i * N + t], a + 3), i++;
    __stwb((uint2 *)&out[i * N + t], make_uint2(x, x)), i++;
    PUT(constant_table[t % 4]);
    PUT(__double2hiint(__longlong_as_double((long long)a)));
    PUT(__float_as_uint(__uint_as_float(x & 0xbfffffffu)));
}

static u64 reverse(u64 v, int bits) {
    u64 r = 0;
    for (int i = 0; i < bits; i++)
        if (v >> i & 1) r |= 1ull << (bits - 1 - i);
    return r;
}
static int bits_of(u64 v) {
    int n = 0;
    for (; v; v >>= 1) n += (int)(v & 1);
    return n;
}
static int length(u64 v) {
    int n = 0;
    for (; v; v >>= 1) n++;
    return n;
}
static int first(u64 v) {
    for (int i = 0; i < 64; i++)
        if (v >> i & 1) return i + 1;
    return 0;
}
// High half of a product, in schoolbook halves.
static u64 high(u64 a, u64 b) {
    u64 al = (unsigned)a, ah = a >> 32, bl = (unsigned)b, bh = b >> 32;
    u64 middle = ah * bl + (al * bl >> 32), other = al * bh + (unsigned)middle;
    return ah * bh + (middle >> 32) + (other >> 32);
}

static void check_integers(const u64 *in, const u64 *out) {
    for (int t = 0; t < N; t++) {
        u64 a = in[t], b = in[(t + 1) % N];
        unsigned x = (unsigned)a, y = (unsigned)b, s = y % 32;
        int dot = 3;
        for (int k = 0; k < 4; k++)
            dot = (int)((unsigned)dot +
                        (unsigned)((signed char)(x >> 8 * k) * (signed char)(y >> 8 * k)));
        u64 signed_high = high(a, b) - ((long long)a < 0 ? b : 0) - ((long long)b < 0 ? a : 0);
        unsigned permuted = (x & 0xff) | (y & 0xff) << 8 | (x & 0xff00) << 8 | (y >> 16) << 24;
        u64 want[OPS] = {
            (u64)bits_of(x), (u64)bits_of(a), (u64)(32 - length(x)), (u64)(64 - length(a)),
            (u64)first(x), (u64)first(a), reverse(x, 32), reverse(a, 64), (u64)x * y >> 32,
            (u64)(int)((long long)(int)x * (int)y >> 32), high(a, b), signed_high,
            (x & 0xffffff) * (y & 0xffffff), (x > y ? x - y : y - x) + 5u, ((u64)x + y) / 2,
            permuted, s ? y << s | x >> (32 - s) : y, s ? x >> s | y << (32 - s) : x, (u64)dot,
            (u64)((int)x < (int)y ? (int)x : (int)y), x > y ? x : y, a, a, a, a, a,
            a >> 32, a & 0xff, a >> 32 & 0xffff, a, a + 1, a + 2, a + 3, (u64)x << 32 | x,
            (u64)(t % 4 * 11), (u64)(int)(a >> 32), x & 0xbfffffffu};
        for (int i = 0; i < OPS; i++)
            if (out[i * N + t] != want[i]) {
                printf("integer operation %d of 0x%llx, 0x%llx:\n", i, a, b);
                RETURNS(out[i * N + t], want[i]);
            }
    }
}

// Rounding in all directions, saturation, NaN.
enum { FLOATS = 12, CONVERSIONS = 16 };
__global__ void conversions(const float *in, long long *out) {
    int t = (int)threadIdx.x, i = 0;
    float v = in[t];
#define PUT_AT(x)                                                                                  \
    out[i * FLOATS + t] = (long long)(x);                                                          \
    i++
    PUT_AT(__float2int_rn(v));
    PUT_AT(__float2int_rz(v));
    PUT_AT(__float2int_rd(v));
    PUT_AT(__float2int_ru(v));
    PUT_AT(__float2uint_rn(v));
    PUT_AT(__float2uint_rz(v));
    PUT_AT(__float2ll_rd(v));
    PUT_AT(__double2int_rn((double)v));
    PUT_AT(__float_as_int(__fsqrt_rn(fabsf(v))));
    PUT_AT(__float_as_int(__fadd_rd(v, 1e-8f)));
    PUT_AT(__float_as_int(__fadd_ru(v, 1e-8f)));
    PUT_AT(__float_as_int(__int2float_rz((1 << 24) + 1 + t)));
    PUT_AT(__float_as_int(__int2float_ru((1 << 24) + 1 + t)));
    PUT_AT(__float_as_int(fmaf(v, v, 1.0f)));
    PUT_AT(__float_as_int(__saturatef(v)));
    PUT_AT(fabsf(rsqrtf(v * v + 1.0f) * sqrtf(v * v + 1.0f) - 1.0f) < 1e-6f || v != v || v > 1e15f);
}

static long long clamp(double v, double low, double high_) {
    return v != v ? 0 : v < low ? (long long)low : v > high_ ? (long long)high_ : (long long)v;
}
static int bits(float v) {
    int i;
    memcpy(&i, &v, sizeof i);
    return i;
}

static void check_conversions(const float *in, const long long *out) {
    for (int t = 0; t < FLOATS; t++) {
        double v = in[t];
        float near = (float)(v + 1e-8f), down = near, up = near; // near - v is exact
        if ((double)near - v > (double)1e-8f) down = nextafterf(near, -INFINITY);
        if ((double)near - v < (double)1e-8f) up = nextafterf(near, INFINITY);
        int odd = (1 << 24) + 1 + t, nan = v != v;
        long long want[CONVERSIONS] = {
            clamp(nearbyint(v), INT_MIN, INT_MAX), clamp(trunc(v), INT_MIN, INT_MAX),
            clamp(floor(v), INT_MIN, INT_MAX), clamp(ceil(v), INT_MIN, INT_MAX),
            clamp(nearbyint(v), 0, UINT_MAX), clamp(trunc(v), 0, UINT_MAX),
            nan ? LLONG_MIN : v > 9e18 ? LLONG_MAX : (long long)floor(v),
            clamp(nearbyint(v), INT_MIN, INT_MAX), bits(sqrtf(fabsf(in[t]))), bits(down), bits(up),
            bits((float)(odd & ~1)), bits((float)((odd + 1) & ~1)), bits(fmaf(in[t], in[t], 1.0f)),
            bits(v > 0 ? (v < 1 ? in[t] : 1.0f) : 0.0f), 1};
        for (int i = 0; i < CONVERSIONS; i++) {
            if (nan && (i >= 6 && i <= 13)) continue; // undocumented, or a NaN of any bits
            if (out[i * FLOATS + t] != want[i]) {
                printf("conversion %d of %.9g:\n", i, v);
                RETURNS(out[i * FLOATS + t], want[i]);
            }
        }
    }
}

__global__ void atomics(int *i, unsigned *u, u64 *l, float *f, double *d) {
    int t = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    atomicAdd(&i[0], t);
    atomicSub(&i[1], t);
    atomicMin(&i[2], -t);
    atomicMax(&i[3], t);
    atomicExch(&i[4], 77);
    atomicCAS(&i[5], 0, 5); // only the first one changes it
    atomicCAS(&i[5], 0, 6);
    atomicAdd(&u[0], 0x80000001u);
    atomicAnd(&u[1], ~(1u << t % 32));
    atomicOr(&u[2], 1u << t % 32);
    atomicXor(&u[3], (unsigned)t);
    atomicInc(&u[4], 9u);
    atomicDec(&u[5], 9u);
    atomicMax(&u[6], (unsigned)t);
    atomicAdd(&l[0], 1ull << 33);
    atomicMax(&l[1], (u64)t << 33);
    atomicCAS_block(&u[7], 0u, 7u);
    atomicCAS_system(&u[7], 7u, 8u);
    atomicOr(&l[2], 1ull << t % 64);
    atomicAdd(f, 0.5f);
    atomicAdd(d, 0.25);
    atomicAdd(&device_counter, 1);
}

int main(void) {
    static u64 in[N], out[OPS * N];
    for (int i = 0; i < N; i++)
        in[i] = i == 0 ? 0 : i == 1 ? ~0ull : i == 2 ? 1 : i == 3 ? 1ull << 63 :
                (u64)i * 0x9e3779b97f4a7c15ull >> i % 40;
    u64 *d_in, *d_out;
    CHECK(cudaMalloc(&d_in, sizeof in));
    CHECK(cudaMalloc(&d_out, sizeof out));
    CHECK(cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice));
    const int table[4] = {0, 11, 22, 33};
    CHECK(cudaMemcpyToSymbol(constant_table, table, sizeof table));
    integers<<<1, N>>>(d_in, d_out);
    CHECK(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost));
    check_integers(in, out);

    const float floats[FLOATS] = {0.0f, 0.5f, 1.5f, -0.5f, -2.5f, 3.25f, -3.75f,
                                  3e9f, -3e9f, 1e20f, NAN, 0.75f};
    long long converted[CONVERSIONS * FLOATS];
    CHECK(cudaMemcpy(d_in, floats, sizeof floats, cudaMemcpyHostToDevice));
    conversions<<<1, FLOATS>>>((const float *)d_in, (long long *)d_out);
    CHECK(cudaMemcpy(converted, d_out, sizeof converted, cudaMemcpyDeviceToHost));
    check_conversions(floats, converted);

    enum { T = 5 * 96 };
    struct { int i[6]; unsigned u[8]; u64 l[3]; double d; float f; } h, *p;
    memset(&h, 0, sizeof h);
    h.u[1] = ~0u;
    CHECK(cudaMalloc(&p, sizeof h));
    CHECK(cudaMemcpy(p, &h, sizeof h, cudaMemcpyHostToDevice));
    int zero = 0, counted;
    CHECK(cudaMemcpyToSymbol(device_counter, &zero, sizeof zero));
    atomics<<<5, 96>>>(p->i, p->u, p->l, &p->f, &p->d);
    CHECK(cudaMemcpy(&h, p, sizeof h, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpyFromSymbol(&counted, device_counter, sizeof counted));
    RETURNS(h.i[0], T * (T - 1) / 2);
    RETURNS(h.i[1], -T * (T - 1) / 2);
    RETURNS(h.i[2], 1 - T);
    RETURNS(h.i[3], T - 1);
    RETURNS(h.i[4], 77);
    RETURNS(h.i[5], 5);
    RETURNS(h.u[0], T * 0x80000001u);
    RETURNS(h.u[1], 0);
    RETURNS(h.u[2], ~0u);
    unsigned x = 0;
    for (unsigned t = 0; t < T; t++) x ^= t;
    RETURNS(h.u[3], x);
    RETURNS(h.u[4], T % 10);
    RETURNS(h.u[5], 0);
    RETURNS(h.u[6], T - 1);
    RETURNS(h.u[7], 8);
    RETURNS(h.l[0], (u64)T << 33);
    RETURNS(h.l[1], (u64)(T - 1) << 33);
    RETURNS(h.l[2], ~0ull);
    HOLDS(h.f == T * 0.5f && h.d == T * 0.25);
    RETURNS(counted, T);

    CHECK(cudaGetLastError());
    CHECK(cudaFree(d_in));
    CHECK(cudaFree(d_out));
    CHECK(cudaFree(p));
    return kit_end("simt intrinsics");
}
