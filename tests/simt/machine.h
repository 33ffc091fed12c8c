// SPDX-License-Identifier: MIT
// The scheduler: threads of one block start in turn on as few fibers as possible. A thread that
// never waits is a plain call; one that waits keeps its fiber, and the next goes on on another.
#ifndef SIMT_MACHINE_H
#define SIMT_MACHINE_H

namespace simt {

constexpr unsigned warp_lanes = 32, max_threads = 1024, max_warps = max_threads / warp_lanes;
static_assert(max_fibers > max_threads, "a fiber for each thread, and one that none of them keeps");
constexpr int fault_exit_code = 86; // the machine stopped the program: a fault in a kernel

// Where a barrier or collective was called; the compiler fills it in as a default argument.
struct Site {
    const char *what, *file;
    int line;
};
SIMT_UNCHECKED inline bool same_site(const Site &a, const Site &b) {
    return a.line == b.line && (a.file == b.file || !strcmp(a.file, b.file));
}

struct Thread {
    uint3 index;
    unsigned linear;
    Fiber *fiber;
    const Site *site; // of the barrier or collective it waits at, or null
    int argument;
    alignas(16) unsigned char in[16];  // a collective's operand ...
    alignas(16) unsigned char out[16]; // ... and its result, written by the last lane to come
};

// Lanes of a warp that wait for each other. `finish` computes the result of all of them.
struct Meeting {
    unsigned mask, arrived;
    const Site *site; // of the first lane to come, which waits there
    void (*finish)(Thread *warp, unsigned lanes);
};
struct Warp {
    unsigned exited; // lanes; those beyond the block count as exited
    unsigned open;   // meetings under way
    Meeting meetings[warp_lanes];
};

struct Barrier {
    unsigned waiting;
    int sum, result; // of the predicates: being counted, and of the last barrier passed
    const Site *site;
};

struct Machine {
    // The running launch.
    uint3 thread_index, block_index;
    dim3 block_dim, grid_dim;
    const void *kernel;
    void (*body)(void *);
    void *argument;
    bool running;
    unsigned long long seed; // not 0: threads run in random order

    // The running block.
    unsigned long long block_serial;
    unsigned count, next, alive; // threads: all, first not started, not exited
    Thread *current;
    Barrier barrier;
    unsigned ready_count;
    Thread *ready[max_threads]; // a stack: the lanes of one warp run close to each other
    unsigned order[max_threads];
    Thread threads[max_threads];
    Warp warps[max_warps];
    void *dynamic_shared;
    size_t dynamic_bytes, dynamic_room; // asked for; up to where it is checked

