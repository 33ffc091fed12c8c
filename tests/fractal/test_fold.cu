// SPDX-License-Identifier: MIT
// test_fold: tmap_each_fold by every loop, for elements of 1, 2, 4 and 8 bytes that begin anywhere, and
// accumulators of 4 to 64 bytes, joined over warps, blocks and grids; and tmap_rd.
//
// A fold here adds up a hash of the element and of its cell's coordinates, so that a cell that is
// left out, taken twice or misnamed changes the result.
#include "fractal/engine.h"
#include <threadmap/fractal/rd.h>

TMAP_FN tmap_u64 hash_of(tmap_u64 value, tmap_u64 x, tmap_u64 y, tmap_u64 at) {
    return (value + 1) * 0x9e3779b97f4a7c15ull + (x << 17) * 31 + (y << 9) * 17 + at * 7;
}

typedef struct fold_job {
    const void *in;
    tmap_fold_to to;
    tmap_u32 size; // of an element
} fold_job;

static __device__ void join_sums(void *job, void *sum, const void *other) {
    (void)job;
    *(tmap_u64 *)sum += *(const tmap_u64 *)other;
}

static __device__ void add_hash(void *p, void *sum, tmap_cell cell, const void *value) {
    const tmap_u64 word = engine_get(value, 0, ((const fold_job *)p)->size);
    *(tmap_u64 *)sum += hash_of(word, cell.x, cell.y, cell.at);
}

// The kernel of one type of element.
#define FOLD(type) \
    static __global__ void __launch_bounds__(512, 2) \
        fold_##type(tmap_each_plan plan, fold_job j) { \
        const tmap_u64 zero = 0; \
        const tmap_array in = {j.in, sizeof(type)}; \
        const tmap_fold fold = {&zero, sizeof zero, join_sums}; \
        j.size = sizeof(type); \
        tmap_each_fold(&plan, in, add_hash, fold, j.to, &j); \
    }
typedef unsigned char u8;
typedef unsigned short u16;
FOLD(u8)
FOLD(u16)
FOLD(tmap_u32)
FOLD(tmap_u64)
static const struct fold_of {
    tmap_u32 size;
    const void *kernel;
} folds[] = {{1, (const void *)fold_u8},
             {2, (const void *)fold_u16},
             {8, (const void *)fold_tmap_u64},
             {4, (const void *)fold_tmap_u32}};

static __global__ void fill(tmap_u64 n, tmap_u32 size, void *a) {
    ENGINE_EACH_PLACE(i, n) engine_set(a, i, size, check_hash(i, 6) * 0x100000001ull);
}

// The sum by definition.
static __global__ void add_all(tmap_each_plan plan, tmap_u64 n, fold_job j, tmap_u64 *sum) {
    tmap_u64 mine = 0;
    ENGINE_EACH_PLACE(i, n) {
        tmap_xy64 cell;
        if (engine_cell(&plan, i, &cell))
            mine += hash_of(engine_get(j.in, i, j.size), cell.x, cell.y, i);
    }
    if (mine) atomicAdd(sum, mine);
}

// Memory for tmap_each_fold, whose first bytes are cleared once and for all: new memory may be where
// the last one was.
static void *blocks_for(tmap_u64 bytes) {
    static tmap_u64 size;
    void *blocks = engine_memory(2, bytes);
    if (bytes > size) CHECK(cudaMemset(blocks, 0, 16));
    if (bytes > size) size = bytes;
    return blocks;
}

// Launches a fold twice, whole, and then in two shares; compares with what a check has counted.
static void same_sum(const tmap_each_plan *plan, fold_job *j, const char *what) {
    const tmap_u64 want = engine_counted();
    tmap_u64 got, parts = 0;
    for (int i = 0; i < 2; ++i) {
        CHECK(cudaMemset(j->to.result, 0x5a, 8));
        CHECK(tmap_each_launch(plan, j, 0));
        CHECK(cudaMemcpy(&got, j->to.result, 8, cudaMemcpyDeviceToHost));
        of_plan(plan);
        expect(got == want, what);
    }
    for (int i = 0; i < 2; ++i) {
        tmap_each_plan share = *plan;
        const tmap_u64 half = plan->items / 3;
        CHECK(tmap_each_plan_share(&share, i ? half : 0, i ? plan->items - half : half));
        CHECK(cudaMemset(j->to.result, 0, 8));
        CHECK(tmap_each_launch(&share, j, 0));
        CHECK(cudaMemcpy(&got, j->to.result, 8, cudaMemcpyDeviceToHost));
        parts += got;
    }
    of_plan(plan);
    expect(parts == want, what);
}

