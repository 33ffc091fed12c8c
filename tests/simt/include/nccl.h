// SPDX-License-Identifier: MIT
// nccl.h: the calls of NCCL that threadmap uses, on the CPU machine. Ranks are processes under MPI
// or, if MPI has not been started, threads of one process. Device memory is memory of the process,
// and everything has happened when a call or its group returns.
//
// SIMT_NCCL_SECONDS=n: if a rank does not answer for n seconds, the call returns all the same, and
// the stream waits for ever. Without it the call waits for ever.
#ifndef SIMT_NCCL_H
#define SIMT_NCCL_H

#include <cuda_runtime.h>
#include <limits.h>
#ifndef OMPI_SKIP_MPICXX
#define OMPI_SKIP_MPICXX 1 // the C interface alone
#endif
#include <mpi.h>
#include <string.h>
#include <unistd.h>
#include <deque>
#include <map>
#include <string>
#include <vector>

struct ncclComm {
    int rank, ranks;
    bool threads;
    MPI_Comm processes;
};
typedef ncclComm *ncclComm_t;
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
// Messages between threads that nobody has received yet, by (sender, receiver).
inline std::map<std::pair<int, int>, std::deque<std::string>> nccl_post;

// A message of a group: to the peer, or from it.
struct NcclMessage {
    ncclComm_t comm;
    int peer;
    const void *out;
    void *in; // null: it is sent
    size_t bytes;
    MPI_Request request;
};
typedef std::vector<NcclMessage> NcclMessages;
struct NcclGroup {
    int depth = 0;
    NcclMessages messages;
};
inline thread_local NcclGroup nccl;

inline bool nccl_start(NcclMessage &m) {
    if (!m.comm->threads)
        return MPI_SUCCESS == (m.in ? MPI_Irecv(m.in, (int)m.bytes, MPI_CHAR, m.peer, 0,
                                                m.comm->processes, &m.request)
                                    : MPI_Isend(m.out, (int)m.bytes, MPI_CHAR, m.peer, 0,
                                                m.comm->processes, &m.request));
    const Turn mine;
    if (!m.in) nccl_post[{m.comm->rank, m.peer}].emplace_back((const char *)m.out, m.bytes);
    return true;
}
inline bool nccl_done(NcclMessage &m) {
    int done = 0;
    if (!m.comm->threads) return MPI_Test(&m.request, &done, MPI_STATUS_IGNORE), done;
    if (!m.in) return true;
    const Turn mine;
    std::deque<std::string> &post = nccl_post[{m.peer, m.comm->rank}];
    if (post.empty()) return false;
    memcpy(m.in, post.front().data(),
           m.bytes < post.front().size() ? m.bytes : post.front().size());
    return post.pop_front(), true;
}

// Exchanges messages and waits for them.
inline ncclResult_t nccl_exchange(NcclMessages messages) {
    const char *limit = getenv("SIMT_NCCL_SECONDS");
    const long long begin = nanoseconds();
    if (stuck) return ncclSuccess;
    for (NcclMessage &m : messages)
        if (!nccl_start(m)) return ncclSystemError;
    for (NcclMessage &m : messages)
        while (!stuck && !nccl_done(m)) {
            stuck = limit && (double)(nanoseconds() - begin) > 1e9 * atof(limit);
            usleep(20); // other ranks need the CPU
        }
    return ncclSuccess;
}
inline ncclResult_t nccl_add(const NcclMessage &message) {
    if (message.bytes > INT_MAX) return ncclInvalidArgument;
    nccl.messages.push_back(message);
    return nccl.depth ? ncclSuccess : nccl_exchange(std::exchange(nccl.messages, {}));
}
inline size_t nccl_size(ncclDataType_t type) {
    return type == ncclUint64 ? 8 : type == ncclUint32 ? 4 : 1;
}

