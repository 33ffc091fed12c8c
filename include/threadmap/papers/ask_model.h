// SPDX-License-Identifier: MIT
// ask_model.h: the cost model of adaptive subdivision: work, work reduction, time and speedup of
// subdividing a domain against computing all of it.
//
// A domain of n x n elements is cut into G = g^2 regions. A region is queried, which costs Q; with
// probability P it is cut into R = r^2 regions at the cost S, else it is finished by a last pass of
// cost T. After tau levels every element that is left costs A, the work of one element. All costs
// are in the unit of A, all results too; times count the steps of q multiprocessors of c cores,
// each of which does one unit of work in a step.
//
// Equations below have the paper's letters; the code has words for them: A element_cost, P chance,
// Q query_cost, S cut_cost, T finish_cost, G regions, R children.
//
// Source: Quezada, Navarro, Romero, Aguilera, "Modeling GPU dynamic parallelism for self similar
// density workloads", FGCS 145 (2023), equations 1 to 25; 26 to 28 and tau are in
// adaptive/region.h. The model has one cost A for all elements and no query at the last level;
// ask_model.h drops both simplifications and predicts from measured counts and costs.
//
// Plain double arithmetic. Every function is total: arguments that tmap_ask_model_check refuses
// give some number.
#ifndef TMAP_PAPERS_ASK_MODEL_H
#define TMAP_PAPERS_ASK_MODEL_H

#include "../adaptive/region.h"

// ---- ask model ----------------------------------------------------------------------------------

// ---- numbers ------------------------------------------------------------------------------------

// x^e by products; 1 for e = 0.
TMAP_FN double tmapi_ask_pow(double x, tmap_u32 e) {
    double p = 1;
    while (e--) p *= x;
    return p;
}

// 1 + x + ... + x^(m-1) = (x^m - 1) / (x - 1), and m for x = 1. Next to 1, where the quotient would
// lose the digits that its differences cancel, it is summed.
TMAP_FN double tmapi_ask_geometric(double x, tmap_u32 m) {
    double sum = 0;
    if (x - 1 > 0.001 || x - 1 < -0.001) return (tmapi_ask_pow(x, m) - 1) / (x - 1);
    while (m--) sum = sum * x + 1;
    return sum;
}

// The smallest whole number that is not below x; 0 for x <= 0. A quotient of whole numbers below
// 2^53 is rounded to a whole number only if it is one, so its ceiling is right.
TMAP_FN double tmapi_ask_ceil(double x) {
    double whole;
    if (!(x < 9007199254740992.0)) return x; // whole as it is
    if (x <= 0) return 0;
    whole = (double)(tmap_u64)x;
    return whole + (whole < x);
}

// ---- any problem: probabilities and costs level by level ----------------------------------------

// W_E = A n^2, equations 1 and 2: every element computed. elements: n^2.
// Example: elements = 65536^2, element_cost = 8: 34359738368.
TMAP_FN double tmap_ask_model_exhaustive(double elements, double element_cost) {
    return element_cost * elements;
}

// E[G_i] = G prod_{j<i} P_j R_j, equations 9 to 11: the regions that are expected at level i.
// chance, children: of levels 0 to i - 1.
// Example: regions = 4, chance = 1, 0.875, children = 4, 4, i = 2: 56.
TMAP_FN double tmap_ask_model_regions(double regions, const double *chance, const double *children,
                                      tmap_u32 i) {
    tmap_u32 j;
    for (j = 0; j < i; ++j) regions *= chance[j] * children[j];
    return regions;
}

// K_i = E[G_i] (Q_i + P_i S_i + (1 - P_i) T_i), equations 5 to 8: the work of a level but the last.
// regions: E[G_i]. Example: regions = 4, chance = 0.5, costs 10, 2 and 6: 56.
TMAP_FN double tmap_ask_model_level(double regions, double chance, double query_cost,
                                    double cut_cost, double finish_cost) {
    return regions * (query_cost + chance * cut_cost + (1 - chance) * finish_cost);
}

// L = A n^2 prod_{j<=tau-2} P_j, equations 13 and 14: the work of the last level. chance: of levels
// 0 to tau - 2. Example: elements = 64, element_cost = 2, chance = 0.5, 0.25, tau = 3: 16.
TMAP_FN double tmap_ask_model_last(double elements, double element_cost, const double *chance,
                                   tmap_u32 tau) {
    tmap_u32 j;
    for (j = 0; j + 1 < tau; ++j) element_cost *= chance[j];
    return element_cost * elements;
}

// W_S, equations 3, 4, 12, 15 and 16: the expected work of a subdivision of tau >= 1 levels. The
// arrays: of levels 0 to tau - 2, not read for tau = 1. Law: tau = 1 gives W_E.
// Example: elements = 64, element_cost = 10, regions = 4, tau = 2, chance = 0.5, children = 4,
// costs 12, 1 and 16: 402.
TMAP_FN double tmap_ask_model_work(double elements, double element_cost, double regions,
                                   tmap_u32 tau, const double *chance, const double *children,
                                   const double *query_cost, const double *cut_cost,
                                   const double *finish_cost) {
    double work = tmap_ask_model_last(elements, element_cost, chance, tau);
    tmap_u32 i;
    for (i = 0; i + 1 < tau; ++i) {
        work +=
            tmap_ask_model_level(regions, chance[i], query_cost[i], cut_cost[i], finish_cost[i]);
        regions *= chance[i] * children[i];
    }
    return work;
}

