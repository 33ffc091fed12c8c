// SPDX-License-Identifier: MIT
// ask_domain.h: what a run of ask.h is told: forms, drivers, (g, r, B), the domain, and the
// workspace with its counters.
#ifndef TMAP_ADAPTIVE_ASK_DOMAIN_H
#define TMAP_ADAPTIVE_ASK_DOMAIN_H

#include "olt.h"

// How threads are given to regions.
typedef enum tmap_ask_form {
    TMAP_ASK_SBR, // single block per region: asks, finishes or subdivides it in one kernel a level
    TMAP_ASK_MBR  // multiple blocks per region: all elements of a level's regions over all blocks
} tmap_ask_form;

// Who goes from level to level.
typedef enum tmap_ask_driver {
    TMAP_ASK_HOST,       // the host reads the count and launches the next level: the paper's
    TMAP_ASK_STREAM,     // all levels are enqueued at once, kernels read the count: no waiting
    TMAP_ASK_GRAPH,      // a graph with a WHILE node (CUDA >= 12.4)
    TMAP_ASK_COOPERATIVE // one cooperative launch with barriers over the grid
} tmap_ask_driver;

#define TMAP_ASK_FORM_COUNT   2
#define TMAP_ASK_DRIVER_COUNT 4
#define TMAP_ASK_LEVELS_MAX   32

// "sbr", "mbr"; "?" for any other number.
TMAP_FN const char *tmap_ask_form_name(int form) {
    return form == TMAP_ASK_SBR ? "sbr" : form == TMAP_ASK_MBR ? "mbr" : "?";
}

// "host", "stream", "graph", "cooperative"; "?" for any other number.
TMAP_FN const char *tmap_ask_driver_name(int driver) {
    switch (driver) {
    case TMAP_ASK_HOST: return "host";
    case TMAP_ASK_STREAM: return "stream";
    case TMAP_ASK_GRAPH: return "graph";
    case TMAP_ASK_COOPERATIVE: return "cooperative";
    default: return "?";
    }
}

// The subdivision: g parts along each axis at level 0, r parts of each part, down to side B.
typedef struct tmap_ask_params {
    tmap_u32 g, r, B;
} tmap_ask_params;

// A domain of nx x ny, or nx x ny x nz elements, and its subdivision.
typedef struct tmap_ask_domain {
    tmap_u32 nx, ny, nz; // nz = 1 for two axes
    tmap_u32 dims;       // 2 or 3
    tmap_u32 g, r, B;
    tmap_u32 levels; // tau
} tmap_ask_domain;

// What a run counted at a level. regions = subdivided + filled + leaves; empty ones, without an
// element, are not among them. refused: regions that should have been subdivided and found no place
// in the table; their elements were computed by the leaf work, and they are among the leaves.
typedef struct tmap_ask_level_counts {
    tmap_u64 regions, empty, subdivided, filled, leaves, refused;
} tmap_ask_level_counts;

typedef struct tmap_ask_counts {
    tmap_u32 levels;
    tmap_u64 refused; // of all levels; 0: the tables were large enough
    tmap_ask_level_counts level[TMAP_ASK_LEVELS_MAX];
} tmap_ask_counts;

// A part number has 21 bits, so that three of them fit a scalar.
#define TMAPI_ASK_PARTS_MAX   0x200000ull
#define TMAPI_ASK_ENTRIES_MAX 0xffffffffull

