// SPDX-License-Identifier: MIT
// ask_model.h: the cost model of adaptive subdivision (ASK): work, work reduction, time and speedup
// of subdividing a domain compared with computing all of it.
//
// A domain of n x n elements is cut into G = g^2 regions. A region is queried, which costs Q; with
// probability P it is cut into R = r^2 regions at cost S, else a last pass finishes it at cost T.
// After tau levels every remaining element costs A, the work of one element; the work of that last
// level is L. All costs and results are in the unit of A. Times count the steps of q
// multiprocessors of c cores; a core does one unit of work in a step.
//
// The letters are the paper's; their names in the code are: A element_cost, P chance, Q query, S
// cut, T finish, G regions, R children.
//
//     tmap_ask_model m = {65536, 32, 2, 32, 8, 0.7, 100, 128, 64};
//     tmap_ask_model_omega(&m) // 3.389534: W_E / W_S, the work reduction
//
// Source: Quezada, Navarro, Romero, Aguilera, "Modeling GPU dynamic parallelism for self similar
// density workloads", FGCS 145 (2023), equations 1 to 25; adaptive/region.h has 26 to 28 and tau.
//
// Plain double arithmetic. All functions return a value for all arguments, an unspecified one for
// arguments that tmap_ask_model_check refuses.
#ifndef TMAP_PAPERS_ASK_MODEL_H
#define TMAP_PAPERS_ASK_MODEL_H

#include "../adaptive/region.h"

// ---- numbers ------------------------------------------------------------------------------------

// x^e by products; 1 for e = 0.
TMAP_FN double tmapi_ask_pow(double x, tmap_u32 e) {
    double p = 1;
    while (e--) p *= x;
    return p;
}

// 1 + x + ... + x^(m-1) = (x^m - 1) / (x - 1), and m for x = 1. Summed near 1, where the quotient
// would lose digits.
TMAP_FN double tmapi_ask_geometric(double x, tmap_u32 m) {
    double sum = 0;
    if (x - 1 > 0.001 || x - 1 < -0.001) return (tmapi_ask_pow(x, m) - 1) / (x - 1);
    while (m--) sum = sum * x + 1;
    return sum;
}

// The smallest integer not below x; 0 for x <= 0. A quotient of integers below 2^53 is rounded to
// an integer only if it is one, so its ceiling is correct.
TMAP_FN double tmapi_ask_ceil(double x) {
    double whole;
    if (!(x < 9007199254740992.0)) return x; // an integer already
    if (x <= 0) return 0;
    whole = (double)(tmap_u64)x;
    return whole + (whole < x);
}

// ---- any problem: probabilities and costs by level ----------------------------------------------

// W_E = A n^2, equations 1 and 2: the work of computing every element. elements: n^2. Example:
// elements = 65536^2, element_cost = 8: 34359738368.
TMAP_FN double tmap_ask_model_exhaustive(double elements, double element_cost) {
    return element_cost * elements;
}

// E[G_i] = G prod_{j<i} P_j R_j, equations 9 to 11: the expected number of regions at level i.
// chance, children: of levels 0 to i - 1. Example: regions = 4, chance = 1, 0.875, children = 4, 4,
// i = 2: 56.
TMAP_FN double tmap_ask_model_regions(double regions, const double *chance, const double *children,
                                      tmap_u32 i) {
    tmap_u32 j;
    for (j = 0; j < i; ++j) regions *= chance[j] * children[j];
    return regions;
}

// K_i = E[G_i] (Q_i + P_i S_i + (1 - P_i) T_i), equations 5 to 8: the work of a level, except the
// last. regions: E[G_i]. Example: regions = 4, chance = 0.5, costs 10, 2 and 6: 56.
TMAP_FN double tmap_ask_model_level(double regions, double chance, double query, double cut,
                                    double finish) {
    return regions * (query + chance * cut + (1 - chance) * finish);
}

