// SPDX-License-Identifier: MIT
// pairs.h: the engine for everything that looks at two of n things, called from a kernel of the
// user's own: a plan on the host, and a function for every pair.
//
//     tmap_pairs_each     a function on every pair, which goes to memory by itself
//     tmap_pairs_fold     the same, and what it accumulates joined to one value
//     tmap_pairs_select   the pairs to which a function says yes, as a list
//     tmap_pairs_rows     for each point what a function makes of its pairs, both points at once
//     tmap_pairs_store    a value for each pair, into a condensed, square or lower matrix
//     tmap_pairs_frames   what a function accumulates of all pairs in each of many frames
#ifndef TMAP_TRIANGLE_PAIRS_H
#define TMAP_TRIANGLE_PAIRS_H

#include "pairs_fold.h"
#include "pairs_frames.h"
#include "pairs_plan.h"
#include "pairs_rows.h"
#include "pairs_select.h"
#include "pairs_store.h"
#include "pairs_store_sums.h"

#endif
