#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs a test that uses the GPU once it is its turn.

usage: gpu_turn.py FOLDER COUNT COMMAND...

At most COUNT commands of one FOLDER run at a time, so that their memory fits the GPU; others wait.
The command takes the place of this process, with its exit status, and holds a lock on a file in
FOLDER, gpu-turn-0 and so on, until it ends, however it does. One that must wait says so once. A file of the working folder needs no
./ before its name: Meson writes none.
"""
import fcntl
import os
import sys
import time


def main(folder, count, *command):
    files = [os.open(os.path.join(folder, f"gpu-turn-{i}"), os.O_RDWR | os.O_CREAT, 0o666)
             for i in range(int(count))]
    waits = False
    while True:
        for file in files:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            except OSError:
                pass  # a file system without locks: the command runs at once
            os.set_inheritable(file, True)
            if os.path.isfile(command[0]):
                os.execv(command[0], command)
            os.execvp(command[0], command)
        if not waits:
            print("gpu_turn: waiting", file=sys.stderr, flush=True)
        waits = True
        time.sleep(0.02)


if __name__ == "__main__":
    if len(sys.argv) < 4 or not sys.argv[2].isdigit() or int(sys.argv[2]) < 1:
        sys.exit(__doc__)
    main(*sys.argv[1:])
