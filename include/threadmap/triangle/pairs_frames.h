// SPDX-License-Identifier: MIT
// pairs_frames.h: a function of the user's on every pair of n points in every one of many frames,
// and what it accumulates joined to one value for each frame: how far the distances of a frame are
// from those of a reference, contacts, energies.
//
//     typedef struct contacts_job {
//         const float *reference, *frames;
//         float r2, *fraction;
//         void *parts;
//     } contacts_job;
//     static __device__ float squared(const float *u, const float *v) {
//         const float x = u[0] - v[0], y = u[1] - v[1], z = u[2] - v[2];
//         return x * x + y * y + z * z;
//     }
//     static __device__ void native(void *job, void *sum, tmap_pair pair, const float *a,
//                                   const float *b, float *of_pair) { // once, in the reference
//         *of_pair = squared(a, b) < ((contacts_job *)job)->r2;
//         *(float *)sum += *of_pair;
//     }
//     static __device__ void kept(void *job, void *sum, tmap_pair pair, const float *a,
//                                 const float *b, const float *of_pair, const float *of_frame) {
//         if (squared(a, b) < ((contacts_job *)job)->r2) *(float *)sum += *of_pair;
//     }
//     static __device__ void join(void *job, void *sum, const void *other) {
//         *(float *)sum += *(const float *)other;
//     }
//     static __device__ void finish(void *job, tmap_u64 frame, const void *sum,
//                                   const void *pairs) {
//         ((contacts_job *)job)->fraction[frame] = *(const float *)sum / *(const float *)pairs;
//     }
//     __global__ void __launch_bounds__(TMAP_PAIRS_FRAMES_THREADS)
//         native_contacts(tmap_pairs_frames_plan plan, contacts_job j) {
//         const tmap_pairs_frames_points points = {j.reference, j.frames, N, 0};
//         const tmap_pairs_frames_calls calls = {native, 1, 0, kept, join, finish};
//         const float zero = 0;
//         tmap_pairs_frames(&plan, &points, 1, &calls, &zero, sizeof zero, &j, j.parts);
//     }
//     ... tmap_pairs_frames_plan_make(N, frames, 1, sizeof(float), (const void *)native_contacts,
//                                     &plan);
//     ... cudaMalloc(&j.parts, tmap_pairs_frames_bytes(&plan)); the first
//         tmap_pairs_frames_clear(&plan) of them cleared once
//     ... tmap_pairs_frames_launch(&plan, &j, stream);
//
// Sums are joined in a fixed order: results are the same in every run of a plan.
#ifndef TMAP_TRIANGLE_PAIRS_FRAMES_H
#define TMAP_TRIANGLE_PAIRS_FRAMES_H

#include "pairs_frames_walk.h"

#if TMAP_CUDA

// Where points are, in device memory. reference: shape (points, 3), or 0 where no pair has anything
// of its own. frames: shape (plan's frames, points, 3). numbers: those below `points` of the plan's
// n points, in any order, which are points 0, 1, ... of everything else; 0: the first n.
typedef struct tmap_pairs_frames_points {
    const float *reference, *frames;
    tmap_u32 points;
    const tmap_u32 *numbers;
} tmap_pairs_frames_points;

// The functions of the user's, __device__ functions without barriers and collectives.
// of_pair(job, sum, pair, a, b, own): what a pair has of its own: writes as many floats. a, b: x,
//     y, z of points i < j of the reference. It is called once for every pair in every block,
//     before any frame. 0: there is nothing.
// sums: 1 if it also accumulates something in *sum, of all pairs but of no frame; a constant.
// of_frame(job, frame, own): what a frame has of its own, up to TMAP_PAIRS_FRAMES_FRAME_MAX floats;
//     called by each of its lanes before its pairs. 0: there is nothing.
// add(job, sum, pair, a, b, of_pair, of_frame): accumulates a pair of a frame. a, b: x, y, z of
//     points i < j of this frame.
// join(job, sum, &other): adds what another accumulator has.
// finish(job, frame, sum, pairs): stores what has become of a frame, from its accumulator and from
//     that of all pairs (with `sums` 0: what accumulators begin with). Called once for each frame.
typedef struct tmap_pairs_frames_calls {
    tmap_pairs_frames_pair of_pair;
    int sums;
    tmap_pairs_frames_frame of_frame;
    tmap_pairs_frames_add add;
    tmap_fold_join join;
    tmap_pairs_frames_finish finish;
} tmap_pairs_frames_calls;

