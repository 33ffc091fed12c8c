// SPDX-License-Identifier: MIT
// What the CPU traps while a kernel runs, said in words: division by zero, addresses where nothing
// is, stacks that overflow. And in which thread AddressSanitizer found something.
#ifndef SIMT_TRAPS_H
#define SIMT_TRAPS_H

#include <signal.h>

#if SIMT_ASAN
extern "C" void __asan_set_error_report_callback(void (*)(const char *report));
#endif

namespace simt {

inline struct sigaction traps_before[2]; // of SIGFPE and SIGSEGV: AddressSanitizer's, or none

inline void explain_address(const siginfo_t *info) {
    const Machine &m = machine;
    const uintptr_t at = (uintptr_t)info->si_addr, guard = (uintptr_t)shared_place().guard;
    const bool shared = at - guard < SharedPlace::guard_bytes;
    if (shared && m.dynamic_bytes == 0)
        fail("dynamic shared memory is accessed, but the launch asked for none");
    if (SIMT_ASAN) return; // it says more
    if (shared)
        fail("byte %zu of dynamic shared memory is accessed, but the launch asked for %zu bytes",
             (size_t)(at - (uintptr_t)m.dynamic_shared), m.dynamic_bytes);
    if (at - (uintptr_t)m.current->fiber->bottom < fiber_guard_bytes)
        fail("the stack of a thread overflows its %zu bytes", stack_bytes);
    if (info->si_code <= 0 || info->si_code == SI_KERNEL)
        fail("an access to an address that is misaligned or cannot exist");
    fail("an access to address %p, where nothing is", info->si_addr);
}

inline void on_trap(int signal, siginfo_t *info, void *) {
    if (machine.running && signal == SIGFPE)
        fail("integer division by zero, or of the least number by -1: a GPU does not stop there, "
             "and its quotient is not documented");
    if (machine.running) explain_address(info);
    sigaction(signal, &traps_before[signal == SIGSEGV], nullptr); // and it happens again
}

inline void after_report(const char *) {
    if (!machine.running) return;
    print_fault("AddressSanitizer stops the program");
    print_thread();
}

// Handlers have a stack of their own: that of the thread may be what has overflown.
inline void catch_traps() {
    static bool done;
    if (done) return;
    done = true;
    shared_place();
    stack_t stack = {};
    if (sigaltstack(nullptr, &stack) == 0 && (stack.ss_flags & SS_DISABLE)) {
        static char room[64 * 1024];
        stack = {};
        stack.ss_sp = room;
        stack.ss_size = sizeof room;
        sigaltstack(&stack, nullptr);
    }
    struct sigaction trap = {};
    trap.sa_sigaction = on_trap;
    trap.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigaction(SIGFPE, &trap, &traps_before[0]);
    sigaction(SIGSEGV, &trap, &traps_before[1]);
#if SIMT_ASAN
    __asan_set_error_report_callback(after_report);
#endif
}

} // namespace simt

#endif
