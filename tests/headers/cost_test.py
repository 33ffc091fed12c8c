#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What it costs a program of a user's to include one header, and that it compiles there.

    cost_test.py nvcc              with nvcc to machine code for one architecture, without a warning:
                                   the include of each wing, which costs no
                                   less than any header in it, and every other header outside
                                   papers/ but those that a client includes, for the same reason,
                                   and the HEAVY ones of layers.py, which compile_test.py compiles.
                                   Host code, which is half of nvcc's time, is compiled there: all
                                   headers in one program
    cost_test.py nvrtc COMMAND     with NVRTC, through the command nvrtc_compile: every header, at
                                   any price
    cost_test.py [...] --table     prints what each costs, and the seconds that it takes: user time
                                   of the CPU above that of an empty file, the least of four

What is compared with limits is the same on every machine: kernels, bytes of machine code, and bytes
of preprocessed text above those of an empty file. Seconds are not: a machine that is busy takes
more of them for the same work.
"""
import os
import re
import subprocess
import sys
import tempfile

from common import INCLUDE, compiled, each, find, graph, inner, reached, run, skip, twice, write
from layers import CLIENTS, HEAVY, WINGS, is_published

TRIES = 4  # of the table
# Of maps and engines; of ready clients: bytes of text, kernels, bytes of machine code, hardly
# optimized.
LIGHT = (185_000, 0, 4_000)
CLIENT = (300_000, 10, 1100 * 1024)
# What includes several subjects, and what has kernels for float and for double, or for volumes of
# masks, for volumes of values and for batches of images.
SEVERAL = {"threadmap/cxx.h": (310_000, 0, 4_000),
           "threadmap/cxx_near.h": (410_000, 0, 4_000),
           "threadmap/raster/label3.h": (300_000, 21, 1100 * 1024),
           "threadmap/adaptive/mandelbrot.h": (300_000, 8, 1400 * 1024)}
NVCC = ["-std=c++17", "-arch=sm_90", "-Werror", "all-warnings", "-Xptxas", "-v", "-I", INCLUDE,
        "-cubin"]


def timed(command):
    """(exit status, output, seconds of user time)"""
    with tempfile.TemporaryFile("w+") as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        return process.returncode, out.read(), usage.ru_utime


class Compiler:
    """Compiles, by nvcc to machine code or by NVRTC, and knows what an empty file costs."""

    def __init__(self, mode, command, folder):
        self.mode, self.folder = mode, folder
        if mode == "nvcc":
            self.command = [find("nvcc"), *NVCC]
            # Three times as fast, from CUDA 13 on; the table has what programs get.
            if "--table" not in sys.argv and "Ofast-compile" in run([find("nvcc"), "--help"])[1]:
                self.command.insert(1, "-Ofc=max")
        else:
            self.command = [command, f"--include-path={INCLUDE}", "--gpu-architecture=compute_90"]
        code, text, first = self.compile("empty", "\n")
        if code == 77:
            skip(text.replace("SKIP: ", "").strip())
        if code:
            sys.exit(text)
        self.tries = TRIES if "--table" in sys.argv else 1
        self.empty = min([first] + [self.compile("empty", "\n")[2] for _ in range(self.tries - 1)])
        self.empty_text = self.text("empty")

    def path(self, name):
        return os.path.join(self.folder, name.replace("/", "_"))

    def compile(self, name, text):
        file = write(self.path(name) + ".cu", text)
        if self.mode == "nvcc":
            return timed([*self.command, file, "-o", self.path(name) + ".out"])
        return timed([self.command[0], file, *self.command[1:]])

    def text(self, name):
        """Bytes of the text that the compiler gets, without the line markers, whose length depends
        on where the headers are; 0 where it does not tell."""
        if self.mode == "nvrtc":
            return 0
        command = [word for word in self.command if word != "-cubin"]
        text = subprocess.run([*command, "-E", self.path(name) + ".cu"], check=True,
                              capture_output=True).stdout
        return sum(len(line) for line in text.splitlines(True) if not line.startswith(b"#"))

    def cost(self, header):
        """(what the compiler says if it fails, (bytes of text, kernels, bytes, seconds))"""
        seconds = []
        while len(seconds) < self.tries:
            code, text, took = self.compile(header, twice([header]))
            if code:
                return text or f"exit status {code}", None
            seconds.append(took - self.empty)
        kernels = len(set(re.findall(r"Compiling entry function '(\w+)'", text)))
        size = os.path.getsize(self.path(header) + ".out") if self.mode == "nvcc" else 0
        return "", (self.text(header) - self.empty_text, kernels, size, min(seconds))

    def limits(self, header):
        if self.mode == "nvcc":
            return SEVERAL.get(header, CLIENT if header in CLIENTS else LIGHT)
        return float("inf"), 0, 0  # without launches clients have no kernels


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--table"]
    mode, rest = (arguments[0], arguments[1:]) if arguments else ("", [])
    if len(rest) != {"nvcc": 0, "nvrtc": 1}.get(mode, -1):
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory(prefix="headers-") as folder:
        compiler = Compiler(mode, *(rest or [None]), folder)
        if "--table" in sys.argv:
            print(f"| header | seconds above {compiler.empty:.2f} | kB of text | kernels | KB |\n"
                  "| --- | --- | --- | --- | --- |")

        def check(header):
            limits = compiler.limits(header)
            error, cost = compiler.cost(header)
            if error:
                return error
            if "--table" in sys.argv:
                print(f"| {header} | {cost[3]:.2f} | {cost[0] / 1000:.0f} | {cost[1]} | "
                      f"{cost[2] / 1024:.0f} |")
            return "\n".join(f"{what}: {got:.4g}, more than {limit:.4g}" for what, got, limit in
                             zip(("bytes of text", "kernels", "bytes"), cost, limits) if got > limit)

        edges = graph()
        inside = {header for wing in WINGS for header in reached(edges, wing)} - WINGS
        inside |= inner(edges, {client for client in CLIENTS if not is_published(client)})
        if "--table" in sys.argv:
            inside = set()
        each([header for header in compiled() if mode == "nvrtc" or
              not (is_published(header) or header in HEAVY or header in inside)], check)


main()
