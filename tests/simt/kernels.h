// SPDX-License-Identifier: MIT
// Kernels by address: launches with arguments behind pointers, attributes, occupancy. delaunch.py
// writes SIMT_KERNEL into every kernel, which lists its address before main starts.
#ifndef SIMT_KERNELS_H
#define SIMT_KERNELS_H

namespace simt {

// What a bare address does not tell: how its kernel is called, and what it is called.
struct KernelEntry {
    cudaError_t (*start)(const Config &, void **arguments);
    const char *name;
    int name_length;
    std::vector<size_t> parameters; // their sizes
};

inline std::map<const void *, KernelEntry> &listed_kernels() {
    static std::map<const void *, KernelEntry> all; // made at the first use, which may be early
    return all;
}
inline const KernelEntry *find_kernel(const void *address) {
    auto i = listed_kernels().find(address);
    return i == listed_kernels().end() ? nullptr : &i->second;
}

template <class... P, size_t... I>
cudaError_t start_behind(const Config &c, void **arguments, std::index_sequence<I...>) {
    if (sizeof...(P) && !arguments) return cudaErrorInvalidValue;
    return Launch<P...>{c, (void (*)(P...))c.kernel}.start(*(const P *)arguments[I]...);
}
template <class... P>
cudaError_t start_kernel(const Config &c, void **arguments) {
    return start_behind<P...>(c, arguments, std::index_sequence_for<P...>());
}

// `described`: text of the compiler in which the name stands after "K = ", up to the last bracket.
template <class... P>
bool list_kernel(void (*kernel)(P...), const char *described) {
    const char *name = strstr(described, "K = ");
    name = name ? name + strspn(name + 4, "&( ") + 4 : described;
    int length = (int)strlen(name);
    while (length && strchr("])", name[length - 1])) length--;
    listed_kernels()[(const void *)kernel] = 
        KernelEntry{start_kernel<P...>, name, length, {sizeof(P)...}};
    return true;
}

template <auto K>
struct Kernel {
    static const char *describe() { return __PRETTY_FUNCTION__; }
    static inline const bool listed = list_kernel(K, describe());
    static constexpr bool is_listed() { return (void)&listed, true; } // and so there is `listed`
};

// A kernel given to the runtime, by its name or as an address that has lost the type.
struct KernelAddress {
    const void *address;
    KernelAddress(const void *p) : address(p) {}
    template <class... P>
    KernelAddress(void (*kernel)(P...)) : address((const void *)kernel) {
        const Turn mine;
        if (!find_kernel(address)) list_kernel(kernel, ""); // a template's, which is not listed
    }
};

// What CUDA 13.0 was measured to say of an address that is no kernel's: it takes it for a handle of
// one, which is not valid.
inline cudaError_t check_kernel(const void *address) {
    if (find_kernel(address)) return cudaSuccess;
    return address ? cudaErrorInvalidResourceHandle : cudaErrorInvalidDeviceFunction;
}
inline cudaError_t start_by_address(const Config &c, void **arguments) {
    if (cudaError_t e = check_kernel(c.kernel)) return e;
    return find_kernel(c.kernel)->start(c, arguments);
}
// Blocks run one after another, so they cannot wait for each other: a grid has one block.
inline cudaError_t start_cooperative(const Config &c, void **arguments) {
    if (c.grid.x != 1 || c.grid.y != 1 || c.grid.z != 1) return cudaErrorCooperativeLaunchTooLarge;
    return start_by_address(c, arguments);
}

inline void print_kernel_name() {
    const KernelEntry *kernel = find_kernel(machine.kernel);
    if (kernel && kernel->name_length)
        fprintf(stderr, "kernel %.*s, ", kernel->name_length, kernel->name);
}

} // namespace simt

// First in a kernel's body, or after a declaration of it. The type tells overloads apart.
#define SIMT_KERNEL(parameters, ...) \
    static_assert(simt::Kernel<static_cast<void(*) parameters>(&__VA_ARGS__)>::is_listed(), "")

// These return how the launch itself went: they neither tell of an earlier error nor clear it.
inline cudaError_t cudaLaunchKernel(simt::KernelAddress kernel, dim3 grid, dim3 block,
                                    void **arguments, size_t shared = 0, cudaStream_t = nullptr) {
    return simt::report(simt::start_by_address({kernel.address, grid, block, shared}, arguments));
}
inline cudaError_t cudaLaunchCooperativeKernel(simt::KernelAddress kernel, dim3 grid, dim3 block,
                                               void **arguments, size_t shared = 0,
                                               cudaStream_t = nullptr) {
    return simt::report(simt::start_cooperative({kernel.address, grid, block, shared}, arguments));
}
// Of the attributes only two matter here: a cooperative launch, and clusters, which there are not.
inline cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *c, simt::KernelAddress kernel,
                                       void **arguments) {
    if (!c) return simt::report(cudaErrorInvalidValue);
    bool cooperative = false;
    for (unsigned i = 0; i < c->numAttrs; i++) {
        const cudaLaunchAttribute &a = c->attrs[i];
        if (a.id == cudaLaunchAttributeCooperative) cooperative = a.val.cooperative;
        if (a.id == cudaLaunchAttributeClusterDimension &&
            (a.val.clusterDim.x > 1 || a.val.clusterDim.y > 1 || a.val.clusterDim.z > 1))
            return simt::report(cudaErrorNotSupported);
    }
    const simt::Config config = {kernel.address, c->gridDim, c->blockDim, c->dynamicSmemBytes};
    return simt::report(cooperative ? simt::start_cooperative(config, arguments)
                                    : simt::start_by_address(config, arguments));
}
template <class... P, class... A>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *c, void (*kernel)(P...), A &&...a) {
    std::tuple<P...> values(std::forward<A>(a)...);
    return std::apply(
        [&](auto &...v) {
            void *arguments[] = {(void *)&v..., nullptr};
            return cudaLaunchKernelExC(c, kernel, arguments);
        },
        values);
}

