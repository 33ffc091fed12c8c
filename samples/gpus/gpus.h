// SPDX-License-Identifier: MIT
// gpus.h: what the samples for several GPUs share. NCCL connects the GPUs. Each has a rank, which is
// a process that MPI starts or, with --threads N as the first argument, a thread of one process.
//
// GPUS_SECONDS in the environment is the longest time without progress, 30 by default: then a rank
// prints one line and ends all of them.
#ifndef SAMPLES_GPUS_H
#define SAMPLES_GPUS_H

#include "../check.h"

#define OMPI_SKIP_MPICXX 1 // the C interface alone
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <threadmap/nccl.h>
#include <time.h>
#include <unistd.h>

// Ends all ranks with status 1 if a call of NCCL fails, and says which one and why.
#define CHECK_NCCL(call) \
    do { \
        const ncclResult_t check_error = (call); \
        if (check_error != ncclSuccess) gpus_fail(#call, ncclGetErrorString(check_error)); \
    } while (0)

// The same for a call of CUDA: exit() would leave the other ranks waiting.
#define CHECK_GPU(call) \
    do { \
        const cudaError_t check_error = (call); \
        if (check_error != cudaSuccess) gpus_fail(#call, cudaGetErrorString(check_error)); \
    } while (0)

// A sample on one GPU of several. Returns what is wrong, 0 if nothing is.
typedef int (*gpus_sample)(tmap_nccl gpus, int argc, char **argv);

// What the threads of a process share.
static struct gpus_process {
    int threads, any, failing; // threads: 0 if MPI starts the ranks
    pthread_barrier_t barrier;
    ncclUniqueId id;
    gpus_sample sample;
    int argc;
    char **argv;
} gpus_process;
static __thread int gpus_rank;

// Prints one line and ends all ranks.
static inline void gpus_fail(const char *what, const char *why) {
    if (__atomic_exchange_n(&gpus_process.failing, 1, __ATOMIC_SEQ_CST)) pause(); // for its end
    fflush(stdout);
    fprintf(stderr, "rank %d: %s: %s\n", gpus_rank, what, why);
    if (!gpus_process.threads) MPI_Abort(MPI_COMM_WORLD, 1);
    _exit(1); // exit() would wait for the GPUs
}

static inline double gpus_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static inline unsigned gpus_limit(void) {
    const char *seconds = getenv("GPUS_SECONDS");
    return seconds && atoi(seconds) > 0 ? (unsigned)atoi(seconds) : 30;
}

static inline void gpus_late(int) {
    static const char line[] = "a call does not return: the time limit is over\n";
    const ssize_t written = write(STDERR_FILENO, line, sizeof line - 1);
    (void)written;
    _exit(1);
}

// There is progress. This limit is for calls that do not return: of MPI, and of NCCL when it
// connects GPUs. It comes later than that of gpus_wait, which can say more.
static inline void gpus_progress(void) {
    signal(SIGALRM, gpus_late);
    alarm(gpus_limit() + 2);
}

// Waits for the work of this GPU's default stream. If another rank has failed, the stream may wait
// for it for ever: then this function ends NCCL's kernels and all ranks. After an exchange, call it
// before anything that blocks, such as cudaMemcpy.
static inline void gpus_wait(tmap_nccl gpus) {
    const double begin = gpus_seconds();
    const char *why = 0;
    cudaError_t error;
    gpus_progress();
    while ((error = cudaStreamQuery(0)) == cudaErrorNotReady && !why) {
        ncclResult_t state = ncclSuccess;
        const ncclResult_t asked = ncclCommGetAsyncError(gpus.comm, &state);
        if (asked != ncclSuccess || (state != ncclSuccess && state != ncclInProgress))
            why = ncclGetErrorString(asked != ncclSuccess ? asked : state);
        else if (gpus_seconds() - begin > gpus_limit())
            why = "a rank does not answer, the time limit is over";
        (void)cudaGetLastError(); // a stream that is not ready counts as an error
        sched_yield();
    }
    if (!why && error != cudaSuccess) why = cudaGetErrorString(error);
    if (why) {
        (void)ncclCommAbort(gpus.comm);
        gpus_fail("waiting for the GPU", why);
    }
    gpus_progress();
}

// Waits until all ranks are here. Call it between allocations of memory and an exchange: in one
// process CUDA may wait for all GPUs when it allocates, and an exchange waits for all ranks.
static inline void gpus_barrier(void) {
    gpus_progress();
    if (gpus_process.threads)
        pthread_barrier_wait(&gpus_process.barrier);
    else
        MPI_Barrier(MPI_COMM_WORLD);
    gpus_progress();
}

// 1 on all ranks if `value` is not 0 on one of them.
static inline int gpus_any(int value) {
    int any = value != 0;
    if (!gpus_process.threads) {
        gpus_progress();
        MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        return any;
    }
    gpus_barrier(); // the answer before has been read
    if (gpus_rank == 0) gpus_process.any = 0;
    gpus_barrier();
    if (any) __atomic_store_n(&gpus_process.any, 1, __ATOMIC_SEQ_CST);
    gpus_barrier();
    return gpus_process.any;
}

// Seconds from `begin` until all GPUs have done their work.
static inline double gpus_seconds_since(tmap_nccl gpus, double begin) {
    gpus_wait(gpus);
    gpus_barrier();
    return gpus_seconds() - begin;
}

// The time when all ranks begin. NCCL connects GPUs, and CUDA loads a kernel, at the first use.
static inline double gpus_begin(tmap_nccl gpus) { return gpus_seconds_since(gpus, 0); }

// Ends all ranks if they do not pass the same data, such as the numbers from which plans are made.
static inline void gpus_same(tmap_nccl gpus, const void *data, size_t bytes) {
    void *room;
    int same;
    CHECK_GPU(cudaMalloc(&room, 16));
    gpus_barrier();
    CHECK_NCCL(tmap_nccl_same(&gpus, data, bytes, room, &same, 0));
    if (!same) gpus_fail("plan", "the ranks have different plans");
    CHECK_GPU(cudaFree(room));
}

// Adds up `count` numbers of all ranks, in device memory, and copies the sums to the host.
static inline void gpus_sum(tmap_nccl gpus, tmap_u64 *numbers, tmap_u64 count, tmap_u64 *sums) {
    gpus_barrier();
    if (gpus.ranks > 1)
        CHECK_NCCL(ncclAllReduce(numbers, numbers, count, ncclUint64, ncclSum, gpus.comm, 0));
    gpus_wait(gpus);
    CHECK_GPU(cudaMemcpy(sums, numbers, count * sizeof *sums, cudaMemcpyDeviceToHost));
}

// 1 on all ranks if each of them has memory for as many bytes.
static inline int gpus_fits(tmap_u64 bytes) {
    size_t available, total;
    CHECK_GPU(cudaMemGetInfo(&available, &total));
    return !gpus_any(bytes + (64 << 20) > available);
}

// Prints the time of all GPUs, and that of one with the same work; one: 0 if it has not been done.
static inline void gpus_print_times(tmap_nccl gpus, double all, double one) {
    printf("%u GPU%s: %.3f ms", gpus.ranks, gpus.ranks == 1 ? "" : "s", all * 1e3);
    if (one > 0)
        printf(", one GPU: %.3f ms, %.1f%% of %u times as fast", one * 1e3,
               100 * one / all / gpus.ranks, gpus.ranks);
    puts("");
}

// Takes a GPU for this rank and connects it with those of the others.
static inline tmap_nccl gpus_connect(int device, int ranks, ncclUniqueId id) {
    ncclComm_t comm;
    tmap_nccl gpus;
    gpus_progress();
    CHECK_GPU(cudaSetDevice(device));
    CHECK_NCCL(ncclCommInitRank(&comm, ranks, id, gpus_rank));
    CHECK_NCCL(tmap_nccl_make(comm, &gpus));
    return gpus;
}

// Starts MPI. Processes of a host take its GPUs in order; with more processes than GPUs all end.
static inline tmap_nccl gpus_start(int *argc, char ***argv) {
    int ranks, here, devices = 0;
    MPI_Comm host;
    ncclUniqueId id;
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &gpus_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, gpus_rank, MPI_INFO_NULL, &host);
    MPI_Comm_rank(host, &here);
    MPI_Comm_free(&host);
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        if (gpus_rank == 0) puts("SKIP: no NVIDIA GPU here");
        MPI_Finalize();
        exit(77);
    }
    if (here >= devices) gpus_fail("start", "more processes than GPUs on this host");
    if (gpus_rank == 0) CHECK_NCCL(ncclGetUniqueId(&id));
    MPI_Bcast(&id, sizeof id, MPI_BYTE, 0, MPI_COMM_WORLD);
    return gpus_connect(here, ranks, id);
}

