// SPDX-License-Identifier: MIT
// test_engines: tmap_each, tmap_each_into, tmap_each_update, tmap_each_fold and tmap_each_stencil
// by every loop and by the plans of every maker, for elements of 1 to 16 bytes, and
// tmap_each_stencil_words for words of 2 to 8, against the host, which takes cells and neighbours
// from replication: each cell once and nothing else, in matrices of any pitch and offset and in
// compact storage, blocks of any shape, and shares that add up; with the facts of every device. And
// folds with accumulators of 12 to 64 bytes, joined over warps, blocks and grids.
#include "fractal/plans.h"

// ---- what the kernels do ------------------------------------------------------------------------

// A visit adds this, an update and a stencil leave that, and a fold adds up hashes, so that a cell
// that is left out, taken twice or misnamed changes the result.
TMAP_FN tmap_u32 visit_of(tmap_u64 x, tmap_u64 y) { return (tmap_u32)(1 + 3 * x + 0x10001 * y); }
TMAP_FN tmap_u64 after(tmap_u64 value, tmap_u64 x, tmap_u64 y) { return value * 5 + 3 * x + y; }
TMAP_FN tmap_u64 hash_of(tmap_u64 value, tmap_u64 x, tmap_u64 y, tmap_u64 at) {
    return (value + 1) * 0x9e3779b97f4a7c15ull + (x << 17) * 31 + (y << 9) * 17 + at * 7;
}
TMAP_FN tmap_u64 mixed(tmap_u64 sum, tmap_u64 value) {
    return (sum ^ value) * 0x9e3779b97f4a7c15ull + (sum >> 29);
}
// Of the coordinates, of which places around a cell are cells, and of their values.
TMAP_FN tmap_u64 next_of(tmap_u64 x, tmap_u64 y, tmap_u32 around, const tmap_u64 *nine) {
    tmap_u64 sum = mixed(x << 20 ^ y, around);
    for (int i = 0; i < 9; ++i) sum = mixed(sum, nine[i]);
    return sum + 5;
}

typedef struct job {
    const void *in;
    void *out;
    tmap_fold_to to;
    tmap_u32 size; // of an element
} job;

static __device__ void visit(void *p, tmap_cell cell) {
    atomicAdd(&((tmap_u32 *)((job *)p)->out)[cell.at], visit_of(cell.x, cell.y));
}
static __device__ void dab(void *p, tmap_cell cell) {
    ((tmap_u32 *)((job *)p)->out)[cell.at] = visit_of(cell.x, cell.y);
}
static __device__ void use(void *p, tmap_cell cell, const void *value) {
    const job *j = (const job *)p;
    engine_set(j->out, cell.at, j->size, after(engine_get(value, 0, j->size), cell.x, cell.y));
}
static __device__ void add(void *p, void *sum, tmap_cell cell, const void *value) {
    const tmap_u64 word = engine_get(value, 0, ((const job *)p)->size);
    *(tmap_u64 *)sum += hash_of(word, cell.x, cell.y, cell.at);
}
static __device__ void join(void *p, void *sum, const void *other) {
    (void)p;
    *(tmap_u64 *)sum += *(const tmap_u64 *)other;
}
static __device__ void rule(void *p, tmap_cell cell, tmap_u32 around, const void *nine,
                            void *next) {
    const tmap_u32 size = ((const job *)p)->size;
    tmap_u64 value[9];
    for (int i = 0; i < 9; ++i) value[i] = engine_get(nine, (tmap_u64)i, size);
    engine_set(next, 0, size, next_of(cell.x, cell.y, around, value));
}
// Heat in whole numbers, as the example of stencil.h: of four neighbours alone.
static __device__ void flow(void *p, tmap_cell cell, tmap_u32 around, const void *nine,
                            void *next) {
    const tmap_u32 *v = (const tmap_u32 *)nine, here = v[TMAP_HERE];
    tmap_u32 sum = 0;
    (void)p, (void)cell;
    if (around >> TMAP_NORTH & 1) sum += v[TMAP_NORTH] - here;
    if (around >> TMAP_WEST & 1) sum += v[TMAP_WEST] - here;
    if (around >> TMAP_EAST & 1) sum += v[TMAP_EAST] - here;
    if (around >> TMAP_SOUTH & 1) sum += v[TMAP_SOUTH] - here;
    *(tmap_u32 *)next = here * 8 + sum;
}

