// SPDX-License-Identifier: MIT
// The rest of the CUDA runtime: errors, the one device, streams and events. Everything has
// happened when a call returns.
#ifndef SIMT_RUNTIME_H
#define SIMT_RUNTIME_H

inline cudaError_t cudaGetLastError() {
    cudaError_t e = simt::last_error;
    simt::last_error = cudaSuccess;
    return e;
}
inline cudaError_t cudaPeekAtLastError() { return simt::last_error; }
inline cudaError_t cudaDeviceSynchronize() { return simt::wait_for_stream(), cudaSuccess; }
inline cudaError_t cudaDeviceReset() {
    simt::memory.report_leaks();
    return cudaSuccess;
}
inline cudaError_t cudaDeviceSetLimit(cudaLimit, size_t) { return cudaSuccess; }
inline cudaError_t cudaRuntimeGetVersion(int *v) { return *v = CUDART_VERSION, cudaSuccess; }
inline cudaError_t cudaDriverGetVersion(int *v) { return *v = CUDART_VERSION, cudaSuccess; }

// SIMT_DEVICES=n: a process may take any of n devices, which are all the same one.
inline cudaError_t cudaGetDeviceCount(int *n) {
    const char *devices = getenv("SIMT_DEVICES");
    return *n = devices ? atoi(devices) : 1, cudaSuccess;
}
inline cudaError_t cudaGetDevice(int *d) { return *d = 0, cudaSuccess; }
inline cudaError_t cudaSetDevice(int d) {
    int devices;
    cudaGetDeviceCount(&devices);
    return simt::report(d >= 0 && d < devices ? cudaSuccess : cudaErrorInvalidDevice);
}

inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp *p, int device) {
    if (device != 0) return simt::report(cudaErrorInvalidDevice);
    const simt::Facts &facts = simt::facts();
    memset(p, 0, sizeof *p);
    strcpy(p->name, "CPU SIMT machine");
    p->totalGlobalMem = simt::memory.capacity;
    p->sharedMemPerBlock = simt::shared_bytes;
    p->sharedMemPerBlockOptin = facts.shared_optin;
    p->sharedMemPerMultiprocessor = facts.shared;
    p->reservedSharedMemPerBlock = facts.major >= 8 ? 1024 : 0;
    p->regsPerBlock = p->regsPerMultiprocessor = 65536;
    p->warpSize = 32;
    p->memPitch = 0x7fffffff;
    p->maxThreadsPerBlock = 1024;
    p->maxThreadsDim[0] = p->maxThreadsDim[1] = 1024;
    p->maxThreadsDim[2] = 64;
    p->maxGridSize[0] = 0x7fffffff;
    p->maxGridSize[1] = p->maxGridSize[2] = 65535;
    p->totalConstMem = 65536;
    p->major = facts.major, p->minor = facts.minor;
    p->multiProcessorCount = simt::multiprocessors();
    p->cooperativeLaunch = 1; // of one block: see kernels.h
    p->unifiedAddressing = p->managedMemory = p->canMapHostMemory = 1;
    p->l2CacheSize = 1 << 20;
    p->memoryBusWidth = 64;
    p->maxThreadsPerMultiProcessor = facts.threads;
    p->maxBlocksPerMultiProcessor = facts.blocks;
    return cudaSuccess;
}

