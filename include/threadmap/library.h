// SPDX-License-Identifier: MIT
// library.h: ready kernels as functions of a library, libthreadmap.so, for programs in C, C++ or
// any language that calls C, compiled without nvcc. Each function does what a header does: its
// comment names that header, which says more about ranges, exactness and cost.
//
//     const threadmap_pdist_job job = {points, out, n, 3, THREADMAP_F32, THREADMAP_EUCLIDEAN,
//                                      THREADMAP_CONDENSED, 0};
//     int error = threadmap_pdist(&job, 0, &bytes, stream); // how large the workspace must be
//     ... threadmap_allocate(&workspace, bytes), or memory of yours
//     if (!error) error = threadmap_pdist(&job, workspace, &bytes, stream);
//     if (error) puts(threadmap_error_text(error));
//
// All calls have these four arguments.
// job: what is computed and where results are written. It is read before the call returns. Zeros
//     in members that you do not set are their defaults.
// workspace: 0: the call writes the bytes of the workspace to *bytes and does nothing else;
//     pointers of the job may then be null. Else that memory, at a multiple of 256, with any
//     content. Calls that run at the same time need one each.
// bytes: the size of the workspace, at least 256. With a workspace it is not written. It depends on
//     the device, on the job's whole numbers, on which pointers are 0 and on which floats are 0.
// stream: a cudaStream_t on the device that is current in the calling thread; 0: the default one.
// A call allocates nothing and does not wait for the device. Pointers in a job are device memory,
// at multiples of the size of what they point to. Results are the same in every run.
// Returns 0, or an error: a negative one for a mistake in the call, before any work has begun; a
// positive one is a cudaError_t.
//
// libthreadmap-cpu.so has the same functions on the CPU machine of the tests. It needs no GPU, is
// very slow and takes host memory, and a call returns when its work is done.
#ifndef TMAP_LIBRARY_H
#define TMAP_LIBRARY_H

#include "core.h"