static __global__ void __launch_bounds__(512, 2) visit_cells(tmap_each_plan plan, job j) {
    tmap_each(&plan, visit, &j);
}
static __global__ void __launch_bounds__(512, 2) paint_cells(tmap_each_plan plan, job j) {
    const tmap_array out = {j.out, 4};
    tmap_each_into(&plan, dab, out, &j);
}
static __global__ void __launch_bounds__(512, 2) heat_cells(tmap_each_plan plan, job j) {
    const tmap_array in = {j.in, 4};
    tmap_each_stencil(&plan, in, flow, j.out, &j);
}
// The kernels of one type of element.
#define ENGINES_OF(type) \
    static __device__ void read_##type(void *p, tmap_cell cell, void *value) { \
        *(type *)value = ((const type *)((job *)p)->in)[cell.at]; \
    } \
    static __global__ void __launch_bounds__(512, 2) update_##type(tmap_each_plan plan, job j) { \
        j.size = sizeof(type); \
        tmap_each_update(&plan, read_##type, use, &j); \
    } \
    static __global__ void __launch_bounds__(512, 1) stencil_##type(tmap_each_plan plan, job j) { \
        const tmap_array in = {j.in, sizeof(type)}; \
        j.size = sizeof(type); \
        tmap_each_stencil(&plan, in, rule, j.out, &j); \
    }
#define FOLD_OF(type) \
    static __global__ void __launch_bounds__(512, 2) fold_##type(tmap_each_plan plan, job j) { \
        const tmap_u64 zero = 0; \
        const tmap_array in = {j.in, sizeof(type)}; \
        const tmap_fold fold = {&zero, sizeof zero, join}; \
        j.size = sizeof(type); \
        tmap_each_fold(&plan, in, add, fold, j.to, &j); \
    }
typedef unsigned char u8;
typedef unsigned short u16;
ENGINES_OF(u8)
ENGINES_OF(u16)
ENGINES_OF(tmap_u32)
ENGINES_OF(tmap_u64)
ENGINES_OF(engine_big)
FOLD_OF(u8)
FOLD_OF(u16)
FOLD_OF(tmap_u32)
FOLD_OF(tmap_u64)

enum { PAINT = ENGINES, HEAT, KERNELS };
#define KERNELS_OF(type, fold_type) \
    { \
        (const void *)visit_cells, (const void *)update_##type, (const void *)fold_##fold_type, \
            (const void *)stencil_##type, (const void *)paint_cells, (const void *)heat_cells \
    }
static const void *const kernels[5][KERNELS] = {
    KERNELS_OF(u8, u8), KERNELS_OF(u16, u16), KERNELS_OF(tmap_u32, tmap_u32),
    KERNELS_OF(tmap_u64, tmap_u64), KERNELS_OF(engine_big, tmap_u64)};
static const int makers[KERNELS] = {VISIT, UPDATE, FOLD, STENCIL, VISIT, STENCIL};

// ---- a case -------------------------------------------------------------------------------------

