// SPDX-License-Identifier: MIT
// Types, constants and errors of the CUDA runtime, as far as it is offered.
#ifndef SIMT_RUNTIME_TYPES_H
#define SIMT_RUNTIME_TYPES_H

#define CUDART_VERSION 13000
#define CUDART_CB

#define SIMT_ERRORS(E)                                                                             \
    E(cudaSuccess, 0, "no error")                                                                  \
    E(cudaErrorInvalidValue, 1, "invalid argument")                                                \
    E(cudaErrorMemoryAllocation, 2, "out of memory")                                               \
    E(cudaErrorInitializationError, 3, "initialization error")                                     \
    E(cudaErrorInvalidConfiguration, 9, "invalid configuration argument")                          \
    E(cudaErrorInvalidSymbol, 13, "invalid device symbol")                                         \
    E(cudaErrorInvalidDevicePointer, 17, "invalid device pointer")                                 \
    E(cudaErrorInvalidMemcpyDirection, 21, "invalid copy direction for memcpy")                    \
    E(cudaErrorInsufficientDriver, 35, "CUDA driver version is insufficient for CUDA runtime "     \
                                       "version")                                                  \
    E(cudaErrorInvalidDeviceFunction, 98, "invalid device function")                               \
    E(cudaErrorNoDevice, 100, "no CUDA-capable device is detected")                                \
    E(cudaErrorInvalidDevice, 101, "invalid device ordinal")                                       \
    E(cudaErrorNoKernelImageForDevice, 209, "no kernel image is available for execution on the "   \
                                            "device")                                              \
    E(cudaErrorInvalidResourceHandle, 400, "invalid resource handle")                              \
    E(cudaErrorNotReady, 600, "device not ready")                                                  \
    E(cudaErrorIllegalAddress, 700, "an illegal memory access was encountered")                    \
    E(cudaErrorLaunchOutOfResources, 701, "too many resources requested for launch")               \
    E(cudaErrorLaunchTimeout, 702, "the launch timed out and was terminated")                      \
    E(cudaErrorLaunchFailure, 719, "unspecified launch failure")                                   \
    E(cudaErrorCooperativeLaunchTooLarge, 720, "too many blocks in cooperative launch")            \
    E(cudaErrorNotSupported, 801, "operation not supported")                                       \
    E(cudaErrorUnknown, 999, "unknown error")

#define SIMT_ERROR(name, code, text) name = code,
enum cudaError { SIMT_ERRORS(SIMT_ERROR) };
#undef SIMT_ERROR
typedef enum cudaError cudaError_t;

inline const char *cudaGetErrorString(cudaError_t e) {
#define SIMT_ERROR(name, code, text)                                                               \
    if (e == name) return text;
    SIMT_ERRORS(SIMT_ERROR)
#undef SIMT_ERROR
    return "unrecognized error code";
}
inline const char *cudaGetErrorName(cudaError_t e) {
#define SIMT_ERROR(name, code, text)                                                               \
    if (e == name) return #name;
    SIMT_ERRORS(SIMT_ERROR)
#undef SIMT_ERROR
    return "unrecognized error code";
}

enum cudaMemcpyKind {
    cudaMemcpyHostToHost,
    cudaMemcpyHostToDevice,
    cudaMemcpyDeviceToHost,
    cudaMemcpyDeviceToDevice,
    cudaMemcpyDefault
};

typedef const void *cudaKernel_t;
typedef struct CUstream_st *cudaStream_t;
typedef struct CUevent_st *cudaEvent_t;
struct CUstream_st { int unused; };
struct CUevent_st { long long nanoseconds; }; // -1: not recorded
#define cudaStreamDefault 0u
#define cudaStreamNonBlocking 1u
#define cudaStreamLegacy ((cudaStream_t)0x1)
#define cudaStreamPerThread ((cudaStream_t)0x2)
#define cudaEventDefault 0u
#define cudaEventBlockingSync 1u
#define cudaEventDisableTiming 2u
#define cudaHostAllocDefault 0u
#define cudaHostAllocPortable 1u
#define cudaHostAllocMapped 2u
#define cudaMemAttachGlobal 1u

struct cudaDeviceProp {
    char name[256];
    size_t totalGlobalMem, sharedMemPerBlock;
    int regsPerBlock, warpSize;
    size_t memPitch;
    int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3];
    size_t totalConstMem;
    int major, minor, multiProcessorCount, integrated, canMapHostMemory, concurrentKernels;
    int ECCEnabled, pciBusID, pciDeviceID, unifiedAddressing, memoryBusWidth, l2CacheSize;
    int maxThreadsPerMultiProcessor, maxBlocksPerMultiProcessor, regsPerMultiprocessor;
    size_t sharedMemPerMultiprocessor, sharedMemPerBlockOptin, reservedSharedMemPerBlock;
    int managedMemory, cooperativeLaunch, asyncEngineCount, streamPrioritiesSupported;
};

