#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests gpu_turn.py: how many commands run at a time, what becomes of their exit statuses and of a
command that is killed, and what is refused."""
import os
import signal
import subprocess
import sys
import tempfile
import time

TURN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "gpu_turn.py")
# Counts itself in, stays a while, and exits with its number.
INSIDE = """
import os, sys, time
here = os.path.join(sys.argv[1], 'in-' + sys.argv[2])
open(here, 'w').close()
time.sleep(0.2)
print(sum(name.startswith('in-') for name in os.listdir(sys.argv[1])))
os.remove(here)
sys.exit(int(sys.argv[2]))
"""
failures = []


def check(ok, what):
    if not ok:
        failures.append(what)


def start(folder, count, *command):
    return subprocess.Popen([TURN, folder, str(count), sys.executable, "-c", *command],
                            stdout=subprocess.PIPE, text=True)


for count in (1, 3):
    with tempfile.TemporaryDirectory() as folder:
        at_once = [start(folder, count, INSIDE, folder, str(i)) for i in range(6)]
        seen = [int(process.communicate(timeout=60)[0]) for process in at_once]
        check(max(seen) <= count, f"{max(seen)} at a time instead of {count}")
        check(max(seen) == count, f"never {count} at a time")
        check([process.returncode for process in at_once] == list(range(6)), "exit statuses")

with tempfile.TemporaryDirectory() as folder: # the place of one that is killed is free again
    killed = start(folder, 1, "import time; print(1, flush=True); time.sleep(60)")
    killed.stdout.readline()
    waiting = start(folder, 1, "print(2)")
    time.sleep(0.2)
    check(waiting.poll() is None, "it did not wait")
    killed.send_signal(signal.SIGKILL)
    check(waiting.communicate(timeout=60)[0] == "2\n", "nobody follows one that was killed")
    killed.communicate()

with tempfile.TemporaryDirectory() as folder: # a program of the working folder, by its bare name
    program = os.path.join(folder, "here")
    with open(program, "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\necho $1; exit 7\n")
    os.chmod(program, 0o755)
    ran = subprocess.run([TURN, folder, "1", "here", "word"], cwd=folder, capture_output=True,
                         text=True, check=False)
    check((ran.stdout, ran.returncode) == ("word\n", 7), f"a bare name: {ran}")

for words in ([], ["."], [".", "2"], [".", "0", "true"], [".", "x", "true"]):
    refused = subprocess.run([TURN, *words], capture_output=True, text=True, check=False)
    check(refused.returncode == 1 and "usage: gpu_turn.py" in refused.stderr, f"not refused: {words}")

print("\n".join(failures) if failures else "turns passed")
sys.exit(bool(failures))
