// SPDX-License-Identifier: MIT
// 01_first_map.cu: one thread for each cell of a fractal, by the map lambda.
//
// A fractal of level r consists of k copies of itself of level r - 1. H[beta] is the box where copy
// beta lies. The launch has k^ceil(r/2) x k^floor(r/2) threads, the orthotope. Thread (wx, wy)
// works on the cell
//     lambda(wx, wy) = sum over mu = 1..r of H[beta_mu] * s^(mu-1)
// beta_mu, the copy to enter at level mu, is a digit of wx for odd mu and of wy for even mu.
// nvcc -O3 -arch=native -I include samples/fractal/01_first_map.cu -o first_map
#include "../check.h"

#include <threadmap/fractal.h>

enum {
    R = 5,    // level of the fractal
    SIDE = 32 // of the matrix: 2^R
};

// [snippet: first-map]
__global__ void first_map(tmap_nbb f, tmap_u32 r, tmap_xy64 box, int *out, tmap_u64 width) {
    const tmap_u32 wx = blockIdx.x * blockDim.x + threadIdx.x;
    const tmap_u32 wy = blockIdx.y * blockDim.y + threadIdx.y;
    if (wx >= box.x || wy >= box.y) return; // the last blocks reach beyond the orthotope

    const tmap_xy cell = tmap_nbb_lambda(f, wx, wy, r); // thread (wx, wy) -> cell (x, y)
    out[cell.y * width + cell.x] = 1;                   // whatever you want to do with the cell
}
// [/snippet]

// lambda(wx, wy) term by term, as in the equation above.
static tmap_xy sum_of_terms(tmap_nbb f, tmap_u32 wx, tmap_u32 wy) {
    tmap_xy cell = {0, 0};
    tmap_u32 power = 1; // s^(mu-1)
    for (tmap_u32 mu = 1; mu <= R; ++mu) {
        const tmap_xy h = tmap_nbb_tau(f, tmap_nbb_beta(f, wx, wy, mu)); // H[beta_mu]
        cell.x += h.x * power;
        cell.y += h.y * power;
        power *= f.sx;
    }
    return cell;
}

// Prints the table H[]. The gasket also has a formula for it: counts the entries that differ.
static int check_table(tmap_nbb f) {
    int wrong = 0;
    for (tmap_u32 beta = 0; beta < f.k; ++beta) {
        const tmap_xy h = tmap_nbb_tau(f, beta);
        const tmap_xy hash = tmap_fractal_gasket_hash(beta);
        printf("H[%u] = (%u, %u), by the gasket's hash (%u, %u)\n", beta, h.x, h.y, hash.x, hash.y);
        wrong += h.x != hash.x || h.y != hash.y;
    }
    return wrong;
}

// Each cell must be 1 and belong to exactly one thread; any other place must be 0 and have none.
static int check_places(tmap_nbb f, tmap_xy64 box, int got[SIDE][SIDE]) {
    static int threads[SIDE][SIDE]; // how many work on each place
    for (tmap_u32 wy = 0; wy < box.y; ++wy)
        for (tmap_u32 wx = 0; wx < box.x; ++wx) {
            const tmap_xy cell = sum_of_terms(f, wx, wy);
            ++threads[cell.y][cell.x];
        }

    int wrong = 0;
    for (tmap_u32 y = 0; y < SIDE; ++y)
        for (tmap_u32 x = 0; x < SIDE; ++x) {
            const int want = tmap_nbb_contains(f, x, y, R);
            wrong += got[y][x] != want || threads[y][x] != want;
        }
    return wrong;
}

int main(void) {
    static int got[SIDE][SIDE];
    const tmap_nbb f = tmap_fractal_gasket();       // Sierpinski's: k = 3, s = 2
    const tmap_xy64 box = tmap_nbb_orthotope(f, R); // 27 x 9
    check_gpu();

    int *out;
    CHECK(cudaMalloc((void **)&out, sizeof got));
    CHECK(cudaMemset(out, 0, sizeof got));

    // [snippet: first-launch]
    const dim3 block(16, 16);
    const dim3 grid((unsigned)(box.x + 15) / 16, (unsigned)(box.y + 15) / 16);
    first_map<<<grid, block>>>(f, R, box, out, SIDE);
    // [/snippet]
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(out));

    int wrong = check_table(f);
    wrong += check_places(f, box, got);
    for (int y = 0; y < SIDE; ++y) {
        for (int x = 0; x < SIDE; ++x) printf(" %c", got[y][x] ? '#' : '.');
        putchar('\n');
    }
    printf("%llu cells by %llu x %llu threads, instead of %d x %d\n", tmap_nbb_cells(f, R), box.x,
           box.y, SIDE, SIDE);
    return check_result("one thread for each cell", wrong);
}
