#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Turns CUDA sources into C++ for the CPU machine.

    delaunch.py FILE.cu FILE.cpp [--depfile FILE] [-I FOLDER]...
    delaunch.py --tree SOURCE TARGET --stamp FILE [--depfile FILE]

Rewritten, outside comments and strings and without moving a line:
    k<<<grid, block, shared, stream>>>(...)   simt::launch(k, grid, block, shared, stream)(...)
    extern __shared__ T name[];               T *name = (the block's dynamic shared memory);
    __shared__ T name[n];                     the same, followed by SIMT_POISON(name);
    static __shared__ alignas(n) T name;      alignas(n) __shared__ T name; SIMT_POISON(name);
    __global__ void k(int a) {                the same, followed by SIMT_KERNEL((int a), k);
    __noinline__                              SIMT_NOINLINE
    #include "beside_the_source.h"            its rewritten text (also one found in a -I folder)

--tree mirrors a folder of headers. A file is written only if its text changed, and the stamp, a
header with a digest of them all, only if any did: sources that include the stamp are rebuilt then.
"""
import argparse
import hashlib
import os
import re

import delaunch_kernels

TOKEN = re.compile(r"""
    //(?:[^\\\n]|\\.)* | /\*.*?\*/                       # comments
  | (?:u8|[uUL])?R"(?P<raw>[^()\s\\]*)\(.*?\)(?P=raw)"    # raw strings
  | (?:u8|[uUL])?"(?:\\.|[^"\\\n])*"                      # strings
  | (?:u8|[uUL])?'(?:\\.|[^'\\\n])+'                      # characters
  | [A-Za-z_]\w*                                          # names
  | \.?\d(?:[eEpP][+-]|'?[\w.])*                          # numbers
  | <<< | >>> | :: | -> | (?:\s|\\\n)+ | .
""", re.S | re.X)

OPENER = {")": "(", "]": "[", "}": "{"}
WORD = re.compile(r"[A-Za-z_]\w*$")
CONTROL = {"if", "for", "while", "switch", "return", "else", "do", "case", "throw"}


class Source:
    def __init__(self, path, folders=None, seen=()):
        self.name = path
        self.folders = folders  # where "..." includes are looked for, or None to leave them alone
        self.seen = (*seen, path)  # this file and those that include it
        self.inputs = [path]
        self.tokens = [m.group() for m in TOKEN.finditer(read(path))]

    def error(self, at, message):
        line = 1 + "".join(self.tokens[:at]).count("\n")
        raise SystemExit(f"{self.name}:{line}: {message}")

    def blank(self, i):
        t = self.tokens[i]
        return not t.replace("\\\n", "").strip() or t.startswith(("//", "/*"))

    def before(self, i):
        """Index of the last token before i that says something, or -1."""
        i -= 1
        while i >= 0 and self.blank(i):
            i -= 1
        return i

    def after(self, i):
        i += 1
        while i < len(self.tokens) and self.blank(i):
            i += 1
        return i

    def token(self, i):
        return self.tokens[i] if 0 <= i < len(self.tokens) else ""

    def match_back(self, i):
        """Index of the bracket that the closing one at i belongs to."""
        stack = []
        while i >= 0:
            t = self.tokens[i]
            if t in OPENER:
                stack.append(OPENER[t])
            elif t in ("(", "[", "{"):
                if stack.pop() != t or not stack:
                    break
            i = self.before(i)
        return i

    def template_back(self, i):
        """Index of the < that the > at i belongs to."""
        depth = 0
        while i >= 0:
            t = self.tokens[i]
            if t in OPENER:
                i = self.match_back(i)
            elif t in (">", ">>>"):
                depth += len(t)
            elif t == "<":
                depth -= 1
                if depth == 0:
                    return i
            i = self.before(i)
        return i

    def kernel_start(self, launch):
        """Index of the first token of the expression in front of <<<."""
        i = self.before(launch)
        while True:
            if self.token(i) in (">", ">>>"):
                i = self.before(self.template_back(i))
            while self.token(i) in ("]", ")"):
                start = self.match_back(i)
                before = self.before(start)
                t = self.token(before)
                callee = WORD.match(t) and t not in CONTROL
                if t == ")":  # f(x)(y), unless the first is the condition of an if
                    word = self.token(self.before(self.match_back(before)))
                    callee = word not in CONTROL
                if t == "]" or callee:
                    i = before
                else:
                    i = start
                    break
            if not re.match(r"[A-Za-z_(]", self.token(i)):
                self.error(launch, "<<< without a kernel in front of it")
            before = self.before(i)
            t = self.token(before)
            if t in (".", "->"):
                i = self.before(before)
            elif t == "::":
                outer = self.before(before)
                word = self.token(outer)
                if word == ">" or WORD.match(word) and word not in CONTROL:
                    i = outer
                else:
                    return before
            else:
                return i

    def launches(self):
        """Pairs (kernel start, <<<, >>>) in the order of the text."""
        found = []
        for i, t in enumerate(self.tokens):
            if t != "<<<":
                continue
            depth, j = 0, i + 1
            while j < len(self.tokens) and not (self.tokens[j] == ">>>" and depth == 0):
                depth += (self.tokens[j] in ("(", "[", "{")) - (self.tokens[j] in OPENER)
                j += 1
            if j == len(self.tokens):
                self.error(i, "<<< without >>>")
            found.append((self.kernel_start(i), i, j))
        return found

    def match(self, i):
        """Index of the bracket that closes the opening one at i, or the end of the text."""
        depth = 0
        while i < len(self.tokens):
            depth += (self.tokens[i] in ("(", "[", "{")) - (self.tokens[i] in OPENER)
            if depth == 0:
                break
            i += 1
        return i

    def in_directive(self, i):
        line = "".join(self.tokens[:i]).replace("\\\n", "  ").rsplit("\n", 1)[-1]
        return line.lstrip().startswith("#")

    def declaration_end(self, i):
        """Index of the ; that ends the declaration at i, or -1: a macro that ends before."""
        directive = self.in_directive(i)
        depth = 0
        while i < len(self.tokens):
            t = self.tokens[i]
            if t == ";" and depth == 0:
                return i
            if directive and "\n" in t.replace("\\\n", ""):
                return -1
            depth += (t in ("(", "[", "{")) - (t in OPENER)
            if depth < 0:
                return -1
            i += 1
        return -1

    def shared(self, i):
        """Rewrites the declaration with __shared__ at i."""
        tokens = self.tokens
        end = self.declaration_end(i)
        if end < 0:
            return
        text = self.one_line(i + 1, end - 1)
        other = self.before(i)
        if self.token(other) != "extern" and self.token(self.after(i)) == "extern":
            other = self.after(i)
            text = re.sub(r"^\s*extern", "", text)
        if self.token(other) == "extern":
            lines = "".join(tokens[min(i, other):end]).count("\n")
            text = re.sub(r"\b(__align__|alignas)\s*\([^()]*(\([^()]*\))?[^()]*\)", "", text)
            m = re.match(r"\s*(.*?)\s*\b(\w+)\s*\[\s*\]\s*((\[[^][]*\]\s*)*)$", text, re.S)
            if not m:
                self.error(i, "extern __shared__ is understood as: extern __shared__ T name[];")
            kind, name, rest = " ".join(m[1].split()), m[2], " ".join(m[3].split())
            star = f"(*{name}){rest}" if rest else f"*{name}"
            cast = f"{kind} (*){rest}" if rest else f"{kind} *"
            for k in range(min(i, other), end):
                tokens[k] = ""
            tokens[end - 1] = f"{kind} {star} = ({cast})simt::machine.dynamic_shared" + "\n" * lines
            return
        self.storage(i)
        names, piece, brackets, angles = [], "", 0, 0
        for t in [m.group() for m in TOKEN.finditer(text)] + [","]:
            if t in ("(", "[", "{"):
                brackets += 1
            elif t in OPENER:
                brackets -= 1
            elif brackets:
                continue
            elif t in ("<", ">", ">>>"):
                angles += 1 if t == "<" else -len(t)
            elif t == "," and angles == 0:
                m = re.search(r"(\w+)\s*$", piece)
                if not m:
                    return  # an unusual declarator: not poisoned
                names.append(m[1])
                piece = ""
            else:
                piece += t
        tokens[end] = ";" + "".join(f" SIMT_POISON({n});" for n in names)

    def storage(self, i):
        """Makes what stands around the __shared__ at i fit the `static` that it becomes: no second
        one, and alignas in front of it all."""
        first, k, aligned = i, self.after(i), ""
        while self.token(self.before(first)) in ("static", "const", "volatile"):
            first = self.before(first)
            self.drop(first, first, "static")
        while self.token(k) in ("static", "const", "volatile", "alignas"):
            end = self.match(self.after(k)) if self.token(k) == "alignas" else k
            if end > k:
                aligned += self.one_line(k, end) + " "
            self.drop(k, end, "static", "alignas")
            k = self.after(end)
        self.tokens[first] = aligned + self.tokens[first]

    def drop(self, first, last, *words):
        """Takes away these tokens, if the first is one of the words."""
        if self.token(first) in words:
            for k in range(first, last + 1):
                self.tokens[k] = self.tokens[k] if self.blank(k) else ""

    def one_line(self, first, last):
        return "".join(" " if self.blank(k) else self.tokens[k] for k in range(first, last + 1))

    def include(self, i):
        """Puts the text of the file that the string at i names in place of the directive."""
        for folder in [os.path.dirname(self.name), *self.folders]:
            path = os.path.normpath(os.path.join(folder, self.tokens[i][1:-1]))
            if os.path.isfile(path) and path not in self.seen:
                break
        else:
            return
        header = Source(path, self.folders, self.seen)
        text = header.rewrite()
        self.inputs += header.inputs
        line = 2 + "".join(self.tokens[:i]).count("\n")
        word = self.before(i)
        self.tokens[word] = self.tokens[self.before(word)] = ""
        self.tokens[i] = f'{text}\n#line {line} "{self.name}"'

    def rewrite(self):
        tokens = self.tokens
        launches = self.launches()
        listings = delaunch_kernels.listings(self)
        for i, t in enumerate(tokens):
            if t == "__shared__":
                self.shared(i)
            elif t == "__noinline__" and self.token(self.before(i)) != "(":
                tokens[i] = "SIMT_NOINLINE"
        for i, text in listings:
            tokens[i] = text
        for start, opening, closing in launches:
            tokens[start] = "simt::launch(" + tokens[start]
            tokens[opening] = ", "
            tokens[closing] = ")"
        if self.folders is not None:
            includes = [i for i, t in enumerate(tokens) if t.startswith('"') and
                        self.token(self.before(i)) == "include"]
            for i in reversed(includes):  # backwards: the lines in front still count right
                self.include(i)
        return f'#line 1 "{self.name}"\n' + "".join(tokens)


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def write_if_changed(path, text):
    if os.path.isfile(path) and read(path) == text:
        return
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def write_depfile(path, output, inputs):
    with open(path, "w", encoding="utf-8") as f:
        names = [*inputs, delaunch_kernels.__file__]
        f.write(f"{output}: " + " ".join(p.replace(" ", "\\ ") for p in names) + "\n")


def mirror(source, target, stamp, depfile):
    digest = hashlib.sha256()
    seen, inputs = set(), []
    os.makedirs(target, exist_ok=True)
    for folder, folders, files in os.walk(source):
        folders.sort()
        inputs.append(folder)  # a new file changes its folder
        for f in sorted(files):
            if f.startswith(".") or not f.endswith((".h", ".cuh", ".inc", ".def", ".cu")):
                continue
            path = os.path.join(folder, f)
            name = os.path.relpath(path, source)
            text = Source(path).rewrite()
            digest.update(f"{name}\n{text}".encode())
            write_if_changed(os.path.join(target, name), text)
            seen.add(name)
            inputs.append(path)
    for folder, _, files in os.walk(target):
        for f in files:
            path = os.path.join(folder, f)
            if os.path.relpath(path, target) not in seen:
                os.remove(path)
    if stamp:
        write_if_changed(stamp, f"// {digest.hexdigest()}\n")
    if depfile:
        write_depfile(depfile, stamp, inputs)


def main():
    parser = argparse.ArgumentParser(description="CUDA sources to C++ for the CPU machine")
    parser.add_argument("source")
    parser.add_argument("target")
    parser.add_argument("--tree", action="store_true", help="mirror a folder of headers")
    parser.add_argument("--stamp", help="header to rewrite when a mirrored file changed")
    parser.add_argument("--depfile")
    parser.add_argument("-I", action="append", default=[], dest="folders", metavar="FOLDER")
    a = parser.parse_args()
    if a.tree:
        mirror(a.source, a.target, a.stamp, a.depfile)
        return
    source = Source(a.source, a.folders)
    text = source.rewrite()
    with open(a.target, "w", encoding="utf-8") as f:
        f.write(text)
    if a.depfile:
        write_depfile(a.depfile, a.target, source.inputs)


if __name__ == "__main__":
    main()