// Elements that begin `skip` elements into a memory.
static void run(const tmap_each_plan *like, const struct fold_of *of, tmap_u32 skip) {
    tmap_each_plan plan;
    const tmap_u64 room = engine_room(like);
    char *a = (char *)engine_memory(0, (room + 16) * of->size) + skip * of->size;
    fold_job j = {a, {0, engine_memory(1, 64)}, of->size};
    CHECK(tmap_each_fold_plan_make(like->f, like->r, like->pitch, of->kernel, &plan));
    if (tmap_each_plan_loop(&plan, (int)like->loop)) return;
    plan.offset = like->offset;
    j.to.workspace = blocks_for(tmap_each_fold_bytes(&plan, 8));
    fill<<<ENGINE_GRID>>>(room, of->size, a);
    add_all<<<ENGINE_GRID>>>(plan, room, j, engine_counter);
    same_sum(&plan, &j, of->size < 4 ? "a fold of small elements" : "a fold");
}

static __global__ void any_kernel(tmap_each_plan plan, int job) { (void)plan, (void)job; }

static void run_fractal(int n, tmap_nbb f) {
    for (tmap_u32 r = 0; engine_fits(f, r); ++r)
        for (int loop = 0; loop < TMAP_EACH_LOOP_COUNT; ++loop, ++n) {
            tmap_each_plan like;
            CHECK(tmap_each_plan_make(f, r, engine_pitch(n, tmap_nbb_side_x(f, r), loop),
                                      (const void *)any_kernel, &like));
            if (tmap_each_plan_loop(&like, loop)) continue;
            like.offset = engine_offset(n);
            // At a multiple of 16 bytes, and elsewhere.
            run(&like, &folds[3], n % 5 ? 0 : 1);
            run(&like, &folds[n % 3], n % 2 ? 0 : n % 3 == 2 ? 1 : 3);
        }
}

// ---- accumulators of other sizes, and joins of warps and blocks ----------------------------------

// How many cells have each of 16 values: 64 bytes.
typedef struct histogram {
    tmap_u32 bin[16];
} histogram;

static __device__ void add_histogram(void *job, void *sum, tmap_cell cell, const void *value) {
    (void)job, (void)cell;
    ++((histogram *)sum)->bin[*(const u8 *)value & 15];
}
static __device__ void join_histograms(void *job, void *sum, const void *other) {
    (void)job;
    for (int i = 0; i < 16; ++i) ((histogram *)sum)->bin[i] += ((const histogram *)other)->bin[i];
}
static __global__ void __launch_bounds__(256) fold_histogram(tmap_each_plan plan, fold_job j) {
    histogram zero;
    const tmap_array in = {j.in, 1};
    const tmap_fold fold = {&zero, sizeof zero, join_histograms};
    for (int i = 0; i < 16; ++i) zero.bin[i] = 0;
    tmap_each_fold(&plan, in, add_histogram, fold, j.to, 0);
}

// The smallest element and where it stands, 12 bytes: the first of equal ones.
typedef struct smallest {
    tmap_u32 value, x, y;
} smallest;

static __device__ void take_smaller(smallest *a, smallest b) {
    if (b.value < a->value || (b.value == a->value && (b.y < a->y || (b.y == a->y && b.x < a->x))))
        *a = b;
}
static __device__ void add_smallest(void *job, void *sum, tmap_cell cell, const void *value) {
    const tmap_u32 bits = *(const tmap_u32 *)job;
    const smallest here = {*(const tmap_u32 *)value & bits, cell.x, cell.y};
    take_smaller((smallest *)sum, here);
}
static __device__ void join_smallest(void *job, void *sum, const void *other) {
    (void)job;
    take_smaller((smallest *)sum, *(const smallest *)other);
}
static __global__ void __launch_bounds__(512, 2)
    fold_smallest(tmap_each_plan plan, fold_job j, tmap_u32 bits) {
    const smallest zero = {~0u, ~0u, ~0u};
    const tmap_array in = {j.in, 4};
    const tmap_fold fold = {&zero, sizeof zero, join_smallest};
    tmap_each_fold(&plan, in, add_smallest, fold, j.to, &bits);
}

