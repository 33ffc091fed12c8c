#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Maps are total: every public TMAP_FN function that takes numbers, and structs of numbers, is called
with extreme arguments under UBSan. It must return, with no undefined behaviour.

A function that reads or writes arrays of the caller's is on the list ARRAYS, with the test that calls
it. What the other functions return for such arguments is tested beside their headers' other tests.

usage: total_test.py [NAME...]   functions (all)
"""
import os
import re
import subprocess
import sys
import tempfile

from common import INCLUDE, find, headers, run, write

# Functions that read or write memory of the caller's: the test that calls each.
ARRAYS = {
    "tmap_ask_every_element": "adaptive/test_ask",
    "tmap_ask_region_at": "adaptive/test_ask", "tmap_ask_region_elements": "adaptive/test_ask",
    "tmap_ask_model_last": "papers/ask_model", "tmap_ask_model_regions": "papers/ask_model",
    "tmap_ask_model_search": "papers/ask_model", "tmap_ask_model_ssd": "papers/ask_model",
    "tmap_ask_model_work": "papers/ask_model",
    "tmap_block_table": "papers/test_block", "tmap_ca_cell": "fractal/test_ready",
    "tmap_ca_rule_from_text": "fractal/nbb_texts", "tmap_fractal_from_text": "fractal/nbb_texts",
    "tmap_fractal3_from_text": "fractal/nbb_texts", "tmap_nbb_from_rows": "fractal/nbb_texts",
    "tmap_nbb3_from_layers": "fractal/nbb_texts", "tmap_turned_from_layers": "fractal/nbb_texts",
    "tmap_turned_from_text": "fractal/nbb_texts", "tmap_linkage_z": "molecules/test_linkage",
    "tmap_mandelbrot_dp_columns_bytes": "papers/test_ask_published",
    "tmap_raster_value": "raster/test_flood", "tmap_region_canonical": "adaptive/region_maps",
    "tmap_region_canonical_at": "adaptive/region_maps", "tmap_region_hilbert": "adaptive/region_maps",
    "tmap_region_hilbert_at": "adaptive/region_maps", "tmap_rows_seek": "fractal/test_warp",
    "tmap_rows_skip": "fractal/test_warp", "tmap_rows_x": "fractal/test_warp",
    "tmap_near_key_point_f32": "triangle/near_key", "tmap_near_key_point_f64": "triangle/near_key",
    "tmap_near_key_grid_make": "triangle/near_key",
    "tmap_image_f32": "triangle/image", "tmap_image_f64": "triangle/image",
    "tmap_image_make_f32": "triangle/image", "tmap_image_make_f64": "triangle/image",
    "tmap_triangle_table_fill": "papers/test_triangle_published",
    "tmap_triangle_table_map": "papers/test_triangle_published",
}
# Arguments that makers of plans, and CUDA, have filled.
MADE = re.compile(r"_plan\b|_facts\b|_shape\b")
# A level, or a power, costs a step each: these parameters are not in the thousands of millions.
LEVELS = {"r", "m", "mu", "level", "e"}
# A replica costs a step, too: these functions get few.
REPLICAS = {"tmap_tile_row", "tmap_tile_column"}
# Structs that mean something: half of the time they are these, not words without a sense.
KNOWN = {"tmap_nbb": "tmap_fractal_at({})", "tmap_nbb3": "tmap_fractal3_at({})",
         "tmap_turned": "tmap_turned_at({})"}
PROGRAM = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
%(includes)s
static const tmap_u64 ends[] = {0, 1, 2, 3, 31, 1u << 16, 0x7fffffffu, 0x80000000u, 0xffffffffu,
                                1ull << 32, ~0ull >> 1, 1ull << 63, ~0ull};
static const double reals[] = {0, 1, -1, 0.5, 1e-300, 1e300, 4294967296.0, 18446744073709551616.0,
                               -9.3e18, 0x1p-1074, 1e308 * 10, -1e308 * 10};
static const tmap_u32 levels[] = {0, 1, 2, 3, 15, 16, 17, 31, 32, 33, 63, 64, 65, 300};
static tmap_u64 state = 88172645463325252ull, same = ~0ull;
static tmap_u64 draw(tmap_u64 n) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return same < n ? same : state %% n;
}
static tmap_u64 number(void) { return ends[draw(13)]; }
static tmap_u32 level(void) { return levels[draw(14)]; }
static double real(void) { return draw(13) == 12 ? reals[10] - reals[10] : reals[draw(12)]; }
static void words(void *to, size_t bytes) {
    for (size_t i = 0; i < bytes; i += 4) {
        const tmap_u32 word = (tmap_u32)ends[draw(9)];
        memcpy((char *)to + i, &word, bytes - i < 4 ? bytes - i : 4);
    }
}
// A result counts as used, so that the compiler must compute it.
static void use(void *result) { __asm__ volatile("" : : "r"(result) : "memory"); }
enum { CALLS = 20000 }; // the first few with the same number for all arguments
#define EACH_CALL for (tmap_u64 call = 0; call < CALLS && (same = call < 13 ? call : ~0ull, 1); ++call)
%(functions)s
int main(int count, char **arguments) {
    (void)count;
    alarm(60);
    switch (atoi(arguments[1])) {
%(cases)s
    }
    return 0;
}
"""


