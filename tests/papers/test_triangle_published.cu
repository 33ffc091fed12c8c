// SPDX-License-Identifier: MIT
// test_triangle_published: the forms of triangle_published.h and the two tests of BB in kernels:
// how often each cell of the n x n matrix is visited, against the definition: once for j <= i, else
// never; and the table in device memory against that of the host.
#if !defined(__CUDACC_VER_MAJOR__)
#define TMAP_DP 1 // the CPU machine launches from kernels
#endif
#include "triangle/triangle_forms.h"

enum { UTM_PRINTED, LTM_TABLE, BB_BY_BLOCKS, BB_BY_THREADS, REC_RECURSIVE, PUBLISHED };
static const char *const names[] = {"utm_printed", "ltm_table", "bb_by_blocks", "bb_by_threads",
                                    "rec_recursive"};

static tmap_u64 *lost_d;

// The case of the checks that follow.
static void of_case(int form, tmap_u32 n, tmap_u32 rho) {
    kit_case("%s, n = %u, rho = %u", names[form], n, rho);
}

// Visits of each cell, and of cells outside the matrix.
typedef struct visits {
    tmap_u32 n, *seen, *outside;
} visits;

static __device__ void visit(visits v, tmap_pair cell) {
    if (cell.i < v.n && cell.j < v.n)
        atomicAdd(&v.seen[(tmap_u64)cell.i * v.n + cell.j], 1u);
    else
        atomicAdd(v.outside, 1u);
}