// The sum over every warp and over every block, each added to one counter.
typedef struct part {
    const tmap_u32 *in;
    tmap_u64 sum; // of a thread
} part;
static __device__ void read_part(void *job, tmap_cell cell, void *value) {
    *(tmap_u32 *)value = ((part *)job)->in[cell.at];
}
static __device__ void use_part(void *job, tmap_cell cell, const void *value) {
    ((part *)job)->sum += hash_of(*(const tmap_u32 *)value, cell.x, cell.y, cell.at);
}
static __global__ void __launch_bounds__(512)
    fold_parts(tmap_each_plan plan, fold_job j, tmap_u64 *sums) {
    __shared__ tmap_u64 scratch[16];
    const tmap_u64 zero = 0;
    const tmap_fold fold = {&zero, sizeof zero, join_sums};
    part mine = {(const tmap_u32 *)j.in, 0};
    tmap_u64 same;
    tmap_each_update(&plan, read_part, use_part, &mine);
    same = mine.sum;
    tmap_fold_warp(&mine.sum, fold, 0);
    if (tmap_thread_rank() % 32 == 0) atomicAdd(&sums[0], mine.sum);
    tmap_fold_block(&same, fold, 0, scratch);
    if (tmap_thread_rank() == 0) atomicAdd(&sums[1], same);
}

static void run_accumulators(tmap_nbb f, tmap_u32 r) {
    tmap_each_plan plan;
    histogram got, want;
    smallest least, want_least = {~0u, ~0u, ~0u};
    tmap_u32 bits = 0xff;
    tmap_u64 *sums = (tmap_u64 *)engine_memory(3, 16), host[2], all = 0, room;
    tmap_u32 *words;
    fold_job j;
    void *arguments[3];
    CHECK(tmap_each_fold_plan_make(f, r, 0, (const void *)fold_histogram, &plan));
    room = tmap_each_plan_places(&plan);
    words = (tmap_u32 *)engine_host(room * 4);
    j.in = engine_memory(0, room * 4), j.to.result = engine_memory(1, 64);
    fill<<<ENGINE_GRID>>>(room, 4, (void *)j.in);
    CHECK(cudaMemcpy(words, j.in, room * 4, cudaMemcpyDeviceToHost));
    memset(&want, 0, sizeof want);
    for (tmap_u64 i = 0; i < room; ++i) {
        tmap_xy64 cell;
        if (!engine_cell(&plan, i, &cell)) continue;
        ++want.bin[((const unsigned char *)words)[i] & 15];
        all += hash_of(words[i], cell.x, cell.y, i);
        if ((words[i] & bits) < want_least.value)
            want_least.value = words[i] & bits, want_least.x = (tmap_u32)cell.x,
            want_least.y = (tmap_u32)cell.y;
    }
    for (int loop = 0; loop < TMAP_EACH_LOOP_COUNT; ++loop) {
        if (tmap_each_plan_loop(&plan, loop)) continue;
        j.to.workspace = blocks_for(tmap_each_fold_bytes(&plan, sizeof got));
        CHECK(tmap_each_launch(&plan, &j, 0));
        CHECK(cudaMemcpy(&got, j.to.result, sizeof got, cudaMemcpyDeviceToHost));
        of_plan(&plan);
        expect(memcmp(&got, &want, sizeof got) == 0, "histogram");
    }
    CHECK(tmap_each_fold_plan_make(f, r, 0, (const void *)fold_smallest, &plan));
    j.to.workspace = blocks_for(tmap_each_fold_bytes(&plan, sizeof least));
    arguments[0] = &plan, arguments[1] = &j, arguments[2] = &bits;
    CHECK(cudaLaunchKernel(plan.kernel, dim3(plan.grid), dim3(plan.block), arguments, plan.shared,
                           0));
    CHECK(cudaMemcpy(&least, j.to.result, sizeof least, cudaMemcpyDeviceToHost));
    of_plan(&plan);
    expect(memcmp(&least, &want_least, sizeof least) == 0, "smallest");
    CHECK(tmap_each_fold_plan_make(f, r, 0, (const void *)fold_parts, &plan));
    for (int i = 0; i < 3; ++i) { // of whole warps in any shape
        const dim3 blocks[] = {dim3(plan.block), dim3(8, 12), dim3(32)};
        CHECK(cudaMemset(sums, 0, 16));
        fold_parts<<<3, blocks[i], plan.shared>>>(plan, j, sums);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpy(host, sums, 16, cudaMemcpyDeviceToHost));
        expect(host[0] == all && host[1] == all, "warps and blocks");
    }
}

