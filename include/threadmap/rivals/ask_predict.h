// SPDX-License-Identifier: MIT
// ask_predict.h: work and time of an adaptive subdivision from measured counts and costs, and the
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
#ifndef TMAP_RIVALS_ASK_PREDICT_H
#define TMAP_RIVALS_ASK_PREDICT_H

#include "ask_model.h"

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

#endif