// The elements that the kernel leaves in `want`, of those in `in`; of a fold the sum.
static tmap_u64 wanted(int kernel, const tmap_each_plan *plan, const cells *c, tmap_u32 size,
                       const void *in, void *want) {
    tmap_u64 sum = 0;
    for (int i = 0; i < c->count; ++i) {
        const tmap_u64 at = cells_at(c, plan, i), x = (tmap_u64)c->x[i], y = (tmap_u64)c->y[i];
        const tmap_u64 here = engine_get(in, at, size);
        tmap_u64 nine[9] = {0}, heat = 8 * here;
        tmap_u32 around = 0;
        for (int p = 0; p < 9 && makers[kernel] == STENCIL; ++p) {
            const int n = c->near[i][p];
            if (n < 0) continue;
            nine[p] = engine_get(in, cells_at(c, plan, n), size), around |= 1u << p;
            if (p % 2) heat += nine[p] - here;
        }
        sum += hash_of(here, x, y, at);
        if (kernel == FOLD) continue;
        engine_set(want, at, size,
                   kernel == UPDATE    ? after(here, x, y)
                   : kernel == STENCIL ? next_of(x, y, around, nine)
                   : kernel == HEAT    ? heat
                                       : visit_of(x, y));
    }
    return sum;
}

// Launches of a fold: whole, and in two shares, as the workspace is cleared once.
static void run_fold(const tmap_each_plan *plan, job *j, tmap_u64 cut, tmap_u64 want) {
    const tmap_u64 counts[] = {plan->items, cut, plan->items - cut};
    tmap_u64 got[3];
    j->to.workspace = kit_device(tmap_each_fold_bytes(plan, 8));
    j->to.result = kit_guarded(8);
    CHECK(cudaMemset(j->to.workspace, 0, 16));
    for (int i = 0; i < 3; ++i) {
        tmap_each_plan share = *plan;
        CHECK(tmap_each_plan_share(&share, i == 2 ? cut : 0, counts[i]));
        CHECK(tmap_each_launch(&share, j, 0));
        CHECK(cudaMemcpy(&got[i], j->to.result, 8, cudaMemcpyDeviceToHost));
    }
    expect(got[0] == want && got[1] + got[2] == want, "the sums of all and of shares");
}

// A kernel by a plan of `maker`; loop: -1 leaves the maker's.
static void run(int kernel, int type, int maker, tmap_u64 pitch, int loop, const cells *c) {
    static const dim3 shapes[] = {dim3(32), dim3(32, 8), dim3(8, 9), dim3(3, 5, 7)};
    const tmap_u32 bytes_of[] = {1, 2, 4, 8, kernel == FOLD ? 8u : 16u}; // an element of a type
    const tmap_u32 size = kernel == VISIT || kernel >= PAINT ? 4 : bytes_of[type];
    const int mark = kit_mark(), poison = kernel == VISIT || kernel == PAINT ? 0 : 0x5a;
    tmap_each_plan plan;
    CHECK(engine_plan(maker, c->f, c->r, pitch, kernels[type][kernel], &plan));
    of_plan(&plan);
    if (maker == STENCIL)
        expect(plan.loop == (pitch == TMAP_COMPACT ? TMAP_EACH_COMPACT : TMAP_EACH_COLUMNS),
               "the loop of a stencil");
    if (loop >= 0 && tmap_each_plan_loop(&plan, loop)) {
        expect(loop == TMAP_EACH_ROWS && c->r > tmap_rows_level_max(c->f), "a loop");
        return;
    }
    expect(loop < 0 || (plan.loop == (tmap_u32)loop && plan.count == plan.items), "a loop");
    plan.offset = below(2) ? below(70) : 0;
    const tmap_u64 n = plan.offset + tmap_each_plan_places(&plan), bytes = n * size;
    const tmap_u64 skip = kernel == UPDATE ? 0 : below(4), cut = below(plan.items + 1);
    unsigned char *host = (unsigned char *)kit_host(skip * size + bytes), *in = host + skip * size;
    unsigned char *want = (unsigned char *)memset(kit_host(bytes), poison, bytes);
    for (tmap_u64 i = 0; i < n; ++i) engine_set(in, i, size, check_hash(i, 3));
    if (kernel == UPDATE) memcpy(want, in, bytes);
    const tmap_u64 sum = wanted(kernel, &plan, c, size, in, want);
    // what is read ends with its memory, so that a sanitizer sees a read behind it
    job j = {(char *)kit_to_device(host, skip * size + bytes) + skip * size,
             kit_guarded(bytes),
             {0, 0},
             size};
    if (kernel == UPDATE) { // in place
        CHECK(cudaMemcpy(j.out, in, bytes, cudaMemcpyHostToDevice));
        j.in = j.out;
    }
    of_plan(&plan);
    kit_more(", kernel %d of elements of %u bytes, maker %d, dense %u", kernel, size, maker,
             plan.dense);
    if (kernel == FOLD) run_fold(&plan, &j, cut, sum);
    const int by_shapes = kernel == VISIT && below(3) == 0;
    for (int turn = 0; turn < (kernel == STENCIL || by_shapes ? 2 : 1) && kernel != FOLD; ++turn) {
        if (kernel != UPDATE) CHECK(cudaMemset(j.out, poison, bytes));
        if (kernel == STENCIL && maker == STENCIL) plan.dense = (tmap_u32)turn;
        for (int part = 0; part < 2 && !(turn && by_shapes); ++part) {
            tmap_each_plan share = plan;
            CHECK(tmap_each_plan_share(&share, part ? cut : 0, part ? plan.items - cut : cut));
            CHECK(tmap_each_launch(&share, &j, 0));
        }
        if (turn && by_shapes) {
            // blocks of other shapes than the plan's, as a user may launch them
            void *arguments[] = {&plan, &j};
            CHECK(cudaLaunchKernel(plan.kernel, dim3(3), shapes[below(COUNT(shapes))], arguments,
                                   plan.shared, 0));
        }
        expect(memcmp(kit_to_host(j.out, bytes), want, bytes) == 0, "every cell once");
    }
    kit_release(mark);
}