// The domain with its subdivision. dims: 2 (nz is then not read) or 3. a: g >= 1, r >= 2, B >= 1,
// B <= n / g with n the longest side.
// Returns TMAP_OK, TMAP_EINVAL (a side of 0, dims, g, r or B), or TMAP_ERANGE: B > n / g, a side
// beyond 2^31 - 1, more than 2^21 parts along an axis or 2^32 - 1 regions at level 0, regions of
// level 0 with 2^32 elements (a frame of 31 more along each axis included), r^dims above 2^20.
// Example: 16384 x 16384, (32, 2, 32): 4 levels with regions of side 512, 256, 128, 64.
TMAP_FN int tmap_ask_domain_make(tmap_u64 nx, tmap_u64 ny, tmap_u64 nz, tmap_u32 dims,
                                 tmap_ask_params a, tmap_ask_domain *out) {
    tmap_u64 n = nx > ny ? nx : ny, elements;
    tmap_ask_domain d;
    int error;
    if (!out || dims < 2 || dims > 3) return TMAP_EINVAL;
    if (dims == 2) nz = 1;
    if (nz > n) n = nz;
    if (nx == 0 || ny == 0 || nz == 0) return TMAP_EINVAL;
    if ((error = tmap_region_check(n, a.g, a.r, a.B)) != TMAP_OK) return error;
    d.levels = tmap_region_levels(n, a.g, a.r, a.B);
    if (n > 0x7fffffffull) return TMAP_ERANGE;
    if (tmap_region_parts(a.g, a.r, d.levels - 1) > TMAPI_ASK_PARTS_MAX) return TMAP_ERANGE;
    if (tmap_region_olt_size(1, a.g, dims) > TMAPI_ASK_ENTRIES_MAX) return TMAP_ERANGE;
    if (tmap_region_olt_size(1, a.r, dims) > 1u << 20) return TMAP_ERANGE;
    elements =
        tmapi_region_mul(tmap_region_side_max(nx, a.g) + 31, tmap_region_side_max(ny, a.g) + 31);
    if (dims == 3) elements = tmapi_region_mul(elements, tmap_region_side_max(nz, a.g) + 31);
    if (elements > TMAPI_ASK_ENTRIES_MAX) return TMAP_ERANGE;
    d.nx = (tmap_u32)nx, d.ny = (tmap_u32)ny, d.nz = (tmap_u32)nz;
    d.dims = dims;
    d.g = a.g, d.r = a.r, d.B = a.B;
    *out = d;
    return TMAP_OK;
}

// ---- the workspace ------------------------------------------------------------------------------

// A level's part of the counters, in device memory.
typedef struct tmapi_ask_level {
    tmap_u64 subdivided; // insertions asked for: the count of the table that the next level reads
    tmap_u64 filled, leaves, empty, refused;
    tmap_u64 ticket; // chunks of shared elements handed out
} tmapi_ask_level;

// All that must be 0 before a run.
typedef struct tmapi_ask_control {
    tmapi_ask_level level[TMAP_ASK_LEVELS_MAX];
    tmap_u64 border_ticket, leaf_ticket, fill_ticket; // chunks handed out
    tmap_u32 level_now;                               // of the graph driver
    tmap_u32 arrived;                                 // at the barriers of the cooperative driver
} tmapi_ask_control;

// Everything that a run needs besides the problem: made by tmap_ask_workspace_create or _set. One
// run at a time may use it; runs in one stream, one after the other, may share it.
typedef struct tmap_ask_workspace {
    tmap_ask_domain domain;
    tmapi_ask_control *control;
    tmap_u64 *even, *odd, *leaf, *fill; // the two tables; regions that wait for the last launch
    tmap_u32 *value;                    // of the regions in `fill`
    tmap_u64 olt_capacity, list_capacity;
    void *memory;
    tmap_u64 bytes;
    // Host memory or null, which is what the makers of a workspace set: the host driver writes the
    // milliseconds of each level to it, and those of the last launch to level_ms[levels].
    float *level_ms;
    // Blocks of the cooperative driver; 0, which is what the makers set: as many as are resident.
    tmap_u32 cooperative_blocks;
} tmap_ask_workspace;

