// SPDX-License-Identifier: MIT
// nccl.h: the calls of NCCL that threadmap uses, for processes of the CPU machine under MPI: device
// memory is memory of the process, and everything has happened when a call or its group returns.
#ifndef SIMT_NCCL_H
#define SIMT_NCCL_H

#include <cuda_runtime.h>
#include <limits.h>
#ifndef OMPI_SKIP_MPICXX
#define OMPI_SKIP_MPICXX 1 // the C interface alone
#endif
#include <mpi.h>
#include <string.h>
#include <vector>

typedef MPI_Comm *ncclComm_t;
typedef enum {
    ncclSuccess,
    ncclUnhandledCudaError,
    ncclSystemError,
    ncclInternalError,
    ncclInvalidArgument,
    ncclInvalidUsage,
    ncclRemoteError,
    ncclInProgress
} ncclResult_t;
typedef enum { ncclChar, ncclUint8, ncclUint32, ncclUint64 } ncclDataType_t;
typedef enum { ncclSum, ncclProd, ncclMax, ncclMin } ncclRedOp_t;
typedef struct {
    char internal[128];
} ncclUniqueId;

namespace simt {
struct Nccl {
    int depth = 0;
    std::vector<MPI_Request> requests; // of the group that is open
    static inline MPI_Comm last = MPI_COMM_NULL;
};
inline Nccl nccl;

inline ncclResult_t nccl_result(int code) {
    return code == MPI_SUCCESS ? ncclSuccess : ncclSystemError;
}
inline MPI_Datatype nccl_type(ncclDataType_t type) {
    return type == ncclUint64 ? MPI_UINT64_T : type == ncclUint32 ? MPI_UINT32_T : MPI_CHAR;
}
inline ncclResult_t nccl_wait() {
    const int code =
        MPI_Waitall((int)nccl.requests.size(), nccl.requests.data(), MPI_STATUSES_IGNORE);
    nccl.requests.clear();
    return nccl_result(code);
}
// Ends a call: requests of a group are waited for at its end.
inline ncclResult_t nccl_begun(int code, MPI_Request request) {
    if (code != MPI_SUCCESS) return ncclSystemError;
    nccl.requests.push_back(request);
    return nccl.depth ? ncclSuccess : nccl_wait();
}
} // namespace simt

inline const char *ncclGetErrorString(ncclResult_t error) {
    switch (error) {
    case ncclSuccess: return "no error";
    case ncclInvalidArgument: return "invalid argument";
    case ncclUnhandledCudaError: return "unhandled cuda error";
    case ncclSystemError: return "unhandled system error";
    default: return "internal error";
    }
}
inline ncclResult_t ncclGetUniqueId(ncclUniqueId *id) {
    return memset(id, 0, sizeof *id), ncclSuccess;
}
inline ncclResult_t ncclCommInitRank(ncclComm_t *comm, int ranks, ncclUniqueId, int rank) {
    MPI_Comm own;
    int size, place;
    if (MPI_Comm_dup(MPI_COMM_WORLD, &own)) return ncclSystemError;
    MPI_Comm_size(own, &size), MPI_Comm_rank(own, &place);
    if (size != ranks || place != rank) return ncclInvalidArgument;
    *comm = new MPI_Comm(own);
    return ncclSuccess;
}
inline ncclResult_t ncclCommDestroy(ncclComm_t comm) {
    MPI_Comm_free(comm);
    delete comm;
    return ncclSuccess;
}
inline ncclResult_t ncclCommUserRank(ncclComm_t comm, int *rank) {
    return simt::nccl_result(MPI_Comm_rank(*comm, rank));
}
inline ncclResult_t ncclCommCount(ncclComm_t comm, int *ranks) {
    return simt::nccl_result(MPI_Comm_size(*comm, ranks));
}
inline ncclResult_t ncclGroupStart() { return ++simt::nccl.depth, ncclSuccess; }
inline ncclResult_t ncclGroupEnd() { return --simt::nccl.depth ? ncclSuccess : simt::nccl_wait(); }

inline ncclResult_t ncclBroadcast(const void *from, void *to, size_t count, ncclDataType_t type,
                                  int root, ncclComm_t comm, cudaStream_t) {
    MPI_Request request;
    int rank;
    if (count > INT_MAX) return ncclInvalidArgument;
    MPI_Comm_rank(*comm, &rank);
    if (rank == root && from != to) {
        int size;
        MPI_Type_size(simt::nccl_type(type), &size);
        memcpy(to, from, count * (size_t)size);
    }
    const int code = MPI_Ibcast(to, (int)count, simt::nccl_type(type), root, *comm, &request);
    return simt::nccl_begun(code, request);
}
inline ncclResult_t ncclAllReduce(const void *from, void *to, size_t count, ncclDataType_t type,
                                  ncclRedOp_t op, ncclComm_t comm, cudaStream_t) {
    const MPI_Op ops[] = {MPI_SUM, MPI_PROD, MPI_MAX, MPI_MIN};
    MPI_Request request;
    if (count > INT_MAX) return ncclInvalidArgument;
    const int code = MPI_Iallreduce(from == to ? MPI_IN_PLACE : from, to, (int)count,
                                    simt::nccl_type(type), ops[op], *comm, &request);
    return simt::nccl_begun(code, request);
}

inline ncclResult_t ncclSend(const void *from, size_t count, ncclDataType_t type, int peer,
                             ncclComm_t comm, cudaStream_t) {
    MPI_Request request;
    if (count > INT_MAX) return ncclInvalidArgument;
    const int code = MPI_Isend(from, (int)count, simt::nccl_type(type), peer, 0, *comm, &request);
    return simt::nccl_begun(code, request);
}
inline ncclResult_t ncclRecv(void *to, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                             cudaStream_t) {
    MPI_Request request;
    if (count > INT_MAX) return ncclInvalidArgument;
    const int code = MPI_Irecv(to, (int)count, simt::nccl_type(type), peer, 0, *comm, &request);
    return simt::nccl_begun(code, request);
}

#endif
