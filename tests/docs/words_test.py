#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Finds words that documents for users and comments of headers and samples do not use.

    words_test.py [ROOT]
        ROOT: a checkout ($TMAP_ROOT, else the one that this file lies in)

Readers of the library know CUDA's and the papers' terms; WORDS lists the phrases that they had to
read twice, with what to write instead. Before that, a text with each of them is shown to fail.
Exit status: 0 or 1.
"""
import glob
import os
import re
import sys

# phrase (a regular expression): what to write instead
WORDS = {
    r"of (which|whose)": "a second sentence",
    r"so many": "the number, or n",
    r"hangs? on": "depends on",
    r"brings?": "returns, has, includes",
    r"stands? (alone|beside|in|on|for|there)": "is, needs, means",
    r"(its|their) like": "similar",
    r"nobody": "the actor",
    r"wings?": "folder, part",
    r"floors?(?! ?\()": "layer; lower bound",
    r"house": "library",
    r"rivals?": "baseline, peer",
    r"clients?": "ready kernel, sample, user",
    r"lest": "so that ... not",
    r"at hand": "available",
    r"one's own": "your own",
    r"is to (be|have|do)": "must, will",
    r"whence|thereof|therein|hence": "from which, so",
    r"a half of": "half",
}
PATTERN = re.compile(r"\b(" + "|".join(WORDS) + r")\b", re.I)

DOCUMENTS = ("README.md", "CONTRIBUTING.md", "docs/*.md", "docs/maps/*.md", "samples/**/*.md",
             "tests/**/README.md", "bench/README.md")
LOGS = ("docs/notebook.md",)  # of what was tried, for those who develop
SOURCES = ("include/**/*.h", "samples/**/*.cu", "samples/**/*.h")


def prose(path, text):
    """The text of a document without its code and names; the comments of a source, line by line."""
    if path.endswith(".md"):
        text = re.sub(r"^```.*?^```", lambda code: "\n" * code[0].count("\n"), text,
                      flags=re.S | re.M)
        text = re.sub(r"`[^`\n]*`|\]\([^)\n]*\)", "", text)
        return text.split("\n")
    return [line.partition("//")[2] if "//" in line else "" for line in text.split("\n")]


def check(path, text):
    for number, line in enumerate(prose(path, text), 1):
        for found in PATTERN.finditer(line):
            instead = next(new for old, new in WORDS.items()
                           if re.fullmatch(old, found[0], re.I))
            yield f"{path}:{number}: '{found[0]}': write {instead}"


def files(root):
    for pattern in (*DOCUMENTS, *SOURCES):
        for path in sorted(glob.glob(os.path.join(root, pattern), recursive=True)):
            name = os.path.relpath(path, root)
            if name not in LOGS:
                yield name


def self_test():
    """The phrases that do not fail."""
    texts = ("of which", "so many", "hangs on", "brings", "stands in", "its like", "nobody", "wing",
             "floor", "house", "rival", "clients", "lest", "at hand", "one's own", "is to be",
             "hence", "a half of")
    for text in texts:
        for path, line in (("a.md", f"x {text} y"), ("a.h", f"int a; // x {text} y")):
            if not list(check(path, line)):
                yield f"'{text}' does not fail in {path}"
    for path, line in (("a.md", "```c\nfloor of which\n```"), ("a.md", "`so many`"),
                       ("a.h", "int house;"), ("a.h", "// floor(x)")):
        if list(check(path, line)):
            yield f"{line!r} fails in {path}"


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("TMAP_ROOT") or os.path.join(
        os.path.dirname(os.path.abspath(__file__)), "..", "..")
    wrong, count = list(self_test()), 0
    for name in files(root):
        count += 1
        with open(os.path.join(root, name), encoding="utf-8") as file:
            wrong += check(name, file.read())
    for line in wrong:
        print(line)
    print(f"{count} files, {len(wrong)} phrases")
    return 1 if wrong or not count else 0


if __name__ == "__main__":
    sys.exit(main())