// ---- self-similar density (SSD): the same P and R at all levels ---------------------------------

// W_S, equations 17 and 18: E[G_i] = G (P R)^i. The three costs: of levels 0 to tau - 2.
// Law: tmap_ask_model_work with P_i = P and R_i = R.
TMAP_FN double tmap_ask_model_ssd(double elements, double element_cost, double regions,
                                  double children, tmap_u32 tau, double chance,
                                  const double *query_cost, const double *cut_cost,
                                  const double *finish_cost) {
    double work = 0, left = element_cost * elements;
    tmap_u32 i;
    for (i = 0; i + 1 < tau; ++i) {
        work += tmap_ask_model_level(regions, chance, query_cost[i], cut_cost[i], finish_cost[i]);
        regions *= chance * children;
        left *= chance;
    }
    return work + left;
}

// ---- the Mandelbrot set by the Mariani-Silver rule ----------------------------------------------
//
// The query computes the border of a region, Q_i = 4 A n / (g r^i); a region with one value on its
// border is filled, T_i = n^2 / (G R^i), one unit an element; S = lambda A (equation 19).

typedef struct tmap_ask_model {
    tmap_u64 n;          // elements along a side of the domain
    tmap_u64 g, r, b;    // as for tmap_region_check
    double element_cost; // A, the work of an element: the dwell
    double chance;       // P, the probability that a region is cut, 0 to 1
    double lambda;       // the cost of cutting a region, in units of A
    double q, c;         // multiprocessors; cores of one. Only times read them.
} tmap_ask_model;

// 0; what tmap_region_check says about n, g, r and b; TMAP_EINVAL for an element_cost, q or c that
// is not above 0, a chance outside 0 to 1, or lambda below 0.
TMAP_FN int tmap_ask_model_check(const tmap_ask_model *m) {
    int error = tmap_region_check(m->n, m->g, m->r, m->b);
    if (error) return error;
    if (!(m->element_cost > 0 && m->chance >= 0 && m->chance <= 1 && m->lambda >= 0))
        return TMAP_EINVAL;
    return m->q > 0 && m->c > 0 ? TMAP_OK : TMAP_EINVAL;
}

// The number of levels tau: tmap_region_levels.
TMAP_FN tmap_u32 tmap_ask_model_levels(const tmap_ask_model *m) {
    return tmap_region_levels(m->n, m->g, m->r, m->b);
}

// W_S, equation 20, as the sum that it is. Cost: a loop over the levels.
TMAP_FN double tmap_ask_model_mandelbrot_sum(const tmap_ask_model *m) {
    double n = (double)m->n, side = n / (double)m->g, r = (double)m->r;
    double regions = (double)m->g * (double)m->g, reach = 1, work = 0; // reach: P^i
    tmap_u32 i, last = tmap_ask_model_levels(m) - 1;
    for (i = 0; i < last; ++i) {
        work += tmap_ask_model_level(regions, m->chance, 4 * m->element_cost * side,
                                     m->lambda * m->element_cost, side * side);
        regions *= m->chance * r * r;
        reach *= m->chance;
        side /= r;
    }
    return work + m->element_cost * n * n * reach;
}

// W_S, equation 20, in closed form: with m = tau - 1 and the geometric sum s(x) = (x^m - 1) /
// (x - 1), or m for x = 1,
//   4 A n g s(P r) + lambda A P G s(P R) + n^2 (1 - P^m) + A n^2 P^m.
// Law: equal to tmap_ask_model_mandelbrot_sum to 10 digits.
// Example: n = 65536, (g, r, B) = (32, 2, 32), A = 8, P = 0.7, lambda = 100: 1.013700998e10.
TMAP_FN double tmap_ask_model_mandelbrot(const tmap_ask_model *m) {
    double n = (double)m->n, g = (double)m->g, r = (double)m->r, chance = m->chance;
    tmap_u32 last = tmap_ask_model_levels(m) - 1;
    double reach = tmapi_ask_pow(chance, last);
    return 4 * m->element_cost * n * g * tmapi_ask_geometric(chance * r, last) +
           m->lambda * m->element_cost * chance * g * g *
               tmapi_ask_geometric(chance * r * r, last) +
           n * n * (1 - reach) + m->element_cost * n * n * reach;
}

// Omega = W_E / W_S, equation 21: how many times less work subdivision is. Example: as above:
// 3.389534.
TMAP_FN double tmap_ask_model_omega(const tmap_ask_model *m) {
    return tmap_ask_model_exhaustive((double)m->n * (double)m->n, m->element_cost) /
           tmap_ask_model_mandelbrot(m);
}