enum cudaDeviceAttr {
    cudaDevAttrMaxThreadsPerBlock = 1,
    cudaDevAttrMaxBlockDimX = 2,
    cudaDevAttrMaxBlockDimY = 3,
    cudaDevAttrMaxBlockDimZ = 4,
    cudaDevAttrMaxGridDimX = 5,
    cudaDevAttrMaxGridDimY = 6,
    cudaDevAttrMaxGridDimZ = 7,
    cudaDevAttrMaxSharedMemoryPerBlock = 8,
    cudaDevAttrTotalConstantMemory = 9,
    cudaDevAttrWarpSize = 10,
    cudaDevAttrMaxPitch = 11,
    cudaDevAttrMaxRegistersPerBlock = 12,
    cudaDevAttrClockRate = 13,
    cudaDevAttrMultiProcessorCount = 16,
    cudaDevAttrIntegrated = 18,
    cudaDevAttrCanMapHostMemory = 19,
    cudaDevAttrConcurrentKernels = 31,
    cudaDevAttrEccEnabled = 32,
    cudaDevAttrMemoryClockRate = 36,
    cudaDevAttrGlobalMemoryBusWidth = 37,
    cudaDevAttrL2CacheSize = 38,
    cudaDevAttrMaxThreadsPerMultiProcessor = 39,
    cudaDevAttrAsyncEngineCount = 40,
    cudaDevAttrUnifiedAddressing = 41,
    cudaDevAttrComputeCapabilityMajor = 75,
    cudaDevAttrComputeCapabilityMinor = 76,
    cudaDevAttrStreamPrioritiesSupported = 78,
    cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81,
    cudaDevAttrMaxRegistersPerMultiprocessor = 82,
    cudaDevAttrManagedMemory = 83,
    cudaDevAttrSingleToDoublePrecisionPerfRatio = 87,
    cudaDevAttrCooperativeLaunch = 95,
    cudaDevAttrMaxSharedMemoryPerBlockOptin = 97,
    cudaDevAttrMaxBlocksPerMultiprocessor = 106,
    cudaDevAttrReservedSharedMemoryPerBlock = 111
};

struct cudaFuncAttributes {
    size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
    int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion, cacheModeCA;
    int maxDynamicSharedSizeBytes, preferredShmemCarveout;
};
enum cudaFuncAttribute {
    cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
    cudaFuncAttributePreferredSharedMemoryCarveout = 9
};

enum cudaLaunchAttributeID {
    cudaLaunchAttributeIgnore,
    cudaLaunchAttributeAccessPolicyWindow,
    cudaLaunchAttributeCooperative,
    cudaLaunchAttributeSynchronizationPolicy,
    cudaLaunchAttributeClusterDimension,
    cudaLaunchAttributeClusterSchedulingPolicyPreference,
    cudaLaunchAttributeProgrammaticStreamSerialization,
    cudaLaunchAttributeProgrammaticEvent,
    cudaLaunchAttributePriority
};
union cudaLaunchAttributeValue {
    char pad[64];
    int cooperative, programmaticStreamSerializationAllowed, priority;
    struct { unsigned x, y, z; } clusterDim;
};
struct cudaLaunchAttribute {
    cudaLaunchAttributeID id;
    cudaLaunchAttributeValue val;
};
struct cudaLaunchConfig_t {
    dim3 gridDim, blockDim;
    size_t dynamicSmemBytes;
    cudaStream_t stream;
    cudaLaunchAttribute *attrs;
    unsigned numAttrs;
};

enum cudaFuncCache {
    cudaFuncCachePreferNone,
    cudaFuncCachePreferShared,
    cudaFuncCachePreferL1,
    cudaFuncCachePreferEqual
};
enum cudaLimit {
    cudaLimitStackSize,
    cudaLimitPrintfFifoSize,
    cudaLimitMallocHeapSize,
    cudaLimitDevRuntimeSyncDepth,
    cudaLimitDevRuntimePendingLaunchCount
};

namespace simt {

constexpr size_t shared_bytes = 48 * 1024, shared_optin_most = 227 * 1024;

// What the device is asked for, by compute capability: CUDA C++ Programming Guide, technical
// specifications per compute capability.
struct Facts {
    int major, minor, threads, blocks; // of a multiprocessor
    size_t shared, shared_optin;       // of a multiprocessor, of a block that asks for more
};
constexpr Facts all_facts[] = {
    {9, 0, 2048, 32, 228 * 1024, 227 * 1024},  {7, 5, 1024, 16, 64 * 1024, 64 * 1024},
    {8, 0, 2048, 32, 164 * 1024, 163 * 1024},  {8, 6, 1536, 16, 100 * 1024, 99 * 1024},
    {8, 9, 1536, 24, 100 * 1024, 99 * 1024},   {10, 0, 2048, 32, 228 * 1024, 227 * 1024},
    {12, 0, 1536, 24, 100 * 1024, 99 * 1024},
};

// Asked anew each time, so that a test can go through all devices by setenv.
inline const Facts &facts() {
    int major = 9, minor = 0;
    const char *wanted = getenv("SIMT_DEVICE");
    if (!wanted || sscanf(wanted, "%d.%d", &major, &minor) == 2)
        for (const Facts &f : all_facts)
            if (f.major == major && f.minor == minor) return f;
    fprintf(stderr, "SIMT_DEVICE=%s is no compute capability that is known here\n", wanted);
    exit(86);
}

// Few and odd: persistent grids must not count on a number.
inline int multiprocessors() {
    const char *wanted = getenv("SIMT_MULTIPROCESSORS");
    return wanted && atoi(wanted) > 0 ? atoi(wanted) : 3;
}

// Host threads take turns: what changes the machine holds this lock, which a thread may take again.
inline pthread_mutex_t turn = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
struct Turn {
    Turn() { pthread_mutex_lock(&turn); }
    ~Turn() { pthread_mutex_unlock(&turn); }
};

// The stream waits for another device (nccl.h), for ever: nothing after that happens.
inline volatile bool stuck = false;
inline void wait_for_stream() {
    while (stuck) sched_yield();
}

inline thread_local cudaError_t last_error = cudaSuccess;
inline cudaError_t report(cudaError_t e) {
    if (e != cudaSuccess) last_error = e;
    return e;
}

} // namespace simt

#endif
