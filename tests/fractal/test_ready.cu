// SPDX-License-Identifier: MIT
// test_ready: every ready kernel over the cells of a fractal against its rule on the host, which
// takes cells and neighbours from replication: states after a step of tmap_sw, tmap_ca,
// tmap_diffusion, tmap_ising and moves between matrices and compact storage; the sums of tmap_rd
// and tmap_ising_measure; and words of tmap_compact_life. All fractals, levels, types and storages,
// at any offset, whole and in two shares, in launches of several shapes, with the facts of every
// device.
#include "fractal/plans.h"
#include <math.h>

// A case: cells, a plan and what the rule depends on. Some shares of it have been launched.
typedef struct round_of {
    const cells *c;
    client k;
    tmap_u64 salt;
    int odd, shape; // shape: of the launch, 0 is what the plan's maker chose
    tmap_ca_rule rule;
    double rate, temperature;
    int *order;          // the cells in the order of the plan's items
    unsigned char *done; // of each cell
    tmap_u64 *in, *out;  // the elements of each cell
    tmap_u64 in_room, room;
} round_of;

static const cells *sorted; // for comparisons
static int by_rows(const void *a, const void *b) {
    const int i = *(const int *)a, j = *(const int *)b;
    const int y = sorted->y[i] - sorted->y[j];
    return y ? y : sorted->x[i] - sorted->x[j];
}

// The place of cell i in a matrix.
static tmap_u64 matrix_at(const cells *c, tmap_u64 offset, tmap_u64 pitch, int i) {
    return offset + (tmap_u64)c->y[i] * pitch + (tmap_u64)c->x[i];
}

static const tmap_ca_rule rules[] = {{8, 12}, // Life
                                     {1u << 1 | 1u << 2, 1u << 0 | 1u << 8 | 1u << 3},
                                     {1u << 1 | 1u << 2 | 1u << 4, 1u << 0 | 1u << 3 | 1u << 8},
                                     {0x1, 0x1ff}, // the lonely are born, all stay
                                     {0x0aa, 0x155},
                                     {0x1d5, 0x02f}};

// A plan of the maker at a random offset, for `all`, which are the cells of its fractal and level.
static void round_make(round_of *o, int maker, tmap_u32 turn, tmap_u64 pitch, const cells *all) {
    static const double temperatures[] = {2, 1, 0, 0.5, 5, (double)INFINITY};
    static const double rates[] = {0.25, 0.2, 1.0 / 6, -0.1, 3};
    const tmap_u64 other = below(7);
    o->c = all, o->salt = below(1u << 30), o->odd = (int)below(2);
    o->rule = rules[below(COUNT(rules))], o->rate = rates[below(COUNT(rates))];
    o->temperature = temperatures[below(COUNT(temperatures))];
    CHECK(client_make(maker, turn, all->f, all->r, pitch, NULL, &o->k));
    tmap_each_plan *plan = o->k.plan;
    of_plan(plan);
    if (maker == CA && o->k.size == 1)
        expect(o->k.ca.by_sectors ==
                   (plan->pitch == (tmap_u64)all->width && tmapi_life_fits(all->f, all->r)),
               "an automaton by sectors");
    if (maker == SW || maker == RD)
        (void)tmap_each_plan_loop(plan, (int)below(TMAP_EACH_LOOP_COUNT));
    o->shape = below(3) ? 0 : (int)below(CELLS_SHAPES);
    if (maker != DIFFUSION && maker != ISING && maker != MEASURE) o->shape = 0;
    if (o->shape == 1 && all->count > 1000) o->shape = 0; // slow, cell by cell
    (void)cells_shape(plan, o->shape);
    plan->offset = below(2) ? below(70) : 0;
    o->in_room = o->room = plan->offset + tmap_each_plan_places(plan);
    if (maker == LOAD || maker == STORE) {
        const tmap_u64 compact_room = plan->offset + (tmap_u64)all->count;
        const tmap_u64 matrix_room = other + o->k.matrix.pitch * (tmap_u64)all->height;
        o->k.matrix.offset = other;
        o->in_room = maker == STORE ? compact_room : matrix_room;
        o->room = maker == STORE ? matrix_room : compact_room;
    }
    o->order = (int *)kit_host((tmap_u64)all->count * sizeof(int));
    o->done = (unsigned char *)kit_zeroed((tmap_u64)all->count);
    o->in = (tmap_u64 *)kit_host((tmap_u64)all->count * 8);
    o->out = (tmap_u64 *)kit_host((tmap_u64)all->count * 8);
    for (int i = 0; i < all->count; ++i) {
        o->order[i] = i;
        o->in[i] = o->out[i] = cells_at(all, plan, i);
        if (maker == LOAD) o->in[i] = matrix_at(all, other, o->k.matrix.pitch, i);
        if (maker == STORE) o->out[i] = matrix_at(all, other, o->k.matrix.pitch, i);
    }
    sorted = all;
    if (plan->loop == TMAP_EACH_ROWS) qsort(o->order, (size_t)all->count, sizeof(int), by_rows);
}

