// SPDX-License-Identifier: MIT
// Fibers: a stack each, and a switch that saves what the calling convention says a call preserves.
#ifndef SIMT_FIBER_H
#define SIMT_FIBER_H

#if defined(__SANITIZE_ADDRESS__)
#define SIMT_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SIMT_ASAN 1
#endif
#endif
#ifndef SIMT_ASAN
#define SIMT_ASAN 0
#endif

#if !defined(__x86_64__) || defined(SIMT_USE_UCONTEXT)
#define SIMT_UCONTEXT 1
#include <ucontext.h>
#else
#define SIMT_UCONTEXT 0
#endif

#if SIMT_ASAN
extern "C" void __sanitizer_start_switch_fiber(void **, const void *, size_t);
extern "C" void __sanitizer_finish_switch_fiber(void *, const void **, size_t *);
#endif

namespace simt {

constexpr unsigned max_fibers = 1025;      // one for every thread of a block, and one that looks on
constexpr size_t stack_bytes = 256 * 1024; // address space; pages are committed when touched
constexpr size_t fiber_guard_bytes = 4096; // at the bottom: a page that faults

struct Fiber {
#if SIMT_UCONTEXT
    ucontext_t context;
#else
    void *sp;
#endif
    char *bottom; // of the stack
};

// All fibers run within one `place` of stacks. To AddressSanitizer this is a single stack, which is
// told when it is entered from the stack of main and when it is left, not at every switch.
struct Fibers {
    unsigned count;
    Fiber main, all[max_fibers]; // close to each other: one is looked up at every switch
    Fiber *newest;
    char *place;
    bool from_main; // entered a moment ago
    const void *main_bottom;
    size_t main_size;
    void *main_fake, *own_fake; // AddressSanitizer's other stacks
};
inline Fibers fibers;

#if !SIMT_UCONTEXT
// Saves the six registers and the stack pointer that a call preserves, and takes up those of `to`.
__attribute__((naked, noinline)) inline void swap_stacks(void ** /*save*/, void * /*to*/) {
    __asm__("pushq %rbp\n\t"
            "pushq %rbx\n\t"
            "pushq %r12\n\t"
            "pushq %r13\n\t"
            "pushq %r14\n\t"
            "pushq %r15\n\t"
            "movq %rsp, (%rdi)\n\t"
            "movq %rsi, %rsp\n\t"
            "popq %r15\n\t"
            "popq %r14\n\t"
            "popq %r13\n\t"
            "popq %r12\n\t"
            "popq %rbx\n\t"
            "popq %rbp\n\t"
            "ret");
}
#endif

SIMT_UNCHECKED inline void switch_fiber(Fiber &from, Fiber &to) {
#if SIMT_UCONTEXT
    swapcontext(&from.context, &to.context);
#else
    swap_stacks(&from.sp, to.sp);
#endif
}

// Asks for the memory that a switch to this fiber reads first: one stack of hundreds is far away.
SIMT_UNCHECKED inline void prefetch_fiber(const Fiber &f) {
#if !SIMT_UCONTEXT
    __builtin_prefetch(f.sp);
    __builtin_prefetch((const char *)f.sp + 64);
#else
    (void)f;
#endif
}

// From main to a fiber; returns when one leaves for main.
SIMT_UNCHECKED inline void enter_fibers(Fiber &to) {
    fibers.from_main = true;
#if SIMT_ASAN
    __sanitizer_start_switch_fiber(&fibers.main_fake, fibers.place, max_fibers * stack_bytes);
#endif
    switch_fiber(fibers.main, to);
#if SIMT_ASAN
    __sanitizer_finish_switch_fiber(fibers.main_fake, nullptr, nullptr);
#endif
}
// The first words of a fiber that may have been entered from main.
SIMT_UNCHECKED inline void fiber_entered() {
#if SIMT_ASAN
    if (fibers.from_main)
        __sanitizer_finish_switch_fiber(fibers.own_fake, &fibers.main_bottom, &fibers.main_size);
#endif
    fibers.from_main = false;
}
SIMT_UNCHECKED inline void leave_fibers(Fiber &from) {
#if SIMT_ASAN
    __sanitizer_start_switch_fiber(&fibers.own_fake, fibers.main_bottom, fibers.main_size);
#endif
    switch_fiber(from, fibers.main);
}

// A fiber that will start in `entry`, which must never return.
inline Fiber *make_fiber(void (*entry)()) {
    const unsigned number = fibers.count++;
    const size_t all = max_fibers * stack_bytes;
    Fiber *f = fibers.newest = &fibers.all[number];
    if (!fibers.place)
        fibers.place = (char *)mmap(nullptr, all, PROT_NONE,
                                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    f->bottom = fibers.place + all - (number + 1) * stack_bytes;
    if (fibers.place == MAP_FAILED ||
        mprotect(f->bottom + fiber_guard_bytes, stack_bytes - fiber_guard_bytes,
                 PROT_READ | PROT_WRITE)) {
        perror("simt: no stack for a thread");
        abort();
    }
    // Tops 17 cache lines apart: at equal addresses modulo 4096 all stacks would share one L1 set.
    size_t top = stack_bytes - number % 64 * 17 * 64;
#if SIMT_UCONTEXT
    getcontext(&f->context);
    f->context.uc_stack.ss_sp = f->bottom;
    f->context.uc_stack.ss_size = top;
    makecontext(&f->context, entry, 0);
#else
    void **sp = (void **)(f->bottom + top - 8); // a function starts 8 bytes off 16-byte alignment
    *--sp = (void *)entry;
    f->sp = sp - 6;
#endif
    return f;
}

} // namespace simt

#endif
