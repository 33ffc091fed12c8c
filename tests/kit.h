// SPDX-License-Identifier: MIT
// kit.h: what all tests share, and benchmarks in part: numbers that look random; checks, their count
// and the last line of a test; and, in CUDA sources, the machine, memory with guards, which cases a
// run takes, and errors of earlier calls. Tests in plain C see the first two parts, NVRTC the first.
//
// A test sets the text of its case, checks, and ends with the count:
//   kit_begin();
//   kit_case("n = %u", n);
//   expect(sum == want, "the sum");
//   return kit_end("test_sum");
#ifndef TESTS_KIT_H
#define TESTS_KIT_H

#include <threadmap/core.h>

// ---- numbers that look random, the same in every run and on every machine -----------------------

// A well-mixed word for a and b.
TMAP_FN tmap_u64 check_hash(tmap_u64 a, tmap_u64 b) {
    tmap_u64 h = (a + 0x9e3779b97f4a7c15ull) * 0xbf58476d1ce4e5b9ull + b * 0x94d049bb133111ebull;
    h ^= h >> 29, h *= 0xbf58476d1ce4e5b9ull;
    return h ^ h >> 32;
}

// The hash of a list of numbers, one after another, from h = 0: that of the scripts in kat/.
TMAP_FN tmap_u64 kit_mix(tmap_u64 h, tmap_u64 x) {
    h = (h ^ x) * 0x9e3779b97f4a7c15ull;
    return h ^ h >> 29;
}

// The next number of xorshift64*, as the scripts in kat/ draw it. *state: not 0.
TMAP_FN tmap_u64 kit_random(tmap_u64 *state) {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 0x2545f4914f6cdd1dull;
}

// One of 0..n-1.
TMAP_FN tmap_u64 kit_below(tmap_u64 *state, tmap_u64 n) { return (kit_random(state) >> 16) % n; }

#if !TMAP_NVRTC

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if TMAP_CUDA
#include <cuda_runtime.h>
#if defined(__SSE2__)
#include <xmmintrin.h>
#endif
#endif

#define COUNT(array) (sizeof(array) / sizeof *(array))

// One of 0..n-1: the first or the last in one case of four each.
static inline tmap_u64 kit_edge_below(tmap_u64 *state, tmap_u64 n) {
    const tmap_u64 i = kit_random(state) >> 62;
    return i == 0 ? n - 1 : i == 1 ? 0 : kit_below(state, n);
}

// ---- checks -------------------------------------------------------------------------------------

static tmap_u64 kit_checks;
static int kit_failures;
static char kit_text[400], kit_added[200]; // the case

#if defined(__GNUC__)
#define KIT_FORMAT(at) __attribute__((format(printf, at, at + 1), cold, noinline, unused))
#else
#define KIT_FORMAT(at)
#endif

// Sets the text that failures of this case are printed with.
KIT_FORMAT(1) static void kit_case(const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(kit_text, sizeof kit_text, format, args);
    *kit_added = 0;
    va_end(args);
}

// Adds to that text, in place of what was added before.
KIT_FORMAT(1) static void kit_more(const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(kit_added, sizeof kit_added, format, args);
    va_end(args);
}

// Counts a failure and prints the first few: one wrong map fails a million times.
KIT_FORMAT(1) static void kit_fail(const char *format, ...) {
    va_list args;
    if (++kit_failures > 20) return;
    printf("FAIL ");
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    printf("%s%s%s\n", *kit_text || *kit_added ? ": " : "", kit_text, kit_added);
}

// A check, and what it is of.
static inline void expect(int ok, const char *what) {
    ++kit_checks;
    if (!ok) kit_fail("%s", what);
}