def functions():
    """(name, 1 for a result, [(type, name) of a parameter]) of all public functions of all headers."""
    for header in headers():
        with open(os.path.join(INCLUDE, header), encoding="utf-8") as file:
            text = re.sub(r"//[^\n]*", "", file.read())
        for result, name, given in re.findall(
                r"^TMAP_FN\s+([\w ]+?[ *]+)(tmap_\w+)\(([^)]*)\)\s*\{", text, re.M):
            parameters = [re.match(r"(.*?)(\w+)$", " ".join(one.split())).groups()
                          for one in given.split(",") if one.split() not in ([], ["void"])]
            yield name, result.strip() != "void", [(kind.strip(), what) for kind, what in parameters]


def argument(number, kind, what):
    """(declaration, what sets it, the argument) of a parameter."""
    a = f"a{number}"
    if kind.endswith("*"):  # a struct to read, or a place for a result
        kind = kind.removeprefix("const ").rstrip("* ")
        return f"{kind} {a};", f"words(&{a}, sizeof {a});", f"&{a}"
    if kind == "tmap_u32" and what in LEVELS:
        return "", "", "level()"
    if kind in ("int", "tmap_u32", "tmap_u64"):
        return "", "", f"({kind})number()"
    if kind in ("float", "double"):
        return "", "", f"({kind})real()"
    known = f"if (draw(2)) {a} = {KNOWN[kind].format('(int)draw(9)')};" if kind in KNOWN else ""
    return f"{kind} {a};", f"words(&{a}, sizeof {a}); {known}", a


def body(number, name, result, parameters):
    declared, sets, arguments = zip(*(argument(i, *p) for i, p in enumerate(parameters)))
    sets += ("a0.k %= 64;",) * (name in REPLICAS)
    call = f"{name}({', '.join(arguments)});"
    used = [a[1:] for a in arguments if a.startswith("&")] + ["result"] * result
    call = " ".join([f"__auto_type result = {call}" if result else call,
                     *(f"use(&{one});" for one in used)])
    return (f"static void call{number}(void) {{ {' '.join(declared)}\n"
            f"    EACH_CALL {{ {' '.join(sets)} {call} }}\n}}")


def main():
    wanted = sys.argv[1:]
    every = [one for one in functions() if one[2] and not any(MADE.search(kind) for kind, _ in one[2])]
    names = [name for name, *_ in every]
    stale = [name for name in [*ARRAYS, *wanted] if name not in names]
    if stale or len(every) < 280:
        sys.exit(f"{len(every)} functions; not among them: {' '.join(stale)}")
    called = [one for one in every if one[0] not in ARRAYS and (not wanted or one[0] in wanted)]
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        source, program = os.path.join(folder, "total.c"), os.path.join(folder, "total")
        write(source, PROGRAM % {
            "includes": "\n".join(f"#include <{header}>" for header in headers()),
            "functions": "\n".join(body(i, *one) for i, one in enumerate(called)),
            "cases": "\n".join(f"    case {i}: call{i}(); break;" for i in range(len(called)))})
        code, said = run([find("gcc"), "-std=gnu11", "-O1", "-w", "-fsanitize=undefined,float-cast-overflow",
                          "-I", INCLUDE, source, "-o", program])
        if code:
            sys.exit(said)
        for i, (name, *_) in enumerate(called):
            done = subprocess.run([program, str(i)], capture_output=True, text=True, check=False)
            errors = re.findall(r"([\w.]+:\d+):\d+: runtime error: (.*)", done.stderr)
            if done.returncode and not errors:
                errors = [("", f"signal {-done.returncode}")]
            problems += [f"{name}: {place} {error}" for place, error in errors]
    print("\n".join([*problems, f"{len(called)} functions, {len(problems)} problems"]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
