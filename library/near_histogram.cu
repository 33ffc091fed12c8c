// SPDX-License-Identifier: MIT
// near_histogram.cu: pairs of points by distance.
#include "near.h"

// Up to this many bins are counted in shared memory first.
#define HISTOGRAM_SHARED 1024u

struct histogram {
    near_search search;
    tmap_u64 *counts;
    tmap_u32 bins;
    double scale; // bins / radius
};

// The counts of the block, modulo 2^32; 0: there are too many bins. No member of the job: a kernel
// that changes one keeps a copy of all in local memory.
TMAP_DEVICE tmap_u32 *histogram_block(const histogram *s) {
    __shared__ tmap_u32 block[HISTOGRAM_SHARED];
    return s->bins <= HISTOGRAM_SHARED ? block : 0;
}

template <class Real, tmap_u32 Axes, int Boxed>
TMAP_DEVICE void histogram_count(void *job, void *, tmap_pair, const void *a, const void *b) {
    const histogram *s = (const histogram *)job;
    const Real square = near_square<Real, Axes, Boxed>(job, a, b);
    if (!(square <= near_in(job, (Real)0)->squared)) return;
    tmap_u32 bin = (tmap_u32)(sqrt(square) * (Real)s->scale);
    bin = bin < s->bins ? bin : s->bins - 1;
    tmap_u32 *block = histogram_block(s);
    if (!block)
        atomicAdd(s->counts + bin, 1ull);
    else if (atomicAdd(block + bin, 1u) == ~0u) // 2^32 pairs
        atomicAdd(s->counts + bin, 1ull << 32);
}

template <class Real, tmap_u32 Axes, int Boxed>
static __global__ void BLOCK histogram_kernel(tmap_near_plan plan, histogram s) {
    tmap_u32 *block = histogram_block(&s);
    const tmap_near points = {
        {s.search.set, s.search.second, sizeof(Real), Axes}, near_reach<Real, Axes, Boxed>, 0};
    const tmap_u32 mine = block ? s.bins : 0;
    for (tmap_u32 bin = threadIdx.x; bin < mine; bin += TMAP_NEAR_THREADS) block[bin] = 0;
    __syncthreads();
    tmap_near_each(&plan, points, histogram_count<Real, Axes, Boxed>, &s);
    __syncthreads();
    for (tmap_u32 bin = threadIdx.x; bin < mine; bin += TMAP_NEAR_THREADS)
        if (block[bin]) atomicAdd(s.counts + bin, (tmap_u64)block[bin]);
}

static const void *const histogram_kernels[] = NEAR_KERNELS(histogram_kernel);

int threadmap_histogram(const threadmap_histogram_job *job, void *workspace, tmap_u64 *bytes,
                        void *stream) {
    tmap_near_plan plan;
    near_work work;
    int error = job ? near_begin(&job->near_by, &work) : TMAP_EINVAL;
    if (!error && !(job->bins && job->near_by.radius > 0 && job->near_by.radius < 1e30))
        error = TMAP_EINVAL;
    if (!error && job->bins > 1u << 31) error = TMAP_ERANGE;
    if (!error)
        error = base_error(
            tmap_near_plan_make(work.shape, near_kernel(&job->near_by, histogram_kernels), &plan));
    if (!error) error = base_error(near_plan_second(&work, &plan));
    if (error) return error;
    near_divide(&work, 0);
    if (base_ends(workspace, bytes, work.bytes, &error)) return error;
    error = base_wrong({{job->counts, 8, 1}});
    if (!error) error = near_prepare(&job->near_by, &work, workspace, stream);
    if (!error)
        error = (int)cudaMemsetAsync(job->counts, 0, job->bins * 8ull, (cudaStream_t)stream);
    if (error || !work.shape.n) return error;
    const histogram s = {near_search_of(&work, workspace), job->counts, job->bins,
                         job->bins / job->near_by.radius};
    return base_error(tmap_near_launch(&plan, &s, (cudaStream_t)stream));
}