static void round_share(round_of *o, tmap_u64 first, tmap_u64 count) {
    const tmap_u64 of_item = tmap_nbb_cells(o->k.plan->f, o->k.plan->tile_level);
    CHECK(tmap_each_plan_share(o->k.plan, first, count));
    for (tmap_u64 i = first * of_item; i < (first + count) * of_item; ++i) o->done[o->order[i]] = 1;
}

// Counts the elements that the launches of the shares have not left as they should: `want` in their
// cells, `poison` elsewhere, or 0 between the cells of an automaton's matrix. at: where the cells
// are.
static int round_wrong(const round_of *o, const tmap_u64 *at, const unsigned char *want, int poison,
                       const unsigned char *got) {
    const tmap_u32 size = o->k.size;
    const int zeros = o->k.maker == CA && o->k.plan->pitch != TMAP_COMPACT;
    const tmap_u64 from = o->k.plan->offset, to = from + tmap_each_plan_places(o->k.plan);
    unsigned char *right = (unsigned char *)kit_host(o->room * size);
    unsigned char *cell = (unsigned char *)kit_zeroed(o->room);
    int wrong = 0;
    memset(right, poison, o->room * size);
    for (int i = 0; i < o->c->count; ++i) {
        cell[at[i]] = 1;
        if (o->done[i]) memcpy(right + at[i] * size, want + (tmap_u64)i * size, size);
    }
    for (tmap_u64 i = 0; i < o->room; ++i) {
        const int may_be_zero = zeros && i >= from && i < to && !cell[i];
        wrong += memcmp(got + i * size, right + i * size, size) != 0 &&
                 !(may_be_zero && kit_all(got + i * size, size, 0));
    }
    return wrong;
}

// ---- rules --------------------------------------------------------------------------------------

static double value_of(const unsigned char *cell, tmap_u32 size) {
    double d;
    float s;
    if (size == 8) return memcpy(&d, cell, sizeof d), d;
    return memcpy(&s, cell, sizeof s), (double)s;
}
static void set_value(unsigned char *cell, double value, tmap_u32 size) {
    const float s = (float)value;
    memcpy(cell, size == 8 ? (const void *)&value : (const void *)&s, size);
}

// What cell i holds before, at random. Numbers that are added up are small multiples of 1/8: exact.
static void cell_before(const round_of *o, tmap_u64 i, unsigned char *bytes) {
    const client *k = &o->k;
    const tmap_u64 h = check_hash(i, o->salt);
    for (tmap_u32 b = 0; b < k->size; ++b) bytes[b] = (unsigned char)((h >> b % 8 * 8) + b);
    if (k->maker == CA) { // alive: 1, or any byte but 0
        memset(bytes, 0, k->size);
        if (o->salt % 2)
            bytes[0] = h % 3 == 0;
        else
            bytes[h % k->size] = h % 3 == 0 ? (unsigned char)(1 + h % 255) : 0;
    }
    if (k->maker == ISING || k->maker == MEASURE) bytes[0] = h % 3 ? 1 : 0xff; // most are up
    if (k->maker == DIFFUSION) set_value(bytes, (double)(h % 100000) / 7 - 3000, k->size);
    if (k->maker == RD && k->type >= TMAP_RD_F32)
        set_value(bytes, (double)(int)(h % 20001) / 8 - 1000, k->size);
}