#if !TMAP_NVRTC
#ifdef __cplusplus
extern "C" {
#endif

// ---- errors, versions, memory -------------------------------------------------------------------

// Errors beside TMAP_EINVAL and TMAP_ERANGE of core.h.
#define THREADMAP_EALIGN     (-101) // a pointer that is not at a multiple of what it points to
#define THREADMAP_EWORKSPACE (-102) // *bytes is smaller than the workspace must be

// The text of an error of this library, a clause without a full stop. It is never freed.
const char *threadmap_error_text(int error);

// TMAP_VERSION (version.h) of the library.
int threadmap_version(void);

// 1 for the library of the CPU machine, 0 for that of a GPU.
int threadmap_is_cpu(void);

// Memory for programs that have no CUDA runtime of their own. `allocate` gets device memory, and
// `release` frees it. `copy` copies between device and host memory, in any direction, after the
// work in the stream, and waits. `wait` waits for the work in the stream.
int threadmap_allocate(void **memory, tmap_u64 bytes);
int threadmap_release(void *memory);
int threadmap_copy(void *to, const void *from, tmap_u64 bytes, void *stream);
int threadmap_wait(void *stream);

// Types of coordinates: float, double.
#define THREADMAP_F32 0
#define THREADMAP_F64 1

// ---- distances of all pairs: triangle/pdist.h ---------------------------------------------------

// Metrics, as scipy names them, and where the distance of points i and j is written: condensed: i <
// j alone, in scipy's order; square: at [i][j]; lower: square, for i >= j alone.
enum {
    THREADMAP_EUCLIDEAN,
    THREADMAP_SQEUCLIDEAN,
    THREADMAP_CITYBLOCK,
    THREADMAP_COSINE,
    THREADMAP_CHEBYSHEV,
    THREADMAP_CORRELATION
};
enum { THREADMAP_CONDENSED, THREADMAP_SQUARE, THREADMAP_LOWER };

typedef struct threadmap_pdist_job {
    const void *points; // n x d coordinates
    void *out;          // n (n - 1) / 2 values if condensed, else n n, of the points' type
    tmap_u64 n, d;
    int type, metric, layout;
    int products; // 1: floats from products on tensor cores, where the device has them for doubles
} threadmap_pdist_job;

// Example: points 0, 1, 3 of d = 1: condensed euclidean 1, 3, 2.
int threadmap_pdist(const threadmap_pdist_job *job, void *workspace, tmap_u64 *bytes, void *stream);

// ---- points near each other: triangle/near.h ----------------------------------------------------

// Points and the distance up to which they are near, that distance included. Distances are compared
// as squares, in the points' type. A point that is not finite is near nothing. In a periodic box,
// distances are those to the nearest image.
typedef struct threadmap_near {
    const void *points; // n x d coordinates
    tmap_u64 n;         // up to 2^31
    int d, type;        // d: 2 or 3
    double radius;
    double box[3];      // lengths of a right-angled box; 0: open along that axis
    double cell[9];     // in place of the box, with d = 3: its vectors a, b and c, of any shape
                        // (triangle/image.h); zeros for one that is not periodic
    const void *others; // points of a second set: pairs are of a point i of the first set and a
                        // point j of the second
    tmap_u64 m;         // how many; 0: one set
} threadmap_near;

// A list of pairs, in an order that depends on the points alone. If count[0] exceeds the capacity,
// the first `capacity` pairs are written; with capacity 0 the call only counts.
typedef struct threadmap_pairs_job {
    threadmap_near near_by;
    void *i, *j;     // `capacity` numbers of points
    void *values;    // `capacity` distances of the points' type; or 0
    tmap_u64 *count; // receives the number of pairs
    tmap_u64 capacity;
    int wide; // 1: numbers have 8 bytes; 0: 4
    int both; // 1: (i, j) and (j, i); 0: each pair once, i < j
} threadmap_pairs_job;

// Example: points (0, 0, 0), (3, 4, 0), radius 5: i 0, j 1, value 5, count 1.
int threadmap_pairs(const threadmap_pairs_job *job, void *workspace, tmap_u64 *bytes, void *stream);

// The same as a graph in compressed rows: the neighbours of point i are columns[starts[i]] to
// columns[starts[i + 1] - 1], ascending. Rows that end within the capacity are written.
typedef struct threadmap_graph_job {
    threadmap_near near_by;
    tmap_u64 *starts; // n + 1 numbers; the last one is that of all neighbours
    void *columns;    // `capacity` numbers
    void *values;     // `capacity` distances; or 0
    tmap_u64 capacity;
    int wide; // 1: columns have 8 bytes; 0: 4
} threadmap_graph_job;

int threadmap_graph(const threadmap_graph_job *job, void *workspace, tmap_u64 *bytes, void *stream);

// Groups of points of one set that are linked by pairs within the radius (triangle/near_groups.h):
// friends of friends; or DBSCAN, where core points alone link, and another point that is near core
// points is of the first of their groups.
typedef struct threadmap_groups_job {
    threadmap_near near_by;
    tmap_u32 *labels;    // n: the smallest number of the group's linking points; 2^32 - 1: noise
    tmap_u32 *count;     // receives the number of groups; or 0
    int dense;           // 1: labels are 0, 1, ... in that order instead
    tmap_u32 min_points; // more than 1: DBSCAN. Core points have at least this number of points
                         // within the radius, themselves included
} threadmap_groups_job;

// Example: d = 2, points (0, 0), (2, 0), (4, 0), (9, 0), radius 2: labels 0 0 0 3, count 2; with
// min_points 3: 1 1 1 and noise, count 1.
int threadmap_groups(const threadmap_groups_job *job, void *workspace, tmap_u64 *bytes,
                     void *stream);

// How many pairs lie at which distance, each pair once: bin b counts distances d with b w <= d <
// (b + 1) w, w = radius / bins, and the last one also d = radius. A distance's bin is computed in
// the points' type, so that one within rounding of two bins may be in either.
typedef struct threadmap_histogram_job {
    threadmap_near near_by; // radius: the largest distance that counts, more than 0
    tmap_u64 *counts;       // `bins` numbers
    tmap_u32 bins;          // 1 to 2^31; up to 1024 take fewer atomic operations in global memory
} threadmap_histogram_job;

// Example: points (0, 0, 0), (3, 4, 0), (0, 0, 1), radius 6, 3 bins: 1 0 2.
int threadmap_histogram(const threadmap_histogram_job *job, void *workspace, tmap_u64 *bytes,
                        void *stream);

// The k nearest of each point, of the same set or of the second one, nearest first.
typedef struct threadmap_nearest_job {
    threadmap_near near_by; // radius: only nearer points; 0: any
    void *numbers;          // k of each point; 2^32 - 1: there is none
    void *distances;        // k of each point, of its type, infinite where there is none; or 0
    int k;                  // 1 to 64
    int self;               // 1: a point of the same set is its own nearest; 0: it does not count
    int wide;               // 1: numbers have 8 bytes, and n, or m of a second set, is for none
} threadmap_nearest_job;

// Example: d = 2, points (0, 0), (3, 0), (5, 0), k = 1: numbers 1, 2, 1, distances 3, 2, 2.
int threadmap_nearest(const threadmap_nearest_job *job, void *workspace, tmap_u64 *bytes,
                      void *stream);

// A prepared set, as kernels of your own with triangle/near.h take it: the points in an order in
// which neighbours lie together (triangle/near_sort.h), and their boxes.
typedef struct threadmap_near_set_job {
    const void *points; // n x d coordinates
    void *set;          // threadmap_near_set_bytes bytes, at a multiple of 128
    tmap_u64 n;         // up to 2^31
    int d, type;        // d: 2 to 8
} threadmap_near_set_job;

int threadmap_near_set(const threadmap_near_set_job *job, void *workspace, tmap_u64 *bytes,
                       void *stream);

// Bytes of the set of a job; 0 for numbers outside their ranges. Example: 10^6 points of 3 floats:
// 16904064.
tmap_u64 threadmap_near_set_bytes(const threadmap_near_set_job *job);

// ---- maps of cells: raster/ ---------------------------------------------------------------------

// Types of cells. Labels take all of them, spill and flood the first three.
enum {
    THREADMAP_I16,
    THREADMAP_I32,
    THREADMAP_FLOAT,
    THREADMAP_U8,
    THREADMAP_MASK, // bytes: 0 or not
    THREADMAP_BITS  // 32 cells a word of a mask, the lowest bit first
};

// A map: cell (x, y) is cells[y * pitch + x]; with bits the pitch is in words. Results have no
// gaps: that of the cell is number y * width + x.
typedef struct threadmap_map {
    const void *cells;
    tmap_u64 width, height; // up to 2^31 - 1
    tmap_u64 pitch;         // 0: the rows have no gaps
    double nodata;          // with has_nodata: cells of this value do not belong to the map
    int has_nodata, type;
    int connectivity; // neighbours of a cell: 4 or 8
} threadmap_map;

// Connected components (raster/label.h): of a mask's cells that are not 0, or of cells of one
// value. Components are numbered from 1 in the order of their first cells; other cells get 0.
typedef struct threadmap_label_job {
    threadmap_map map;
    void *labels;    // width * height int; or long long, with wide; of each image
    tmap_u64 *count; // receives the number of components, of a batch one number an image
    int wide;
    int batch;       // 1: images, each with components of its own: a mask of bytes or bits each
    tmap_u64 images; // of a batch
    tmap_u64 slice;  // from an image to the next, in cells or words; 0: without gaps
} threadmap_label_job;

// Example: the mask 1 1 0 / 0 0 1 / 1 0 1 with 4 neighbours: 1 1 0 / 0 0 2 / 3 0 2, count 3.
int threadmap_label(const threadmap_label_job *job, void *workspace, tmap_u64 *bytes, void *stream);

// The same of a volume (raster/label3.h): of a mask's cells, bytes that are 0 or not or bits; or of
// cells of one value each. U16 are all cells of two bytes. Cell (x, y, z) is
// cells[z * slice + y * pitch + x].
enum {
    THREADMAP_LABEL3_BYTES,
    THREADMAP_LABEL3_BITS,
    THREADMAP_LABEL3_U8,
    THREADMAP_LABEL3_U16,
    THREADMAP_LABEL3_I32,
    THREADMAP_LABEL3_F32
};

// Added to the neighbours of a volume: axes whose ends are neighbours. A picture with such axes, or
// of values, is a volume of one slice, where 6 neighbours are 4 and 18 are 8.
#define THREADMAP_PERIODIC_X 0x100
#define THREADMAP_PERIODIC_Y 0x200
#define THREADMAP_PERIODIC_Z 0x400

typedef struct threadmap_label3_job {
    const void *cells;
    tmap_u64 width, height, depth;
    tmap_u64 pitch, slice; // 0: without gaps
    double nodata;         // with has_nodata: cells of this value belong to no component
    int has_nodata, kind;  // of cells
    int neighbours;        // 6, 18 or 26
    void *labels;          // width * height * depth int; or long long, with wide
    tmap_u64 *count;       // receives the number of components
    int wide;
} threadmap_label3_job;

int threadmap_label3(const threadmap_label3_job *job, void *workspace, tmap_u64 *bytes,
                     void *stream);

// Labels without gaps between rows and slices, of the functions above or of yours. 0 belongs to no
// component.
typedef struct threadmap_labels {
    void *labels; // width * height * depth int; or long long, with wide
    tmap_u64 width, height, depth;
    tmap_u64 components; // the largest label that counts, up to 2^40
    int images;          // 1: each slice has labels of its own
    int wide;
} threadmap_labels;

// The shape of each component (raster/label_measure.h): that of label i is number i - 1, of slice z
// of images number z * components + i - 1.
typedef struct threadmap_shape {
    tmap_u64 area, first; // cells; number of the first one. Area 0: there is no such component
    tmap_u32 left, top, front, right, bottom, back; // the first and the last column, row and slice
} threadmap_shape;

typedef struct threadmap_shapes_job {
    threadmap_labels of;
    threadmap_shape *shapes; // `components`, of each image
} threadmap_shapes_job;

int threadmap_shapes(const threadmap_shapes_job *job, void *workspace, tmap_u64 *bytes,
                     void *stream);

// Pairs of labels of a picture or of a volume, up to 2^32 - 1, that touch over faces of cells, and
// how many faces are between them (raster/label_tools.h). They are in a table with gaps; a quarter
// more entries than there are pairs is enough.
typedef struct threadmap_contact {
    tmap_u64 pair, area; // the lower label << 32 | the higher one, and faces; area 0: a gap
} threadmap_contact;

typedef struct threadmap_contacts_job {
    threadmap_labels of;         // `components` is not used
    threadmap_contact *contacts; // `room` entries
    tmap_u64 room;               // 1 to 2^32 - 1
    tmap_u64 *count; // receives the number of pairs; more than `room`: the table was too short, and
                     // has any content
} threadmap_contacts_job;

// Example: labels 1 1 2 / 1 3 2: pairs (1, 2), (1, 3), (2, 3) with areas 1, 2, 1.
int threadmap_contacts(const threadmap_contacts_job *job, void *workspace, tmap_u64 *bytes,
                       void *stream);

// Gives the cells of components of fewer than `least` cells the label 0.
typedef struct threadmap_dust_job {
    threadmap_labels of; // which are changed
    tmap_u64 least;
} threadmap_dust_job;

// Example: labels 1 1 0 2, least 2: 1 1 0 0.
int threadmap_dust(const threadmap_dust_job *job, void *workspace, tmap_u64 *bytes, void *stream);

// Fills the holes of a mask: components of 0 that touch no border become 1.
typedef struct threadmap_fill_job {
    threadmap_labels of; // of the mask's values, 0 among them: THREADMAP_LABEL3_U8
    unsigned char *mask; // a byte a cell, which is changed
} threadmap_fill_job;

// Example: the mask 1 1 1 / 1 0 1 / 1 1 1: all cells become 1.
int threadmap_fill(const threadmap_fill_job *job, void *workspace, tmap_u64 *bytes, void *stream);

// The level at which water from the outlets reaches each cell (raster/spill.h): filled depressions.
#define THREADMAP_SPILL_BORDER 1 // outlets: cells of the map's border
#define THREADMAP_SPILL_NODATA 2 // cells that touch NODATA

typedef struct threadmap_spill_job {
    threadmap_map map;
    const void *mask; // width * height bytes: outlets where they are not 0; or 0
    void *out;        // width * height levels of the map's type; floats with depth
    int depth;        // 1: level - height
    int outlets;      // a sum of THREADMAP_SPILL_BORDER and _NODATA
} threadmap_spill_job;

// Example: heights 5 1 3 2 4 in one row, the last one in the mask, outlets 0: 5 4 4 4 4.
int threadmap_spill(const threadmap_spill_job *job, void *workspace, tmap_u64 *bytes, void *stream);

// The cells below a level that water from the seeds reaches (raster/flood.h).
enum { THREADMAP_FLOOD_U8, THREADMAP_FLOOD_BITS, THREADMAP_FLOOD_DEPTH };

typedef struct threadmap_flood_job {
    threadmap_map map;
    const tmap_u64 *seeds; // x and y of each
    tmap_u64 count;        // of seeds
    double level;
    void *out; // width * height bytes; rows of (width + 31) / 32 words of bits; floats: the depth
    int form;  // THREADMAP_FLOOD_U8, _BITS or _DEPTH
} threadmap_flood_job;

// Example: heights 1 5 1 1, seed (2, 0), level 3: 0 0 1 1.
int threadmap_flood(const threadmap_flood_job *job, void *workspace, tmap_u64 *bytes, void *stream);

// ---- frames of a molecule: molecules/ -----------------------------------------------------------

// A trajectory: coordinate c of atom i of frame f is xyz[(f * n + i) * 3 + c].
typedef struct threadmap_frames {
    const float *xyz;
    tmap_u64 frames;
    tmap_u32 n, atom_count; // atoms of a frame; how many numbers `atoms` has
    const tmap_u32 *atoms;  // the atoms that count, each below n; 0: all
    const float *weights;   // of each atom that counts; 0: all 1
} threadmap_frames;

// The dRMSD of all pairs of frames (molecules/drmsd_matrix.h), in scipy's condensed order, or of
// each frame and a reference (molecules/drmsd_frames.h).
typedef struct threadmap_drmsd_job {
    threadmap_frames of;
    const float *boxes;         // lengths of each frame's periodic box, 3 a frame; 0: open
    const float *reference;     // n atoms; 0: all pairs
    const float *reference_box; // with boxes and a reference: its lengths; 0: open
    float *out;                 // frames (frames - 1) / 2 values, or `frames`
    float lower, upper; // pairs of atoms count if lower < distance < upper in the reference,
                        // of all pairs in frame 0; upper 0: all
    tmap_u64 most;      // bytes of the workspace, at most; 0: all that help
} threadmap_drmsd_job;

// Example: frames of two atoms at distances 1, 3, 6: 2, 5, 3.
int threadmap_drmsd(const threadmap_drmsd_job *job, void *workspace, tmap_u64 *bytes, void *stream);

// The RMSD after superposition (molecules/rmsd.h) of all pairs of frames, or of each frame and a
// reference.
typedef struct threadmap_rmsd_job {
    threadmap_frames of;
    const float *reference; // n atoms; 0: all pairs
    float *out;             // as of threadmap_drmsd_job
} threadmap_rmsd_job;

// Example: two atoms, 2 apart in one frame and 3 in the other: 0.5.
int threadmap_rmsd(const threadmap_rmsd_job *job, void *workspace, tmap_u64 *bytes, void *stream);

// Clusters of n frames by the greedy algorithm of Daura et al. (molecules/gromos.h), in the order
// in which it finds them.
typedef struct threadmap_gromos_job {
    const float *distances; // of all pairs, condensed
    tmap_u64 n;
    tmap_u32 *labels;          // n: the cluster of each frame, from 0 on
    tmap_u32 *centres, *sizes; // of each cluster, with room for n
    tmap_u64 *count;           // receives the number of clusters
    float cutoff;              // neighbours: distance <= cutoff
} threadmap_gromos_job;

// Example: n = 3, distances 1, 5, 2, cutoff 1: labels 0, 0, 1; centres 0, 2; sizes 2, 1.
int threadmap_gromos(const threadmap_gromos_job *job, void *workspace, tmap_u64 *bytes,
                     void *stream);

// Single linkage (molecules/linkage.h): the minimum spanning tree, sorted by distance, and with
// labels also the components of its edges with distance <= cutoff.
typedef struct threadmap_edge {
    tmap_u32 i, j; // i < j
    float distance;
} threadmap_edge;

typedef struct threadmap_linkage_job {
    const float *distances; // of all pairs, condensed
    tmap_u64 n;
    threadmap_edge *edges; // n - 1
    tmap_u32 *labels;      // n: from 0 on; or 0
    tmap_u64 *count;       // with labels: receives the number of components
    float cutoff;
} threadmap_linkage_job;

// Example: n = 3, distances 1, 5, 2, cutoff 1: edges (0,1) 1, (1,2) 2; labels 0, 0, 1.
int threadmap_linkage(const threadmap_linkage_job *job, void *workspace, tmap_u64 *bytes,
                      void *stream);

// The matrix of scipy.cluster.hierarchy.linkage(distances, 'single') from the n - 1 edges, in z:
// 4 (n - 1) numbers. scratch: 2 n numbers. All in host memory. TMAP_EINVAL if the edges are no
// tree.
// Example: n = 3, edges (0,1) 1, (1,2) 2: rows 0 1 1 2 and 2 3 2 3.
int threadmap_linkage_matrix(const threadmap_edge *edges, tmap_u64 n, tmap_u32 *scratch, double *z);

// ---- fractals: fractal/, adaptive/ --------------------------------------------------------------

// An NBB fractal of level r: k replicas in sx columns and sy rows; digit b of tau_x and tau_y, four
// bits each from the lowest, is the column and the row of replica b (tmap_nbb_make of
// fractal/nbb.h). Example: the gasket "#. / ##": 3, 2, 2, level, 0x100, 0x110.
typedef struct threadmap_fractal {
    tmap_u32 k, sx, sy, r;
    tmap_u64 tau_x, tau_y;
} threadmap_fractal;

// Steps of a cellular automaton of the family of Conway's Life, in which only cells of the fractal
// count: in a matrix of sx^r * sy^r bytes, alive where not 0 and 0 outside the fractal
// (fractal/ca.h); or of one bit a cell, threadmap_bits_bytes bytes (fractal/compact_life.h). With
// of.k = 0 all width * height bytes are cells, and axes may be periodic (fractal/board_ca.h).
typedef struct threadmap_life_job {
    threadmap_fractal of;
    const void *in; // the state
    void *out;      // receives that after the steps; not `in`
    tmap_u64 steps; // 1 or more
    // Bit n: a dead cell with n live neighbours is born, a live one survives. Life: 8 and 12.
    tmap_u32 born, survive;
    int compact;            // 1: bits
    tmap_u64 width, height; // of a board, of.k = 0
    int periodic;           // its axes: THREADMAP_PERIODIC_X, _Y, a sum
} threadmap_life_job;

int threadmap_life(const threadmap_life_job *job, void *workspace, tmap_u64 *bytes, void *stream);

// Packs the k^r bytes of a state, in the order of tmap_nbb_lambda_linear, into one bit a cell, or
// unpacks them (fractal/compact_move.h).
typedef struct threadmap_bits_job {
    threadmap_fractal of;
    unsigned char *bytes;
    void *words; // threadmap_bits_bytes bytes, at a multiple of 8
    int unpack;  // 1: bytes are written, as 0 and 1; 0: words are
} threadmap_bits_job;

int threadmap_bits(const threadmap_bits_job *job, void *workspace, tmap_u64 *bytes, void *stream);

// Bytes of a state of one bit a cell, at most 2^64 - 1; 0 for what is no fractal.
tmap_u64 threadmap_bits_bytes(const threadmap_fractal *of);

// How many steps z = z^2 + c from z = c on a pixel takes before |z| >= 2, or `dwell`, by adaptive
// subdivision (adaptive/mandelbrot.h). Pixel (x, y) is c = x0 + (x1 - x0) / nx x and likewise y.
#define THREADMAP_MANDELBROT_BULBS 1 // a formula finds points of the two largest parts of the set
#define THREADMAP_MANDELBROT_F64   2 // doubles

typedef struct threadmap_mandelbrot_job {
    int *out;              // ny rows of nx
    tmap_u32 nx, ny;       // 1 to 2^24
    double x0, x1, y0, y1; // the window
    tmap_u32 dwell;        // 1 to 2^30
    tmap_u32 options;      // a sum of those above
} threadmap_mandelbrot_job;

int threadmap_mandelbrot(const threadmap_mandelbrot_job *job, void *workspace, tmap_u64 *bytes,
                         void *stream);

#ifdef __cplusplus
}
#endif
#endif

#endif
