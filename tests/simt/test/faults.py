#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the faults of faults.cu: the CPU machine must stop each, with this exit code and message.

    faults.py PROGRAM [--sanitized]
"""
import os
import platform
import re
import subprocess
import sys

FAULT, ASAN = 86, 1
# name, exit code, what standard error and output must say
ALWAYS = [
    ("unreached_barrier", FAULT,
     r"deadlock in kernel unreached_barrier, block \(0,0,0\): of 32 threads, 0 have exited\n"
     r"simt:   3 wait at __syncthreads, \S*faults.cu:9; the first is thread \(0,0,0\)\n"
     r"simt:   29 wait at __shfl_sync, \S*faults.cu:8; the first is thread \(3,0,0\)"),
    ("different_barriers", FAULT, r"divergent barrier: .*"
     r"\[kernel different_barriers, block \(0,0,0\) thread \(32,0,0\)\]"),
    ("not_in_mask", FAULT, r"lane 3 calls __shfl_sync at \S*faults.cu:15 but is not in its mask"),
    ("different_masks", FAULT, r"divergent collective: lane 1 .* mask 0xffffffff, but lanes"),
    ("different_collectives", FAULT, r"divergent collective: lane 1 calls __any_sync"),
    ("wrong_width", FAULT, r"width 12 is not a power of two"),
    ("assumption", FAULT, r"the assumption p == 0 does not hold"),
    ("no_dynamic", FAULT, r"dynamic shared memory is accessed, but the launch asked for none "
     r"\[kernel dynamic_bounds, block \(0,0,0\) thread \(0,0,0\)\]"),
    ("no_dynamic_far", FAULT, r"but the launch asked for none \["),
    ("shift_with_barrier", 0, r"right"),
    ("prefix_with_barrier", 0, r"right"),
    ("shift", 1, r"wrong, .* poison [1-9]"),
    ("stale", 1, r"first 0, poison 63"),
    ("stale_dynamic", 1, r"poison 64"),
    ("uninitialised", 1, r"poison 64"),
    ("free_twice", 0, r""),
    ("host_pointer", 0, r""),
]
PLAIN = [
    ("dynamic_bounds", FAULT, r"byte 40 of dynamic shared memory was written, but the launch asked "
     r"for 40 bytes \[kernel dynamic_bounds, block \(0,0,0\)\]"),
    ("dynamic_far", FAULT, r"byte 16384 of dynamic shared memory is accessed, but .* 40 bytes \["),
    ("deep", FAULT, r"the stack of a thread overflows its \d+ bytes \[kernel deep, "),
    ("null_pointer", FAULT, r"an access to address (\(nil\)|0x0), where nothing is .*\(3,0,0\)\]"),
]
if platform.machine() == "x86_64":  # other CPUs may divide by zero
    PLAIN.append(("divide", FAULT, r"integer division by zero.* a GPU does not stop there.*"
                  r"\[kernel divide, block \(0,1,0\) thread \(5,0,0\)\]"))
SANITIZED = [
    ("fixed_bounds", ASAN, r"global-buffer-overflow|index 32 out of bounds"),
    ("dynamic_bounds", ASAN, r"heap-buffer-overflow"),
    ("global_bounds", ASAN, r"heap-buffer-overflow"),
    ("global_bounds", ASAN, r"\[kernel global_bounds, block \(0,0,0\) thread \(0,0,0\)\]"),
    ("local_bounds", ASAN, r"(?s)stack-buffer-overflow.*in frame.*local_bounds.*"
     r"thread \(9,0,0\)\]"),
    ("use_after_free", ASAN, r"heap-use-after-free"),
    ("dynamic_far", ASAN, r"heap-buffer-overflow|SEGV"),
    ("null_pointer", ASAN, r"kernel null_pointer, block|null pointer"),
    ("divide", ASAN, r"division by zero"),
    ("cast", ASAN, r"3e\+09 is outside the range of representable values of type 'int'"),
    ("deep", ASAN, r"stack-overflow"),
    ("misaligned", ASAN, r"misaligned address|SEGV"),
]


def run(program, fault, **env):
    # Meson sets options that make the sanitizers abort.
    clean = {k: v for k, v in os.environ.items()
             if not k.startswith("SIMT_") and k not in ("ASAN_OPTIONS", "UBSAN_OPTIONS")}
    p = subprocess.run([program, fault], env={**clean, **env}, text=True,
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace")
    return p.returncode, p.stdout


def main():
    program, sanitized = sys.argv[1], "--sanitized" in sys.argv[2:]
    bad = 0

    def check(name, holds, code, text):
        nonlocal bad
        if not holds:
            bad += 1
            print(f"{name}: not as expected; exit code {code}, output:\n{text}")

    for fault, code, says in ALWAYS + (SANITIZED if sanitized else PLAIN):
        got, text = run(program, fault)
        check(fault, got == code and re.search(says, text), got, text)

    # A barrier that is missing shows under some seed; one that is there does not matter.
    seeds = [str(s) for s in range(1, 9)]
    wrong = [run(program, "prefix", SIMT_SEED=s)[0] for s in seeds]
    check("prefix with seeds", wrong.count(1) >= 6, wrong, "a missing barrier goes unseen")
    for fault in ("prefix_with_barrier", "shift_with_barrier"):
        for s in seeds:
            got, text = run(program, fault, SIMT_SEED=s)
            check(f"{fault}, seed {s}", got == 0, got, text)
    for s in seeds:
        got, text = run(program, "unreached_barrier", SIMT_SEED=s)
        check(f"deadlock, seed {s}", got == FAULT and "deadlock" in text, got, text)

    got, text = run(program, "leak", SIMT_LEAKS="1")
    check("leak", got == (1 if sanitized else 0) and "leak of 256 bytes of device memory" in text,
          got, text)
    got, text = run(program, "free_twice", SIMT_LEAKS="1")
    check("no leak", got == 0 and "leak" not in text, got, text)
    got, text = run(program, "leak", SIMT_MEMORY="255")
    check("small memory", got == 2, got, text)
    sys.exit(bad != 0)


if __name__ == "__main__":
    main()
