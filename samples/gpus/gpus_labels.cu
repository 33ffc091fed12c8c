// SPDX-License-Identifier: MIT
// gpus_labels.cu: the lakes of a map that is larger than a GPU (raster/stripes.h). Each GPU has a
// stripe of rows, a bit a cell, and labels it; the labels are those of one GPU with all rows.
//
// The map is made up: octaves of value noise, water below the middle. The argument is its side.
// Every label is compared with those of the cells beside it, also over seams, and with that of one
// GPU if it has memory for all of them.
// nvcc -ccbin mpicxx -O3 -arch=native -I include samples/gpus/gpus_labels.cu -lnccl -o gpus_labels
// mpirun -n 4 gpus_labels 131072 (or gpus_labels --threads 4 131072)
#include "gpus.h"

#include <threadmap/raster/stripes.h>

#define RUNS     5
#define MEASURED 1000000ull

// The height of a corner of a lattice, -32768 to 32767.
TMAP_DEVICE int corner(tmap_u32 x, tmap_u32 y, tmap_u32 octave) {
    tmap_u32 bits = x * 2654435769u + y * 2246822519u + octave * 3266489917u;
    bits = (bits ^ bits >> 15) * 2246822519u;
    bits = (bits ^ bits >> 13) * 3266489917u;
    return (int)(bits >> 16) - 32768;
}

// Between the corners of a cell's square of the lattice, 2^octave cells wide.
TMAP_DEVICE int noise(tmap_u32 x, tmap_u32 y, tmap_u32 octave) {
    const tmap_u32 i = x >> octave, j = y >> octave;
    const int u = (int)(x - (i << octave)), v = (int)(y - (j << octave)), side = 1 << octave;
    const tmap_i64 above =
        (tmap_i64)corner(i, j, octave) * (side - u) + (tmap_i64)corner(i + 1, j, octave) * u;
    const tmap_i64 below = (tmap_i64)corner(i, j + 1, octave) * (side - u) +
                           (tmap_i64)corner(i + 1, j + 1, octave) * u;
    return (int)((above * (side - v) + below * v) >> 2 * octave);
}

// Writes rows first, first + 1, ... of the map: a bit a cell, 1 for water. A warp a word.
__global__ void __launch_bounds__(256)
    make_map(tmap_u32 *bits, tmap_u32 width, tmap_u64 first, tmap_u64 words) {
    const tmap_u64 pitch = (width + 31) / 32;
    const tmap_u64 warp = (blockIdx.x * (tmap_u64)blockDim.x + threadIdx.x) / 32;
    const tmap_u64 warps = gridDim.x * (tmap_u64)blockDim.x / 32;
    for (tmap_u64 word = warp; word < words; word += warps) {
        const tmap_u32 x = (tmap_u32)(word % pitch) * 32 + threadIdx.x % 32;
        const tmap_u32 y = (tmap_u32)(first + word / pitch);
        int height = 0;
        for (tmap_u32 octave = 4; octave <= 12; octave += 2)
            height += noise(x, y, octave) >> (12 - octave) / 2;
        const tmap_u32 water = __ballot_sync(~0u, height < 0 && x < width);
        if (threadIdx.x % 32 == 0) bits[word] = water;
    }
}

// A label of either form.
TMAP_DEVICE tmap_u64 label_at(const void *labels, int form, tmap_u64 at) {
    return form == TMAP_LABEL_INT64 ? ((const tmap_u64 *)labels)[at]
                                    : ((const tmap_u32 *)labels)[at];
}

// Counts the cells of a stripe whose label is wrong: dry ones have 0, wet ones the label of wet
// cells to their right and below. Bits and labels have a row more, unless it is outside the map.
__global__ void __launch_bounds__(256)
    check_neighbours(const tmap_u32 *bits, const void *labels, tmap_label_array array, int last,
                     tmap_u64 *wrong) {
    const tmap_u64 cells = array.width * array.height, pitch = (array.width + 31) / 32;
    for (tmap_u64 i = blockIdx.x * 256ull + threadIdx.x; i < cells; i += gridDim.x * 256ull) {
        const tmap_u64 x = i % array.width, y = i / array.width;
        const tmap_u32 *row = bits + y * pitch;
        const tmap_u64 label = label_at(labels, array.form, i);
        int bad = (row[x / 32] >> x % 32 & 1) != (label != 0);
        if (label && x + 1 < array.width && row[(x + 1) / 32] >> (x + 1) % 32 & 1)
            bad |= label_at(labels, array.form, i + 1) != label;
        if (label && (y + 1 < array.height || !last) && row[pitch + x / 32] >> x % 32 & 1)
            bad |= label_at(labels, array.form, i + array.width) != label;
        if (bad) atomicAdd(wrong, 1ull);
    }
}