// What it holds after half a sweep of spins.
static unsigned char spin_after(const round_of *o, int i, int odd, const unsigned char *before) {
    const tmap_philox_words counter = {(tmap_u32)i, 0, (tmap_u32)o->salt, 0x1234};
    const tmap_philox_words w = tmap_philox_4x32(counter, o->salt * 0x100000007ull);
    const signed char here = (signed char)before[i];
    int h = 0;
    for (int p = 1; p < 9; p += 2)
        if (o->c->near[i][p] >= 0) h += here * (signed char)before[o->c->near[i][p]];
    // the chance is that of the definition, in floating point
    const int turns =
        h <= 0 || ldexp(w.b * 4294967296.0 + w.a, -64) < exp(-2.0 * h / o->temperature);
    return (unsigned char)((o->c->x[i] + o->c->y[i]) % 2 == odd && turns ? -here : here);
}

static void cell_after(const round_of *o, int i, const unsigned char *before,
                       unsigned char *after) {
    const client *k = &o->k;
    const unsigned char *here = before + (tmap_u64)i * k->size;
    const int *near = o->c->near[i];
    memcpy(after, here, k->size);
    if (k->maker == SW)
        for (tmap_u32 b = 0; b < k->size; ++b) after[b] = (unsigned char)(0xc3 + 5 * b);
    if (k->maker == ISING) *after = spin_after(o, i, o->odd, before);
    if (k->maker == CA) {
        int living = 0;
        for (int p = 0; p < 9; ++p)
            living += p != 4 && near[p] >= 0 &&
                      !kit_all(before + (tmap_u64)near[p] * k->size, k->size, 0);
        const tmap_u32 rule = kit_all(here, k->size, 0) ? o->rule.born : o->rule.survive;
        memset(after, 0, k->size), after[0] = rule >> living & 1;
    }
    if (k->maker == DIFFUSION) { // in the arithmetic of its type
        const double value = value_of(here, k->size);
        double sum = 0;
        float narrow = 0;
        for (int p = 1; p < 9; p += 2) {
            if (near[p] < 0) continue;
            const double other = value_of(before + (tmap_u64)near[p] * k->size, k->size);
            sum += other - value, narrow += (float)other - (float)value;
        }
        set_value(after,
                  k->size == 8 ? fma(o->rate, sum, value)
                               : (double)fmaf((float)o->rate, narrow, (float)value),
                  k->size);
    }
}

// ---- states -------------------------------------------------------------------------------------

static tmap_ising_sweep sweep_of(const round_of *o) {
    const tmap_ising_sweep sweep = {o->temperature, o->salt * 0x100000007ull,
                                    o->salt | 0x123400000000ull};
    return sweep;
}

static cudaError_t round_launch(const round_of *o, const void *in, void *out) {
    const client *k = &o->k;
    unsigned char value[16];
    for (int b = 0; b < 16; ++b) value[b] = (unsigned char)(0xc3 + 5 * b);
    switch (k->maker) {
    case SW: return tmap_sw(k->plan, value, out, 0);
    case CA: return tmap_ca(&k->ca, o->rule, in, out, 0);
    case DIFFUSION: return tmap_diffusion(k->plan, o->rate, in, out, 0);
    case ISING: return tmap_ising_half(&k->ising, sweep_of(o), o->odd, in, out, 0);
    case LOAD: return tmap_compact_matrix_load(&k->matrix, in, out, 0);
    default: return tmap_compact_matrix_store(&k->matrix, in, out, 0);
    }
}

