#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""No name without our prefix survives a header: macros TMAP_ or TMAPI_; functions, types, variables
and enumeration constants at file scope tmap_, tmapi_, TMAP_ or TMAPI_; in library.h also threadmap_
and THREADMAP_. And no parameter, variable
or field is a single capital, which many a user has a macro for.

Every header is preprocessed as C, as CUDA, as the device pass of CUDA and as NVRTC, with empty
files in the place of CUDA's own headers, so that what is left is ours.
"""
import os
import re
import shutil
import sys
import tempfile

from common import INCLUDE, each, find, headers, run, write
from layers import OPTIONAL

PREFIX = re.compile(r"(tmapi?_|TMAPI?_)")
LIBRARY = re.compile(r"(tmapi?_|TMAPI?_|threadmap_|THREADMAP_)")
FACES = {
    "C": [],
    "CUDA": ["-D__CUDACC__"],
    "CUDA, device pass": ["-D__CUDACC__", "-D__CUDA_ARCH__=900"],
    "NVRTC": ["-D__CUDACC__", "-D__CUDACC_RTC__", "-D__CUDA_ARCH__=900"],
}
STUBS = ["cuda_runtime.h", "cuda_fp16.h", "mma.h", "cooperative_groups.h", *set().union(*OPTIONAL.values())]
# words at file scope that are not names of ours, and the namespace of cxx.h
WORDS = {"tmap", "sizeof", "alignas", "static_assert", "_Static_assert", "struct", "union", "enum"}
ENDS = {"()", ";", "=", "[", "{}", ","}  # what follows a name where it is declared


def file_scope(text):
    """The tokens outside all braces and parentheses; '()' and '{}' stand for what was inside. The
    inside of an enum and of extern "C" stays, and so does the name in (*name), a function's type."""
    out, stack = [], []
    text = re.sub(r"\(\s*\*\s*(\w+)\s*\)", r"\1", text)
    for token in re.findall(r'"(?:\\.|[^"\\])*"|\w+|[^\w\s]', text):
        if token in "({":
            stays = token == "{" and ("enum" in out[-2:] or out[-2:] == ["extern", '"C"'])
            if not any(stack):
                out.append("()" if token == "(" else "{}")
            stack.append(not stays)
        elif token in ")}":
            if not stack.pop() and not any(stack):
                out.append(";")  # parts the last constant of an enum from what follows
        elif not any(stack):
            out.append(token)
    return out


def declared(text):
    """The names that a preprocessed header declares at file scope."""
    tokens = file_scope(re.sub(r"^#.*", "", text, flags=re.M))
    for name, after in zip(tokens, tokens[1:] + [""]):
        if after in ENDS and name not in WORDS and re.match(r"(?!__)[A-Za-z_]\w*$", name):
            yield name


def capitals(text):
    """The names of one capital in a preprocessed header, outside strings and characters."""
    text = re.sub(r"""(["'])(?:\\.|(?!\1)[^\\])*\1""", "", text)
    return set(re.findall(r"\b[A-Z]\b", text))


def taken(text):
    """The names in a preprocessed header that <windows.h> defines as macros, near and far as nothing."""
    text = re.sub(r"""(["'])(?:\\.|(?!\1)[^\\])*\1""", "", text)
    return set(re.findall(r"\b(?:near|far|small)\b", text))


def preprocessed(face, source, stubs):
    """(exit status, text or what is wrong, name -> value of the macros at the end) of a source."""
    code, text = run([find("gcc"), "-E", "-P", "-dD", "-nostdinc", "-I", stubs, "-I", INCLUDE,
                      *FACES[face], "-x", "c" if face == "C" else "c++", "-"], input=source)
    macros = {}
    for word, name, value in re.findall(r"^#(define|undef) (\w+)(.*)", text, re.M):
        macros[name] = value if word == "define" else None
    return code, re.sub(r"^#(define|undef) .*\n", "", text, flags=re.M), macros


def check(header, stubs, known):
    """known: face -> the macros that there are without any header."""
    wrong, prefix = [], LIBRARY if header == "threadmap/library.h" else PREFIX
    for face in FACES:
        code, text, macros = preprocessed(face, f"#include <{header}>\n", stubs)
        if code:
            return text
        wrong += [f"{face}: macro {name}" for name, value in sorted(macros.items())
                  if not prefix.match(name) and value != known[face].get(name)]
        wrong += [f"{face}: {name}" for name in sorted(capitals(text) | taken(text))]
        names = sorted(set(declared(text)))
        wrong += [f"{face}: {name}" for name in names if not prefix.match(name)]
    return "\n".join(wrong)


def self_test():
    """What must be seen, and what must not."""
    text = """typedef struct s { int inside; } t;
        static inline int f(int a) { int b = a; return g(b); }
        enum { E1, E2 = 3 };
        extern "C" { int h(void); }
        static const int v[2] = {1, 2};
        typedef void (*fn)(void *job, int (*g)(int));
        enum e { E3 };"""
    want = {"s", "t", "f", "E1", "E2", "h", "v", "fn", "e", "E3"}
    seen = set(declared(text))
    if seen != want:
        sys.exit(f"the test itself is wrong: it sees {sorted(seen)}")
    if capitals("int f(int B, char c) { return c == 'Y' ? p->A : E1(\"X\"); }") != {"A", "B"}:
        sys.exit("the test itself is wrong: capitals")
    if taken("int far(int near_by) { return near + t.small + f(\"far\"); }") != {"far", "near", "small"}:
        sys.exit("the test itself is wrong: names of <windows.h>")


def main():
    self_test()
    stubs = tempfile.mkdtemp(prefix="headers-")
    try:
        for name in STUBS:
            write(os.path.join(stubs, name), "")
        known = {face: preprocessed(face, "", stubs)[2] for face in FACES}
        each(headers(), lambda header: check(header, stubs, known))
    finally:
        shutil.rmtree(stubs)


main()