// A check that is told by its code and by values: EXPECT(a == b, "n = %u: %u", n, a).
#define EXPECT(condition, format, ...) \
    (++kit_checks, (condition) ? (void)0 \
                               : kit_fail("%s:%d: not (%s): " format, __FILE__, __LINE__, \
                                          #condition, __VA_ARGS__))

// A call with the number that it must return: RETURNS(f(NULL), TMAP_EINVAL).
static inline void kit_returns(tmap_i64 got, tmap_i64 want, const char *call) {
    ++kit_checks;
    if (got != want) kit_fail("%s is %lld, not %lld", call, got, want);
}
#define RETURNS(call, want) kit_returns((tmap_i64)(call), (tmap_i64)(want), #call)

// A check that is told by its code alone.
#define HOLDS(condition) expect(condition, #condition)

// 1 if all bytes are `byte`.
static inline int kit_all(const void *memory, tmap_u64 bytes, int byte) {
    for (tmap_u64 i = 0; i < bytes; ++i)
        if (((const unsigned char *)memory)[i] != byte) return 0;
    return 1;
}

// ---- memory: all that was allocated since a mark is freed, and its guards are checked -----------

enum { KIT_GUARD = 256, KIT_POISON = 0x5a };

typedef struct kit_block {
    unsigned char *base;
    tmap_u64 bytes;
    int kind; // 0: of the host, 1: of the device, 2: of the device with guards
} kit_block;

static kit_block *kit_blocks;
static int kit_block_count;

static inline int kit_mark(void) { return kit_block_count; }

static inline void *kit_keep(void *base, tmap_u64 bytes, int kind) {
    if ((kit_block_count & (kit_block_count - 1)) == 0)
        kit_blocks = (kit_block *)realloc(
            kit_blocks, (size_t)(kit_block_count ? 2 * kit_block_count : 1) * sizeof *kit_blocks);
    if (!base || !kit_blocks) fprintf(stderr, "out of memory\n"), exit(2);
    kit_blocks[kit_block_count].base = (unsigned char *)base;
    kit_blocks[kit_block_count].bytes = bytes, kit_blocks[kit_block_count++].kind = kind;
    return base;
}

// Host memory, all of it poison.
static inline void *kit_host(tmap_u64 bytes) {
    void *memory = kit_keep(malloc((size_t)bytes + 1), bytes, 0);
    return memset(memory, KIT_POISON, (size_t)bytes);
}

static inline void *kit_zeroed(tmap_u64 bytes) { return memset(kit_host(bytes), 0, (size_t)bytes); }

// ---- CUDA ---------------------------------------------------------------------------------------

#if TMAP_CUDA

// A call that must succeed, or the program ends.
#define CHECK(call) \
    do { \
        const cudaError_t check_error = (call); \
        if (check_error != cudaSuccess) { \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, \
                    cudaGetErrorString(check_error)); \
            exit(1); \
        } \
    } while (0)

// A call that must be refused.
#define REFUSED(call) RETURNS(call, cudaErrorInvalidValue)

static int kit_gpu;   // 1 on a GPU, 0 on the CPU machine, which takes threads one by one
static int kit_tiny;  // 1 under compute-sanitizer (TMAP_TEST_SMALL)
static int kit_small; // 1 there, and under the CPU machine's sanitizers (SIMT_SEED)
static int kit_full;  // 1 for all cases: on a GPU without a sanitizer

// Starts a test of kernels: prints the machine, or ends the test where there is none.
static inline void kit_begin(void) {
    struct cudaDeviceProp device;
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0)
        puts("SKIP: no NVIDIA GPU"), exit(77);
    CHECK(cudaGetDeviceProperties(&device, 0));
    kit_gpu = strstr(device.name, "CPU") == NULL;
    kit_tiny = getenv("TMAP_TEST_SMALL") != NULL;
    kit_small = kit_tiny || getenv("SIMT_SEED");
    kit_full = kit_gpu && !kit_small;
    puts(device.name);
}

// 1 if this run takes the next case: each, or every Nth (TMAP_TEST_PART=N: tests/sanitize and
// tests/meson.build), of which the orders of threads (SIMT_SEED) take different ones; without N each
// of three orders takes every third.
static inline int check_turn(void) {
    static unsigned number;
    const char *seed = getenv("SIMT_SEED"), *part = getenv("TMAP_TEST_PART");
    const unsigned given = part ? (unsigned)atoi(part) : seed ? 3 : 1, take = given ? given : 1;
    return number++ % take == (seed ? (unsigned)atoi(seed) % 3 % take : 0);
}

// Device memory without guards, so that a sanitizer sees what is read behind its end.
static inline void *kit_device(tmap_u64 bytes) {
    void *memory;
    CHECK(cudaMalloc(&memory, bytes ? bytes : 1));
    return kit_keep(memory, bytes, 1);
}

// The same, with `byte` everywhere.
static inline void *kit_filled(tmap_u64 bytes, int byte) {
    void *memory = kit_device(bytes);
    CHECK(cudaMemset(memory, byte, bytes));
    return memory;
}

static inline void *kit_to_device(const void *host, tmap_u64 bytes) {
    void *memory = kit_device(bytes);
    if (bytes) CHECK(cudaMemcpy(memory, host, bytes, cudaMemcpyHostToDevice));
    return memory;
}

