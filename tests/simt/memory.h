// SPDX-License-Identifier: MIT
// cudaMalloc, cudaMemcpy and their kin. Memory is poisoned when allocated, copies are checked
// against the allocation they touch, and host memory is not accepted where a kind says device.
#ifndef SIMT_MEMORY_H
#define SIMT_MEMORY_H

// 1 for a program that gives memory of the host to kernels and to calls that want the device's.
#ifndef SIMT_HOST_MEMORY
#define SIMT_HOST_MEMORY 0
#endif

namespace simt {

enum class Space { device, pinned, managed, symbol };
struct Allocation {
    size_t bytes;
    Space space;
};

struct Memory {
    std::map<uintptr_t, Allocation> allocations;
    size_t used = 0, capacity = (size_t)4 << 30;

    Memory() {
        // SIMT_MEMORY: bytes of the device. Reserving more than fits must fail, not swap.
        if (const char *s = getenv("SIMT_MEMORY")) capacity = strtoull(s, nullptr, 0);
    }
    ~Memory() { report_leaks(); }

    void report_leaks() {
        const char *wanted = getenv("SIMT_LEAKS");
        if (!wanted || *wanted != '1') return;
        for (auto &a : allocations)
            if (a.second.space != Space::symbol)
                fprintf(stderr, "simt: leak of %zu bytes of %s memory\n", a.second.bytes,
                        a.second.space == Space::pinned ? "host" : "device");
    }

    // The allocation that an address lies in (or just past), or null. Addresses are numbers here:
    // pointers to const would tell the compiler that the memory behind them is read.
    const std::pair<const uintptr_t, Allocation> *find(uintptr_t p) const {
        auto i = allocations.upper_bound(p);
        if (i == allocations.begin()) return nullptr;
        --i;
        return p <= i->first + i->second.bytes ? &*i : nullptr;
    }

    cudaError_t allocate(void **p, size_t bytes, Space space) {
        const Turn mine;
        if (!p) return cudaErrorInvalidValue;
        *p = nullptr;
        if (bytes == 0) return cudaSuccess;
        if (bytes > capacity - used) return cudaErrorMemoryAllocation;
        if (posix_memalign(p, 256, bytes)) return *p = nullptr, cudaErrorMemoryAllocation;
        memset(*p, 0xA5, bytes);
        allocations[(uintptr_t)*p] = Allocation{bytes, space};
        used += bytes;
        return cudaSuccess;
    }

    cudaError_t release(void *p, bool pinned) {
        const Turn mine;
        if (!p) return cudaSuccess;
        auto i = allocations.find((uintptr_t)p);
        if (i == allocations.end() || (i->second.space == Space::pinned) != pinned ||
            i->second.space == Space::symbol)
            return cudaErrorInvalidValue;
        used -= i->second.bytes;
        allocations.erase(i);
        free(p);
        return cudaSuccess;
    }

    // May a copy of a kind use these bytes on its device side (or host side)?
    bool usable(uintptr_t p, size_t bytes, bool device) const {
        const Turn mine;
        auto *a = find(p);
        bool inside = a && p < a->first + a->second.bytes;
        if (!p || !inside) return p && (!device || SIMT_HOST_MEMORY);
        if (!device && (a->second.space == Space::device || a->second.space == Space::symbol))
            return false;
        return bytes <= a->first + a->second.bytes - p;
    }

    bool copy_allowed(uintptr_t d, uintptr_t s, size_t bytes, cudaMemcpyKind kind) const {
        const Turn mine;
        if (bytes == 0) return true;
        bool to = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
        bool from = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
        if (kind == cudaMemcpyDefault) {
            to = find(d);
            from = find(s);
        }
        return usable(d, bytes, to) && usable(s, bytes, from);
    }
};
inline Memory memory;

} // namespace simt

template <class T> cudaError_t cudaMalloc(T **p, size_t bytes) {
    return simt::report(simt::memory.allocate((void **)p, bytes, simt::Space::device));
}
template <class T> cudaError_t cudaMallocAsync(T **p, size_t bytes, cudaStream_t) {
    return cudaMalloc(p, bytes);
}
template <class T> cudaError_t cudaMallocManaged(T **p, size_t bytes, unsigned = 1) {
    return simt::report(simt::memory.allocate((void **)p, bytes, simt::Space::managed));
}
template <class T> cudaError_t cudaMallocHost(T **p, size_t bytes, unsigned = 0) {
    return simt::report(simt::memory.allocate((void **)p, bytes, simt::Space::pinned));
}
template <class T> cudaError_t cudaHostAlloc(T **p, size_t bytes, unsigned) {
    return cudaMallocHost(p, bytes);
}
template <class T>
cudaError_t cudaMallocPitch(T **p, size_t *pitch, size_t width, size_t height) {
    *pitch = (width + 511) / 512 * 512;
    return cudaMalloc(p, *pitch * height);
}
inline cudaError_t cudaFree(void *p) { return simt::report(simt::memory.release(p, false)); }
inline cudaError_t cudaFreeAsync(void *p, cudaStream_t) { return cudaFree(p); }
inline cudaError_t cudaFreeHost(void *p) { return simt::report(simt::memory.release(p, true)); }