// A step of one or two matrices or compact states, anywhere in memory: of one share, which is to
// leave the rest alone, of the other, and of all at once. Between cells the input is no number.
static void run_state(round_of *o) {
    const client *k = &o->k;
    const tmap_u64 skip = below(2) ? below(3) : below(64),
                   cells_bytes = (tmap_u64)o->c->count * k->size;
    const tmap_u64 cut = below(k->plan->items + 1), bytes = o->room * k->size;
    unsigned char *before = (unsigned char *)kit_host(cells_bytes);
    unsigned char *want = (unsigned char *)kit_host(cells_bytes);
    unsigned char *host = (unsigned char *)kit_host((o->in_room + o->room) * k->size);
    for (int i = 0; i < o->c->count; ++i)
        cell_before(o, (tmap_u64)i, before + (tmap_u64)i * k->size);
    for (int i = 0; i < o->c->count; ++i) cell_after(o, i, before, want + (tmap_u64)i * k->size);
    memset(host, k->maker == CA ? 0 : 0xff, o->in_room * k->size);
    for (int i = 0; i < o->c->count; ++i)
        memcpy(host + o->in[i] * k->size, before + (tmap_u64)i * k->size, k->size);
    // what is read ends with its memory; both states begin in the same place of a sector, or not
    const tmap_u64 out_skip = below(2) ? skip : below(64);
    unsigned char *in = (unsigned char *)kit_device((o->in_room + skip) * k->size) + skip * k->size;
    unsigned char *out =
        (unsigned char *)kit_guarded((o->room + out_skip) * k->size) + out_skip * k->size;
    CHECK(cudaMemcpy(in, host, o->in_room * k->size, cudaMemcpyHostToDevice));
    for (int part = 0; part < 3; ++part) {
        const tmap_u64 items = k->plan->items, first = part == 1 ? cut : 0;
        if (part != 1) CHECK(cudaMemset(out, 0x5a, bytes));
        round_share(o, first, part == 0 ? cut : items - first);
        CHECK(round_launch(o, in, out));
        CHECK(cudaMemcpy(host, out, bytes, cudaMemcpyDeviceToHost));
        of_plan(k->plan);
        EXPECT(round_wrong(o, o->out, want, 0x5a, host) == 0, "maker %d, part %d", k->maker, part);
    }
    if (k->maker != ISING) return;
    // a whole sweep, in place
    for (int i = 0; i < o->c->count; ++i) want[i] = spin_after(o, i, 0, before);
    for (int i = 0; i < o->c->count; ++i) before[i] = spin_after(o, i, 1, want);
    CHECK(tmap_ising(&k->ising, sweep_of(o), in, out, 0));
    CHECK(cudaMemcpy(host, in, bytes, cudaMemcpyDeviceToHost));
    expect(round_wrong(o, o->in, before, 0xff, host) == 0, "a sweep");
}

// ---- sums ---------------------------------------------------------------------------------------

// The sums of a share: those of the cells that are done in `o` and not in `earlier`.
static void sums_of(const round_of *o, const unsigned char *earlier, const unsigned char *before,
                    unsigned char *sums) {
    const client *k = &o->k;
    double floats = 0;
    tmap_i64 whole = 0, bonds = 0;
    memset(sums, 0, 16);
    for (int i = 0; i < o->c->count; ++i) {
        const unsigned char *here = before + (tmap_u64)i * k->size;
        tmap_u32 word;
        if (!o->done[i] || earlier[i]) continue;
        memcpy(&word, here, k->size < 4 ? 1 : 4);
        if (k->maker == MEASURE) {
            whole += (signed char)here[0];
            for (int p = 5; p < 9; p += 2) // to the east and south
                if (o->c->near[i][p] >= 0)
                    bonds += (signed char)here[0] * (signed char)before[o->c->near[i][p]];
            continue;
        }
        switch (k->type) {
        case TMAP_RD_I8: whole += (signed char)here[0]; break;
        case TMAP_RD_U8: whole += here[0]; break;
        case TMAP_RD_I32: whole += (int)word; break;
        case TMAP_RD_U32: whole += word; break;
        default: floats += value_of(here, k->size); // multiples of 1/8
        }
    }
    memcpy(sums, k->maker == RD && k->type >= TMAP_RD_F32 ? (const void *)&floats : &whole, 8);
    memcpy(sums + 8, &bonds, 8);
}

