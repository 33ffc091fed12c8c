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

constexpr size_t stack_bytes = 256 * 1024; // address space; pages are committed when touched

struct Fiber {
#if SIMT_UCONTEXT
    ucontext_t context;
#else
    void *sp;
#endif
    const void *bottom; // of the stack, for AddressSanitizer
    size_t size;
    void *fake; // AddressSanitizer's own stack of this fiber
};

inline Fiber *left_fiber, *entered_fiber; // by the last switch

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

inline void switch_fiber(Fiber &from, Fiber &to) {
    left_fiber = &from;
    entered_fiber = &to;
#if SIMT_ASAN
    __sanitizer_start_switch_fiber(&from.fake, to.bottom, to.size);
#endif
#if SIMT_UCONTEXT
    swapcontext(&from.context, &to.context);
#else
    swap_stacks(&from.sp, to.sp);
#endif
#if SIMT_ASAN
    __sanitizer_finish_switch_fiber(from.fake, nullptr, nullptr);
#endif
}

// First words of a fiber. The stack of `main` is not ours, so its bounds are learned here.
inline void fiber_entered(Fiber &main) {
#if SIMT_ASAN
    const void *bottom;
    size_t size;
    __sanitizer_finish_switch_fiber(nullptr, &bottom, &size);
    if (left_fiber == &main) {
        main.bottom = bottom;
        main.size = size;
    }
#else
    (void)main;
#endif
}

// A fiber that will start in `entry`, which must never return.
inline Fiber *make_fiber(void (*entry)()) {
    static unsigned count;
    char *stack = (char *)mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (stack == MAP_FAILED || mprotect(stack, 4096, PROT_NONE)) {
        perror("simt: no stack for a thread");
        abort();
    }
    Fiber *f = (Fiber *)calloc(1, sizeof(Fiber));
    f->bottom = stack;
    f->size = stack_bytes;
    // Tops 17 cache lines apart: at equal addresses modulo 4096 all stacks would share one L1 set.
    size_t top = stack_bytes - count++ % 64 * 17 * 64;
#if SIMT_UCONTEXT
    getcontext(&f->context);
    f->context.uc_stack.ss_sp = stack;
    f->context.uc_stack.ss_size = top;
    makecontext(&f->context, entry, 0);
#else
    void **sp = (void **)(stack + top - 8); // a function starts 8 bytes off 16-byte alignment
    *--sp = (void *)entry;
    f->sp = sp - 6;
#endif
    return f;
}

} // namespace simt

#endif