// What Omega cannot exceed where A >= 1: A / (1 + (A - 1) P^m), m = tau - 1, since each element is
// at least filled and the part P^m of them is computed. Never above A, the bound of section 4.2.2.
TMAP_FN double tmap_ask_model_omega_bound(const tmap_ask_model *m) {
    return m->element_cost /
           (1 + (m->element_cost - 1) * tmapi_ask_pow(m->chance, tmap_ask_model_levels(m) - 1));
}

// T_E = A ceil(n^2 / (q c)), equation 22: steps of the exhaustive computation.
// Example: n = 65536, A = 8, q = 128, c = 64: 4194304.
TMAP_FN double tmap_ask_model_time_exhaustive(const tmap_ask_model *m) {
    return m->element_cost * tmapi_ask_ceil((double)m->n * (double)m->n / (m->q * m->c));
}

// T_SBR, equation 23: steps of the subdivision when each region has one multiprocessor to itself
// (single block per region): with m = tau - 1, the sum over i < m of
//   P^i ceil(G R^i / q) (ceil(4 A n / (g r^i c)) + P lambda A + (1 - P) ceil(n^2 / (G R^i c))),
// and A P^m ceil(n^2 / (G R^m c)) ceil(G R^m / q).
TMAP_FN double tmap_ask_model_time_sbr(const tmap_ask_model *m) {
    double n = (double)m->n, chance = m->chance, reach = 1, steps = 0;
    double parts = (double)m->g; // g r^i
    tmap_u32 i, last = tmap_ask_model_levels(m) - 1;
    for (i = 0; i < last; ++i) {
        double query = tmapi_ask_ceil(4 * m->element_cost * n / (parts * m->c));
        double fill = tmapi_ask_ceil(n * n / (parts * parts * m->c));
        double waves = tmapi_ask_ceil(parts * parts / m->q);
        steps +=
            reach * waves * (query + chance * m->lambda * m->element_cost + (1 - chance) * fill);
        parts *= (double)m->r;
        reach *= chance;
    }
    return steps + m->element_cost * reach * tmapi_ask_ceil(n * n / (parts * parts * m->c)) *
                       tmapi_ask_ceil(parts * parts / m->q);
}

// T_MBR, equation 24: the same when filling and the last level use all multiprocessors for each
// region (multiple blocks per region): with H = ceil(n^2 / (q c)), the sum over i < m of
//   P^i (A ceil(4 n / (g r^i c)) ceil(G R^i / q) + P lambda A ceil(G R^i / q) + (1 - P) H),
// and A P^m H. That rounds the border before A is applied, where equation 23 rounds it after.
TMAP_FN double tmap_ask_model_time_mbr(const tmap_ask_model *m) {
    double n = (double)m->n, chance = m->chance, reach = 1, steps = 0;
    double parts = (double)m->g, flat = tmapi_ask_ceil(n * n / (m->q * m->c));
    tmap_u32 i, last = tmap_ask_model_levels(m) - 1;
    for (i = 0; i < last; ++i) {
        double query = m->element_cost * tmapi_ask_ceil(4 * n / (parts * m->c));
        double waves = tmapi_ask_ceil(parts * parts / m->q);
        steps +=
            reach * (waves * (query + chance * m->lambda * m->element_cost) + (1 - chance) * flat);
        parts *= (double)m->r;
        reach *= chance;
    }
    return steps + m->element_cost * reach * flat;
}

// S_SBR = T_E / T_SBR and S_MBR = T_E / T_MBR, equation 25. Example: n = 2^24, (8, 2, 8), A = 8,
// P = 0.7, lambda = 100, q = 128, c = 64: 5.30213 and 6.61798.
TMAP_FN double tmap_ask_model_speedup_sbr(const tmap_ask_model *m) {
    return tmap_ask_model_time_exhaustive(m) / tmap_ask_model_time_sbr(m);
}
TMAP_FN double tmap_ask_model_speedup_mbr(const tmap_ask_model *m) {
    return tmap_ask_model_time_exhaustive(m) / tmap_ask_model_time_mbr(m);
}

// ---- the best (g, r, B) -------------------------------------------------------------------------

// The values that are tried, each g with each r and each B.
typedef struct tmap_ask_candidates {
    const tmap_u32 *g, *r, *b;
    tmap_u32 g_count, r_count, b_count;
} tmap_ask_candidates;

// What a search makes as large as it can.
#define TMAP_ASK_OMEGA       0 // Omega: the least work
#define TMAP_ASK_SPEEDUP_SBR 1
#define TMAP_ASK_SPEEDUP_MBR 2

TMAP_FN double tmapi_ask_model_value(const tmap_ask_model *m, int goal) {
    return goal == TMAP_ASK_SPEEDUP_SBR   ? tmap_ask_model_speedup_sbr(m)
           : goal == TMAP_ASK_SPEEDUP_MBR ? tmap_ask_model_speedup_mbr(m)
                                          : tmap_ask_model_omega(m);
}

