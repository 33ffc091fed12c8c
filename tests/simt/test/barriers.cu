// SPDX-License-Identifier: MIT
// Barriers, shared memory, partial warps and early exits, for blocks of all odd sizes.
#include "kit.h"

// Reverses a block through static and dynamic shared memory, three times.
__global__ void reverse(const int *in, int *out) {
    extern __shared__ int dynamic[];
    __shared__ int fixed[1024];
    int t = (int)threadIdx.x, n = (int)blockDim.x, base = (int)blockIdx.x * n;
    dynamic[t] = in[base + t];
    __syncthreads();
    fixed[t] = dynamic[n - 1 - t];
    __syncthreads();
    dynamic[t] = fixed[n - 1 - t];
    __syncthreads();
    out[base + t] = dynamic[n - 1 - t];
}

__global__ void predicates(int *out) {
    int t = (int)threadIdx.x, n = (int)blockDim.x;
    int count = __syncthreads_count(t % 3 == 0);
    int any = __syncthreads_or(t == n - 1), none = __syncthreads_or(0);
    int all = __syncthreads_and(7), most = __syncthreads_and(t != n / 2);
    out[t] = count * 16 + any * 8 + none * 4 + all * 2 + most;
}

__host__ __device__ static int leaves(int t) { return (t * 7 + t / 32 * 3) % 5; } // in round 0..4

// Threads leave in four rounds, all over their warps; those that stay still meet, at barriers and
// in their warps. (Written out: with a barrier in a loop that threads leave at different turns the
// compiler may put the threads of a warp at different barriers, and a GPU hangs.)
__global__ void leave(int *left, int *lanes) {
    int t = (int)threadIdx.x, n = (int)blockDim.x;
    if (leaves(t) == 0) return;
    left[t] = __syncthreads_count(1);
    lanes[t] = (int)__ballot_sync(0xffffffff, 1);
    if (leaves(t) == 1) return;
    left[n + t] = __syncthreads_count(1);
    lanes[n + t] = (int)__ballot_sync(0xffffffff, 1);
    if (leaves(t) == 2) return;
    left[2 * n + t] = __syncthreads_count(1);
    lanes[2 * n + t] = (int)__ballot_sync(0xffffffff, 1);
}

// Warps take different numbers of turns in warp barriers, then meet at the block's.
__global__ void warps_apart(int *out) {
    __shared__ int slot[32][32];
    int w = (int)threadIdx.x / 32, l = (int)threadIdx.x % 32;
    slot[w][l] = l;
    for (int i = 0; i < w + 1; i++) {
        __syncwarp();
        int v = slot[w][(l + 1) % 32];
        __syncwarp();
        slot[w][l] = v;
    }
    __syncthreads();
    int v = slot[(w + 1) % (blockDim.x / 32)][l];
    out[threadIdx.x] = v;
}

__global__ void shape(unsigned *out) {
    unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    unsigned n = blockDim.x * blockDim.y * blockDim.z;
    out[block * n + thread] += thread % 32 == __popc(__ballot_sync(~0u, 1)) - 1u ? 2 : 1;
}

// Threads that spin sleep meanwhile: until a thread of a later warp comes, then one of an earlier.
__global__ void sleepers(volatile int *flags) {
    int t = (int)threadIdx.x;
    if (t == 0) {
        while (!flags[0]) __nanosleep(20);
        flags[1] = 1;
    }
    if (t == 70) flags[0] = 1;
    if (t == 40 || t == 90)
        while (!flags[1]) __nanosleep(20);
    __syncthreads();
    if (t == 90) flags[2] = 1;
}

static int last_lanes(unsigned n) { return (int)(n / 32 + (n % 32 != 0)); }

int main(void) {
    enum { MOST = 1024, BLOCKS = 3 };
    int *in, *out, h[BLOCKS * MOST], g[BLOCKS * MOST];
    CHECK(cudaMalloc(&in, sizeof h));
    CHECK(cudaMalloc(&out, sizeof h));
    const int sizes[] = {1, 2, 4, 25, 31, 32, 33, 63, 64, 65, 100, 256, 1000, 1023, 1024};
    for (int n : sizes) {
        for (int i = 0; i < BLOCKS * MOST; i++) h[i] = i * 7 + 1;
        CHECK(cudaMemcpy(in, h, sizeof h, cudaMemcpyHostToDevice));
        CHECK(cudaMemset(out, 0x5a, sizeof h));
        reverse<<<BLOCKS, n, n * sizeof(int)>>>(in, out);
        CHECK(cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost));
        for (int i = 0; i < BLOCKS * n; i++)
            RETURNS(h[i], (i / n * n + n - 1 - i % n) * 7 + 1);

        predicates<<<1, n>>>(out);
        CHECK(cudaMemcpy(h, out, n * sizeof(int), cudaMemcpyDeviceToHost));
        for (int i = 0; i < n; i++) RETURNS(h[i], (n + 2) / 3 * 16 + 8 + 2);

        CHECK(cudaMemset(in, 0, sizeof h));
        CHECK(cudaMemset(out, 0, sizeof h));
        leave<<<1, n>>>(in, out);
        CHECK(cudaMemcpy(g, in, sizeof g, cudaMemcpyDeviceToHost));
        CHECK(cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost));
        for (int i = 0; i < 3 * n; i++) {
            int round = i / n, t = i % n, count = 0;
            unsigned lanes = 0;
            for (int k = 0; k < n; k++) {
                count += leaves(k) > round;
                if (k / 32 == t / 32) lanes |= (unsigned)(leaves(k) > round) << k % 32;
            }
            RETURNS(g[i], leaves(t) > round ? count : 0);
            RETURNS((unsigned)h[i], leaves(t) > round ? lanes : 0);
        }
    }

    for (int n = 32; n <= MOST; n += 32) {
        warps_apart<<<1, n>>>(out);
        CHECK(cudaMemcpy(h, out, n * sizeof(int), cudaMemcpyDeviceToHost));
        for (int i = 0; i < n; i++) RETURNS(h[i], (i % 32 + (i / 32 + 1) % (n / 32) + 1) % 32);
    }

    const dim3 grid(2, 3, 4), block(5, 3, 3);
    CHECK(cudaMemset(out, 0, sizeof h));
    shape<<<grid, block>>>((unsigned *)out);
    CHECK(cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost));
    int twos = 0;
    for (int i = 0; i < 24 * 45; i++) {
        HOLDS(h[i] == 1 || h[i] == 2);
        twos += h[i] == 2;
    }
    RETURNS(twos, 24 * last_lanes(45)); // one last lane a warp

    CHECK(cudaMemset(out, 0, sizeof h));
    sleepers<<<1, 96>>>(out);
    CHECK(cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost));
    HOLDS(h[0] && h[1] && h[2]);

    CHECK(cudaGetLastError());
    CHECK(cudaFree(in));
    CHECK(cudaFree(out));
    return kit_end("simt barriers");
}
