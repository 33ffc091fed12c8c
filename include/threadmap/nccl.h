// SPDX-License-Identifier: MIT
// nccl.h: what the GPUs of a job send each other, through NCCL. No other header includes <nccl.h>.
//
// You start the processes (MPI) or threads, and make the communicator; docs/scale.md shows how.
//
//     tmap_nccl gpus;
//     ncclResult_t error = tmap_nccl_make(comm, &gpus);
//     ... fold this GPU's parts (share.h): accumulator p at parts + p * bytes
//     if (!error) error = tmap_nccl_gather(&gpus, parts, bytes, TMAP_SHARE_PARTS, stream);
//     ... join them in your kernel of one block: tmap_fold_list (fold.h)
//
// All functions enqueue on your stream and return without waiting, and can be captured in a graph;
// tmap_nccl_same alone waits. All ranks must call a function with equal arguments, except for
// their own data. They return the error of NCCL, which ncclGetErrorString explains, or
// ncclInvalidArgument for a null pointer.
#ifndef TMAP_NCCL_H
#define TMAP_NCCL_H

#include "launch.h"
#include "share.h"

#if TMAP_CUDA && !TMAP_NVRTC
#include <nccl.h>

// A communicator of yours and this GPU's place in it.
typedef struct tmap_nccl {
    ncclComm_t comm;
    tmap_u32 rank, ranks;
} tmap_nccl;

// Asks a communicator for its ranks. *out is written only on success.
static inline ncclResult_t tmap_nccl_make(ncclComm_t comm, tmap_nccl *out) {
    int rank, ranks;
    ncclResult_t error;
    if (!comm || !out) return ncclInvalidArgument;
    if ((error = ncclCommUserRank(comm, &rank)) != ncclSuccess) return error;
    if ((error = ncclCommCount(comm, &ranks)) != ncclSuccess) return error;
    out->comm = comm, out->rank = (tmap_u32)rank, out->ranks = (tmap_u32)ranks;
    return ncclSuccess;
}

// The run of parts of this GPU, of `parts` in all. Example: 64 parts, rank 1 of 4: (16, 16).
static inline tmap_share tmap_nccl_share(const tmap_nccl *gpus, tmap_u64 parts) {
    return tmap_share_of(parts, gpus->rank, gpus->ranks);
}

// Completes an array of one value a part on every GPU. all: device memory for `parts` values of
// `bytes` bytes; this GPU has written those of tmap_nccl_share. Each GPU sends its values to all
// others. Cost: latency for small values, else parts * bytes at the speed of the links.
static inline ncclResult_t tmap_nccl_gather(const tmap_nccl *gpus, void *all, tmap_u64 bytes,
                                            tmap_u64 parts, cudaStream_t stream) {
    ncclResult_t error, end;
    if (!gpus || !all) return ncclInvalidArgument;
    if ((error = ncclGroupStart()) != ncclSuccess) return error;
    for (tmap_u32 rank = 0; rank < gpus->ranks && error == ncclSuccess; ++rank) {
        const tmap_share run = tmap_share_of(parts, rank, gpus->ranks);
        char *at = (char *)all + run.first * bytes;
        if (run.count)
            error =
                ncclBroadcast(at, at, run.count * bytes, ncclChar, (int)rank, gpus->comm, stream);
    }
    end = ncclGroupEnd();
    return error == ncclSuccess ? end : error;
}

// Sends and receives what an exchange says (share.h; tmap_halo_exchange of fractal/halo.h). The
// ranks agree: what one sends to another is as long as what that one expects.
static inline ncclResult_t tmap_nccl_exchange(const tmap_nccl *gpus, const tmap_share_exchange *x,
                                              cudaStream_t stream) {
    ncclResult_t error, end;
    if (!gpus || !x || !x->out_first || !x->in_first) return ncclInvalidArgument;
    if ((error = ncclGroupStart()) != ncclSuccess) return error;
    for (tmap_u32 q = 0; q < gpus->ranks && error == ncclSuccess; ++q) {
        const tmap_u64 out = (x->out_first[q + 1] - x->out_first[q]) * x->bytes;
        const tmap_u64 in = (x->in_first[q + 1] - x->in_first[q]) * x->bytes;
        if (out)
            error = ncclSend((const char *)x->out + x->out_first[q] * x->bytes, out, ncclChar,
                             (int)q, gpus->comm, stream);
        if (in && error == ncclSuccess)
            error = ncclRecv((char *)x->in + x->in_first[q] * x->bytes, in, ncclChar, (int)q,
                             gpus->comm, stream);
    }
    end = ncclGroupEnd();
    return error == ncclSuccess ? end : error;
}

// Sets *same to 1 on every rank if all ranks pass the same `bytes` bytes of host memory, else to 0:
// call it once before a run with what must be equal everywhere, such as the numbers from which
// plans are made. It compares hashes of 64 bits (FNV-1a). room: 16 bytes of device memory. It waits
// for the stream. Returns ncclUnhandledCudaError if a copy fails.
static inline ncclResult_t tmap_nccl_same(const tmap_nccl *gpus, const void *data, tmap_u64 bytes,
                                          void *room, int *same, cudaStream_t stream) {
    tmap_u64 pair[2] = {0xcbf29ce484222325ull, 0};
    ncclResult_t error;
    if (!gpus || !data || !room || !same) return ncclInvalidArgument;
    for (tmap_u64 i = 0; i < bytes; ++i)
        pair[0] = (pair[0] ^ ((const unsigned char *)data)[i]) * 0x100000001b3ull;
    pair[1] = ~pair[0]; // its largest is the least of pair[0]
    if (cudaMemcpyAsync(room, pair, sizeof pair, cudaMemcpyHostToDevice, stream))
        return ncclUnhandledCudaError;
    error = ncclAllReduce(room, room, 2, ncclUint64, ncclMax, gpus->comm, stream);
    if (error != ncclSuccess) return error;
    if (cudaMemcpyAsync(pair, room, sizeof pair, cudaMemcpyDeviceToHost, stream) ||
        cudaStreamSynchronize(stream))
        return ncclUnhandledCudaError;
    *same = pair[0] == ~pair[1];
    return ncclSuccess;
}

#endif // TMAP_CUDA && !TMAP_NVRTC
#endif