// Ends NCCL and MPI. Returns the exit status: 1 on every rank if `wrong` is not 0 on one of them.
static inline int gpus_end(tmap_nccl gpus, int wrong) {
    const int any = gpus_any(wrong);
    CHECK_NCCL(ncclCommDestroy(gpus.comm));
    if (!gpus_process.threads) MPI_Finalize();
    alarm(0);
    return any;
}

static inline void *gpus_thread(void *rank) {
    gpus_rank = (int)(size_t)rank;
    const tmap_nccl gpus = gpus_connect(gpus_rank, gpus_process.threads, gpus_process.id);
    gpus_end(gpus, gpus_process.sample(gpus, gpus_process.argc, gpus_process.argv));
    return 0;
}

// Runs a sample on all GPUs; the arguments that it receives are those after --threads N. Returns
// the exit status.
static inline int gpus_main(int argc, char **argv, gpus_sample sample) {
    pthread_t thread[64];
    int devices = 0;
    if (argc < 3 || strcmp(argv[1], "--threads") != 0) {
        const tmap_nccl gpus = gpus_start(&argc, &argv);
        return gpus_end(gpus, sample(gpus, argc, argv));
    }
    check_gpu();
    gpus_process.threads = atoi(argv[2]), gpus_process.sample = sample;
    gpus_process.argc = argc - 2, gpus_process.argv = argv + 2;
    (void)cudaGetDeviceCount(&devices);
    if (gpus_process.threads < 1 || gpus_process.threads > 64 || gpus_process.threads > devices) {
        gpus_process.threads = -1; // without MPI
        gpus_fail("arguments", "the number of threads is 1 to that of GPUs, at most 64");
    }
    CHECK_NCCL(ncclGetUniqueId(&gpus_process.id));
    pthread_barrier_init(&gpus_process.barrier, 0, (unsigned)gpus_process.threads);
    for (int rank = 1; rank < gpus_process.threads; ++rank)
        if (pthread_create(&thread[rank], 0, gpus_thread, (void *)(size_t)rank))
            gpus_fail("start", "no thread");
    gpus_thread(0);
    for (int rank = 1; rank < gpus_process.threads; ++rank) pthread_join(thread[rank], 0);
    return gpus_process.any;
}

#endif