// tmap_rd and tmap_ising_measure, in three shares, the last one empty, and whole. Their memory is
// what the whole plan asks for, between bytes that must stay.
static void run_sums(round_of *o) {
    const client *k = &o->k;
    const tmap_u32 width = k->maker == MEASURE ? 16 : 8;
    const tmap_u64 items = k->plan->items, cut = below(items + 1), room = o->room * k->size;
    const tmap_u64 bytes = tmap_each_fold_bytes(k->plan, width);
    const tmap_u64 more = o->shape ? 1 << 20 : 64; // a share of another shape may have more blocks
    const tmap_fold_to to = {kit_guarded(bytes + more), kit_guarded(64)};
    unsigned char *before = (unsigned char *)kit_host((tmap_u64)o->c->count * k->size);
    unsigned char *earlier = (unsigned char *)kit_zeroed((tmap_u64)o->c->count);
    unsigned char *host = (unsigned char *)kit_host(room), got[16], want[16];
    memset(host, 0xff, room);
    for (int i = 0; i < o->c->count; ++i) {
        unsigned char *here = before + (tmap_u64)i * k->size;
        cell_before(o, (tmap_u64)i, here);
        memcpy(host + o->in[i] * k->size, here, k->size);
    }
    const void *in = kit_to_device(host, room);
    CHECK(cudaMemset(to.workspace, 0x5a, bytes + more));
    CHECK(cudaMemset(to.workspace, 0, 16)); // once
    for (int part = 0; part < 4; ++part) {
        const tmap_u64 counts[] = {cut, items - cut, 0, items};
        memcpy(earlier, o->done, (size_t)o->c->count);
        if (part == 3) memset(earlier, 0, (size_t)o->c->count);
        round_share(o, part == 1 || part == 2 ? cut : 0, counts[part]);
        CHECK(cudaMemset(to.result, 0x5a, 16));
        CHECK(k->maker == RD ? tmap_rd(k->plan, in, to, 0)
                             : tmap_ising_measure(&k->ising, in, to, 0));
        CHECK(cudaMemcpy(got, to.result, width, cudaMemcpyDeviceToHost));
        sums_of(o, earlier, before, want);
        of_plan(k->plan);
        EXPECT(memcmp(got, want, width) == 0, "maker %d, type %u, part %d", k->maker, k->type,
               part);
    }
    expect(o->shape || kit_device_all((char *)to.workspace + bytes, 64, 0x5a),
           "memory behind a sum's");
    expect(memcmp(kit_to_host(in, room), host, room) == 0, "a sum only reads");
}

// ---- words --------------------------------------------------------------------------------------

