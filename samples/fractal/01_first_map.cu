// SPDX-License-Identifier: MIT
// 01_first_map.cu: a thread for each cell of a fractal, by the map lambda.
//
// A fractal of level r is k copies of its level r - 1; H[beta] is the box in which copy beta stands.
// Of k^ceil(r/2) x k^floor(r/2) threads, the orthotope, thread (wx, wy) goes to the cell
//     lambda(wx, wy) = sum over mu = 1..r of H[beta_mu] * s^(mu-1)
// where beta_mu, the copy of level mu to go to, is a digit of wx for odd mu and of wy for even mu.
// nvcc -O3 -arch=native -I include samples/fractal/01_first_map.cu -o first_map
#include <threadmap/fractal.h>
#include <stdio.h>
#define CHECK(call) \
    if ((call) != cudaSuccess) return fprintf(stderr, "failed: %s\n", #call), 1

// [snippet: first-map]
__global__ void first_map(tmap_nbb f, tmap_u32 r, tmap_xy64 box, int *out, tmap_u64 width) {
    tmap_u32 wx = blockIdx.x * blockDim.x + threadIdx.x;
    tmap_u32 wy = blockIdx.y * blockDim.y + threadIdx.y;
    if (wx >= box.x || wy >= box.y) return;       // the last blocks overlap the orthotope's end
    tmap_xy cell = tmap_nbb_lambda(f, wx, wy, r); // thread (wx, wy) -> cell (x, y)
    out[cell.y * width + cell.x] = 1;             // whatever you want to do with the cell
}
// [/snippet]

int main(void) {
    enum { R = 5, SIDE = 32 };
    static int got[SIDE][SIDE];
    const tmap_nbb f = tmap_fractal_gasket();       // Sierpinski's: k = 3, s = 2
    const tmap_xy64 box = tmap_nbb_orthotope(f, R); // 27 x 9
    int devices, *out, wrong = 0;
    if (cudaGetDeviceCount(&devices) || !devices) return puts("SKIP: no NVIDIA GPU here"), 77;
    CHECK(cudaMalloc((void **)&out, sizeof got));
    CHECK(cudaMemset(out, 0, sizeof got));
    // [snippet: first-launch]
    dim3 block(16, 16), grid((unsigned)(box.x + 15) / 16, (unsigned)(box.y + 15) / 16);
    first_map<<<grid, block>>>(f, R, box, out, SIDE);
    // [/snippet]
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(out));

    for (tmap_u32 beta = 0; beta < f.k; ++beta) { // the gasket has a formula for H[], too
        tmap_xy h = tmap_nbb_tau(f, beta), hash = tmap_gasket_hash(beta);
        printf("H[%u] = (%u, %u), by the gasket's hash (%u, %u)\n", beta, h.x, h.y, hash.x, hash.y);
        wrong += h.x != hash.x || h.y != hash.y;
    }
    for (tmap_u32 w = 0; w < box.x * box.y; ++w) { // lambda on the host, term by term
        tmap_u32 x = 0, y = 0;
        for (tmap_u32 mu = 1; mu <= R; ++mu) {
            tmap_u32 beta = tmap_nbb_beta(f, w % (tmap_u32)box.x, w / (tmap_u32)box.x, mu);
            x += tmap_nbb_tau(f, beta).x << (mu - 1), y += tmap_nbb_tau(f, beta).y << (mu - 1);
        }
        wrong += got[y][x]++ != 1; // each cell must be there, and not yet counted
    }
    for (int i = 0; i < SIDE * SIDE; ++i) {
        wrong += got[i / SIDE][i % SIDE] == 1; // a place that is no cell
        printf(i % SIDE < SIDE - 1 ? "%c " : "%c\n", ".?#"[got[i / SIDE][i % SIDE]]);
    }
    printf("243 cells by 27 x 9 threads, instead of 32 x 32: %s\n", wrong ? "WRONG" : "ok");
    return wrong != 0;
}