// L = A n^2 prod_{j<=tau-2} P_j, equations 13 and 14: the work of the last level. chance: of levels
// 0 to tau - 2. Example: elements = 64, element_cost = 2, chance = 0.5, 0.25, tau = 3: 16.
TMAP_FN double tmap_ask_model_last(double elements, double element_cost, const double *chance,
                                   tmap_u32 tau) {
    tmap_u32 j;
    for (j = 0; j + 1 < tau; ++j) element_cost *= chance[j];
    return element_cost * elements;
}

// The numbers of levels 0 to tau - 2: arrays of P_i, R_i, Q_i, S_i, T_i.
typedef struct tmap_ask_model_costs {
    const double *chance, *children, *query, *cut, *finish;
} tmap_ask_model_costs;

// W_S, equations 3, 4, 12, 15 and 16: the expected work of a subdivision of tau >= 1 levels. Law:
// tau = 1 gives W_E. Example: elements = 64, element_cost = 10, regions = 4, tau = 2, chance = 0.5,
// children = 4, costs 12, 1 and 16: 402.
TMAP_FN double tmap_ask_model_work(double elements, double element_cost, double regions,
                                   tmap_u32 tau, const tmap_ask_model_costs *costs) {
    double work = tmap_ask_model_last(elements, element_cost, costs->chance, tau);
    tmap_u32 i;
    for (i = 0; i + 1 < tau; ++i) {
        work += tmap_ask_model_level(regions, costs->chance[i], costs->query[i], costs->cut[i],
                                     costs->finish[i]);
        regions *= costs->chance[i] * costs->children[i];
    }
    return work;
}

// ---- self-similar density (SSD): the same P and R at all levels ---------------------------------

// W_S, equations 17 and 18: E[G_i] = G (P R)^i. costs: chance and children are one number each.
// Law: equals tmap_ask_model_work with P_i = P and R_i = R.
TMAP_FN double tmap_ask_model_ssd(double elements, double element_cost, double regions,
                                  tmap_u32 tau, const tmap_ask_model_costs *costs) {
    double work = 0, left = element_cost * elements;
    tmap_u32 i;
    for (i = 0; i + 1 < tau; ++i) {
        work += tmap_ask_model_level(regions, *costs->chance, costs->query[i], costs->cut[i],
                                     costs->finish[i]);
        regions *= *costs->chance * *costs->children;
        left *= *costs->chance;
    }
    return work + left;
}

// ---- the Mandelbrot set by the Mariani-Silver rule ----------------------------------------------
//
// The query computes the border of a region, Q_i = 4 A n / (g r^i); a region with one value on its
// border is filled, T_i = n^2 / (G R^i), one unit an element; S = lambda A (equation 19).

// The model of a Mandelbrot picture of n x n elements.
typedef struct tmap_ask_model {
    tmap_u64 n;          // elements along a side of the domain
    tmap_u64 g, r, b;    // as for tmap_region_check
    double element_cost; // A, the work of an element: the dwell
    double chance;       // P, the probability that a region is cut, 0 to 1
    double lambda;       // the cost of cutting a region, in units of A
    double q, c;         // multiprocessors; cores of one. Only used for times.
} tmap_ask_model;

// Checks a model. Returns TMAP_OK; the result of tmap_region_check for n, g, r and b; TMAP_EINVAL
// for an element_cost, q or c that is not above 0, a chance outside 0 to 1, or a lambda below 0.
TMAP_FN int tmap_ask_model_check(const tmap_ask_model *m) {
    int error = tmap_region_check(m->n, m->g, m->r, m->b);
    if (error) return error;
    if (!(m->element_cost > 0 && m->chance >= 0 && m->chance <= 1 && m->lambda >= 0))
        return TMAP_EINVAL;
    return m->q > 0 && m->c > 0 ? TMAP_OK : TMAP_EINVAL;
}

// Number of levels tau: tmap_region_levels.
TMAP_FN tmap_u32 tmap_ask_model_levels(const tmap_ask_model *m) {
    return tmap_region_levels(m->n, m->g, m->r, m->b);
}

