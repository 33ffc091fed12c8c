#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests gpu_turn.py: how many commands run at a time, what becomes of their exit statuses and of a
command that is killed, and what is refused."""
import os
import select
import signal
import subprocess
import sys
import tempfile

TURN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "gpu_turn.py")
# Says that it runs, goes on until it is told to end, and exits with its number.
INSIDE = """
import sys
print("in", flush=True)
sys.stdin.readline()
sys.exit(int(sys.argv[1]))
"""


def check(ok, what):
    """Ends the test where that does not hold; commands that still run then lose their pipes."""
    if not ok:
        sys.exit(what)


def start(folder, count, number):
    return subprocess.Popen([TURN, folder, str(count), sys.executable, "-c", INSIDE, str(number)],
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            text=True)


def says(process):
    """The first line that a command, or gpu_turn.py before it, prints from now on."""
    return select.select([process.stdout, process.stderr], [], [])[0][0].readline().strip()


def in_turn(processes, seconds=None):
    """Those that have said that they run; without a time limit, once there is one."""
    streams = {process.stdout: process for process in processes}
    return [streams[stream] for stream in select.select(list(streams), [], [], seconds)[0]]


def end(process):
    process.communicate("end\n")
    return process.returncode


# Nothing here depends on how long anything takes: a step begins when the one before it is seen.
for count in (1, 3):
    with tempfile.TemporaryDirectory() as folder:
        inside = [start(folder, count, i) for i in range(count)]
        for process in inside:
            check(says(process) == "in", f"not {count} at a time")
        waiting = [start(folder, count, i) for i in range(count, 6)]
        for process in waiting:
            check(says(process) == "gpu_turn: waiting", f"more than {count} at a time")
        statuses = []
        while inside:
            check(not in_turn(waiting, 0), f"{count + 1} at a time")
            statuses.append(end(inside.pop(0)))
            if waiting:
                inside += in_turn(waiting)
                waiting = [process for process in waiting if process not in inside]
            check(len(inside) <= count, f"{len(inside)} at a time instead of {count}")
        check(sorted(statuses) == list(range(6)), f"exit statuses {statuses}")

with tempfile.TemporaryDirectory() as folder: # the place of one that is killed is free again
    killed = start(folder, 1, 0)
    killed.stdout.readline()
    waiting = start(folder, 1, 5)
    check(says(waiting) == "gpu_turn: waiting", "it did not wait")
    killed.send_signal(signal.SIGKILL)
    check(says(waiting) == "in" and end(waiting) == 5, "none follows one that was killed")
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

print("turns passed")