// What a block does: its frames, and its tiles from `tile` on.
typedef struct tmapi_frames_block {
    tmap_u64 first, tile, tiles;
    tmap_u32 frames, groups;
} tmapi_frames_block;

TMAP_DEVICE tmapi_frames_block tmapi_frames_block_of(const tmap_pairs_frames_plan *plan) {
    const tmap_u32 split = blockIdx.x % plan->splits;
    tmapi_frames_block b;
    b.first = (tmap_u64)(blockIdx.x / plan->splits) * plan->range;
    b.frames = plan->range;
    if (plan->frames - b.first < b.frames) b.frames = (tmap_u32)(plan->frames - b.first);
    b.groups = (b.frames + plan->group - 1) / plan->group;
    b.tile = plan->tiles * split / plan->splits;
    b.tiles = plan->tiles * (split + 1) / plan->splits - b.tile;
    return b;
}

// Accumulators in the block's shared memory, from a byte on: number x of them.
TMAP_DEVICE unsigned char *tmapi_frames_sum_at(const tmapi_frames *f, tmap_u64 byte, tmap_u32 x) {
    return (unsigned char *)tmapi_frames_shared_at((tmap_u32)byte / 4) + x * f->bytes;
}

// The frames of group g of the block.
TMAP_DEVICE tmap_u32 tmapi_frames_of_group(const tmap_pairs_frames_plan *plan,
                                           const tmapi_frames_block *b, tmap_u32 g) {
    const tmap_u32 left = b->frames - g * plan->group;
    return left < plan->group ? left : plan->group;
}

// The sums of a warp's lanes go to shared memory, those of lanes with the same frames joined.
// sums: the byte where those of all warps begin.
TMAP_DEVICE void tmapi_frames_leave(const tmapi_frames *f, tmapi_frames_lane *lane, tmap_u32 sums) {
    const tmap_u32 lanes = f->plan->group / TMAPI_FRAMES_LANE, me = threadIdx.x % 32;
    const tmap_u32 to = threadIdx.x / 32 * f->plan->group + me;
#pragma unroll
    for (tmap_u32 h = 0; h < TMAPI_FRAMES_LANE; ++h) {
        TMAPI_NO_UNROLL
        for (tmap_u32 step = 16; step >= lanes; step /= 2) {
            tmapi_fold_words other;
#pragma unroll
            for (tmap_u32 i = 0; i < TMAP_FOLD_BYTES_MAX / 4; ++i)
                if (i < f->bytes / 4)
                    other.word[i] = __shfl_down_sync(0xffffffffu, lane->total[h].word[i], step);
            if (me < step) f->join(f->job, &lane->total[h], &other);
        }
        if (me < lanes)
            tmapi_fold_move(tmapi_frames_sum_at(f, sums, to + h * lanes), &lane->total[h],
                            f->bytes);
    }
}

