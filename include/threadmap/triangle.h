// SPDX-License-Identifier: MIT
// triangle.h: triangles of pairs and tetrahedra of triples: all their maps, and the engines for
// pairs and triples of points.
//
// Pairwise distances are in triangle/pdist.h.
#ifndef TMAP_TRIANGLE_H
#define TMAP_TRIANGLE_H

#include "triangle/condensed.h"
#include "triangle/map.h"
#include "triangle/pairs.h"
#include "triangle/pairs_frames.h"
#include "triangle/pairs_rows.h"
#include "triangle/pairs_select.h"
#include "triangle/pairs_store.h"
#include "triangle/simplex.h"
#include "triangle/triples.h"
#include "triangle/triples_tables.h"

#endif
