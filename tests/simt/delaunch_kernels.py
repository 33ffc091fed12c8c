# SPDX-License-Identifier: MIT
"""What delaunch.py writes so that kernels can be launched by their address alone.

SIMT_KERNEL((int a), k) stands first in the body of kernel k, so that it is known there and, in a
template, said once for every instance. A macro that holds all of a kernel but its body says it
after a declaration of its own. Not seen: a kernel whose __global__ is not written beside its name,
and a template with a parameter that has no name.
"""
import re

WORD = re.compile(r"[A-Za-z_]\w*$")
OPENING, CLOSING = ("(", "[", "{", "<"), (")", "]", "}", ">")
NO_NAMES = {"class", "typename", "bool", "char", "short", "int", "long", "unsigned", "signed",
            "float", "double", "auto", "const", "volatile"}


def parameter_list(source, first, last):
    """The parameter list in the brackets at first and last on one line, without defaults."""
    text, depth, default = "", 0, False
    for k in range(first, last + 1):
        t = source.tokens[k]
        depth += (t in OPENING) - (t in CLOSING)
        if t == "=" and depth == 1:
            default = True
        elif t == "," and depth == 1 or k == last:
            default = False
        if not default:
            text += " " if source.blank(k) else t
    return text


def may_declare(parameters):
    """Is this a parameter list, not arguments of a macro? Each parameter says more than a word."""
    inside = parameters.strip("() ")
    return inside in ("", "void") or all(len(re.findall(r"\w+|[*&]", p)) > 1
                                         for p in inside.split(","))


def template_name(piece):
    """A template parameter as an argument, "" for none at all, or None if it has no name."""
    text = " ".join(piece[:piece.index("=")] if "=" in piece else piece)
    m = (re.search(r"\( [*&] (\w+) \)", text) or
         re.match(r".*?([A-Za-z_]\w*)(?: \(.*\)| \[.*\])?$", text))
    if not text:
        return ""
    if not m or m[1] == text or m[1] in NO_NAMES or text[:m.start(1)].endswith(":: "):
        return None
    return m[1] + ("..." if ". . ." in text else "")


def template_arguments(source, i):
    """<names> for the kernel template whose __global__ is at i, "" for a function, or None."""
    k = source.before(i)
    while k >= 0 and source.tokens[k] != ">":
        if source.tokens[k] in ("]", ")"):
            k = source.match_back(k)
        elif not WORD.match(source.tokens[k]) and not source.tokens[k].startswith('"'):
            return ""
        k = source.before(k)
    first = source.template_back(k)
    if k < 0 or source.token(source.before(first)) != "template":
        return ""
    names, piece, depth = [], [], 0
    for j in range(first + 1, k + 1):
        t = source.tokens[j]
        if depth == 0 and (t == "," or j == k):
            names.append(template_name(piece))
            piece = []
        elif not source.blank(j):
            piece.append(t)
        depth += (t in OPENING) - (t in CLOSING)
    if names == [""]:
        return ""  # template <>: the name has arguments of its own
    return None if None in names else f"<{', '.join(names)}>"


def head_end(source, i):
    """Where what follows the __global__ at i ends: at a {, ; or the end of a macro; or None."""
    directive, depth = source.in_directive(i), 0
    for k in range(i + 1, len(source.tokens)):
        t = source.tokens[k]
        if depth == 0 and t in ("{", ";") or directive and "\n" in t.replace("\\\n", ""):
            return k
        depth += (t in ("(", "[", "{")) - (t in (")", "]", "}"))
        if depth < 0 or t == "#" and not directive:  # lines that depend on a condition
            return None
    return None


def listing(source, i):
    """A pair (index of a token, its new text) for the kernel defined at the __global__ at i."""
    end = head_end(source, i)
    arguments = template_arguments(source, i)
    if end is None or arguments is None or source.token(end) == ";":
        return None
    last = source.before(end)
    if source.token(last) == "noexcept":
        last = source.before(last)
    first = source.match_back(last) if source.token(last) == ")" else last  # or a macro's name
    name = name_end = source.before(first)
    if source.token(name) == ">":  # a specialization
        name = source.before(source.template_back(name))
    elif source.token(name) == ")":  # MACRO(name)(int a)
        name = source.before(source.match_back(name))
    while source.token(source.before(name)) == "#":  # one##two
        name = source.before(source.before(source.before(name)))
    word = source.token(name)
    if name <= i or not WORD.match(word) or word == "void" or word.startswith("__"):
        return None
    parameters = parameter_list(source, first, last)
    text = f"SIMT_KERNEL({parameters}, {source.one_line(name, name_end)}{arguments});"
    if source.token(end) == "{":
        return end, "{ " + text
    if arguments or not may_declare(parameters):
        return None
    return i, f"{source.one_line(i, first - 1)}{parameters}; {text} {source.token(i)}"


def listings(source):
    found = [listing(source, i) for i, t in enumerate(source.tokens)
             if t == "__global__" and source.token(source.before(i)) != "define"]
    return [pair for pair in found if pair]