// The search of sections 4.2.2 and 4.3.3. m: g, r and b are not read and, on success, set to the
// candidates of the largest value, the first of them where several have it; *value is that value.
// Candidates that are impossible for m->n are passed over. Returns 0; TMAP_EINVAL for null
// pointers, an unknown goal or bad numbers in *m; TMAP_ERANGE if no candidate is possible.
TMAP_FN int tmap_ask_model_search(tmap_ask_model *m, const tmap_ask_candidates *list, int goal,
                                  double *value) {
    tmap_ask_model now;
    tmap_u32 i, j, k;
    int found = 0;
    if (!m || !list || !value || goal < TMAP_ASK_OMEGA || goal > TMAP_ASK_SPEEDUP_MBR)
        return TMAP_EINVAL;
    now = *m;
    now.g = 1, now.r = 2, now.b = 1;
    if (tmap_ask_model_check(&now)) return TMAP_EINVAL;
    for (i = 0; i < list->g_count; ++i)
        for (j = 0; j < list->r_count; ++j)
            for (k = 0; k < list->b_count; ++k) {
                double v;
                now.g = list->g[i], now.r = list->r[j], now.b = list->b[k];
                if (tmap_ask_model_check(&now)) continue;
                v = tmapi_ask_model_value(&now, goal);
                if (found && !(v > *value)) continue;
                found = 1;
                *value = v;
                m->g = now.g, m->r = now.r, m->b = now.b;
            }
    return found ? TMAP_OK : TMAP_ERANGE;
}

// ---- ask predict --------------------------------------------------------------------------------
//
// Work and time of an adaptive subdivision from measured counts and costs, and the
// best (g, r, B) by them.
//
// It counts what the Mariani-Silver rule does, level by level: every region's border is computed,
// also at the last level; a region with one value on its border is filled, one with several is cut,
// or at the last level computed. There are two ways to say how often and at what cost:
//
//   tmap_ask_predict_levels   P of each level, and three mean costs of an element: of the whole
//                             domain, on borders, in leaves. Says what a run with the measured (g,
//                             r, B) costs; the form of equation 16 without its one cost A.
//   tmap_ask_predict_curve    a curve over the side d of a region: N(d), the number of regions of
//                             that side with several values, and M(d), the mean cost of an element
//                             in them. Says what any (g, r, B) costs.
//
// The second rests on two facts. Whether a region has several values is a property of the picture
// and not of the way down to it, so below N(D) regions of side D that are cut there are r^k N(D)
// regions to look at, k the number of axes, and N(D / r) of them have several values. And the
// borders of these are elements of the N(D) regions as good as any, so they cost M(D) on average,
// as the leaves of side d cost M(d). So one run, best with r = 2 and a small B, measures N and M
// (tmap_ask_curve_from_run), and what lies between its sides is interpolated: N along straight
// lines of log N against log d, the box-counting law, M against log d.
//
// Costs of an element are in any unit of work, for example iterations; rates say what things cost
// in time. Plain double arithmetic, for hosts. Total, as all maps are.

// ---- what is predicted, and from what -----------------------------------------------------------

// A subdivision of nx x ny or nx x ny x nz elements, g regions along each axis at level 0; tau from
// the longest axis.
typedef struct tmap_ask_case {
    tmap_u64 nx, ny, nz; // nz = 0: two axes
    tmap_u64 g, r, b;
    // 0: each region computes its whole border, its outermost elements. 1: a border element is
    // computed once, and the borders below know it. 2: besides, neighbours share the line between
    // them: a region has one line of its own on each axis, and borders the next region's.
    int shared;
} tmap_ask_case;

// Mean work of an element: of all, of border elements, of elements inside leaves.
// Example: Mandelbrot set, n = 16384, dwell 512: 200.0, 95.5, 60.9.
typedef struct tmap_ask_costs {
    double whole, border, leaf;
} tmap_ask_costs;

// Time of one thing each, in any unit; 0 for what costs nothing. A prediction is linear in them, so
// that they can be fitted to a few measured times: time = sum of rate times count.
typedef struct tmap_ask_rates {
    double border_work, leaf_work;                     // a unit of work on borders, in leaves
    double border_element, fill_element, leaf_element; // an element, whatever its work: its store
    double region, cut; // a region looked at; a region cut: its place in the table
    double level, once; // a level: its launch; a whole run
    // An element of one region when that region is the last to end: a level ends no sooner than its
    // slowest region, however many run beside it.
    double border_depth, leaf_depth;
} tmap_ask_rates;

// All numbers are expectations, so not whole.
typedef struct tmap_ask_prediction {
    tmap_u32 levels;
    double regions, cut, filled, leaves; // of all levels; regions is the sum of the others
    double border_elements, fill_elements, leaf_elements; // of filled and leaves: without borders
    double border_work, leaf_work, work;
    double omega;                    // work of the whole domain / work
    double border_depth, leaf_depth; // border elements of one region of each level; of one leaf
    double time;
} tmap_ask_prediction;

// The longest axis, in elements.
TMAP_FN tmap_u64 tmap_ask_case_longest(const tmap_ask_case *p) {
    tmap_u64 n = p->nx > p->ny ? p->nx : p->ny;
    return n > p->nz ? n : p->nz;
}

// 0, TMAP_EINVAL or TMAP_ERANGE, as tmap_region_check.
TMAP_FN int tmap_ask_case_check(const tmap_ask_case *p) {
    if (p->nx == 0 || p->ny == 0) return TMAP_EINVAL;
    return tmap_region_check(tmap_ask_case_longest(p), p->g, p->r, p->b);
}