// Rows so far apart that a tile's bytes do not fit 32 bits, 4 GB of them where there is so much.
static void run_far(void) {
    const tmap_nbb f = tmap_fractal_gasket();
    const tmap_u32 r = !kit_gpu || kit_tiny ? 1 : 6, side = 1u << r;
    const tmap_u64 pitch = 1ull << 26;
    tmap_each_plan plan;
    fold_job j;
    u8 *a;
    tmap_u64 got, want = 0;
    CHECK(tmap_each_fold_plan_make(f, r, pitch, (const void *)fold_u8, &plan));
    CHECK(tmap_each_plan_loop(&plan, TMAP_EACH_GROUPS));
    a = (u8 *)engine_memory(0, engine_room(&plan));
    for (tmap_u32 y = 0; y < side; ++y) {
        CHECK(cudaMemset(a + y * pitch, (int)y + 1, side));
        for (tmap_u32 x = 0; x < side; ++x)
            if (tmap_nbb_contains(f, x, y, r)) want += hash_of(y + 1, x, y, y * pitch + x);
    }
    j.in = a, j.to.result = engine_memory(1, 64),
    j.to.workspace = blocks_for(tmap_each_fold_bytes(&plan, 8));
    CHECK(tmap_each_launch(&plan, &j, 0));
    CHECK(cudaMemcpy(&got, j.to.result, 8, cudaMemcpyDeviceToHost));
    of_plan(&plan);
    expect(got == want, "rows far apart");
}

// ---- tmap_rd ------------------------------------------------------------------------------------

// Element i of a type, of a random word: as an integer or, for floats, as a double. Floats here are
// small multiples of 1/8: every order adds them up exactly.
static tmap_i64 rd_set(int type, void *host, tmap_u64 i, tmap_u32 h, double *real) {
    *real = 0;
    switch (type) {
    case TMAP_RD_I8: return ((signed char *)host)[i] = (signed char)h;
    case TMAP_RD_U8: return ((unsigned char *)host)[i] = (unsigned char)h;
    case TMAP_RD_I32: return ((int *)host)[i] = h % 4 ? (int)h : (int)0x80000000;
    case TMAP_RD_U32: return ((tmap_u32 *)host)[i] = h;
    case TMAP_RD_F32: *real = ((float *)host)[i] = (float)(int)(h % 20001) / 8 - 1000; return 0;
    default: *real = ((double *)host)[i] = (double)(int)(h % 2000001) / 8 - 100000; return 0;
    }
}

// Sums by definition, and by tmap_rd.
static void run_rd_type(tmap_nbb f, tmap_u32 r, tmap_u64 pitch, int loop, int type) {
    static const char *const names[] = {"i8", "u8", "i32", "tmap_u32", "f32", "f64"};
    const tmap_u64 sizes[] = {1, 1, 4, 4, 4, 8};
    tmap_each_plan plan;
    tmap_i64 want = 0, got[2];
    double want_real = 0, got_real;
    tmap_fold_to to;
    void *host, *a;
    tmap_u64 room;
    CHECK(tmap_rd_plan_make(f, r, pitch, type, &plan));
    if (tmap_each_plan_loop(&plan, loop)) return;
    room = tmap_each_plan_places(&plan);
    host = engine_host(room * sizes[type]), a = engine_memory(0, room * 8);
    for (tmap_u64 i = 0; i < room; ++i) {
        tmap_xy64 cell;
        double real;
        const tmap_i64 whole = rd_set(type, host, i, (tmap_u32)check_hash(i, 8), &real);
        if (engine_cell(&plan, i, &cell)) want += whole, want_real += real;
    }
    CHECK(cudaMemcpy(a, host, room * sizes[type], cudaMemcpyHostToDevice));
    to.workspace = blocks_for(tmap_each_fold_bytes(&plan, 8)), to.result = engine_memory(1, 64);
    for (int i = 0; i < 2; ++i) {
        CHECK(tmap_rd(&plan, a, to, 0));
        CHECK(cudaMemcpy(&got[i], to.result, 8, cudaMemcpyDeviceToHost));
    }
    memcpy(&got_real, got, 8);
    of_plan(&plan);
    expect(got[0] == got[1], "the same sum again");
    expect(type < 4 ? got[0] == want : got_real == want_real, names[type]);
}

