// SPDX-License-Identifier: MIT
// base.cu: errors, versions, and memory for programs without a CUDA runtime of their own.
#include "base.h"

#include <threadmap/version.h>

const char *threadmap_error_text(int error) {
    if (error == THREADMAP_EALIGN) return "a pointer that is not aligned";
    if (error == THREADMAP_EWORKSPACE) return "the workspace is too small";
    return error > 0 ? cudaGetErrorString((cudaError_t)error) : tmap_strerror(error);
}

int threadmap_version(void) { return TMAP_VERSION; }

int threadmap_is_cpu(void) {
#if defined(THREADMAP_CPU)
    return 1;
#else
    return 0;
#endif
}

int threadmap_allocate(void **memory, tmap_u64 bytes) {
    return memory ? (int)cudaMalloc(memory, bytes) : TMAP_EINVAL;
}

int threadmap_release(void *memory) { return (int)cudaFree(memory); }

int threadmap_copy(void *to, const void *from, tmap_u64 bytes, void *stream) {
    if (!bytes) return TMAP_OK;
    if (!to || !from) return TMAP_EINVAL;
    const cudaError_t error =
        cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, (cudaStream_t)stream);
    return error ? (int)error : threadmap_wait(stream);
}

int threadmap_wait(void *stream) { return (int)cudaStreamSynchronize((cudaStream_t)stream); }