    unsigned idle_count;
    Fiber *idle[max_fibers];
};
inline Machine machine;

[[noreturn]] inline void stop() {
    fflush(nullptr);
    _Exit(fault_exit_code);
}

inline void print_kernel_name(); // kernels.h
template <class... A> inline void print_fault(const char *format, A... a) {
    fflush(stdout);
    fprintf(stderr, "simt: ");
    if constexpr (sizeof...(A) == 0) fputs(format, stderr);
    else fprintf(stderr, format, a...);
    if (!machine.running) return;
    const uint3 b = machine.block_index;
    fprintf(stderr, " [");
    print_kernel_name();
    fprintf(stderr, "block (%u,%u,%u)", b.x, b.y, b.z);
}
inline void print_thread() {
    const uint3 t = machine.thread_index;
    if (machine.running) fprintf(stderr, " thread (%u,%u,%u)]", t.x, t.y, t.z);
    fputc('\n', stderr);
}
// End the program: what went wrong, in which kernel and block, and which thread did it.
template <class... A> [[noreturn]] inline void fail_in_block(const char *format, A... a) {
    print_fault(format, a...);
    fputs(machine.running ? "]\n" : "\n", stderr);
    stop();
}
template <class... A> [[noreturn]] inline void fail(const char *format, A... a) {
    print_fault(format, a...);
    print_thread();
    stop();
}

SIMT_UNCHECKED inline unsigned random_below(unsigned n) {
    machine.seed = machine.seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return (unsigned)((machine.seed >> 33) % n);
}

// With a seed the stack is kept in random order.
SIMT_UNCHECKED inline void make_ready(Thread &t) {
    Machine &m = machine;
    unsigned last = m.ready_count++, place = m.seed ? random_below(last + 1) : last;
    t.site = nullptr;
    m.ready[last] = m.ready[place];
    m.ready[place] = &t;
}

// Nothing can run any more: say who waits where, each place once.
[[noreturn]] inline void report_deadlock() {
    const Machine &m = machine;
    fflush(stdout);
    fprintf(stderr, "simt: deadlock in ");
    print_kernel_name();
    fprintf(stderr, "block (%u,%u,%u): of %u threads, %u have exited\n", m.block_index.x,
            m.block_index.y, m.block_index.z, m.count, m.count - m.alive);
    for (unsigned i = 0, places = 0; i < m.count && places < 8; i++) {
        const Thread &t = m.threads[i];
        if (!t.site) continue;
        unsigned same = 0;
        bool first = true;
        for (unsigned j = 0; j < m.count; j++) {
            const Thread &u = m.threads[j];
            if (!u.site || !same_site(*t.site, *u.site)) continue;
            if (j < i) first = false;
            same++;
        }
        if (!first) continue;
        places++;
        fprintf(stderr, "simt:   %u wait at %s, %s:%d; the first is thread (%u,%u,%u)\n", same,
                t.site->what, t.site->file, t.site->line, t.index.x, t.index.y, t.index.z);
    }
    stop();
}

inline void fiber_main();

// The fiber to go on with: of a thread that may go on, or one to start a new thread on, at once if
// `eager`.
SIMT_UNCHECKED inline Fiber *next_fiber(bool eager = false) {
    Machine &m = machine;
    bool start = m.next < m.count;
    if (m.ready_count && !(start && (eager || (m.seed && random_below(2))))) {
        Fiber *next = m.ready[--m.ready_count]->fiber;
        if (m.ready_count) prefetch_fiber(*m.ready[m.ready_count - 1]->fiber);
        return next;
    }
    if (start) return m.idle_count ? m.idle[--m.idle_count] : make_fiber(fiber_main);
    if (m.alive == 0) return &fibers.main;
    report_deadlock();
}

// Lets others run; comes back when some thread picks this one from the ready list.
SIMT_UNCHECKED inline void give_way(bool eager = false) {
    Machine &m = machine;
    Thread *me = m.current;
    Fiber *to = next_fiber(eager);
    if (to != me->fiber) switch_fiber(*me->fiber, *to);
    m.current = me;
    m.thread_index = me->index;
}

SIMT_UNCHECKED inline void wait_at(const Site &site) {
    machine.current->site = &site;
    give_way();
}

// With a seed, the last to come must not always be the first to go on.
SIMT_UNCHECKED inline void maybe_give_way() {
    if (machine.seed && random_below(2)) {
        make_ready(*machine.current);
        give_way();
    }
}

inline void thread_exited(Thread &t); // sync.h: an exited thread holds up nobody
inline void check_dynamic_shared();   // dynamic_shared.h

SIMT_UNCHECKED inline void fiber_main() {
    Machine &m = machine;
    Fiber *self = fibers.newest; // made a moment ago
    fiber_entered();
    for (;;) {
        do {
            if (m.next == m.count) break;
            Thread &t = m.threads[m.order[m.next++]];
            t.fiber = self;
            m.current = &t;
            m.thread_index = t.index;
            m.body(m.argument);
            thread_exited(t);
        } while (!m.ready_count);
        m.idle[m.idle_count++] = self;
        Fiber *to = next_fiber();
        if (to == &fibers.main) leave_fibers(*self);
        else if (to != self) switch_fiber(*self, *to);
        fiber_entered();
    }
}

// Runs all threads of one block.
SIMT_UNCHECKED inline void run_block() {
    Machine &m = machine;
    m.block_serial++;
    m.next = 0;
    m.alive = m.count;
    m.barrier.waiting = 0;
    m.barrier.sum = 0;
    for (unsigned w = 0; w * warp_lanes < m.count; w++) {
        unsigned lanes = min(m.count - w * warp_lanes, warp_lanes);
        m.warps[w].exited = lanes == warp_lanes ? 0 : ~0u << lanes;
    }
    if (m.dynamic_room) memset(m.dynamic_shared, 0xA5, m.dynamic_room);
    if (m.seed)
        for (unsigned i = m.count - 1; i; i--) {
            unsigned j = random_below(i + 1), t = m.order[i];
            m.order[i] = m.order[j];
            m.order[j] = t;
        }
    enter_fibers(*next_fiber());
    if (m.dynamic_room > m.dynamic_bytes) check_dynamic_shared();
}

} // namespace simt

#endif