// ---- words of one bit per cell ------------------------------------------------------------------

// The rule and the kernel for words of one type. j.size: the cells of a word; others stay 0.
#define WORDS_OF(type) \
    static __device__ void word_##type(void *p, tmap_cell cell, tmap_u32, const void *nine, \
                                       void *next) { \
        tmap_u64 value[9]; \
        for (int i = 0; i < 9; ++i) value[i] = ((const type *)nine)[i]; \
        *(type *)next = (type)(next_of(cell.x, cell.y, (tmap_u32)cell.at, value) & \
                               ~0ull >> (64 - ((const job *)p)->size)); \
    } \
    static __global__ void __launch_bounds__(512, 1) words_##type(tmap_each_plan plan, job j) { \
        const tmap_array in = {j.in, sizeof(type)}; \
        tmap_each_stencil_words(&plan, in, word_##type, j.out, &j); \
    }
WORDS_OF(u16)
WORDS_OF(tmap_u32)
WORDS_OF(tmap_u64)

// tmap_each_stencil_words in two shares: each word once, computed from the right bits, and nothing
// else. Its plans take no other loop.
static void run_words(const cells *c) {
    const tmap_compact_word word = tmap_compact_word_of(c->f, c->r);
    const void *kernel = word.bytes == 2   ? (const void *)words_u16
                         : word.bytes == 4 ? (const void *)words_tmap_u32
                                           : (const void *)words_tmap_u64;
    const tmap_u64 words = (tmap_u64)c->count / word.cells;
    const int mark = kit_mark();
    const cells sheet = cells_make(c->f, c->r - word.level);
    tmap_each_plan plan;
    CHECK(tmap_each_plan_make(TMAP_EACH_WORDS, c->f, c->r, TMAP_COMPACT, kernel, &plan));
    for (int loop = 0; loop < TMAP_EACH_LOOP_COUNT; ++loop)
        RETURNS(tmap_each_plan_loop(&plan, loop),
                loop == TMAP_EACH_COMPACT ? cudaSuccess : cudaErrorInvalidConfiguration);
    plan.offset = below(2) ? below(70) : 0;
    const tmap_u64 all = plan.offset + words, cut = below(plan.items + 1);
    tmap_u64 *bits = (tmap_u64 *)kit_zeroed(words * 8);
    unsigned char *in = (unsigned char *)kit_zeroed(all * word.bytes);
    unsigned char *want =
        (unsigned char *)memset(kit_host(all * word.bytes), KIT_POISON, all * word.bytes);
    for (int i = 0; i < c->count; ++i)
        bits[(tmap_u64)i % words] |= (tmap_u64)(check_hash((tmap_u64)i, 5) & 1)
                                     << (tmap_u64)i / words;
    for (tmap_u64 w = 0; w < words; ++w) {
        tmap_u64 nine[9] = {0};
        for (tmap_u32 b = 0; b < word.cells; ++b)
            for (int n = 0; n < 9; ++n) {
                const int near = c->near[b * words + w][n];
                if (near >= 0)
                    nine[n] |= (bits[(tmap_u64)near % words] >> (tmap_u64)near / words & 1) << b;
            }
        engine_set(in, plan.offset + w, word.bytes, bits[w]);
        engine_set(
            want, plan.offset + w, word.bytes,
            next_of((tmap_u64)sheet.x[w], (tmap_u64)sheet.y[w], (tmap_u32)(plan.offset + w), nine) &
                ~0ull >> (64 - word.cells));
    }
    const job j = {
        kit_to_device(in, all * word.bytes), kit_guarded(all * word.bytes), {0, 0}, word.cells};
    for (int part = 0; part < 2; ++part) {
        tmap_each_plan share = plan;
        CHECK(tmap_each_plan_share(&share, part ? cut : 0, part ? plan.items - cut : cut));
        CHECK(tmap_each_launch(&share, &j, 0));
    }
    of_plan(&plan);
    kit_more(", words of %u cells", word.cells);
    expect(memcmp(kit_to_host(j.out, all * word.bytes), want, all * word.bytes) == 0,
           "every word once");
    kit_release(mark);
}