// Counts the words that differ.
__global__ void __launch_bounds__(256)
    compare(const tmap_u32 *a, const tmap_u32 *b, tmap_u64 words, tmap_u64 *wrong) {
    for (tmap_u64 i = blockIdx.x * 256ull + threadIdx.x; i < words; i += gridDim.x * 256ull)
        if (a[i] != b[i]) atomicAdd(wrong, 1ull);
}

static void *memory(tmap_u64 bytes) {
    void *address;
    CHECK_GPU(cudaMalloc(&address, (size_t)(bytes + 16)));
    return address;
}

static tmap_raster_map map_of(tmap_u64 side) {
    const tmap_raster_map map = {side, side, (side + 31) / 32, 0, 0, TMAP_RASTER_BITS, 4};
    return map;
}

// The bits of these rows and of the next one.
static tmap_u32 *make_rows(const tmap_raster_map *map, tmap_share rows) {
    const tmap_u64 words = (rows.count + 1) * map->pitch;
    tmap_u32 *bits = (tmap_u32 *)memory(words * 4);
    make_map<<<1024, 256>>>(bits, (tmap_u32)map->width, rows.first, words);
    CHECK_GPU(cudaGetLastError());
    return bits;
}

// Bytes of a row of labels.
static tmap_u64 row_bytes(const tmap_label_array *array) {
    return array->width * (array->form == TMAP_LABEL_INT64 ? 8 : 4);
}

// *least is lowered to the seconds from `begin` until all GPUs have finished.
static void take(tmap_nccl gpus, double begin, double *least) {
    const double seconds = gpus_seconds_since(gpus, begin);
    if (seconds < *least) *least = seconds;
}

// [snippet: gpus-labels]
// Labels the map on all GPUs. starts: the last of ranks + 1 numbers is that of components.
static void *label_together(const tmap_stripes_plan *plan, const tmap_u32 *bits, tmap_u64 *starts,
                            double *least) {
    void *labels = memory((plan->rows.count + 1) * row_bytes(&plan->label.array));
    void *workspace = memory(plan->workspace);
    for (int run = 0; run < RUNS; ++run) { // NCCL connects the GPUs in the first one
        const double begin = gpus_begin(plan->gpus);
        CHECK_NCCL(tmap_stripes_label(plan, bits, workspace, labels, starts, 0));
        take(plan->gpus, begin, least);
    }
    CHECK_GPU(cudaFree(workspace));
    return labels;
}

// The cells of the largest of the first `count` lakes.
static tmap_u64 largest(const tmap_stripes_plan *plan, const void *labels, tmap_u64 count) {
    const tmap_u64 bytes = count * sizeof(tmap_label_shape);
    tmap_label_shape *shapes = (tmap_label_shape *)memory(plan->gpus.ranks * bytes);
    gpus_barrier();
    CHECK_NCCL(tmap_stripes_measure(plan, labels, count, shapes, 0));
    gpus_wait(plan->gpus);
    tmap_label_shape *lakes = (tmap_label_shape *)malloc((size_t)bytes);
    CHECK_GPU(cudaMemcpy(lakes, shapes, (size_t)bytes, cudaMemcpyDeviceToHost));
    tmap_u64 most = 0;
    for (tmap_u64 i = 0; i < count; ++i)
        if (lakes[i].area > most) most = lakes[i].area;
    CHECK_GPU(cudaFree(shapes));
    free(lakes);
    return most;
}
// [/snippet]

// Receives the first row of labels of the next stripe, after those of this one, if it is not last.
static void exchange_rows(const tmap_stripes_plan *plan, int last, void *labels) {
    const tmap_nccl *gpus = &plan->gpus;
    const tmap_u64 row = row_bytes(&plan->label.array), rows = plan->rows.count;
    gpus_barrier();
    CHECK_NCCL(ncclGroupStart());
    if (rows && gpus->rank)
        CHECK_NCCL(ncclSend(labels, row, ncclChar, (int)gpus->rank - 1, gpus->comm, 0));
    if (!last)
        CHECK_NCCL(ncclRecv((char *)labels + rows * row, row, ncclChar, (int)gpus->rank + 1,
                            gpus->comm, 0));
    CHECK_NCCL(ncclGroupEnd());
}

