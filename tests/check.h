// SPDX-License-Identifier: MIT
// check.h: CHECK(condition, format, ...) counts what is wrong and prints the first few; a test ends
// with `return check_result("name");`. C11 and C++.
#ifndef CHECK_H
#define CHECK_H

#include <stdarg.h>
#include <stdio.h>

static int check_failures;

#if defined(__GNUC__)
__attribute__((format(printf, 4, 5), cold, noinline))
#endif
static void
check_fail(const char *file, int line, const char *condition, const char *format, ...) {
    va_list args;
    if (++check_failures > 10) return; // one wrong map fails a million times
    fprintf(stderr, "%s:%d: not (%s): ", file, line, condition);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
}

#define CHECK(condition, ...) \
    ((condition) ? (void)0 : check_fail(__FILE__, __LINE__, #condition, __VA_ARGS__))

// Prints the verdict; the exit status of the test.
static inline int check_result(const char *name) {
    if (check_failures)
        printf("%s: %d checks failed\n", name, check_failures);
    else
        printf("%s: passed\n", name);
    return check_failures != 0;
}

#endif