static void run_rd(tmap_nbb f) {
    static const int turns[] = {0, 4, 1, 2, 5, 3};
    for (tmap_u32 r = 0, n = 0; engine_fits(f, r); ++r)
        for (int loop = 0; loop < TMAP_EACH_LOOP_COUNT; ++loop, ++n)
            run_rd_type(f, r, engine_pitch((int)n, tmap_nbb_side_x(f, r), loop), loop,
                        turns[n % 6]);
}

static tmap_fold_to to_of(void *workspace, void *result) {
    const tmap_fold_to to = {workspace, result};
    return to;
}

static void run_refusals(void) {
    const tmap_nbb f = tmap_fractal_gasket();
    tmap_each_plan plan, other, same;
    char *a = (char *)engine_memory(0, 4096), *sum = (char *)engine_memory(1, 64);
    char *blocks = (char *)blocks_for(4096);
    memset(&other, 0x77, sizeof other);
    same = other;
    CHECK(tmap_rd_plan_make(f, 3, 0, TMAP_RD_F64, &plan));
    of_plan(&plan);
    REFUSED(tmap_rd_plan_make(f, 3, 0, -1, &other));
    REFUSED(tmap_rd_plan_make(f, 3, 0, TMAP_RD_TYPE_COUNT, &other));
    REFUSED(tmap_rd_plan_make(f, 3, 7, TMAP_RD_I8, &other));
    REFUSED(tmap_rd_plan_make(tmap_nbb_make(3, 2, 2, 0x300, 0x110), 3, 0, TMAP_RD_I8, &other));
    for (tmap_u32 r = 21; r <= 22; ++r) // few cells, but 3^21 columns do not fit 32 bits
        RETURNS(tmap_rd_plan_make(tmap_fractal_cantor(), r, 0, TMAP_RD_I32, &other),
                cudaErrorInvalidConfiguration);
    expect(memcmp(&other, &same, sizeof same) == 0, "a refusal made a plan");
    REFUSED(tmap_rd(NULL, a, to_of(blocks, sum), 0));
    REFUSED(tmap_rd(&plan, NULL, to_of(blocks, sum), 0));
    REFUSED(tmap_rd(&plan, a, to_of(blocks, NULL), 0));
    REFUSED(tmap_rd(&plan, a, to_of(NULL, sum), 0));
    REFUSED(tmap_rd(&plan, a + 4, to_of(blocks, sum), 0));
    REFUSED(tmap_rd(&plan, a, to_of(blocks, sum + 4), 0));
    REFUSED(tmap_rd(&plan, a, to_of(blocks + 8, sum), 0));
    CHECK(tmap_each_fold_plan_make(f, 3, 0, (const void *)fold_u8, &other));
    REFUSED(tmap_rd(&other, a, to_of(blocks, sum), 0));
}

int main(void) {
    engine_begin();
    engine_memory(0, 64);
    // On the CPU machine with random orders of threads, which is slow, each order takes every third
    // fractal, and three orders take them all.
    const char *seed = getenv("SIMT_SEED");
    for (int i = 0; i < ENGINE_COUNT; ++i) {
        const tmap_nbb f = engine_fractal(i);
        if (kit_tiny && i % 4) continue;
        if (seed && i % 3 != atoi(seed) % 3) continue;
        run_fractal(i, f);
        run_rd(f);
    }
    if (check_turn()) run_accumulators(tmap_fractal_gasket(), !kit_gpu ? 5 : 8);
    if (check_turn()) run_accumulators(tmap_fractal_carpet(), !kit_gpu ? 3 : 5);
    run_far();
    run_refusals();
    return kit_end("test_fold");
}