inline cudaError_t cudaMemcpy(void *d, const void *s, size_t bytes, cudaMemcpyKind kind) {
    if (!simt::memory.copy_allowed((uintptr_t)d, (uintptr_t)s, bytes, kind))
        return simt::report(cudaErrorInvalidValue);
    simt::wait_for_stream();
    if (bytes) memmove(d, s, bytes);
    return cudaSuccess;
}
inline cudaError_t cudaMemcpyAsync(void *d, const void *s, size_t bytes, cudaMemcpyKind kind,
                                   cudaStream_t = nullptr) {
    return cudaMemcpy(d, s, bytes, kind);
}
inline cudaError_t cudaMemcpy2D(void *d, size_t d_pitch, const void *s, size_t s_pitch,
                                size_t width, size_t height, cudaMemcpyKind kind) {
    if (width > d_pitch || width > s_pitch) return simt::report(cudaErrorInvalidValue);
    for (size_t y = 0; y < height; y++) {
        cudaError_t e = cudaMemcpy((char *)d + y * d_pitch, (const char *)s + y * s_pitch, width,
                                   kind);
        if (e) return e;
    }
    return cudaSuccess;
}
inline cudaError_t cudaMemcpy2DAsync(void *d, size_t d_pitch, const void *s, size_t s_pitch,
                                     size_t width, size_t height, cudaMemcpyKind kind,
                                     cudaStream_t = nullptr) {
    return cudaMemcpy2D(d, d_pitch, s, s_pitch, width, height, kind);
}
inline cudaError_t cudaMemset(void *d, int value, size_t bytes) {
    if (bytes && !simt::memory.usable((uintptr_t)d, bytes, true))
        return simt::report(cudaErrorInvalidValue);
    if (bytes) memset(d, value, bytes);
    return cudaSuccess;
}
inline cudaError_t cudaMemsetAsync(void *d, int value, size_t bytes, cudaStream_t = nullptr) {
    return cudaMemset(d, value, bytes);
}
inline cudaError_t cudaMemset2D(void *d, size_t pitch, int value, size_t width, size_t height) {
    for (size_t y = 0; y < height; y++) {
        cudaError_t e = cudaMemset((char *)d + y * pitch, value, width);
        if (e) return e;
    }
    return cudaSuccess;
}
inline cudaError_t cudaMemGetInfo(size_t *free, size_t *total) {
    *free = simt::memory.capacity - simt::memory.used;
    *total = simt::memory.capacity;
    return cudaSuccess;
}

// __device__ and __constant__ variables are ordinary globals.
template <class T> cudaError_t cudaGetSymbolAddress(void **p, const T &symbol) {
    *p = (void *)&symbol;
    simt::memory.allocations[(uintptr_t)&symbol] = {sizeof symbol, simt::Space::symbol};
    return cudaSuccess;
}
template <class T>
cudaError_t cudaMemcpyToSymbol(const T &symbol, const void *s, size_t bytes, size_t offset = 0,
                               cudaMemcpyKind = cudaMemcpyHostToDevice) {
    if (offset > sizeof symbol || bytes > sizeof symbol - offset)
        return simt::report(cudaErrorInvalidValue);
    memcpy((char *)&symbol + offset, s, bytes);
    return cudaSuccess;
}
template <class T>
cudaError_t cudaMemcpyFromSymbol(void *d, const T &symbol, size_t bytes, size_t offset = 0,
                                 cudaMemcpyKind = cudaMemcpyDeviceToHost) {
    if (offset > sizeof symbol || bytes > sizeof symbol - offset)
        return simt::report(cudaErrorInvalidValue);
    memcpy(d, (const char *)&symbol + offset, bytes);
    return cudaSuccess;
}
template <class T>
cudaError_t cudaMemcpyToSymbolAsync(const T &symbol, const void *s, size_t bytes, size_t offset,
                                    cudaMemcpyKind kind, cudaStream_t = nullptr) {
    return cudaMemcpyToSymbol(symbol, s, bytes, offset, kind);
}
template <class T>
cudaError_t cudaMemcpyFromSymbolAsync(void *d, const T &symbol, size_t bytes, size_t offset,
                                      cudaMemcpyKind kind, cudaStream_t = nullptr) {
    return cudaMemcpyFromSymbol(d, symbol, bytes, offset, kind);
}

#endif
