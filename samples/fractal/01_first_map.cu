// SPDX-License-Identifier: MIT
// 01_first_map.cu: a thread for each cell of a fractal, by the map lambda. A fractal of level r is k
// copies of its level r - 1, put into k of s x s boxes. The threads omega = (wx, wy) of a launch of
// k^ceil(r/2) x k^floor(r/2) threads, the orthotope, go to a cell each:
//     lambda(omega) = sum over mu = 1..r of H[beta_mu(omega)] * s^(mu-1)
// beta_mu is the number of the copy of level mu that the thread goes to: a digit, in base k, of wx
// for odd mu and of wy for even mu. H[], the paper's tau, is the box (column, row) of each copy. The
// Sierpinski gasket has k = 3, s = 2, H[] = {(0,0), (0,1), (1,1)}, or the hash (b/2, b - b/2).
// nvcc -arch=native -I include samples/fractal/01_first_map.cu -o first_map && ./first_map
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
    enum { R = 5, SIDE = 1 << R };
    static int got[SIDE][SIDE], want[SIDE][SIDE];
    const tmap_nbb f = tmap_fractal_gasket();
    const tmap_xy64 box = tmap_nbb_orthotope(f, R); // 27 x 9
    int devices, *out, wrong = 0;
    if (cudaGetDeviceCount(&devices) || !devices) return puts("SKIP: no NVIDIA GPU here"), 77;
    CHECK(cudaMalloc((void **)&out, sizeof got));
    CHECK(cudaMemset(out, 0, sizeof got));
    // [snippet: first-launch]
    const dim3 block(16, 16), grid((unsigned)(box.x + 15) / 16, (unsigned)(box.y + 15) / 16);
    first_map<<<grid, block>>>(f, R, box, out, SIDE);
    // [/snippet]
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
    for (tmap_u32 wx = 0; wx < box.x; ++wx)
        for (tmap_u32 wy = 0; wy < box.y; ++wy) { // the sum, term by term
            tmap_u32 x = 0, y = 0;
            for (tmap_u32 mu = 1; mu <= R; ++mu) {
                const tmap_u32 beta = tmap_nbb_beta(f, wx, wy, mu);
                const tmap_xy tau = tmap_nbb_tau(f, beta), hash = tmap_gasket_hash(beta);
                x += tau.x << (mu - 1), y += hash.y << (mu - 1); // table and hash are the same
                if (wx == 7 && wy == 5) printf("beta_%u = %u, ", mu, beta);
            }
            if (wx == 7 && wy == 5) printf("lambda(7, 5) = (%u, %u)\n", x, y);
            want[y][x] = 1;
        }
    for (int i = 0; i < SIDE * SIDE; ++i) {
        wrong += got[i / SIDE][i % SIDE] != want[i / SIDE][i % SIDE];
        printf(i % SIDE == SIDE - 1 ? "%c\n" : "%c ", got[i / SIDE][i % SIDE] ? '#' : '.');
    }
    printf("%u blocks of 16 x 16 threads for 243 cells, where the %d places take 4 blocks: %s\n",
           grid.x * grid.y, SIDE * SIDE, wrong ? "WRONG" : "verified");
    CHECK(cudaFree(out));
    return wrong != 0;
}