// ---- accumulators of other sizes, and joins of warps and blocks ---------------------------------

// How many cells have each of 16 values: 64 bytes.
typedef struct histogram {
    tmap_u32 bin[16];
} histogram;

static __device__ void add_histogram(void *p, void *sum, tmap_cell cell, const void *value) {
    (void)p, (void)cell;
    ++((histogram *)sum)->bin[*(const unsigned char *)value & 15];
}
static __device__ void join_histograms(void *p, void *sum, const void *other) {
    (void)p;
    for (int i = 0; i < 16; ++i) ((histogram *)sum)->bin[i] += ((const histogram *)other)->bin[i];
}
static __global__ void __launch_bounds__(256) fold_histogram(tmap_each_plan plan, job j) {
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

TMAP_FN void take_smaller(smallest *a, smallest b) {
    if (b.value < a->value || (b.value == a->value && (b.y < a->y || (b.y == a->y && b.x < a->x))))
        *a = b;
}
static __device__ void add_smallest(void *p, void *sum, tmap_cell cell, const void *value) {
    const tmap_u32 bits = *(const tmap_u32 *)p;
    const smallest here = {*(const tmap_u32 *)value & bits, cell.x, cell.y};
    take_smaller((smallest *)sum, here);
}
static __device__ void join_smallest(void *p, void *sum, const void *other) {
    (void)p;
    take_smaller((smallest *)sum, *(const smallest *)other);
}
static __global__ void __launch_bounds__(512, 2)
    fold_smallest(tmap_each_plan plan, job j, tmap_u32 bits) {
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
static __device__ void read_part(void *p, tmap_cell cell, void *value) {
    *(tmap_u32 *)value = ((part *)p)->in[cell.at];
}
static __device__ void use_part(void *p, tmap_cell cell, const void *value) {
    ((part *)p)->sum += hash_of(*(const tmap_u32 *)value, cell.x, cell.y, cell.at);
}
static __global__ void __launch_bounds__(512)
    fold_parts(tmap_each_plan plan, job j, tmap_u64 *sums) {
    __shared__ tmap_u64 scratch[16];
    const tmap_u64 zero = 0;
    const tmap_fold fold = {&zero, sizeof zero, join};
    part mine = {(const tmap_u32 *)j.in, 0};
    tmap_u64 same;
    tmap_each_update(&plan, read_part, use_part, &mine);
    same = mine.sum;
    tmap_fold_warp(&mine.sum, fold, 0);
    if (tmap_thread_rank() % 32 == 0) atomicAdd(&sums[0], mine.sum);
    tmap_fold_block(&same, fold, 0, scratch);
    if (tmap_thread_rank() == 0) atomicAdd(&sums[1], same);
}

// By every loop, of elements at random.
static void run_accumulators(tmap_nbb f, tmap_u32 r) {
    const cells c = cells_make(f, r);
    histogram want, *got = (histogram *)kit_guarded(sizeof want);
    smallest least = {~0u, ~0u, ~0u};
    tmap_u32 bits = 0xff;
    tmap_u64 *sums = (tmap_u64 *)kit_guarded(16), all = 0;
    tmap_each_plan plan;
    CHECK(tmap_each_plan_make(TMAP_EACH_FOLD, f, r, 0, (const void *)fold_histogram, &plan));
    const tmap_u64 places = tmap_each_plan_places(&plan);
    tmap_u32 *words = (tmap_u32 *)kit_host(places * 4);
    for (tmap_u64 i = 0; i < places; ++i) words[i] = (tmap_u32)check_hash(i, 6);
    job j = {kit_to_device(words, places * 4), 0, {0, got}, 4};
    memset(&want, 0, sizeof want);
    for (int i = 0; i < c.count; ++i) {
        const tmap_u64 at = cells_at(&c, &plan, i);
        const smallest here = {words[at] & bits, (tmap_u32)c.x[i], (tmap_u32)c.y[i]};
        ++want.bin[((const unsigned char *)words)[at] & 15];
        all += hash_of(words[at], here.x, here.y, at);
        take_smaller(&least, here);
    }
    for (int loop = 0; loop < TMAP_EACH_LOOP_COUNT; ++loop) {
        if (tmap_each_plan_loop(&plan, loop)) continue;
        j.to.workspace = kit_guarded(tmap_each_fold_bytes(&plan, sizeof want));
        CHECK(cudaMemset(j.to.workspace, 0, 16));
        CHECK(tmap_each_launch(&plan, &j, 0));
        of_plan(&plan);
        expect(memcmp(kit_to_host(got, sizeof want), &want, sizeof want) == 0, "histogram");
    }
    CHECK(tmap_each_plan_make(TMAP_EACH_FOLD, f, r, 0, (const void *)fold_smallest, &plan));
    j.to.workspace = kit_guarded(tmap_each_fold_bytes(&plan, sizeof least));
    CHECK(cudaMemset(j.to.workspace, 0, 16));
    void *arguments[] = {&plan, &j, &bits};
    CHECK(cudaLaunchKernel(plan.kernel, dim3(plan.grid), dim3(plan.block), arguments, plan.shared,
                           0));
    of_plan(&plan);
    expect(memcmp(kit_to_host(got, sizeof least), &least, sizeof least) == 0, "smallest");
    CHECK(tmap_each_plan_make(TMAP_EACH_FOLD, f, r, 0, (const void *)fold_parts, &plan));
    for (int i = 0; i < 3; ++i) { // of whole warps in any shape
        const dim3 blocks[] = {dim3(plan.block), dim3(8, 12), dim3(32)};
        CHECK(cudaMemset(sums, 0, 16));
        fold_parts<<<3, blocks[i], plan.shared>>>(plan, j, sums);
        CHECK(cudaGetLastError());
        const tmap_u64 *host = (const tmap_u64 *)kit_to_host(sums, 16);
        expect(host[0] == all && host[1] == all, "warps and blocks");
    }
    kit_release(0);
}

// Rows so far apart that a tile's bytes do not fit 32 bits, 4 GB of them where there is so much.
static void run_far(void) {
    const tmap_nbb f = tmap_fractal_gasket();
    const tmap_u32 r = !kit_gpu || kit_tiny ? 1 : 6;
    const tmap_u64 pitch = 1ull << 26;
    const cells c = cells_make(f, r);
    tmap_each_plan plan;
    tmap_u64 want = 0;
    CHECK(tmap_each_plan_make(TMAP_EACH_FOLD, f, r, pitch, kernels[0][FOLD], &plan));
    CHECK(tmap_each_plan_loop(&plan, TMAP_EACH_GROUPS));
    unsigned char *a = (unsigned char *)kit_device(tmap_each_plan_places(&plan));
    job j = {a, 0, {kit_guarded(tmap_each_fold_bytes(&plan, 8)), kit_guarded(8)}, 1};
    CHECK(cudaMemset(j.to.workspace, 0, 16));
    for (int y = 0; y < c.height; ++y)
        CHECK(cudaMemset(a + (tmap_u64)y * pitch, y + 1, (size_t)c.width));
    for (int i = 0; i < c.count; ++i)
        want += hash_of((tmap_u64)c.y[i] + 1, (tmap_u64)c.x[i], (tmap_u64)c.y[i],
                        cells_at(&c, &plan, i));
    CHECK(tmap_each_launch(&plan, &j, 0));
    of_plan(&plan);
    expect(*(const tmap_u64 *)kit_to_host(j.to.result, 8) == want, "rows far apart");
    kit_release(0);
}

// ---- all of it ----------------------------------------------------------------------------------

// Every kernel by every loop of its own maker's plans.
static void run_loops(int n, tmap_nbb f) {
    for (tmap_u32 r = 0; engine_fits(f, r); ++r) {
        const cells c = cells_make(f, r);
        for (int loop = 0; loop < TMAP_EACH_LOOP_COUNT; ++loop, ++n)
            for (int kernel = 0; kernel < KERNELS; ++kernel) {
                const tmap_u64 pitch = engine_pitch(n, (tmap_u64)c.width, loop);
                const int stencil = makers[kernel] == STENCIL, type = n % 5;
                if (c.count < 30 && (kernel + n) % 2) continue; // little can go wrong
                // by other loops than that of tiles a rule is called cell by cell: slow
                if (stencil && loop != TMAP_EACH_COLUMNS && loop != TMAP_EACH_COMPACT && r > 2)
                    continue;
                run(kernel, type, makers[kernel], pitch, loop, &c);
            }
        kit_release(0);
    }
}

// Kernels by the plans of other makers, at the last level that is small.
static void run_makers(tmap_nbb f) {
    const tmap_u64 most = kit_tiny ? 300 : !kit_gpu ? 700 : 5000;
    tmap_u32 top = 0;
    while (top < 8 && tmap_nbb_cells(f, top + 1) <= most && engine_fits(f, top + 1)) ++top;
    const tmap_u32 r = top - (tmap_u32)below(top < 2 ? 1 : 2);
    const cells c = cells_make(f, r);
    run_words(&c);
    for (int maker = 0; maker < ENGINES; ++maker) {
        run((int)below(ENGINES), (int)below(5), maker, random_pitch(f, r), -1, &c);
        run(STENCIL, (int)below(5), maker, random_pitch(f, r), -1, &c);
    }
    kit_release(0);
}

int main(void) {
    engine_begin();
    for (int i = 0; i < ENGINE_COUNT; ++i)
        if ((!kit_tiny || i % 4 == 0) && check_turn()) run_loops(i, engine_fractal(i));
    for (size_t device = 0; device < device_count(); ++device) {
        device_set(device, 3);
        for (int i = 0; i < ENGINE_COUNT; ++i)
            if ((!kit_tiny || i % 4 == 0) && (i + (int)device) % 2 == 0 && check_turn())
                run_makers(engine_fractal(i)); // every other device takes the same fractals
    }
    device_reset();
    if (check_turn()) run_accumulators(tmap_fractal_gasket(), !kit_gpu ? 5 : 8);
    if (check_turn()) run_accumulators(tmap_fractal_carpet(), !kit_gpu ? 3 : 5);
    if (check_turn()) run_far();
    return kit_end("test_engines");
}