// The entries that tables and lists need at most, or `capacity` if that is less and not 0.
TMAP_FN void tmapi_ask_capacities(const tmap_ask_domain *d, tmap_u64 capacity, tmap_u64 *olt,
                                  tmap_u64 *list) {
    tmap_u64 children = tmap_region_olt_size(1, d->r, d->dims);
    tmap_u64 last = tmap_region_parts(d->g, d->r, d->levels - 1);
    tmap_u64 most = TMAPI_ASK_ENTRIES_MAX / children; // the children's numbers have 32 bits
    *list = tmap_region_olt_size(1, last, d->dims);
    *olt = *list / children; // tau = 1: no table is needed; a few entries do no harm
    if (capacity && *olt > capacity) *olt = capacity;
    if (capacity && *list > capacity) *list = capacity;
    if (*olt > most) *olt = most;
    if (*list > TMAPI_ASK_ENTRIES_MAX) *list = TMAPI_ASK_ENTRIES_MAX;
}

#define TMAPI_ASK_ALIGN(bytes) (((bytes) + 255) / 256 * 256)

// Bytes of device memory that a workspace takes. capacity: the most entries of each table and list;
// 0: as many as can ever be needed, so that no region is refused. Returns 0 for parameters that
// tmap_ask_domain_make refuses. nz: 0 for two axes.
// Cost of capacity 0: 20 bytes for each region that the last level can have, and 16 / r^dims more:
// for n = 65536, (16, 4, 16) 22 MB beside the 17 GB of the picture.
TMAP_FN tmap_u64 tmap_ask_workspace_bytes(tmap_u64 nx, tmap_u64 ny, tmap_u64 nz, tmap_ask_params a,
                                          tmap_u64 capacity) {
    tmap_ask_domain d;
    tmap_u64 olt, list;
    if (tmap_ask_domain_make(nx, ny, nz, nz ? 3 : 2, a, &d)) return 0;
    tmapi_ask_capacities(&d, capacity, &olt, &list);
    return TMAPI_ASK_ALIGN(sizeof(tmapi_ask_control)) + 2 * TMAPI_ASK_ALIGN(8 * olt) +
           2 * TMAPI_ASK_ALIGN(8 * list) + TMAPI_ASK_ALIGN(4 * list);
}

// A workspace in memory of the caller's: at least tmap_ask_workspace_bytes bytes of device memory
// at a multiple of 256. Returns TMAP_OK, TMAP_EINVAL (a null or misaligned pointer, too few bytes)
// or what tmap_ask_domain_make returns.
TMAP_FN int tmap_ask_workspace_set(tmap_u64 nx, tmap_u64 ny, tmap_u64 nz, tmap_ask_params a,
                                   tmap_u64 capacity, void *memory, tmap_u64 bytes,
                                   tmap_ask_workspace *out) {
    tmap_ask_workspace w;
    unsigned char *at = (unsigned char *)memory;
    int error;
    if (!out) return TMAP_EINVAL;
    if ((error = tmap_ask_domain_make(nx, ny, nz, nz ? 3 : 2, a, &w.domain)) != TMAP_OK)
        return error;
    w.bytes = tmap_ask_workspace_bytes(nx, ny, nz, a, capacity);
    if (!memory || (tmap_u64)memory % 256 || bytes < w.bytes) return TMAP_EINVAL;
    tmapi_ask_capacities(&w.domain, capacity, &w.olt_capacity, &w.list_capacity);
    w.memory = memory;
    w.level_ms = 0;
    w.cooperative_blocks = 0;
    w.control = (tmapi_ask_control *)at;
    at += TMAPI_ASK_ALIGN(sizeof(tmapi_ask_control));
    w.even = (tmap_u64 *)at, at += TMAPI_ASK_ALIGN(8 * w.olt_capacity);
    w.odd = (tmap_u64 *)at, at += TMAPI_ASK_ALIGN(8 * w.olt_capacity);
    w.leaf = (tmap_u64 *)at, at += TMAPI_ASK_ALIGN(8 * w.list_capacity);
    w.fill = (tmap_u64 *)at, at += TMAPI_ASK_ALIGN(8 * w.list_capacity);
    w.value = (tmap_u32 *)at;
    *out = w;
    return TMAP_OK;
}

#endif