TMAP_FN tmap_u32 tmap_ask_case_levels(const tmap_ask_case *p) {
    return tmap_region_levels(tmap_ask_case_longest(p), p->g, p->r, p->b);
}

// The longest side of the regions of a level, in elements: n / (g r^level).
TMAP_FN double tmap_ask_case_side(const tmap_ask_case *p, tmap_u32 level) {
    return (double)tmap_ask_case_longest(p) / ((double)p->g * tmapi_ask_pow((double)p->r, level));
}

// ---- one level after the other ------------------------------------------------------------------

// x^k for the k axes of a plan.
TMAP_FN double tmapi_ask_axes(const tmap_ask_case *p, tmap_u64 x) {
    return tmapi_ask_pow((double)x, p->nz ? 3 : 2);
}

// Elements of a region that has 1 / parts of each axis, without `rim` of them along each.
TMAP_FN double tmapi_ask_case_volume(const tmap_ask_case *p, double parts, double rim) {
    double x = (double)p->nx / parts - rim, y = (double)p->ny / parts - rim;
    double z = p->nz ? (double)p->nz / parts - rim : 1;
    return x > 0 && y > 0 && z > 0 ? x * y * z : 0;
}

// Adds level `level`: `regions` looked at, `several` of them with several values on their border.
// With shared borders, a region does not compute what its parent's border has of its own: only what
// lies inside that. Where lines are shared, too, the domain's last ones are left out.
TMAP_FN void tmapi_ask_add_level(tmap_ask_prediction *out, const tmap_ask_case *p, tmap_u32 level,
                                 double regions, double several, double border_cost,
                                 double leaf_cost) {
    double r = (double)p->r, parts = (double)p->g * tmapi_ask_pow(r, level);
    double rim = p->shared == 2 ? 1 : 2, inside = tmapi_ask_case_volume(p, parts, rim), elements;
    if (!(regions > 0)) return;
    elements =
        (p->shared && level ? tmapi_ask_case_volume(p, parts / r, rim) / tmapi_ask_axes(p, p->r)
                            : tmapi_ask_case_volume(p, parts, 0)) -
        inside;
    out->regions += regions;
    out->border_elements += regions * elements;
    out->border_work += regions * elements * border_cost;
    out->border_depth += elements;
    out->filled += regions - several;
    out->fill_elements += (regions - several) * inside;
    if (level + 1 < out->levels) {
        out->cut += several;
        return;
    }
    out->leaves = several;
    out->leaf_elements = several * inside;
    out->leaf_work = several * inside * leaf_cost;
    out->leaf_depth = several > 0 ? inside : 0;
}

TMAP_FN tmap_ask_prediction tmapi_ask_begin(tmap_u32 levels) {
    tmap_ask_prediction out;
    out.levels = levels;
    out.regions = out.cut = out.filled = out.leaves = 0;
    out.border_elements = out.fill_elements = out.leaf_elements = 0;
    out.border_work = out.leaf_work = out.work = out.omega = 0;
    out.border_depth = out.leaf_depth = out.time = 0;
    return out;
}

// The time of what a prediction, or a run, has counted. Example: 10 regions of 4 each and 2 levels
// of 3: 46.
TMAP_FN double tmap_ask_predict_time(const tmap_ask_prediction *c, const tmap_ask_rates *rates) {
    return rates->border_work * c->border_work + rates->leaf_work * c->leaf_work +
           rates->border_element * c->border_elements + rates->fill_element * c->fill_elements +
           rates->leaf_element * c->leaf_elements + rates->region * c->regions +
           rates->cut * c->cut + rates->level * c->levels + rates->once +
           rates->border_depth * c->border_depth + rates->leaf_depth * c->leaf_depth;
}

TMAP_FN void tmapi_ask_end(tmap_ask_prediction *out, const tmap_ask_case *p, double whole,
                           const tmap_ask_rates *rates) {
    out->work = out->border_work + out->leaf_work;
    if (out->work > 0) out->omega = whole * tmapi_ask_case_volume(p, 1, 0) / out->work;
    out->time = rates ? tmap_ask_predict_time(out, rates) : 0;
}

// ---- from P of each level and three costs -------------------------------------------------------

