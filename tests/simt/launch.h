// SPDX-License-Identifier: MIT
// kernel<<<grid, block, shared, stream>>>(arguments), which delaunch.py writes as
// simt::launch(kernel, grid, block, shared, stream)(arguments).
#ifndef SIMT_LAUNCH_H
#define SIMT_LAUNCH_H

namespace simt {

struct Config {
    const void *kernel;
    dim3 grid, block;
    size_t shared;
};

// cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes)
inline std::map<const void *, size_t> shared_limits;

inline size_t shared_limit(const void *kernel) {
    const Turn mine;
    auto i = shared_limits.find(kernel);
    const size_t most = facts().shared_optin; // of the device of now
    return i == shared_limits.end() ? shared_bytes : i->second < most ? i->second : most;
}

inline cudaError_t check(const Config &c) {
    const dim3 &g = c.grid, &b = c.block;
    bool block = b.x && b.y && b.z && b.x <= 1024 && b.y <= 1024 && b.z <= 64 &&
                 (size_t)b.x * b.y * b.z <= max_threads;
    bool grid = g.x && g.y && g.z && g.x <= 0x7fffffffu && g.y <= 65535 && g.z <= 65535;
    // The manual says cudaErrorInvalidConfiguration; CUDA 13.0 was measured to say this.
    return !block || !grid || c.shared > shared_limit(c.kernel) ? cudaErrorInvalidValue
                                                                : cudaSuccess;
}

// SIMT_LAUNCHES=1: the end of the program tells how many there were.
struct LaunchCount {
    unsigned long long launches = 0;
    ~LaunchCount() {
        if (getenv("SIMT_LAUNCHES")) fprintf(stderr, "%llu launches\n", launches);
    }
};
inline LaunchCount launch_count;

SIMT_UNCHECKED inline void run_grid(const Config &c, void (*body)(void *), void *argument) {
    Machine &m = machine;
    ++launch_count.launches;
    const char *seed = getenv("SIMT_SEED");
    m.seed = seed ? strtoull(seed, nullptr, 0) : 0;
    unsigned count = c.block.x * c.block.y * c.block.z;
    bool same_shape = m.count == count && m.block_dim.x == c.block.x && m.block_dim.y == c.block.y;
    m.count = count;
    m.block_dim = c.block;
    m.grid_dim = c.grid;
    m.kernel = c.kernel;
    m.body = body;
    m.argument = argument;
    m.running = true;
    catch_traps();
    if (!same_shape || m.seed)
        for (unsigned i = 0; i < count; i++) {
            m.threads[i].index = {i % c.block.x, i / c.block.x % c.block.y,
                                  i / (c.block.x * c.block.y)};
            m.threads[i].linear = m.order[i] = i;
        }
    begin_dynamic_shared(c.shared);
    for (unsigned z = 0; z < c.grid.z; z++)
        for (unsigned y = 0; y < c.grid.y; y++)
            for (unsigned x = 0; x < c.grid.x; x++) {
                m.block_index = {x, y, z};
                run_block();
            }
    m.running = false;
    end_dynamic_shared();
}

// Launches made by kernels run after the grid that made them, first come first served.
struct Child {
    Child *next = nullptr;
    virtual void run() = 0;
    virtual ~Child() {}
};
inline Child *first_child, **last_child = &first_child;

template <class... P> struct Launch : Config {
    void (*function)(P...);

    void operator()(P... arguments) const { report(start(arguments...)); }

    cudaError_t start(P... arguments) const {
        const Turn mine;
        if (cudaError_t e = check(*this)) return e;
        if (stuck) return cudaSuccess;
        auto body = [=, f = function] { f(arguments...); };
        if (machine.running) {
            struct Deferred : Child {
                Config config;
                decltype(body) work;
                Deferred(const Config &c, const decltype(body) &b) : config(c), work(b) {}
                void run() override { run_grid(config, call<decltype(body)>, &work); }
            };
            *last_child = new Deferred(*this, body);
            last_child = &(*last_child)->next;
            return cudaSuccess;
        }
        run_grid(*this, call<decltype(body)>, &body);
        while (Child *child = first_child) {
            child->run();
            first_child = child->next;
            if (!first_child) last_child = &first_child;
            delete child;
        }
        return cudaSuccess;
    }

  private:
    template <class Body> SIMT_UNCHECKED static void call(void *body) { (*(const Body *)body)(); }
};

template <class... P>
Launch<P...> launch(void (*kernel)(P...), dim3 grid, dim3 block, size_t shared = 0,
                    cudaStream_t = nullptr) {
    return Launch<P...>{{(const void *)kernel, grid, block, shared}, kernel};
}

} // namespace simt

#endif