// A thread for each place of a form of triangle_forms.h.
static __global__ void form_kernel(int form, visits v) {
    const tmap_u64 place =
        (blockIdx.x * (tmap_u64)blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    tmap_pair cell;
    if (place < form_places(form, v.n, 0) && form_at(form, v.n, 0, place, &cell)) visit(v, cell);
}

static __global__ void table_kernel(visits v, const tmap_u32 *table) {
    const tmap_pair block = tmap_triangle_table_map(table, blockIdx.x);
    tmap_pair cell;
    cell.i = block.i * blockDim.y + threadIdx.y, cell.j = block.j * blockDim.x + threadIdx.x;
    if (cell.i < v.n && cell.j <= cell.i) visit(v, cell);
}

static __global__ void blocks_kernel(visits v) {
    if (!tmap_triangle_bb_contains(blockIdx.x, blockIdx.y)) return;
    tmap_pair cell;
    cell.i = blockIdx.y * blockDim.y + threadIdx.y, cell.j = blockIdx.x * blockDim.x + threadIdx.x;
    if (cell.i < v.n && tmap_triangle_bb_contains(cell.j, cell.i)) visit(v, cell);
}

static __global__ void recursive_kernel(tmap_triangle_recursive r, const void *in, void *out) {
    tmap_pair cell;
    tmap_triangle_recursive_next(recursive_kernel, r, in, out);
    if (tmap_triangle_recursive_cell(&r, &cell)) {
        const visits v = {r.n, (tmap_u32 *)out, (tmap_u32 *)out + (tmap_u64)r.n * r.n};
        visit(v, cell);
    }
}

// Launches a form. seen: n n visits, and then those outside.
static void launch(int form, tmap_u32 n, tmap_u32 rho, tmap_u32 *seen) {
    const visits v = {n, seen, seen + (tmap_u64)n * n};
    const tmap_u32 rows = tmap_triangle_tile_rows(n, rho), threads = rho * rho;
    const dim3 block(rho, rho, 1), box(rows, rows, 1);
    const unsigned tiles = (unsigned)tmap_triangle_cells(rows);
    if (form == UTM_PRINTED || form == BB_BY_THREADS) {
        const int of = form == UTM_PRINTED ? FORM_UTM_PRINTED_CELLS : FORM_BB_BY_THREADS;
        form_kernel<<<(unsigned)((form_places(of, n, 0) + threads - 1) / threads), block>>>(of, v);
    } else if (form == LTM_TABLE) {
        const size_t bytes = (size_t)tmap_triangle_table_bytes(rows);
        tmap_u32 *table, *want = (tmap_u32 *)kit_host(bytes), *got = (tmap_u32 *)kit_host(bytes);
        table = (tmap_u32 *)kit_device(bytes);
        CHECK(tmap_triangle_table_make(table, rows, 0));
        table_kernel<<<tiles, block>>>(v, table);
        CHECK(cudaMemcpy(got, table, bytes, cudaMemcpyDeviceToHost));
        tmap_triangle_table_fill(want, rows);
        of_case(form, n, rho);
        expect(!memcmp(want, got, bytes), "table");
    } else if (form == BB_BY_BLOCKS) {
        blocks_kernel<<<box, block>>>(v);
    } else {
        const tmap_triangle_recursive r = tmap_triangle_recursive_make(n, rho, lost_d);
        CHECK(
            tmap_triangle_recursive_launch((const void *)recursive_kernel, r, rho, NULL, seen, 0));
    }
    CHECK(cudaGetLastError());
}

// Every cell of a form but `missing` ones, which are not visited.
static void run_form(int form, tmap_u32 n, tmap_u32 rho, tmap_u64 missing) {
    const size_t bytes = ((size_t)n * n + 1) * sizeof(tmap_u32);
    tmap_u32 *seen, *got = (tmap_u32 *)kit_host(bytes);
    tmap_u64 wrong = 0, unseen = 0, lost = 0;
    seen = (tmap_u32 *)kit_device(bytes);
    CHECK(cudaMemset(seen, 0, bytes));
    CHECK(cudaMemset(lost_d, 0, sizeof lost));
    launch(form, n, rho, seen);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(got, seen, bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(&lost, lost_d, sizeof lost, cudaMemcpyDeviceToHost));
    for (tmap_u32 i = 0; i < n; ++i)
        for (tmap_u32 j = 0; j < n; ++j) {
            const tmap_u32 times = got[(size_t)i * n + j];
            wrong += times > (j <= i);
            unseen += times == 0 && j <= i;
        }
    of_case(form, n, rho);
    expect(wrong == 0, "visited too often");
    expect(unseen == missing, "cells not visited");
    expect(got[(size_t)n * n] == 0, "visits outside");
    expect(lost == 0, "lost launches");
    kit_release(0);
}

static void run(tmap_u32 n, tmap_u32 rho) {
    if (!check_turn()) return;
    for (int form = 0; form < PUBLISHED; ++form)
        if (form != REC_RECURSIVE || TMAP_DP) run_form(form, n, rho, 0);
}

static void run_refusals(void) {
    const void *kernel = (const void *)recursive_kernel;
    const tmap_triangle_recursive good = tmap_triangle_recursive_make(100, 4, lost_d);
    const tmap_triangle_recursive no_lost = tmap_triangle_recursive_make(100, 4, NULL);
    const tmap_triangle_recursive no_rows = tmap_triangle_recursive_make(0, 4, lost_d);
    const tmap_triangle_recursive many = tmap_triangle_recursive_make(65536, 1, lost_d);
    tmap_u32 *table = (tmap_u32 *)lost_d; // not written
    kit_case("%s", "refusals");
    REFUSED(tmap_triangle_recursive_launch(NULL, good, 4, NULL, table, 0));
    REFUSED(tmap_triangle_recursive_launch(kernel, no_lost, 4, NULL, table, 0));
    REFUSED(tmap_triangle_recursive_launch(kernel, no_rows, 4, NULL, table, 0));
    REFUSED(tmap_triangle_recursive_launch(kernel, many, 1, NULL, table, 0));
    REFUSED(tmap_triangle_recursive_launch(kernel, good, 0, NULL, table, 0));
    REFUSED(tmap_triangle_recursive_launch(kernel, good, 33, NULL, table, 0));
    REFUSED(tmap_triangle_table_make(NULL, 4, 0));
    REFUSED(tmap_triangle_table_make(table, 0, 0));
    REFUSED(tmap_triangle_table_make(table, TMAP_TRIANGLE_TABLE_ROWS_MAX + 1, 0));
    if (!TMAP_DP)
        RETURNS(tmap_triangle_recursive_launch(kernel, good, 4, NULL, table, 0),
                cudaErrorNotSupported);
}

int main(void) {
    static const tmap_u32 sizes[] = {1,  2,  3,  5,  7,   8,   15,  16,  17, 31,
                                     32, 33, 63, 96, 100, 127, 128, 129, 161};
    static const tmap_u32 sides[] = {1, 3, 4, 8, 16};
    kit_begin();
    CHECK(cudaMalloc((void **)&lost_d, sizeof *lost_d));
    run_refusals();
    for (size_t i = 0; i < COUNT(sizes); ++i)
        for (size_t r = 0; r < COUNT(sides); ++r) run(sizes[i], sides[r]);
    if (kit_gpu) {
        run(1000, 16);
        run(1025, 8);
        run(2047, 32);
        run(4096, 16); // 9 steps of REC; the last n of UTM as printed
        run_form(UTM_PRINTED, TMAP_TRIANGLE_UTM_PRINTED_MAX, 16, 1);
        run_form(UTM_PRINTED, TMAP_TRIANGLE_UTM_PRINTED_MAX + 1, 16, 4100);
    }
    return kit_end("test_triangle_published");
}