// W_S, equation 20, as a sum. Cost: a loop over the levels.
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

// Omega = W_E / W_S, equation 21: the work reduction by subdivision. Example: as above: 3.389534.
TMAP_FN double tmap_ask_model_omega(const tmap_ask_model *m) {
    return tmap_ask_model_exhaustive((double)m->n * (double)m->n, m->element_cost) /
           tmap_ask_model_mandelbrot(m);
}

// Upper bound of Omega for A >= 1: A / (1 + (A - 1) P^m), m = tau - 1, because each element is at
// least filled and a fraction P^m of them is computed. Never above A, the bound of section 4.2.2.
TMAP_FN double tmap_ask_model_omega_bound(const tmap_ask_model *m) {
    return m->element_cost /
           (1 + (m->element_cost - 1) * tmapi_ask_pow(m->chance, tmap_ask_model_levels(m) - 1));
}

// T_E = A ceil(n^2 / (q c)), equation 22: steps of computing every element. Example: n = 65536, A =
// 8, q = 128, c = 64: 4194304.
TMAP_FN double tmap_ask_model_time_exhaustive(const tmap_ask_model *m) {
    return m->element_cost * tmapi_ask_ceil((double)m->n * (double)m->n / (m->q * m->c));
}

// T_SBR, equation 23: steps of the subdivision with one multiprocessor for each region (single
// block per region): with m = tau - 1, the sum over i < m of
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

// T_MBR, equation 24: the same if filling and the last level use all multiprocessors for each
// region (multiple blocks per region): with H = ceil(n^2 / (q c)), the sum over i < m of
//   P^i (A ceil(4 n / (g r^i c)) ceil(G R^i / q) + P lambda A ceil(G R^i / q) + (1 - P) H),
// and A P^m H. It rounds the border before the factor A, where equation 23 rounds it after.
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

// S_SBR = T_E / T_SBR and S_MBR = T_E / T_MBR, equation 25. Example: n = 2^24, (8, 2, 8), A = 8, P
// = 0.7, lambda = 100, q = 128, c = 64: 5.30213 and 6.61798.
TMAP_FN double tmap_ask_model_speedup_sbr(const tmap_ask_model *m) {
    return tmap_ask_model_time_exhaustive(m) / tmap_ask_model_time_sbr(m);
}
TMAP_FN double tmap_ask_model_speedup_mbr(const tmap_ask_model *m) {
    return tmap_ask_model_time_exhaustive(m) / tmap_ask_model_time_mbr(m);
}

// ---- the best (g, r, B) -------------------------------------------------------------------------

// The candidates of a search: each g with each r and each B.
typedef struct tmap_ask_candidates {
    const tmap_u32 *g, *r, *b;
    tmap_u32 g_count, r_count, b_count;
} tmap_ask_candidates;

// The value that a search maximizes.
#define TMAP_ASK_OMEGA       0 // Omega: the least work
#define TMAP_ASK_SPEEDUP_SBR 1
#define TMAP_ASK_SPEEDUP_MBR 2

TMAP_FN double tmapi_ask_model_value(const tmap_ask_model *m, int goal) {
    return goal == TMAP_ASK_SPEEDUP_SBR   ? tmap_ask_model_speedup_sbr(m)
           : goal == TMAP_ASK_SPEEDUP_MBR ? tmap_ask_model_speedup_mbr(m)
                                          : tmap_ask_model_omega(m);
}

// Searches the best (g, r, B), sections 4.2.2 and 4.3.3. m: the other members are input; on success
// g, r and b are set to the candidates with the largest value, the first ones of equal value, and
// *value to that value. Skips candidates that are impossible for m->n. Returns TMAP_OK; TMAP_EINVAL
// for null pointers, an unknown goal or invalid numbers in *m; TMAP_ERANGE if none is possible.
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

#endif