// Joins the warps' sums of a group's frames, a thread each, and with those of tiles before.
TMAP_DEVICE void tmapi_frames_gather(const tmapi_frames *f, const tmapi_frames_block *b, tmap_u32 g,
                                     int first_tile, tmap_u32 sums,
                                     tmap_pairs_frames_finish finish) {
    const tmap_pairs_frames_plan *plan = f->plan;
    const tmap_u32 x = threadIdx.x;
    tmapi_fold_words sum, other;
    if (x >= tmapi_frames_of_group(plan, b, g)) return;
    tmapi_fold_move(&sum, tmapi_frames_sum_at(f, sums, x), f->bytes);
#pragma unroll 4
    for (tmap_u32 w = 1; w < TMAPI_FRAMES_WARPS; ++w) {
        tmapi_fold_move(&other, tmapi_frames_sum_at(f, sums, w * plan->group + x), f->bytes);
        f->join(f->job, &sum, &other);
    }
    if (plan->bands == 1) {
        finish(f->job, b->first + g * plan->group + x, &sum,
               tmapi_frames_sum_at(f, tmapi_frames_at_pairs(plan), 0));
    } else {
        unsigned char *all = tmapi_frames_sum_at(f, tmapi_frames_at_all(plan), g * plan->group + x);
        if (!first_tile) {
            tmapi_fold_move(&other, all, f->bytes);
            f->join(f->job, &sum, &other);
        }
        tmapi_fold_move(all, &sum, f->bytes);
    }
}

// The table of a tile, and what pairs have accumulated. Collective for the block; a barrier must
// follow. at: of the reference's points.
TMAP_DEVICE void tmapi_frames_make_tile(const tmapi_frames *f, const tmapi_frames_tile *t,
                                        tmap_u32 at, int sums, int first_tile) {
    const tmap_u64 place = tmapi_frames_at_pairs(f->plan);
    unsigned char *pairs = tmapi_frames_sum_at(f, place, 0);
    tmapi_fold_words sum, before;
    tmapi_fold_move(&sum, f->zero, f->bytes);
    tmapi_frames_make(f, t, at, &sum);
    if (!sums) return;
    tmap_fold_block(&sum, f->bytes, f->join, f->job,
                    tmapi_frames_sum_at(f, place + (f->bytes + 15) / 16 * 16, 0));
    if (threadIdx.x) return;
    if (!first_tile) {
        tmapi_fold_move(&before, pairs, f->bytes);
        f->join(f->job, &sum, &before);
    }
    tmapi_fold_move(pairs, &sum, f->bytes);
}

// The pairs of a group of frames in a tile. stage: of their points; sums: where theirs go.
TMAP_DEVICE void tmapi_frames_group(const tmapi_frames *f, const tmapi_frames_block *b,
                                    const tmapi_frames_tile *t, tmap_u32 g, tmap_u32 stage,
                                    tmap_u32 sums) {
    const tmap_u32 lanes = f->plan->group / TMAPI_FRAMES_LANE;
    const tmap_u32 frames = tmapi_frames_of_group(f->plan, b, g);
    tmapi_frames_lane lane;
#pragma unroll
    for (tmap_u32 h = 0; h < TMAPI_FRAMES_LANE; ++h) {
        tmap_u32 mine = threadIdx.x % lanes + h * lanes;
        if (mine >= frames) mine = frames - 1; // whose sums are left where nobody looks
        lane.at[h] = stage + mine * f->plan->pitch;
        if (f->of_frame)
            f->of_frame(f->job, b->first + g * f->plan->group + mine, lane.of_frame[h]);
        tmapi_fold_move(&lane.total[h], f->zero, f->bytes);
    }
    tmapi_frames_walk(f, t, &lane);
    __syncwarp();
    tmapi_frames_leave(f, &lane, sums);
}

