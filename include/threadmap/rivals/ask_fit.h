// SPDX-License-Identifier: MIT
// ask_fit.h: the rates of ask_predict.h from a few measured times.
//
// A predicted time is linear in the eleven rates, so plans that were predicted or counted, and
// timed, determine them: by least squares on the relative errors, with no rate below 0. That is a
// convex problem, which is solved by setting one rate after the other to its best value, over and
// over. Rates that the plans cannot tell apart come out in some mixture, which predicts plans like
// those just as well. For hosts; plain C.
#ifndef TMAP_RIVALS_ASK_FIT_H
#define TMAP_RIVALS_ASK_FIT_H

#include "ask_predict.h"

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
