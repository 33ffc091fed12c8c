// SPDX-License-Identifier: MIT
// gpus.h: what the samples for several GPUs share: MPI starts a process a GPU, NCCL connects them.
#ifndef SAMPLES_GPUS_H
#define SAMPLES_GPUS_H

#include "../check.h"

#define OMPI_SKIP_MPICXX 1 // the C interface alone
#include <mpi.h>
#include <threadmap/nccl.h>

// Ends all processes with status 1 if a call of NCCL fails, and says which one and why.
#define CHECK_NCCL(call) \
    do { \
        const ncclResult_t check_error = (call); \
        if (check_error != ncclSuccess) gpus_fail(#call, ncclGetErrorString(check_error)); \
    } while (0)

// The same for a call of CUDA: exit() would leave the other processes waiting.
#define CHECK_GPU(call) \
    do { \
        const cudaError_t check_error = (call); \
        if (check_error != cudaSuccess) gpus_fail(#call, cudaGetErrorString(check_error)); \
    } while (0)

// Prints one line and ends the processes of all GPUs.
static inline void gpus_fail(const char *what, const char *why) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    fprintf(stderr, "rank %d: %s: %s\n", rank, what, why);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

// Starts MPI, takes the GPU of this process, and connects the GPUs of all processes. Processes of a
// host take its GPUs in order; with more processes than GPUs they all end.
static inline tmap_nccl gpus_start(int *argc, char ***argv) {
    int rank, ranks, here, devices = 0;
    MPI_Comm host;
    ncclUniqueId id;
    ncclComm_t comm;
    tmap_nccl gpus;
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &host);
    MPI_Comm_rank(host, &here);
    MPI_Comm_free(&host);
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        if (rank == 0) puts("SKIP: no NVIDIA GPU here");
        MPI_Finalize();
        exit(77);
    }
    if (here >= devices) gpus_fail("start", "more processes than GPUs on this host");
    CHECK_GPU(cudaSetDevice(here));
    if (rank == 0) CHECK_NCCL(ncclGetUniqueId(&id));
    MPI_Bcast(&id, sizeof id, MPI_BYTE, 0, MPI_COMM_WORLD);
    CHECK_NCCL(ncclCommInitRank(&comm, ranks, id, rank));
    CHECK_NCCL(tmap_nccl_make(comm, &gpus));
    return gpus;
}

// Ends NCCL and MPI. Returns the exit status: 1 on every rank if `wrong` is not 0 on one of them.
static inline int gpus_end(tmap_nccl gpus, int wrong) {
    int any = wrong;
    MPI_Allreduce(&wrong, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    CHECK_NCCL(ncclCommDestroy(gpus.comm));
    MPI_Finalize();
    return any != 0;
}

#endif