template <class T>
void nccl_reduce(ncclRedOp_t op, size_t count, const void *from, void *to) {
    for (size_t i = 0; i < count; ++i) {
        const T a = ((const T *)from)[i], b = ((T *)to)[i];
        ((T *)to)[i] = (T)(op == ncclSum    ? a + b
                           : op == ncclProd ? a * b
                           : op == ncclMax  ? max(a, b)
                                            : min(a, b));
    }
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
    int processes = 0;
    MPI_Initialized(&processes);
    memset(id, processes ? 0 : 1, sizeof *id);
    return ncclSuccess;
}
inline ncclResult_t ncclCommInitRank(ncclComm_t *comm, int ranks, ncclUniqueId id, int rank) {
    ncclComm own = {rank, ranks, id.internal[0] != 0, MPI_COMM_NULL};
    int size = ranks, place = rank;
    if (!own.threads) {
        if (MPI_Comm_dup(MPI_COMM_WORLD, &own.processes)) return ncclSystemError;
        MPI_Comm_size(own.processes, &size), MPI_Comm_rank(own.processes, &place);
    }
    if (size != ranks || place != rank) return ncclInvalidArgument;
    *comm = new ncclComm(own);
    return ncclSuccess;
}
inline ncclResult_t ncclCommAbort(ncclComm_t comm) { return delete comm, ncclSuccess; }
inline ncclResult_t ncclCommDestroy(ncclComm_t comm) {
    if (!comm->threads) MPI_Comm_free(&comm->processes);
    return ncclCommAbort(comm);
}
inline ncclResult_t ncclCommGetAsyncError(ncclComm_t, ncclResult_t *error) {
    return *error = ncclSuccess, ncclSuccess;
}
inline ncclResult_t ncclCommUserRank(ncclComm_t comm, int *rank) {
    return *rank = comm->rank, ncclSuccess;
}
inline ncclResult_t ncclCommCount(ncclComm_t comm, int *ranks) {
    return *ranks = comm->ranks, ncclSuccess;
}
inline ncclResult_t ncclGroupStart() { return ++simt::nccl.depth, ncclSuccess; }
inline ncclResult_t ncclGroupEnd() {
    if (--simt::nccl.depth) return ncclSuccess;
    return simt::nccl_exchange(std::exchange(simt::nccl.messages, {}));
}

inline ncclResult_t ncclSend(const void *from, size_t count, ncclDataType_t type, int peer,
                             ncclComm_t comm, cudaStream_t) {
    return simt::nccl_add({comm, peer, from, nullptr, count * simt::nccl_size(type), 0});
}
inline ncclResult_t ncclRecv(void *to, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                             cudaStream_t) {
    return simt::nccl_add({comm, peer, nullptr, to, count * simt::nccl_size(type), 0});
}
inline ncclResult_t ncclBroadcast(const void *from, void *to, size_t count, ncclDataType_t type,
                                  int root, ncclComm_t comm, cudaStream_t stream) {
    if (comm->rank != root) return ncclRecv(to, count, type, root, comm, stream);
    if (from != to) memcpy(to, from, count * simt::nccl_size(type));
    ncclGroupStart();
    for (int rank = 0; rank < comm->ranks; ++rank)
        if (rank != root) ncclSend(to, count, type, rank, comm, stream);
    return ncclGroupEnd();
}
// At once, in a group, too. Every rank sends its numbers to all.
inline ncclResult_t ncclAllReduce(const void *from, void *to, size_t count, ncclDataType_t type,
                                  ncclRedOp_t op, ncclComm_t comm, cudaStream_t) {
    const size_t bytes = count * simt::nccl_size(type);
    std::vector<char> all(bytes * (size_t)comm->ranks);
    simt::NcclMessages messages;
    if (!bytes || bytes > INT_MAX) return ncclInvalidArgument;
    for (int rank = 0; rank < comm->ranks; ++rank) {
        messages.push_back({comm, rank, from, nullptr, bytes, 0});
        messages.push_back({comm, rank, nullptr, &all[(size_t)rank * bytes], bytes, 0});
    }
    const ncclResult_t error = simt::nccl_exchange(messages);
    if (error != ncclSuccess || simt::stuck) return error;
    memcpy(to, all.data(), bytes);
    for (size_t at = bytes; at < all.size(); at += bytes)
        (type == ncclUint64   ? simt::nccl_reduce<unsigned long long>
         : type == ncclUint32 ? simt::nccl_reduce<unsigned>
                              : simt::nccl_reduce<unsigned char>)(op, count, &all[at], to);
    return error;
}

#endif
