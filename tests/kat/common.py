# SPDX-License-Identifier: MIT
"""What the generators share: numbers that look random, the hash of a list, and the program."""
import os
import sys

U32, U64 = 2**32 - 1, 2**64 - 1


class Random:
    """xorshift64*, so that no version of Python changes the files; kit.h draws the same numbers."""

    def __init__(self, seed):
        self.state = seed

    def bits(self, n):
        self.state ^= self.state >> 12
        self.state = (self.state ^ self.state << 25) & U64
        self.state ^= self.state >> 27
        return (self.state * 0x2545F4914F6CDD1D & U64) >> (64 - n)

    def below(self, n):
        return self.bits(48) % n


def mix(numbers):
    """The hash of a list of numbers below 2^64: that of kit_mix."""
    h = 0
    for x in numbers:
        h = ((h ^ x) * 0x9E3779B97F4A7C15) & U64
        h ^= h >> 29
    return h


def run(name, text, usage, same=str.__eq__):
    """Writes the file `name` beside this one; with --check, compares it instead."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), name)
    if sys.argv[1:] == ["--check"]:
        with open(path, encoding="ascii") as file:
            if not same(file.read(), text):
                sys.exit(f"{path} is not what {os.path.basename(sys.argv[0])} writes: run it")
        print(f"{path}: {len(text)} bytes, reproduced")
    elif len(sys.argv) == 1:
        with open(path, "w", encoding="ascii") as file:
            file.write(text)
    else:
        sys.exit(usage)