// tmap_compact_life at any offset, in two shares. Idle bits are 0.
static void run_words(tmap_nbb f, tmap_u32 r, const cells *all) {
    const tmap_u64 words = tmap_compact_words(f, r), room = words + 40;
    const tmap_u32 size = tmap_compact_word_of(f, r).bytes;
    const tmap_ca_rule rule = rules[below(COUNT(rules))];
    const tmap_u64 salt = below(1u << 30), dense = 2 + below(3);
    unsigned char *host = (unsigned char *)kit_host(2 * room * size), *want = host + room * size;
    unsigned char *in = (unsigned char *)kit_guarded(room * size);
    unsigned char *out = (unsigned char *)kit_guarded(room * size);
    unsigned char *alive = (unsigned char *)kit_host((tmap_u64)all->count);
    tmap_each_plan plan;
    CHECK(tmap_compact_life_plan_make(f, r, &plan));
    plan.offset = below(20);
    memset(host, 0xff, room * size);
    memset(host + plan.offset * size, 0, words * size);
    for (int i = 0; i < all->count; ++i) {
        const tmap_u64 w = (tmap_u64)i % words, b = (tmap_u64)i / words;
        alive[i] = check_hash((tmap_u64)i, salt) % dense == 0;
        host[(plan.offset + w) * size + b / 8] |= (unsigned char)(alive[i] << b % 8);
    }
    CHECK(cudaMemcpy(in, host, room * size, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(out, 0x5a, room * size));
    memset(want, 0x5a, room * size);
    const tmap_u64 cut = below(plan.items + 1), of_item = tmap_nbb_cells(f, plan.tile_level);
    for (int part = 0; part < 2; ++part) {
        tmap_each_plan share = plan;
        CHECK(tmap_each_plan_share(&share, part ? cut : 0, part ? plan.items - cut : cut));
        CHECK(tmap_compact_life(&share, rule, in, out, 0));
        const tmap_u64 from = share.first * of_item, to = from + share.count * of_item;
        memset(want + (plan.offset + from) * size, 0, (to - from) * size);
        for (int i = 0; i < all->count; ++i) {
            const tmap_u64 w = (tmap_u64)i % words, b = (tmap_u64)i / words;
            int living = 0;
            if (w < from || w >= to) continue;
            for (int p = 0; p < 9; ++p)
                living += p != 4 && all->near[i][p] >= 0 && alive[all->near[i][p]];
            const tmap_u32 next = (alive[i] ? rule.survive : rule.born) >> living & 1;
            want[(plan.offset + w) * size + b / 8] |= (unsigned char)(next << b % 8);
        }
        CHECK(cudaMemcpy(host, out, room * size, cudaMemcpyDeviceToHost));
        of_plan(&share);
        expect(memcmp(host, want, room * size) == 0, "words");
    }
}

// ---- all of it ----------------------------------------------------------------------------------

// times: how often each maker of MAKERS is taken; its types, and both storages, in turn.
static void run_level(tmap_nbb f, tmap_u32 r, const int *times) {
    const int mark = kit_mark();
    const cells all = cells_make(f, r);
    const int kept = kit_mark();
    for (int maker = SW; maker < MAKERS; ++maker)
        for (int n = 0; n < times[maker - SW]; ++n) {
            static tmap_u32 turn;
            const tmap_u64 pitch = n % 2 ? TMAP_COMPACT : random_pitch(f, r);
            round_of o;
            if (maker == LIFE) {
                run_words(f, r, &all);
            } else {
                round_make(&o, maker, turn++ / 2, pitch, &all);
                (maker == RD || maker == MEASURE ? run_sums : run_state)(&o);
            }
            kit_release(kept);
        }
    kit_release(mark);
}

// Automata of bytes that go by whole sectors: of levels that have one tile, or a few.
static void run_sectors(tmap_nbb f, tmap_u64 most) {
    const tmap_u32 m = tmapi_life_tile_make(f).m;
    for (tmap_u32 r = m; r <= m + 1; ++r) {
        if (!tmapi_life_fits(f, r) ||
            tmap_mul_saturate(tmap_nbb_side_x(f, r), tmap_nbb_side_y(f, r)) > most)
            break;
        const cells all = cells_make(f, r);
        round_of o;
        round_make(&o, CA, 0, (tmap_u64)all.width, &all);
        of_plan(o.k.plan);
        expect(o.k.ca.by_sectors && o.k.ca.life.shared <= 48 * 1024 && o.k.ca.life.grid >= 1,
               "an automaton by sectors");
        run_state(&o);
        kit_release(0);
    }
}

int main(void) {
    static const int all_types[MAKERS - SW] = {2, 3, 4, 2, 1, 1, 3, 1, 1};
    static const int once[MAKERS - SW] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    static const char *const sectors[] = {"###/###/##.", "##.##/#####/#.#.#", "###/###/###"};
    engine_begin();
    for (int i = 0; i < ENGINE_COUNT; ++i) {
        const tmap_nbb f = engine_fractal(i);
        if ((kit_tiny && i % 4) || !check_turn()) continue;
        for (tmap_u32 r = 0; engine_fits(f, r); ++r) // few cells leave little to go wrong
            run_level(f, r, tmap_nbb_cells(f, r) < 30 ? once : all_types);
        run_sectors(f, kit_tiny ? 1u << 16 : kit_gpu ? 1u << 20 : 1u << 18);
    }
    for (size_t i = 0; i < COUNT(sectors); ++i) {
        const brute b = brute_make(sectors[i]);
        run_sectors(brute_nbb(&b), kit_tiny ? 1u << 16 : 1u << 20);
    }
    for (size_t device = 0; device < device_count(); ++device) {
        device_set(device, 3);
        for (int i = 0; i < ENGINE_COUNT; ++i) {
            const tmap_nbb f = engine_fractal(i);
            tmap_u32 top = 0;
            // every other device takes the same fractals
            if ((kit_tiny && i % 4) || (i + (int)device) % 2 || !check_turn()) continue;
            while (top < 8 &&
                   tmap_nbb_cells(f, top + 1) <= (kit_tiny  ? 300
                                                  : kit_gpu ? 5000
                                                            : 700) &&
                   engine_fits(f, top + 1))
                ++top;
            run_level(f, top - (tmap_u32)below(top < 2 ? 1 : 2), once);
        }
    }
    device_reset();
    return kit_end("test_ready");
}