// chance: tmap_ask_case_levels(p) fractions, of the regions of each level that have several values
// on their border, the last level too. rates: may be null, and then the time is 0. Returns 0,
// TMAP_EINVAL or TMAP_ERANGE for a bad plan, TMAP_EINVAL for null pointers, a chance outside 0 to 1
// or a negative cost; *out is written only on success.
// Law: with the P and the mean costs that a run on a domain has counted, and parts that divide it,
// the regions, elements and work of each kind are those of the run.
TMAP_FN int tmap_ask_predict_levels(const tmap_ask_case *p, const double *chance,
                                    const tmap_ask_costs *costs, const tmap_ask_rates *rates,
                                    tmap_ask_prediction *out) {
    tmap_ask_prediction sum;
    double regions;
    tmap_u32 i;
    int error;
    if (!p || !chance || !costs || !out) return TMAP_EINVAL;
    error = tmap_ask_case_check(p);
    if (error) return error;
    if (!(costs->whole >= 0 && costs->border >= 0 && costs->leaf >= 0)) return TMAP_EINVAL;
    sum = tmapi_ask_begin(tmap_ask_case_levels(p));
    regions = tmapi_ask_axes(p, p->g);
    for (i = 0; i < sum.levels; ++i) {
        if (!(chance[i] >= 0 && chance[i] <= 1)) return TMAP_EINVAL;
        tmapi_ask_add_level(&sum, p, i, regions, regions * chance[i], costs->border, costs->leaf);
        regions *= chance[i] * tmapi_ask_axes(p, p->r);
    }
    tmapi_ask_end(&sum, p, costs->whole, rates);
    *out = sum;
    return TMAP_OK;
}

// ---- a curve over the side of a region ----------------------------------------------------------

// log2 x for 1e-300 < x < 1e300, to 15 digits; what is outside counts as the next end. There is no
// <math.h> on this floor.
TMAP_FN double tmapi_ask_log2(double x) {
    double whole = 0, t, square, term, sum = 0;
    int k;
    if (!(x > 1e-300)) x = 1e-300;
    if (x > 1e300) x = 1e300;
    while (x > 1.42) x *= 0.5, ++whole;
    while (x < 0.71) x *= 2, --whole;
    t = (x - 1) / (x + 1); // ln x = 2 (t + t^3 / 3 + t^5 / 5 ...), |t| < 0.174
    square = t * t, term = t;
    for (k = 1; k < 24; k += 2) sum += term / k, term *= square;
    return whole + sum * 2.8853900817779268;
}

// 2^x for |x| < 1000, to 14 digits; what is outside counts as the next end.
TMAP_FN double tmapi_ask_exp2(double x) {
    double scale = 1, term = 1, sum = 0;
    int k;
    if (!(x > -1000)) x = -1000;
    if (x > 1000) x = 1000;
    while (x > 0.5) x -= 1, scale *= 2;
    while (x < -0.5) x += 1, scale *= 0.5;
    for (k = 1; k < 18; ++k) sum += term, term *= x * 0.6931471805599453 / k;
    return sum * scale;
}

// A measured domain. Point k: regions of side[k] elements, the longest first; count[k] of them have
// several values, and an element in those costs work[k] on average. The arrays are the caller's.
typedef struct tmap_ask_curve {
    const double *side, *count, *work;
    tmap_u32 points;
    double n;     // elements along the longest axis: one region, with several values
    double whole; // mean work of an element of the domain
} tmap_ask_curve;

// 0, or TMAP_EINVAL: no point, null pointers, sides that do not fall or are not above 0, negative
// counts or costs.
TMAP_FN int tmap_ask_curve_check(const tmap_ask_curve *c) {
    tmap_u32 k;
    if (!c || !c->points || !c->side || !c->count || !c->work) return TMAP_EINVAL;
    if (!(c->whole >= 0 && c->n >= c->side[0])) return TMAP_EINVAL;
    for (k = 0; k < c->points; ++k) {
        if (!(c->side[k] > 0 && c->count[k] >= 0 && c->work[k] >= 0)) return TMAP_EINVAL;
        if (k && !(c->side[k] < c->side[k - 1])) return TMAP_EINVAL;
    }
    return TMAP_OK;
}

// Points k - 1 and k of a curve, where -1 is the whole domain, that have `side` between them, or
// are the last two; *t is where it lies, 0 at the first and 1 at the second, in the logarithm.
TMAP_FN tmap_u32 tmapi_ask_curve_find(const tmap_ask_curve *c, double side, double *t) {
    double left, ratio;
    tmap_u32 k = 0;
    while (k + 1 < c->points && side < c->side[k]) ++k;
    left = k ? c->side[k - 1] : c->n;
    ratio = left / c->side[k];
    *t = side == c->side[k] ? 1
         : ratio > 1        ? tmapi_ask_log2(left / side) / tmapi_ask_log2(ratio)
                            : 1;
    return k;
}

// N(side): how many regions of that side have several values; from the side n of the domain on the
// count that was measured there (g = 1), or else 1. Between points, and below the last one, on a
// straight line of logarithms; where a count is 0, on a line against the logarithm of the side.
// Law: N(side[k]) == count[k]. Example: count 16 at side 64, 64 at side 16: 32 at side 32.
TMAP_FN double tmap_ask_curve_count(const tmap_ask_curve *c, double side) {
    double t, a, b, mixed;
    tmap_u32 k;
    if (side >= c->n) return c->side[0] < c->n ? 1 : c->count[0];
    k = tmapi_ask_curve_find(c, side, &t);
    a = k ? c->count[k - 1] : 1, b = c->count[k];
    if (t == 1) return b;
    if (a > 0 && b > 0) return tmapi_ask_exp2(tmapi_ask_log2(a) * (1 - t) + tmapi_ask_log2(b) * t);
    mixed = a * (1 - t) + b * t; // a line through a count of 0
    return mixed > 0 ? mixed : 0;
}

