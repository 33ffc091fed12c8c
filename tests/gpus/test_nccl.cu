// SPDX-License-Identifier: MIT
// test_nccl: what ranks send each other (nccl.h), and accumulators of parts joined on all of them
// (tmap_fold_list), for any number of ranks and parts.
#include "../../samples/gpus/gpus.h"
#undef CHECK // kit.h has one too
#include "../kit.h"

#include <threadmap/fold.h>

typedef struct item { // an accumulator whose join shows its order
    tmap_u64 hash;
    tmap_u32 count, last;
} item;

TMAP_DEVICE void join(void *, void *mine, const void *other) {
    item *a = (item *)mine;
    const item *b = (const item *)other;
    a->hash = a->hash * 3 + b->hash;
    a->count += b->count;
}

__global__ void join_list(const item *list, tmap_u64 count, item *result) {
    const item none = {0, 0, 0};
    const tmap_fold fold = {&none, sizeof none, join};
    tmap_fold_list(list, count, fold, result, 0);
}

// Value of part p, and one for places that a rank has not written.
static item value_of(tmap_u64 p) {
    const item value = {check_hash(p, 1) >> 8, 1, 0};
    return value;
}

static void run_parts(const tmap_nccl *gpus, tmap_u64 parts, item *device, item *host) {
    const item unset = {~0ull, 77, 77};
    const tmap_share mine = tmap_nccl_share(gpus, parts);
    item together, alone;
    kit_case("%u ranks, %llu parts", gpus->ranks, parts);
    for (tmap_u64 p = 0; p < parts + 2; ++p)
        host[p] = p - mine.first < mine.count ? value_of(p) : unset;
    CHECK_GPU(cudaMemcpy(device, host, (parts + 2) * sizeof *host, cudaMemcpyHostToDevice));
    expect(tmap_nccl_gather(gpus, device, sizeof *device, parts, 0) == ncclSuccess, "gather");
    CHECK_GPU(cudaMemcpy(host, device, (parts + 2) * sizeof *host, cudaMemcpyDeviceToHost));
    for (tmap_u64 p = 0; p < parts + 2; ++p) {
        const item want = p < parts ? value_of(p) : unset;
        expect(memcmp(&host[p], &want, sizeof want) == 0, "a part");
    }
    join_list<<<1, 64>>>(device, parts, device + parts);
    CHECK_GPU(cudaGetLastError());
    CHECK_GPU(cudaMemcpy(&together, device + parts, sizeof together, cudaMemcpyDeviceToHost));
    for (tmap_u64 p = 0; p < parts; ++p) host[p] = value_of(p);
    CHECK_GPU(cudaMemcpy(device, host, parts * sizeof *host, cudaMemcpyHostToDevice));
    join_list<<<1, 64>>>(device, parts, device + parts);
    CHECK_GPU(cudaMemcpy(&alone, device + parts, sizeof alone, cudaMemcpyDeviceToHost));
    expect(memcmp(&together, &alone, sizeof alone) == 0, "joined as on one GPU");
    expect(alone.count == parts, "all parts are joined");
}

static void run_same(const tmap_nccl *gpus, void *room) {
    tmap_u32 data[3] = {1, 2, 3};
    int same = -1;
    kit_case("%u ranks, the same", gpus->ranks);
    expect(tmap_nccl_same(gpus, data, sizeof data, room, &same, 0) == ncclSuccess && same == 1,
           "equal data");
    data[2] += gpus->rank == gpus->ranks - 1 && gpus->ranks > 1;
    expect(tmap_nccl_same(gpus, data, sizeof data, room, &same, 0) == ncclSuccess &&
               same == (gpus->ranks == 1),
           "one rank differs");
    expect(tmap_nccl_same(gpus, data, 0, room, &same, 0) == ncclSuccess && same == 1, "no data");
}

static void run_refused(const tmap_nccl *gpus, void *room) {
    tmap_nccl other = {0, 0, 0};
    int same;
    kit_case("null pointers");
    expect(tmap_nccl_make(0, &other) == ncclInvalidArgument, "no communicator");
    expect(tmap_nccl_make(gpus->comm, 0) == ncclInvalidArgument, "no result");
    expect(tmap_nccl_gather(0, room, 8, 1, 0) == ncclInvalidArgument, "gather without ranks");
    expect(tmap_nccl_gather(gpus, 0, 8, 1, 0) == ncclInvalidArgument, "gather of nothing");
    expect(tmap_nccl_same(gpus, 0, 8, room, &same, 0) == ncclInvalidArgument, "no data");
    expect(tmap_nccl_same(gpus, room, 8, 0, &same, 0) == ncclInvalidArgument, "no room");
    expect(tmap_nccl_same(gpus, room, 8, room, 0, 0) == ncclInvalidArgument, "no answer");
}

int main(int argc, char **argv) {
    enum { MOST = 130 };
    const tmap_nccl gpus = gpus_start(&argc, &argv);
    static item host[MOST + 2];
    item *device;
    kit_begin();
    CHECK_GPU(cudaMalloc((void **)&device, sizeof host));
    for (tmap_u64 parts = 0; parts <= 20; ++parts) run_parts(&gpus, parts, device, host);
    run_parts(&gpus, TMAP_SHARE_PARTS, device, host);
    run_parts(&gpus, MOST, device, host);
    run_same(&gpus, device);
    run_refused(&gpus, device);
    CHECK_GPU(cudaFree(device));
    return gpus_end(gpus, kit_end("test_nccl"));
}