// All tiles and frames of a block. At step x the points of group x are asked for, the pairs of
// group x - 1 are looked at, and the sums of group x - 2 are joined, all tiles one after the other.
TMAP_DEVICE void tmapi_frames_work(const tmapi_frames *f, const tmapi_frames_block *b, int sums,
                                   tmap_pairs_frames_finish finish) {
    const tmap_pairs_frames_plan *plan = f->plan;
    const tmap_u32 ways = 32 * TMAPI_FRAMES_LANE / plan->group;
    const tmap_u32 way = threadIdx.x / 32 * ways + threadIdx.x % 32 * ways / 32;
    const tmap_u32 of_stage = tmapi_frames_stage(plan) / 4, of_sums = tmapi_frames_sums(plan);
    const tmap_u32 at_sums = tmapi_frames_at_sums(plan), group = plan->group;
    const tmap_u64 steps = b->tiles * b->groups;
    tmapi_frames_tile t = tmapi_frames_tile_of(f, b->tile), next = t;
    tmap_u32 coming = 0, here = 0, before = 0; // groups
    tmap_u64 tile = 0;                         // the one whose points come
    TMAPI_NO_UNROLL
    for (tmap_u64 x = 0; x < steps + 2; ++x) {
        const int look = x >= 1 && x <= steps;
        const tmap_u32 odd = (tmap_u32)x & 1;
        if (look && here == 0) {
            t = next;
            tmapi_frames_share(&t, way, ways * TMAPI_FRAMES_WARPS);
            if (f->of_pair) {
                tmapi_frames_arrived(1);
                __syncthreads(); // the reference is there, and the table is free
                tmapi_frames_make_tile(f, &t, (odd ^ 1) * of_stage + group * plan->pitch, sums,
                                       x == 1);
            }
        }
        tmapi_frames_arrived(0);
        __syncthreads(); // points and table are there, the other stage and its sums are free
        if (x < steps) {
            if (coming == 0 && tile) next = tmapi_frames_tile_of(f, b->tile + tile);
            tmapi_frames_bring(f, &next, b->first + (tmap_u64)coming * group,
                               tmapi_frames_of_group(plan, b, coming), f->of_pair && coming == 0,
                               odd * of_stage);
            if (++coming == b->groups) coming = 0, ++tile;
        }
        if (x >= 2) {
            tmapi_frames_gather(f, b, before, x - 2 < b->groups, at_sums + odd * of_sums, finish);
            if (++before == b->groups) before = 0;
        }
        if (look) {
            tmapi_frames_group(f, b, &t, here, (odd ^ 1) * of_stage, at_sums + (odd ^ 1) * of_sums);
            if (++here == b->groups) here = 0;
        }
    }
}

// The sums of a block's frames go to memory, and the last block of a range joins those of all and
// finishes them: each frame by several threads, whose sums are joined in their order.
TMAP_DEVICE void tmapi_frames_join(const tmapi_frames *f, const tmapi_frames_block *b, void *parts,
                                   tmap_pairs_frames_finish finish) {
    const tmap_pairs_frames_plan *plan = f->plan;
    const tmap_u64 range = blockIdx.x / plan->splits, row = (plan->range + 1ull) * f->bytes;
    unsigned char *rows = (unsigned char *)parts + tmap_pairs_frames_clear(plan);
    unsigned char *pairs = tmapi_frames_sum_at(f, tmapi_frames_at_pairs(plan), 0);
    tmapi_fold_words sum, other;
    tmap_u32 wide = 32, slice, slices;
    TMAPI_NO_UNROLL
    for (tmap_u32 x = threadIdx.x; x <= b->frames; x += TMAP_PAIRS_FRAMES_THREADS) { // pairs: 0
        const unsigned char *mine = pairs;
        if (x) mine = tmapi_frames_sum_at(f, tmapi_frames_at_all(plan), x - 1);
        tmapi_fold_move(rows + blockIdx.x * row + x * f->bytes, mine, f->bytes);
    }
    __syncthreads();
    if (!tmapi_fold_last((tmap_u64 *)parts + range, plan->splits)) return;
    rows += range * plan->splits * row;
    while (wide <= b->frames && 2 * wide <= TMAP_PAIRS_FRAMES_THREADS) wide *= 2;
    slice = threadIdx.x / wide, slices = TMAP_PAIRS_FRAMES_THREADS / wide;
    TMAPI_NO_UNROLL
    for (tmap_u32 begin = 0; begin <= b->frames; begin += wide) {
        const tmap_u32 x = begin + threadIdx.x % wide;
        tmapi_fold_move(&sum, f->zero, f->bytes);
        if (x <= b->frames) {
#pragma unroll 4
            for (tmap_u32 s = slice; s < plan->splits; s += slices) {
                tmapi_fold_fetch(&other, rows + s * row + x * f->bytes, f->bytes);
                f->join(f->job, &sum, &other);
            }
        }
        tmapi_fold_move(tmapi_frames_sum_at(f, 0, threadIdx.x), &sum, f->bytes);
        __syncthreads();
        if (!slice && x <= b->frames) {
            TMAPI_NO_UNROLL
            for (tmap_u32 s = 1; s < slices; ++s) {
                tmapi_fold_move(&other, tmapi_frames_sum_at(f, 0, threadIdx.x + s * wide),
                                f->bytes);
                f->join(f->job, &sum, &other);
            }
            if (!x) tmapi_fold_move(pairs, &sum, f->bytes);
        }
        __syncthreads();
        if (!slice && x && x <= b->frames) finish(f->job, b->first + x - 1, &sum, pairs);
    }
}