// Device memory of poison between guards of poison, at a multiple of 256 bytes.
static inline void *kit_guarded(tmap_u64 bytes) {
    unsigned char *base;
    CHECK(cudaMalloc((void **)&base, bytes + 2 * KIT_GUARD));
    CHECK(cudaMemset(base, KIT_POISON, bytes + 2 * KIT_GUARD));
    return (unsigned char *)kit_keep(base, bytes, 2) + KIT_GUARD;
}

// A copy of device memory on the host.
static inline void *kit_to_host(const void *device, tmap_u64 bytes) {
    void *host = kit_host(bytes);
    if (bytes) CHECK(cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost));
    return host;
}

// 1 if all bytes of device memory are `byte`.
static inline int kit_device_all(const void *device, tmap_u64 bytes, int byte) {
    void *host = malloc((size_t)bytes + 1);
    CHECK(cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost));
    const int all = kit_all(host, bytes, byte);
    free(host);
    return all;
}

// A number of 64 bits in device memory.
static inline tmap_u64 kit_number(const void *device) {
    tmap_u64 number;
    CHECK(cudaMemcpy(&number, device, sizeof number, cudaMemcpyDeviceToHost));
    return number;
}

// ---- errors of earlier calls --------------------------------------------------------------------

// Leaves an error of the user's, which a later call must neither report nor clear.
static inline void earlier_error(void) {
    void *none;
    (void)cudaMalloc(&none, (size_t)1 << 60);
}

// 1 if that error, and no other, is still there to be asked for; afterwards there is none.
static inline int earlier_error_is_there(void) {
    const cudaError_t first = cudaGetLastError();
    return first == cudaErrorMemoryAllocation && cudaGetLastError() == cudaSuccess;
}

// Numbers below the normal ones count as 0 on this processor, or as themselves again: the kernels
// of the CPU machine then compute as those of a GPU that are compiled with -ftz=true.
static inline void kit_flush(int yes) {
#if defined(__SSE2__)
    const unsigned bits = 0x8040; // results, and what is computed with
    _mm_setcsr(yes ? _mm_getcsr() | bits : _mm_getcsr() & ~bits);
#else
    (void)yes;
#endif
}

// ---- other devices ------------------------------------------------------------------------------

// Compute capabilities whose facts the CPU machine knows: shared memory, threads and blocks of a
// multiprocessor.
static const char *const kit_devices[] = {"7.5", "8.0", "8.6", "8.9", "9.0", "10.0", "12.0"};

// Bytes of shared memory that a block of each can have.
static const unsigned kit_shared[] = {64 << 10,  163 << 10, 99 << 10, 99 << 10,
                                      227 << 10, 227 << 10, 99 << 10};

// The CPU machine has the facts of a device from now on; NULL: those of before the first call.
static inline void kit_set_device(const char *device) {
    static char before[8];
    static int set;
    if (!set++)
        snprintf(before, sizeof before, "%s", getenv("SIMT_DEVICE") ? getenv("SIMT_DEVICE") : "");
    if (device || *before)
        setenv("SIMT_DEVICE", device ? device : before, 1);
    else
        unsetenv("SIMT_DEVICE");
}

// Runs a test with the facts of each device; a GPU has its own facts and runs it once.
static inline void on_all_devices(void (*run)(const char *device)) {
    for (size_t i = 0; i < (kit_gpu ? 1 : COUNT(kit_devices)); ++i) {
        kit_set_device(kit_devices[i]);
        run(kit_devices[i]);
    }
    kit_set_device(NULL);
}

#endif // TMAP_CUDA

// ---- the end ------------------------------------------------------------------------------------

// Frees what was allocated since a mark (0: everything), and checks that no guard was written.
static inline void kit_release(int mark) {
    while (kit_block_count > mark) {
        const kit_block b = kit_blocks[--kit_block_count];
        if (b.kind == 0) free(b.base);
#if TMAP_CUDA
        if (b.kind == 2)
            expect(kit_device_all(b.base, KIT_GUARD, KIT_POISON) &&
                       kit_device_all(b.base + KIT_GUARD + b.bytes, KIT_GUARD, KIT_POISON),
                   "nothing is written beside a result");
        if (b.kind) CHECK(cudaFree(b.base));
#endif
    }
}

// Ends a test: frees everything and prints the last line. Returns the exit status.
static inline int kit_end(const char *name) {
    kit_release(0);
    printf("%s: %llu checks, %d failures\n", name, kit_checks, kit_failures);
    return kit_failures != 0;
}

#endif // !TMAP_NVRTC

#endif
