// SPDX-License-Identifier: MIT
// fractal_verify.h: what a variant of bench_fractal reads, whether what it has written is right, place
// by place, and what the memory needs for it at least.
#ifndef BENCH_FRACTAL_FRACTAL_VERIFY_H
#define BENCH_FRACTAL_FRACTAL_VERIFY_H

#include "../../tests/fractal/fractal_check.h"
#include "fractal_job.h"

static inline dim3 check_grid(const job *j) {
    tmap_u64 columns = (j->width + 255) / 256, rows = j->height;
    return dim3((unsigned)(rows < 65535 ? rows : 65535), (unsigned)(columns < 64 ? columns : 64));
}

static inline tmap_u64 fetch_u64(const void *device) {
    tmap_u64 value;
    CHECK(cudaMemcpy(&value, device, sizeof value, cudaMemcpyDeviceToHost));
    return value;
}

// What a task reads.
static inline void job_fill(job *j) {
    const dim3 grid = check_grid(j);
    if (j->task == RD_I32)
        check_fill_i32<<<grid, 256>>>(j->f, j->r, j->width, j->height, 1, (int *)j->in);
    if (j->task == RD_U8)
        check_fill_u8<<<grid, 256>>>(j->f, j->r, j->width, j->height, 1, (unsigned char *)j->in);
    if (j->task == UPDATE_F32 || j->task == RD_F32 || j->task == CA_F32)
        check_fill_f32<<<grid, 256>>>(j->f, j->r, j->width, j->height, 1, (float *)j->in);
    if (j->task == CA_U8)
        check_fill_alive<<<grid, 256>>>(j->f, j->r, j->width, j->height, 2, 2,
                                        (unsigned char *)j->in);
    CHECK(cudaGetLastError());
}

// Adds what is wrong with a matrix, or the sum that is right, to *counter.
static inline void job_check(const job *j, tmap_u64 *counter) {
    const dim3 grid = check_grid(j);
    const tmap_nbb f = j->f;
    const tmap_u32 r = j->r;
    const tmap_u64 w = j->width, h = j->height;
    switch (j->task) {
    case SW_I32:
        check_written_i32<<<grid, 256>>>(f, r, w, h, 7, (const int *)j->out, counter);
        break;
    case SW_U8:
        check_written_u8<<<grid, 256>>>(f, r, w, h, 7, (const unsigned char *)j->out, counter);
        break;
    case UPDATE_F32:
        check_doubled_f32<<<grid, 256>>>(f, r, w, h, 1, (const float *)j->out, counter);
        break;
    case RD_I32: check_sum_i32<<<grid, 256>>>(f, r, w, h, (const int *)j->in, counter); break;
    case RD_F32:
        check_sum_f32<<<grid, 256>>>(f, r, w, h, (const float *)j->in, (double *)counter);
        break;
    case RD_U8:
        check_sum_u8<<<grid, 256>>>(f, r, w, h, (const unsigned char *)j->in, counter);
        break;
    case CA_U8:
        check_step_u8<<<grid, 256>>>(f, r, w, h, tmap_ca_life(), (const unsigned char *)j->in,
                                     (const unsigned char *)j->out, counter);
        break;
    default:
        check_heat_f32<<<grid, 256>>>(f, r, w, h, HEAT_RATE, (const float *)j->in,
                                      (const float *)j->out, counter);
    }
    CHECK(cudaGetLastError());
}

// Runs the job once, on poisoned memory where it writes, and compares every place.
static inline int job_verify(job *j, tmap_u64 *counter) {
    int right;
    CHECK(cudaMemset(counter, 0, sizeof *counter));
    if (j->task <= SW_U8 || j->task >= CA_U8)
        CHECK(cudaMemset(j->out, CHECK_POISON_U8, j->places * tasks[j->task].size));
    CHECK(cudaMemset(j->sum, CHECK_POISON_U8, 8));
    j->factor = 2;
    job_run(j);
    j->factor = 1;
    job_check(j, counter);
    right = fetch_u64(counter) == (j->task >= RD_I32 && j->task <= RD_U8 ? fetch_u64(j->sum) : 0);
    if (j->task == UPDATE_F32) job_fill(j);
    return right;
}

// Bytes of the granules of `bytes` bytes that hold a cell (reach 0) or a cell or a neighbour of one
// (reach 1).
static inline double granule_bytes(const job *j, tmap_u32 bytes, int reach, tmap_u64 *counter) {
    CHECK(cudaMemset(counter, 0, sizeof *counter));
    check_granules<<<4096, 256>>>(j->f, j->r, j->width, j->height, bytes / tasks[j->task].size,
                                  reach, counter);
    CHECK(cudaGetLastError());
    return (double)bytes * (double)fetch_u64(counter);
}

// Writes go to memory in sectors of 32 bytes, reads come from it in pairs of them.
static inline double job_limit_ms(const job *j, bench_ceilings c, tmap_u64 *counter) {
    double ms = 0;
    if (j->task > SW_U8) ms += 1e-9 * granule_bytes(j, 64, j->task == CA_U8, counter) / c.read_tbs;
    if (j->task < RD_I32 || j->task > RD_U8)
        ms += 1e-9 * granule_bytes(j, 32, 0, counter) / c.fill_tbs;
    return ms;
}

#endif
