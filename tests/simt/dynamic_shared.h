// SPDX-License-Identifier: MIT
// Where extern __shared__ arrays lie: as many bytes as the launch asked for, and after them what
// tells of an access beyond.
#ifndef SIMT_DYNAMIC_SHARED_H
#define SIMT_DYNAMIC_SHARED_H

namespace simt {

// Plain builds: one place for all launches, with pages that fault behind it. The bytes of a launch
// end less than `alignment` before these pages; those between are looked at after every block.
struct SharedPlace {
    static constexpr size_t alignment = 1024, guard_bytes = 1 << 20;
    char *guard;

    SharedPlace() {
        const size_t room = (shared_optin_most + 4095) / 4096 * 4096;
        char *p = (char *)mmap(nullptr, room + guard_bytes, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        guard = p + room;
        if (p == MAP_FAILED || mprotect(guard, guard_bytes, PROT_NONE))
            fail("no memory for dynamic shared memory");
    }
};
inline SharedPlace &shared_place() {
    static SharedPlace place;
    return place;
}

// AddressSanitizer sees the first byte beyond if the heap has exactly these bytes. Where none were
// asked for, both kinds of builds point to pages that fault: see traps.h.
inline void begin_dynamic_shared(size_t bytes) {
    Machine &m = machine;
    const size_t alignment = SharedPlace::alignment;
    m.dynamic_bytes = m.dynamic_room = bytes;
    if (SIMT_ASAN && bytes) {
        if (posix_memalign(&m.dynamic_shared, alignment, bytes))
            fail("no memory for dynamic shared memory");
    } else {
        m.dynamic_room = (bytes + alignment - 1) / alignment * alignment;
        m.dynamic_shared = shared_place().guard - m.dynamic_room;
    }
}
inline void end_dynamic_shared() {
    if (SIMT_ASAN && machine.dynamic_bytes) free(machine.dynamic_shared);
}

inline void check_dynamic_shared() {
    const Machine &m = machine;
    for (size_t i = m.dynamic_bytes; i < m.dynamic_room; i++)
        if (((const unsigned char *)m.dynamic_shared)[i] != 0xA5)
            fail_in_block("byte %zu of dynamic shared memory was written, but the launch asked for "
                          "%zu bytes",
                          i, m.dynamic_bytes);
}

} // namespace simt

#endif