inline cudaError_t cudaDeviceGetAttribute(int *v, cudaDeviceAttr attribute, int device) {
    cudaDeviceProp p;
    cudaError_t e = cudaGetDeviceProperties(&p, device);
    if (e) return e;
    switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock: *v = p.maxThreadsPerBlock; break;
    case cudaDevAttrMaxBlockDimX: *v = p.maxThreadsDim[0]; break;
    case cudaDevAttrMaxBlockDimY: *v = p.maxThreadsDim[1]; break;
    case cudaDevAttrMaxBlockDimZ: *v = p.maxThreadsDim[2]; break;
    case cudaDevAttrMaxGridDimX: *v = p.maxGridSize[0]; break;
    case cudaDevAttrMaxGridDimY: *v = p.maxGridSize[1]; break;
    case cudaDevAttrMaxGridDimZ: *v = p.maxGridSize[2]; break;
    case cudaDevAttrMaxSharedMemoryPerBlock: *v = (int)p.sharedMemPerBlock; break;
    case cudaDevAttrTotalConstantMemory: *v = (int)p.totalConstMem; break;
    case cudaDevAttrWarpSize: *v = p.warpSize; break;
    case cudaDevAttrMaxPitch: *v = (int)p.memPitch; break;
    case cudaDevAttrMaxRegistersPerBlock: *v = p.regsPerBlock; break;
    case cudaDevAttrClockRate: *v = 1000000; break; // kHz: clock64 counts nanoseconds
    case cudaDevAttrMemoryClockRate: *v = 1000000; break;
    case cudaDevAttrMultiProcessorCount: *v = p.multiProcessorCount; break;
    case cudaDevAttrIntegrated: *v = p.integrated; break;
    case cudaDevAttrCanMapHostMemory: *v = p.canMapHostMemory; break;
    case cudaDevAttrConcurrentKernels: *v = p.concurrentKernels; break;
    case cudaDevAttrEccEnabled: *v = p.ECCEnabled; break;
    case cudaDevAttrGlobalMemoryBusWidth: *v = p.memoryBusWidth; break;
    case cudaDevAttrL2CacheSize: *v = p.l2CacheSize; break;
    case cudaDevAttrAsyncEngineCount: *v = p.asyncEngineCount; break;
    case cudaDevAttrUnifiedAddressing: *v = p.unifiedAddressing; break;
    case cudaDevAttrMaxThreadsPerMultiProcessor: *v = p.maxThreadsPerMultiProcessor; break;
    case cudaDevAttrComputeCapabilityMajor: *v = p.major; break;
    case cudaDevAttrComputeCapabilityMinor: *v = p.minor; break;
    case cudaDevAttrStreamPrioritiesSupported: *v = p.streamPrioritiesSupported; break;
    case cudaDevAttrSingleToDoublePrecisionPerfRatio:
        *v = p.major >= 8 && p.major <= 10 && p.minor == 0 ? 2 : p.major == 7 ? 32 : 64;
        break;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
        *v = (int)p.sharedMemPerMultiprocessor;
        break;
    case cudaDevAttrMaxRegistersPerMultiprocessor: *v = p.regsPerMultiprocessor; break;
    case cudaDevAttrManagedMemory: *v = p.managedMemory; break;
    case cudaDevAttrCooperativeLaunch: *v = p.cooperativeLaunch; break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: *v = (int)p.sharedMemPerBlockOptin; break;
    case cudaDevAttrReservedSharedMemoryPerBlock: *v = (int)p.reservedSharedMemPerBlock; break;
    case cudaDevAttrMaxBlocksPerMultiprocessor: *v = p.maxBlocksPerMultiProcessor; break;
    default: return simt::report(cudaErrorInvalidValue);
    }
    return cudaSuccess;
}

inline cudaError_t cudaStreamCreate(cudaStream_t *s) { return *s = new CUstream_st{}, cudaSuccess; }
inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t *s, unsigned) {
    return cudaStreamCreate(s);
}
inline cudaError_t cudaStreamCreateWithPriority(cudaStream_t *s, unsigned, int) {
    return cudaStreamCreate(s);
}
inline cudaError_t cudaStreamDestroy(cudaStream_t s) {
    if (!s) return simt::report(cudaErrorInvalidResourceHandle);
    delete s;
    return cudaSuccess;
}
inline cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaDeviceSynchronize(); }
inline cudaError_t cudaStreamQuery(cudaStream_t) {
    return simt::stuck ? simt::report(cudaErrorNotReady) : cudaSuccess;
}
inline cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned = 0) {
    return cudaSuccess;
}
inline cudaError_t cudaLaunchHostFunc(cudaStream_t, void (*f)(void *), void *argument) {
    return f(argument), cudaSuccess;
}

inline cudaError_t cudaEventCreate(cudaEvent_t *e) { return *e = new CUevent_st{-1}, cudaSuccess; }
inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t *e, unsigned) { return cudaEventCreate(e); }
inline cudaError_t cudaEventDestroy(cudaEvent_t e) {
    if (!e) return simt::report(cudaErrorInvalidResourceHandle);
    delete e;
    return cudaSuccess;
}
inline cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t = nullptr) {
    if (!e) return simt::report(cudaErrorInvalidResourceHandle);
    e->nanoseconds = simt::nanoseconds();
    return cudaSuccess;
}
inline cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
inline cudaError_t cudaEventQuery(cudaEvent_t) { return cudaSuccess; }
inline cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t from, cudaEvent_t to) {
    if (!from || !to || from->nanoseconds < 0 || to->nanoseconds < 0)
        return simt::report(cudaErrorInvalidResourceHandle);
    *ms = (float)((double)(to->nanoseconds - from->nanoseconds) * 1e-6);
    return cudaSuccess;
}

#endif