// Accumulates calls->add over all pairs of every frame and hands the sums to calls->finish.
// plan: one of tmap_pairs_frames_plan_make for the same `own` and `bytes`; with another one nothing
// happens. points: where they are. own: floats that a pair has of its own, a constant. calls: the
// functions, constants. zero: what an accumulator begins with; it is joined any number of times.
// bytes: of an accumulator, a constant. parts: tmap_pairs_frames_bytes bytes of device memory at a
// multiple of 16, the first tmap_pairs_frames_clear of which are zero before the first launch that
// uses them; each launch leaves them so; 0 where none are needed. Launches that run at the same
// time need parts of their own. All threads of all blocks call it, once in a launch, in blocks of
// TMAP_PAIRS_FRAMES_THREADS threads.
// An accumulator begins anew after every 128 pairs at most, so that sums of floats, whose errors
// grow with the number of terms, go far where join adds them up in double precision.
// Exactness: results are the same in every run of a plan. How pairs are divided depends on the
// number of frames and on the device, so that sums of floats may differ in the last place between
// plans.
// Cost: for each pair and frame what add costs, and half of an instruction; the pairs' own floats
// are made in each block. A warp takes 32 frames of the same pair, or 16 or 8; fewer frames than 8
// leave lanes idle, so that for one or two frames tmap_pairs_fold is quicker.
TMAP_DEVICE void tmap_pairs_frames(const tmap_pairs_frames_plan *plan,
                                   const tmap_pairs_frames_points *points, tmap_u32 own,
                                   const tmap_pairs_frames_calls *calls, const void *zero,
                                   tmap_u32 bytes, void *job, void *parts) {
    tmapi_frames_block b;
    tmapi_frames f;
    if (plan->own != own || plan->bytes != bytes) return;
    f.plan = plan, f.reference = points->reference, f.frames = points->frames;
    f.numbers = points->numbers, f.points = points->points, f.own = own, f.bytes = bytes;
    f.of_pair = calls->of_pair, f.of_frame = calls->of_frame, f.add = calls->add;
    f.join = calls->join, f.zero = zero, f.job = job;
    f.table = tmapi_frames_stage(plan) / 2; // behind two of them, in floats
    b = tmapi_frames_block_of(plan);
    if (!calls->sums && threadIdx.x == 0)
        tmapi_fold_move(tmapi_frames_sum_at(&f, tmapi_frames_at_pairs(plan), 0), zero, bytes);
    tmapi_frames_work(&f, &b, calls->sums, calls->finish);
    if (plan->bands == 1) return;
    __syncthreads();
    if (plan->splits > 1) {
        tmapi_frames_join(&f, &b, parts, calls->finish);
        return;
    }
    TMAPI_NO_UNROLL
    for (tmap_u32 x = threadIdx.x; x < b.frames; x += TMAP_PAIRS_FRAMES_THREADS) {
        tmapi_fold_words sum;
        tmapi_fold_move(&sum, tmapi_frames_sum_at(&f, tmapi_frames_at_all(plan), x), bytes);
        calls->finish(job, b.first + x, &sum,
                      tmapi_frames_sum_at(&f, tmapi_frames_at_pairs(plan), 0));
    }
}

#endif // TMAP_CUDA
#endif
