#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Calls each function of cxx.h and cxx_near.h with types that it does not take: each is a compile error with a
text; the same call with types that it takes compiles. By g++, as the CPU machine does."""
import os
import sys
import tempfile

from common import INCLUDE, ROOT, each, find, run, write

SIMT = os.path.join(ROOT, "tests", "simt")
BEGIN = """#include <threadmap/cxx_near.h>
struct six { short v[3]; };
struct three { char v[3]; };
struct twelve { float v[3]; };
struct large { int v[18]; };
struct huge { int v[65]; };
struct owner { owner(); owner(const owner &); ~owner(); int v; };
struct alignas(16) wide { int v[4]; };
"""
CELLS = "__global__ void k(tmap_each_plan plan, T *in, T *out, U zero, tmap_fold_to to) { %s }"
PAIRS = ("__global__ void k(tmap_pairs_plan plan, T *in, U zero, U *out, tmap_fold_to to,\n"
         "                  tmap_pairs_rows_to rows) { %s }")
JOIN = "[](U &, const U &) {}"
POINTS = "tmap::points<T, 3>{in}"
NEAR = ("__global__ void k(tmap_near_plan plan, T *in, U zero, U *out, tmap_fold_to to,\n"
        "                  tmap_near_list list) { %s }")
SETS = ("tmap::near_points{tmap::near_sets<T, 3>{in}, [](const tmap_near_box &, const tmap_near_box &)"
        " { return 1; }}")
PAIR = "tmap_pair, const T *, const T *"
# A call, types T and U that it takes, and others with what is said of them.
CALLS = {
    "fold": (CELLS % f"tmap::fold(plan, in, zero, [](U &, tmap_cell, T) {{}}, {JOIN}, to);",
             ("short", "twelve"), {
        ("short", "six"): "an accumulator has 4 to 64 bytes",
        ("short", "large"): "an accumulator has 4 to 64 bytes",
        ("short", "owner"): "cannot be copied byte by byte",
        ("three", "twelve"): "an element has 1, 2, 4, 8 or 16 bytes",
        ("wide", "twelve"): "an element of a fold has at most 8 bytes"}),
    "update": (CELLS % "tmap::update(plan, [=](tmap_cell) { return U(); }, [=](tmap_cell, U) {});",
               ("int", "twelve"), {
        ("int", "large"): "read returns at most 16 bytes",
        ("int", "owner"): "cannot be copied byte by byte"}),
    "stencil": (CELLS % "tmap::stencil(plan, in, out, [](tmap_cell, tmap_u32, const T *) "
                        "{ return T(); });", ("wide", "int"), {
        ("three", "int"): "an element has 1, 2, 4, 8 or 16 bytes",
        ("owner", "int"): "cannot be copied byte by byte",
        ("large", "int"): "an element has 1, 2, 4, 8 or 16 bytes"}),
    "pairs_each": (PAIRS % f"tmap::pairs_each(plan, {POINTS}, []({PAIR}) {{}});",
                   ("float", "int"), {
        ("short", "int"): "a coordinate has 4 or 8 bytes"}),
    "pairs_fold": (PAIRS % f"tmap::pairs_fold(plan, {POINTS}, zero, [](U &, {PAIR}) {{}}, {JOIN}, to);",
                   ("double", "twelve"), {
        ("double", "six"): "an accumulator has 4 to 64 bytes",
        ("double", "large"): "an accumulator has 4 to 64 bytes",
        ("double", "owner"): "cannot be copied byte by byte",
        ("three", "twelve"): "a coordinate has 4 or 8 bytes"}),
    "pairs_rows": (PAIRS % f"tmap::pairs_rows(plan, {POINTS}, zero, []({PAIR}, U &, U &) {{}}, {JOIN},"
                           " rows);", ("float", "large"), {
        ("float", "six"): "an accumulator of a point has 4 to 256 bytes",
        ("float", "huge"): "an accumulator of a point has 4 to 256 bytes",
        ("float", "owner"): "cannot be copied byte by byte"}),
    "pairs_store": (PAIRS % f"tmap::pairs_store(plan, {POINTS}, out, []({PAIR}) {{ return U(); }});",
                    ("float", "double"), {
        ("float", "six"): "a value of a pair has 4 or 8 bytes",
        ("float", "owner"): "cannot be copied byte by byte"}),
    "near_each": (NEAR % f"tmap::near_each(plan, {SETS}, []({PAIR}) {{}});", ("float", "int"), {
        ("short", "int"): "a coordinate has 4 or 8 bytes"}),
    "near_fold": (NEAR % f"tmap::near_fold(plan, {SETS}, zero, [](U &, {PAIR}) {{}}, {JOIN}, to);",
                  ("double", "twelve"), {
        ("double", "large"): "an accumulator has 4 to 64 bytes",
        ("double", "owner"): "cannot be copied byte by byte"}),
    "near_rows": (NEAR % f"tmap::near_rows(plan, {SETS}, zero, []({PAIR}, U &) {{}}, {JOIN}, out);",
                  ("float", "large"), {
        ("float", "huge"): "an accumulator of a point has 4 to 256 bytes",
        ("float", "owner"): "cannot be copied byte by byte"}),
    "near_select": (NEAR % f"tmap::near_select<U, int>(plan, {SETS}, []({PAIR}, U &) {{ return 1; }}, 1,"
                           " list);", ("float", "double"), {
        ("float", "six"): "a coordinate or a value of a pair has 4 or 8 bytes"}),
}


def main():
    compiler = find("g++")
    with tempfile.TemporaryDirectory(prefix="headers-") as folder:
        mirror = os.path.join(folder, "include")
        code, text = run([sys.executable, os.path.join(SIMT, "delaunch.py"), "--tree", INCLUDE, mirror])
        if code:
            sys.exit(text)

        def check(case):
            call, types, told = case
            alias = "".join(f"using {name} = {type};\n" for name, type in zip("TU", types))
            path = write(os.path.join(folder, f"{call}_{'_'.join(types)}.cpp"),
                         BEGIN + alias + CALLS[call][0] + "\n")
            code, text = run([compiler, "-std=c++17", "-fsyntax-only", "-Wno-unknown-pragmas",
                              "-I", mirror, "-isystem", os.path.join(SIMT, "include"),
                              "-include", os.path.join(SIMT, "simt.h"), path])
            if told is None:
                return text if code else ""
            errors = [line for line in text.split("\n") if "error" in line]
            if code and len(errors) == 1 and told in errors[0]:
                return ""
            return f"exit status {code}; wanted one error: {told}\n" + "\n".join(errors[:5])
        each([(call, types, told) for call, (_, right, wrong) in CALLS.items()
              for types, told in [(right, None), *wrong.items()]], check)


main()
