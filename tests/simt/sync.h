// SPDX-License-Identifier: MIT
// Waiting: the barrier of a block, and meetings of lanes of a warp (below every collective).
#ifndef SIMT_SYNC_H
#define SIMT_SYNC_H

inline const uint3 &threadIdx = simt::machine.thread_index;
inline const uint3 &blockIdx = simt::machine.block_index;
inline const dim3 &blockDim = simt::machine.block_dim;
inline const dim3 &gridDim = simt::machine.grid_dim;
constexpr int warpSize = 32;

// The last parameter of a barrier or collective: its caller's place, without a macro at the call.
#define SIMT_CALLER const char *file = __builtin_FILE(), int line = __builtin_LINE()
#define SIMT_SITE(what) (simt::Site{what, file, line})

namespace simt {

SIMT_UNCHECKED inline void open_barrier() {
    Machine &m = machine;
    m.barrier.waiting = 0;
    m.barrier.result = m.barrier.sum;
    m.barrier.sum = 0;
    for (unsigned i = m.count; i--;) // backwards: the ready list is a stack
        if (m.threads[i].site) make_ready(m.threads[i]);
}

// Returns for how many threads of the block the predicate holds.
SIMT_UNCHECKED inline int block_barrier(bool predicate, const Site &site) {
    Machine &m = machine;
    Barrier &b = m.barrier;
    if (b.waiting == 0) b.site = &site;
    else if (!same_site(*b.site, site))
        fail("divergent barrier: %s at %s:%d, but other threads of the block wait at %s, %s:%d",
             site.what, site.file, site.line, b.site->what, b.site->file, b.site->line);
    b.sum += predicate;
    if (++b.waiting < m.alive) {
        wait_at(site);
    } else {
        open_barrier(); // all that are alive wait here, so none waits in a collective
        maybe_give_way();
    }
    return b.result;
}

SIMT_UNCHECKED inline bool complete(const Warp &w, const Meeting &m) {
    return !(m.mask & ~w.exited & ~m.arrived);
}

// Computes the results and lets the waiting lanes go; `self` is the lane that runs, or -1.
SIMT_UNCHECKED inline void close_meeting(Warp &w, unsigned i, int self) {
    Meeting done = w.meetings[i];
    w.meetings[i] = w.meetings[--w.open];
    Thread *warp = machine.threads + (&w - machine.warps) * warp_lanes;
    if (done.finish) done.finish(warp, done.arrived);
    for (int lane = warp_lanes; lane--;)
        if ((done.arrived >> lane & 1) && lane != self) make_ready(warp[lane]);
}

// Waits for all lanes in the mask that have not exited. `in` of the current thread is the operand.
SIMT_UNCHECKED inline void meet(unsigned mask, const Site &site,
                                void (*finish)(Thread *, unsigned)) {
    Thread &me = *machine.current;
    Warp &w = machine.warps[me.linear / warp_lanes];
    unsigned lane = me.linear % warp_lanes, bit = 1u << lane, i = w.open;
    if (!(mask & bit))
        fail("divergent collective: lane %u calls %s at %s:%d but is not in its mask 0x%08x", lane,
             site.what, site.file, site.line, mask);
    for (unsigned k = 0; k < w.open; k++) {
        const Meeting &m = w.meetings[k];
        if (m.mask == mask) i = k;
        else if ((m.mask & bit) && (m.arrived & mask)) // each waits for the other, elsewhere
            fail("divergent collective: lane %u calls %s at %s:%d with mask 0x%08x, but lanes "
                 "0x%08x wait for it in %s at %s:%d with mask 0x%08x", lane, site.what, site.file,
                 site.line, mask, m.arrived, m.site->what, m.site->file, m.site->line, m.mask);
    }
    if (i == w.open) w.meetings[w.open++] = Meeting{mask, 0, &site, finish};
    Meeting &m = w.meetings[i];
    // __syncwarp (no finish) may be called from different places; what exchanges data may not.
    if (m.finish != finish || (finish && !same_site(*m.site, site)))
        fail("divergent collective: lane %u calls %s at %s:%d, but lanes 0x%08x wait in %s at "
             "%s:%d", lane, site.what, site.file, site.line, m.arrived, m.site->what, m.site->file,
             m.site->line);
    m.arrived |= bit;
    if (complete(w, m)) {
        close_meeting(w, i, (int)lane);
        maybe_give_way();
    } else {
        wait_at(site);
    }
}

SIMT_UNCHECKED inline void thread_exited(Thread &t) {
    Machine &m = machine;
    Warp &w = m.warps[t.linear / warp_lanes];
    w.exited |= 1u << t.linear % warp_lanes;
    m.alive--;
    for (unsigned i = w.open; i--;)
        if (complete(w, w.meetings[i])) close_meeting(w, i, -1);
    if (m.barrier.waiting && m.barrier.waiting == m.alive) open_barrier();
}

} // namespace simt

SIMT_UNCHECKED inline void __syncthreads(SIMT_CALLER) {
    simt::block_barrier(false, SIMT_SITE("__syncthreads"));
}
SIMT_UNCHECKED inline int __syncthreads_count(int p, SIMT_CALLER) {
    return simt::block_barrier(p != 0, SIMT_SITE("__syncthreads_count"));
}
SIMT_UNCHECKED inline int __syncthreads_or(int p, SIMT_CALLER) {
    return simt::block_barrier(p != 0, SIMT_SITE("__syncthreads_or")) != 0;
}
SIMT_UNCHECKED inline int __syncthreads_and(int p, SIMT_CALLER) {
    return simt::block_barrier(p == 0, SIMT_SITE("__syncthreads_and")) == 0;
}
SIMT_UNCHECKED inline void __syncwarp(unsigned mask = 0xffffffffu, SIMT_CALLER) {
    simt::meet(mask, SIMT_SITE("__syncwarp"), nullptr);
}

// Threads of a block share one memory and one core: nothing to order.
inline void __threadfence() {}
inline void __threadfence_block() {}
inline void __threadfence_system() {}

// A thread that spins until another of its block has done something must say so by sleeping. All
// others go first: those that have not started, then those that are ready.
SIMT_UNCHECKED inline void __nanosleep(unsigned) {
    simt::Machine &m = simt::machine;
    simt::make_ready(*m.current);
    std::swap(m.ready[0], m.ready[m.ready_count - 1]);
    simt::give_way(true);
}

[[noreturn]] inline void __trap(SIMT_CALLER) { simt::fail("__trap at %s:%d", file, line); }

#endif
