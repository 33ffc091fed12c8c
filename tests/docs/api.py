#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""docs/api.md: every public function and type, made from the comments of the headers.

    api.py             says what is stale, and which public function has no comment
    api.py --update    writes docs/api.md
"""
import os
import re
import sys

ROOT = os.environ.get("TMAP_ROOT") or \
    os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
INCLUDE = os.path.join(ROOT, "include/threadmap")
DOCUMENT = os.path.join(ROOT, "docs/api.md")
# A definition at the left margin: a function up to its brace, a struct up to its name.
FUNCTION = re.compile(r"^((?:TMAP_FN|TMAP_DEVICE|static)\b[^;{}#=]*?\b(tmap_\w+)\([^;{}]*\))\s*\{", re.M)
TYPE = re.compile(r"^typedef (struct|union) (?:alignas\(\d+\) )?(tmap_\w+) \{", re.M)
CALLBACK = re.compile(r"^(typedef [^;{}]*\(\*(tmap_\w+)\)\([^;{}]*\));", re.M)
HEAD = """# All public names

Each function, structure and function type of the headers, in alphabetical order, with the first sentence of
its comment; the header has the rest: parameters, ranges, errors, cost, an example. The script
`tests/docs/api.py --update` makes this page from the headers, and a test compares the two.
"""


def comment_above(text, at):
    """The comment that ends in the line above a place, as one text."""
    lines = []
    for line in reversed(text[:at].splitlines()):
        if not line.startswith("//") or line.startswith("// ----"):
            break
        lines.append(line[2:].strip())
    return " ".join(reversed(lines))


def nearest_comment(text, at):
    """The last comment at the left margin before a place, which is for what follows it together."""
    before = text[:at]
    ends = [match.end() for match in re.finditer(r"^(?:// (?!----).*\n)+", before, re.M)]
    return comment_above(before, ends[-1]) if ends else ""


def first_sentence(comment):
    # A list of parameters, "x, y: ...", begins a sentence too.
    match = re.match(r".*?[.:](?= [A-Z0-9(]| [a-z]\w*(?:, \w+)*:| *$)", comment)
    sentence = (match.group(0) if match else comment).rstrip(":")
    return sentence if sentence.endswith(".") else sentence + "."


def entries():
    """(name, signature, header, sentence or "") of all of them."""
    found = []
    for folder, _, names in os.walk(INCLUDE):
        for name in names:
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                text = file.read()
            header = os.path.relpath(os.path.join(folder, name), INCLUDE)
            here = []
            for kind in FUNCTION, CALLBACK, TYPE:
                for match in kind.finditer(text):
                    signature = f"{match.group(1)} {match.group(2)}" if kind is TYPE else \
                        " ".join(match.group(1).split())
                    signature = re.sub(r"^(?:TMAP_FN|TMAP_DEVICE|static inline|static|typedef) ", "",
                                       signature)
                    signature = re.sub(r"__launch_bounds__\([^)]*\) ?", "", signature)
                    here.append((match.start(), match.group(2), signature))
            for at, symbol, signature in sorted(here):
                comment = comment_above(text, at) or nearest_comment(text, at)
                found.append((symbol, signature, header,
                              first_sentence(comment) if comment else ""))
    return sorted(found, key=lambda entry: (entry[0].casefold(), entry[2]))


def page(found):
    rows, letter = [HEAD], ""
    for symbol, signature, header, sentence in found:
        start = symbol.split("_")[1]
        if start != letter:
            letter = start
            rows.append(f"\n## {letter}\n\n| declaration | header | |\n| --- | --- | --- |\n")
        sentence = sentence.replace("|", "\\|")
        rows.append(f"| `{signature.replace('|', chr(92) + '|')}` | "
                    f"[{header}](../include/threadmap/{header}) | {sentence} |\n")
    return "".join(rows)


def main():
    found = entries()
    missing = [f"{header}: {symbol} has no comment" for symbol, _, header, sentence in found
               if not sentence]
    new = page(found)
    if "--update" in sys.argv:
        with open(DOCUMENT, "w", encoding="utf-8") as file:
            file.write(new)
    old = ""
    if os.path.exists(DOCUMENT):
        with open(DOCUMENT, encoding="utf-8") as file:
            old = file.read()
    if old != new:
        missing.append("docs/api.md is stale: tests/docs/api.py --update")
    print("\n".join(missing) or f"{len(found)} names")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