// M(side): the mean work of an element in those regions; from the side n of the domain on what was
// measured there (g = 1), or else the domain's. Between points on a straight line against the
// logarithm of the side; the last point's below it. Law: M(side[k]) == work[k].
TMAP_FN double tmap_ask_curve_work(const tmap_ask_curve *c, double side) {
    double t, a;
    tmap_u32 k;
    if (side >= c->n) return c->side[0] < c->n ? c->whole : c->work[0];
    k = tmapi_ask_curve_find(c, side, &t);
    if (t >= 1) return c->work[k];
    a = k ? c->work[k - 1] : c->whole;
    return a * (1 - t) + c->work[k] * t;
}

// The curve of a run by plan p, from what it counted at its tau levels: cut[i], the regions with
// several values (at the last level the leaves); border_elements[i] and border_work[i]; and of the
// leaves leaf_elements and leaf_work. whole: mean work of an element of the domain. side, count and
// work: tau numbers each, to which *curve will point. Borders of level i + 1 lie in the regions cut
// at level i, and tell the M of these. Where nothing was counted, M is that of the level before.
// Returns 0, or as tmap_ask_case_check and tmap_ask_curve_check.
TMAP_FN int tmap_ask_curve_from_run(const tmap_ask_case *p, const double *cut,
                                    const double *border_elements, const double *border_work,
                                    double leaf_elements, double leaf_work, double whole,
                                    double *side, double *count, double *work,
                                    tmap_ask_curve *curve) {
    tmap_ask_curve c;
    tmap_u32 i;
    int error;
    if (!p || !cut || !border_elements || !border_work || !side || !count || !work || !curve)
        return TMAP_EINVAL;
    error = tmap_ask_case_check(p);
    if (error) return error;
    c.points = tmap_ask_case_levels(p);
    for (i = 0; i < c.points; ++i) {
        double elements = i + 1 < c.points ? border_elements[i + 1] : leaf_elements;
        double sum = i + 1 < c.points ? border_work[i + 1] : leaf_work;
        side[i] = tmap_ask_case_side(p, i);
        count[i] = cut[i];
        work[i] = elements > 0 ? sum / elements : i ? work[i - 1] : whole;
    }
    c.side = side, c.count = count, c.work = work;
    c.n = (double)tmap_ask_case_longest(p);
    c.whole = whole;
    error = tmap_ask_curve_check(&c);
    if (!error) *curve = c;
    return error;
}

// ---- from a curve -------------------------------------------------------------------------------

// p: any plan on the curve's domain. rates: may be null. Returns 0, or as tmap_ask_case_check and
// tmap_ask_curve_check; *out is written only on success.
// Law: for the plan that measured the curve, and parts that divide the domain, regions, elements
// and work of each kind are those of the run, but for the work of level 0, whose borders are taken
// to cost what the whole domain does. Other plans: Mandelbrot set, n = 1024, dwell 512, curve of
// (2, 2, 1): the work of 170 plans with leaves of side 64 and less is 1.0% off on average, 9% at
// worst, and 1.5% at worst where all sides are powers of two.
TMAP_FN int tmap_ask_predict_curve(const tmap_ask_case *p, const tmap_ask_curve *curve,
                                   const tmap_ask_rates *rates, tmap_ask_prediction *out) {
    tmap_ask_prediction sum;
    double regions, cost;
    tmap_u32 i;
    int error;
    if (!p || !out) return TMAP_EINVAL;
    error = tmap_ask_case_check(p);
    if (!error) error = tmap_ask_curve_check(curve);
    if (error) return error;
    sum = tmapi_ask_begin(tmap_ask_case_levels(p));
    regions = tmapi_ask_axes(p, p->g);
    cost = curve->whole; // of the borders of level 0, which are anywhere in the domain
    for (i = 0; i < sum.levels; ++i) {
        double side = tmap_ask_case_side(p, i), several = tmap_ask_curve_count(curve, side);
        double inside = tmap_ask_curve_work(curve, side);
        if (several > regions) several = regions;
        tmapi_ask_add_level(&sum, p, i, regions, several, cost, inside);
        regions = several * tmapi_ask_axes(p, p->r);
        cost = inside;
    }
    tmapi_ask_end(&sum, p, curve->whole, rates);
    *out = sum;
    return TMAP_OK;
}

// The candidates of the least predicted time, or of the least work where rates is null. p: nx, ny,
// nz and shared are read; g, r and b are set on success, to the first of several as good. *out: its
// prediction. Impossible candidates are passed over. Returns 0, TMAP_EINVAL for null pointers, a
// domain of no element or a bad curve, TMAP_ERANGE if no candidate is possible.
TMAP_FN int tmap_ask_predict_search(tmap_ask_case *p, const tmap_ask_candidates *list,
                                    const tmap_ask_curve *curve, const tmap_ask_rates *rates,
                                    tmap_ask_prediction *out) {
    tmap_ask_case now;
    tmap_ask_prediction try_out;
    tmap_u32 i, j, k;
    int found = 0;
    if (!p || !list || !out || p->nx == 0 || p->ny == 0 || tmap_ask_curve_check(curve))
        return TMAP_EINVAL;
    now = *p;
    for (i = 0; i < list->g_count; ++i)
        for (j = 0; j < list->r_count; ++j)
            for (k = 0; k < list->b_count; ++k) {
                now.g = list->g[i], now.r = list->r[j], now.b = list->b[k];
                if (tmap_ask_predict_curve(&now, curve, rates, &try_out)) continue;
                if (found && !(rates ? try_out.time < out->time : try_out.work < out->work))
                    continue;
                found = 1;
                *out = try_out;
                *p = now;
            }
    return found ? TMAP_OK : TMAP_ERANGE;
}