inline cudaError_t cudaFuncSetAttribute(simt::KernelAddress kernel, cudaFuncAttribute attribute,
                                        int value) {
    if (cudaError_t e = simt::check_kernel(kernel.address)) return simt::report(e);
    const simt::Turn mine;
    simt::last_error = cudaSuccess; // CUDA 13.0 was measured to clear an earlier error
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess;
    if (value < 0 || (size_t)value > simt::facts().shared_optin)
        return simt::report(cudaErrorInvalidValue);
    simt::shared_limits[kernel.address] = (size_t)value;
    return cudaSuccess;
}
inline cudaError_t cudaGetKernel(cudaKernel_t *handle, simt::KernelAddress kernel) {
    if (cudaError_t e = simt::check_kernel(kernel.address)) return simt::report(e);
    return *handle = kernel.address, cudaSuccess;
}
// Leaves an earlier error where it is, as CUDA 13.0 was measured to.
inline cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel, cudaFuncAttribute attribute,
                                                   int value, int device) {
    if (device != 0) return simt::report(cudaErrorInvalidDevice);
    const cudaError_t earlier = simt::last_error;
    const cudaError_t e = cudaFuncSetAttribute(kernel, attribute, value);
    if (!e) simt::last_error = earlier;
    return e;
}
// Parameters lie one after the other; a device has gaps where they are aligned.
inline cudaError_t cudaFuncGetParamInfo(const void *kernel, size_t number, size_t *offset,
                                        size_t *size) {
    if (cudaError_t e = simt::check_kernel(kernel)) return simt::report(e);
    const std::vector<size_t> &all = simt::find_kernel(kernel)->parameters;
    if (number >= all.size()) return simt::report(cudaErrorInvalidValue);
    *offset = 0, *size = all[number];
    for (size_t i = 0; i < number; ++i) *offset += all[i];
    return cudaSuccess;
}
inline cudaError_t cudaFuncSetCacheConfig(simt::KernelAddress kernel, cudaFuncCache) {
    return simt::report(simt::check_kernel(kernel.address));
}
inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *a, simt::KernelAddress kernel) {
    if (cudaError_t e = simt::check_kernel(kernel.address)) return simt::report(e);
    memset(a, 0, sizeof *a);
    a->maxThreadsPerBlock = 1024;
    a->numRegs = 32;
    a->ptxVersion = a->binaryVersion = simt::facts().major * 10 + simt::facts().minor;
    a->maxDynamicSharedSizeBytes = (int)simt::shared_limit(kernel.address);
    return cudaSuccess;
}

// Each block takes a KiB of shared memory more than it asks for; not before compute capability 8.0.
inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks,
                                                                 simt::KernelAddress kernel,
                                                                 int threads, size_t shared) {
    *blocks = 0;
    if (cudaError_t e = simt::check_kernel(kernel.address)) return simt::report(e);
    if (threads < 1) return simt::report(cudaErrorInvalidValue);
    if (threads > 1024 || shared > simt::shared_limit(kernel.address)) return cudaSuccess;
    const simt::Facts &facts = simt::facts();
    const size_t reserved = facts.major >= 8 ? 1024 : 0;
    *blocks = min(facts.blocks, facts.threads / ((threads + 31) / 32 * 32));
    if (shared + reserved) *blocks = min(*blocks, (int)(facts.shared / (shared + reserved)));
    return cudaSuccess;
}
inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *blocks, simt::KernelAddress kernel, int threads, size_t shared, unsigned /*flags*/) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, kernel, threads, shared);
}
inline cudaError_t cudaOccupancyMaxPotentialBlockSize(int *grid, int *block,
                                                      simt::KernelAddress kernel, size_t = 0,
                                                      int limit = 0) {
    if (cudaError_t e = simt::check_kernel(kernel.address)) return simt::report(e);
    *block = limit ? min(limit, 1024) : 1024;
    *grid = simt::multiprocessors() * (simt::facts().threads / *block);
    return cudaSuccess;
}

// A launch that may overlap with the one before it: here that one has ended.
inline void cudaGridDependencySynchronize() {}
inline void cudaTriggerProgrammaticLaunchCompletion() {}

#endif