// 1 on all ranks if each of them has memory to label the map alone.
static int fits(const tmap_raster_map *map, const tmap_label_plan *plan) {
    return gpus_fits((map->height + 1) * map->pitch * 4 + plan->workspace +
                     map->height * row_bytes(&plan->array));
}

// Labels a map on this GPU alone.
static void *label_alone(tmap_nccl gpus, const tmap_raster_map *map, const tmap_label_plan *plan,
                         tmap_u64 *count, double *least) {
    const tmap_share all = {0, map->height};
    tmap_u32 *bits = make_rows(map, all);
    void *labels = memory(map->height * row_bytes(&plan->array));
    void *workspace = memory(plan->workspace);
    for (int run = 0; run < RUNS; ++run) {
        const double begin = gpus_begin(gpus);
        CHECK_GPU(tmap_label(plan, bits, workspace, labels, count, 0));
        take(gpus, begin, least);
    }
    CHECK_GPU(cudaFree(workspace));
    CHECK_GPU(cudaFree(bits));
    return labels;
}

static int sample(tmap_nccl gpus, int argc, char **argv) {
    const long side = argc > 1 ? atol(argv[1]) : 700;
    if (side < 1 || side > 1000000) gpus_fail("arguments", "the side of the map is 1 to 1000000");

    const tmap_raster_map map = map_of((tmap_u64)side);
    int form = TMAP_LABEL_INT32;
    tmap_stripes_plan plan;
    tmap_label_plan plan_alone;
    cudaError_t error = tmap_stripes_plan_make(&map, form, &gpus, &plan);
    if (error == cudaErrorInvalidValue) { // 2^31 components or more are possible
        form = TMAP_LABEL_INT64;
        error = tmap_stripes_plan_make(&map, form, &gpus, &plan);
    }
    CHECK_GPU(error);
    tmap_u64 *starts = (tmap_u64 *)memory((gpus.ranks + 3ull) * sizeof *starts);
    tmap_u64 *count = starts + gpus.ranks + 1, *wrong = count + 1, found[2], differ = 0;
    CHECK_GPU(cudaMemset(wrong, 0, sizeof *wrong));
    gpus_same(gpus, &side, sizeof side);

    tmap_u32 *bits = make_rows(&map, plan.rows);
    double together = 1e9, alone = 1e9;
    void *labels = label_together(&plan, bits, starts, &together);
    CHECK_GPU(cudaMemcpy(found, starts + gpus.ranks, sizeof *found, cudaMemcpyDeviceToHost));
    const tmap_u64 most = largest(&plan, labels, found[0] < MEASURED ? found[0] : MEASURED);
    const int last = plan.rows.first + plan.rows.count == map.height;
    exchange_rows(&plan, last, labels);
    check_neighbours<<<1024, 256>>>(bits, labels, plan.label.array, last, wrong);
    CHECK_GPU(cudaGetLastError());

    const int compared =
        tmap_label_plan_make(&map, form, &plan_alone) == cudaSuccess && fits(&map, &plan_alone);
    if (compared) {
        const tmap_u64 row = row_bytes(&plan.label.array);
        void *labels_alone = label_alone(gpus, &map, &plan_alone, count, &alone);
        compare<<<1024, 256>>>((const tmap_u32 *)labels,
                               (const tmap_u32 *)((char *)labels_alone + plan.rows.first * row),
                               plan.rows.count * row / 4, wrong);
        CHECK_GPU(cudaGetLastError());
        CHECK_GPU(cudaMemcpy(found + 1, count, sizeof *count, cudaMemcpyDeviceToHost));
        CHECK_GPU(cudaFree(labels_alone));
        differ = found[0] != found[1];
    }
    gpus_sum(gpus, wrong, 1, found + 1);
    differ += found[1];
    if (gpus.rank == 0) {
        const double cells = (double)side * (double)side;
        printf("%ld x %ld cells, %llu lakes, labels of %d bits, largest lake %llu cells\n", side,
               side, found[0], form == TMAP_LABEL_INT64 ? 64 : 32, most);
        gpus_print_times(gpus, together, compared ? alone : 0);
        printf("all GPUs: %.1f Gcell/s\n", cells / together * 1e-9);
        check_result(compared ? "labels as on one GPU" : "labels of neighbours", differ);
    }
    CHECK_GPU(cudaFree(bits));
    CHECK_GPU(cudaFree(starts));
    CHECK_GPU(cudaFree(labels));
    return differ != 0;
}

int main(int argc, char **argv) { return gpus_main(argc, argv, sample); }