// ---- ask fit ------------------------------------------------------------------------------------
//
// The rates of ask_model.h from a few measured times.
//
// A predicted time is linear in the eleven rates, so plans that were predicted or counted, and
// timed, determine them: by least squares on the relative errors, with no rate below 0. That is a
// convex problem, which is solved by setting one rate after the other to its best value, over and
// over. Rates that the plans cannot tell apart come out in some mixture, which predicts plans like
// those just as well. For hosts; plain C.

#define TMAPI_ASK_RATES 11

// Rate k, and what it is the rate of, in the order of tmap_ask_rates.
TMAP_FN double *tmapi_ask_rate(tmap_ask_rates *r, int k) {
    switch (k) {
    case 0: return &r->border_work;
    case 1: return &r->leaf_work;
    case 2: return &r->border_element;
    case 3: return &r->fill_element;
    case 4: return &r->leaf_element;
    case 5: return &r->region;
    case 6: return &r->cut;
    case 7: return &r->level;
    case 8: return &r->once;
    case 9: return &r->border_depth;
    default: return &r->leaf_depth;
    }
}

TMAP_FN double tmapi_ask_counted(const tmap_ask_prediction *c, int k) {
    switch (k) {
    case 0: return c->border_work;
    case 1: return c->leaf_work;
    case 2: return c->border_elements;
    case 3: return c->fill_elements;
    case 4: return c->leaf_elements;
    case 5: return c->regions;
    case 6: return c->cut;
    case 7: return c->levels;
    case 8: return 1;
    case 9: return c->border_depth;
    default: return c->leaf_depth;
    }
}

// counted: n plans, predicted (tmap_ask_predict_curve, with or without rates) or filled in from
// what a run counted; time: their measured times, above 0, in any unit. *rates: those above 0 on
// entry are fitted, the others come out as 0, for what is known to cost nothing. sweeps: how often
// all rates are set; 0 for 20000. *worst: the largest relative error that is left; may be null.
// Returns 0, or TMAP_EINVAL for null pointers, n = 0, or a time that is not above 0; outputs are
// written only on success. Cost: sweeps times 121 products.
// Example: all rates 1 on entry, plans timed at 2 a level and 3 a region: 2 and 3, the others 0.
TMAP_FN int tmap_ask_rates_fit(const tmap_ask_prediction *counted, const double *time, tmap_u32 n,
                               tmap_u32 sweeps, tmap_ask_rates *rates, double *worst) {
    double normal[TMAPI_ASK_RATES][TMAPI_ASK_RATES], right[TMAPI_ASK_RATES], rate[TMAPI_ASK_RATES];
    double most = 0;
    tmap_u32 i;
    int j, k;
    if (!counted || !time || !rates || n == 0) return TMAP_EINVAL;
    for (i = 0; i < n; ++i)
        if (!(time[i] > 0)) return TMAP_EINVAL;
    // The normal equations of the sum over plans of (sum over k of rate k count k / time - 1)^2.
    for (j = 0; j < TMAPI_ASK_RATES; ++j) {
        int fitted = *tmapi_ask_rate(rates, j) > 0;
        rate[j] = right[j] = 0;
        for (k = 0; k < TMAPI_ASK_RATES; ++k) normal[j][k] = 0;
        for (i = 0; fitted && i < n; ++i) {
            double count = tmapi_ask_counted(&counted[i], j) / time[i];
            right[j] += count;
            for (k = 0; k < TMAPI_ASK_RATES; ++k)
                normal[j][k] += count * tmapi_ask_counted(&counted[i], k) / time[i];
        }
    }
    for (sweeps = sweeps ? sweeps : 20000; sweeps; --sweeps)
        for (k = 0; k < TMAPI_ASK_RATES; ++k) {
            double left = right[k];
            if (!(normal[k][k] > 0)) continue; // not fitted, or never counted
            for (j = 0; j < TMAPI_ASK_RATES; ++j)
                if (j != k) left -= normal[k][j] * rate[j];
            rate[k] = left > 0 ? left / normal[k][k] : 0;
        }
    for (k = 0; k < TMAPI_ASK_RATES; ++k) *tmapi_ask_rate(rates, k) = rate[k];
    for (i = 0; i < n; ++i) {
        double off = tmap_ask_predict_time(&counted[i], rates) / time[i] - 1;
        if (off < 0) off = -off;
        if (off > most) most = off;
    }
    if (worst) *worst = most;
    return TMAP_OK;
}

#endif
