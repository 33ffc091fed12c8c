#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compiles the code of README.md and docs/*.md, and compares it with its samples and its output.

    snippets.py [ROOT]     ROOT: a checkout ($TMAP_ROOT, else the one that this file lies in)

Each ```c block is compiled as C11 without a warning; one with a main is run, and must return 0.
Each ```cuda block is compiled by nvcc, or for the CPU machine where there is no nvcc. A block
without #include gets the map headers. In the text around blocks:

    <!-- from samples/01_first_map.cu: NAME -->   the block that follows is what stands in that file
                                                 between `// [snippet: NAME]` and `// [/snippet]`
    <!-- output -->                              the ```text block or the table that follows is what
                                                 the program before it prints
    <!-- link nvrtc -->                          the program that follows needs <nvrtc.h> and
                                                 -lnvrtc, and is left out where they are missing

Also: no unknown kind of block, no name tmap_... that no header has, no link to a missing file.
Before that, documents with one fault each are shown to fail. Exit status: 0, 1 or 77.
"""
import concurrent.futures
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
OTHER_KINDS = {"sh", "text", "meson", "cmake", "ini", "python", "bibtex", "json"}
MAPS = "".join(f"#include <threadmap/{name}.h>\n"
               for name in ("fractals", "gasket", "nbb_size", "version"))
NAME = r"\btmap_[a-z0-9_]+|\bTMAP_(?:E|MAP_)[A-Z_]+"  # of a function, an error or a map
STRICT = ["-std=c11", "-Wall", "-Wextra", "-Wno-unused-function", "-Werror"]


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def run(command, **kwargs):
    """(exit status, stdout, stderr) of a command."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          check=False, **kwargs)
    return done.returncode, done.stdout, done.stderr


class Block:
    """A fenced block: where it is, its kind, its text, and what the comments around it ask for."""

    def __init__(self, name, line, kind):
        self.name, self.line, self.kind, self.text = name, line, kind, ""
        self.source = self.output = self.link = None

    def where(self):
        return f"{self.name}:{self.line}"


def parse(name, text):
    """(blocks, faults) of a document."""
    blocks, faults = [], []
    block, table, source, link, output = None, None, None, None, None
    for number, line in enumerate(text.split("\n"), 1):
        if block:  # inside a fence
            if line.strip() == "```":
                if output:
                    output.output, output = block.text, None
                block = None
            else:
                block.text += line + "\n"
            continue
        if table is not None:  # inside a table of output
            if line.startswith("|"):
                table.output += line + "\n"
                continue
            table = None
        if line.startswith("```"):
            kind = line[3:].strip()
            if output and kind != "text":
                faults.append(f"{name}:{number}: output that is no text block or table")
                output = None
            block = Block(name, number, kind)
            block.source, block.link, source, link = source, link, None, None
            if kind not in OTHER_KINDS | {"c", "cuda"}:
                faults.append(f"{name}:{number}: unknown kind of block '{kind}'")
            blocks.append(block)
        elif line.startswith("|") and output:
            table, output = output, None
            table.output = line + "\n"
        elif line.startswith("<!--"):
            asked = re.fullmatch(r"<!-- from (\S+): (\S+) -->", line)
            if asked:
                source = asked.groups()
            elif line == "<!-- output -->" and blocks and blocks[-1].kind == "c":
                output = blocks[-1]
            elif line == "<!-- link nvrtc -->":
                link = "nvrtc"
            elif re.match(r"<!--\s*(from|output|link)\b", line):
                faults.append(f"{name}:{number}: a comment that says nothing here: {line}")
        elif line.strip() and (source or link or output):
            faults.append(f"{name}:{number}: a comment that no block follows")
            source = link = output = None
    if block or source or link or output:
        faults.append(f"{name}: ends inside a block, or after a comment for one")
    return blocks, faults


def check_source(root, block):
    """A block that claims to come from a sample: '' or what is wrong."""
    path, name = block.source
    file = os.path.join(root, path)
    if not os.path.isfile(file):
        return f"no file {path}"
    found = re.findall(r"^// \[snippet: " + re.escape(name) + r"\]\n(.*?)^// \[/snippet\]$",
                       read(file), re.S | re.M)
    if len(found) != 1:
        return f"{path} has {len(found)} snippets {name}"
    return "" if found[0] == block.text else f"differs from {path}: {name}, which is\n{found[0]}"


def check_program(root, folder, block, file):
    """A C block: '' or what is wrong; None if it was left out."""
    is_program = re.search(r"^int main\(", block.text, re.M)
    command = ["gcc", *STRICT, "-I", os.path.join(root, "include"), file]
    env = dict(os.environ)
    if block.output is not None and not is_program:
        return "output of a block without a main"
    if not is_program:
        return run([*command, "-fsyntax-only"])[2]
    if block.link:
        toolkit = cuda_folder()
        if not toolkit:
            return None
        command += ["-isystem", toolkit[0], "-L", toolkit[1], "-lnvrtc"]
        env["LD_LIBRARY_PATH"] = toolkit[1] + ":" + env.get("LD_LIBRARY_PATH", "")
    program = os.path.join(folder, os.path.basename(file)[:-2])
    code, _, text = run([*command, "-o", program])
    if code:
        return text
    code, out, text = run([program], cwd=root, env=env, timeout=30)
    if code or text:
        return f"exit status {code}\n{text}"
    if (block.output or "") != out:
        return f"prints\n{out}"
    return ""


def cuda_folder():
    """(folder of nvrtc.h, folder of libnvrtc) of the nvcc on PATH, or None."""
    nvcc = shutil.which("nvcc")
    if not nvcc:
        return None
    root = os.path.dirname(os.path.dirname(os.path.realpath(nvcc)))
    for lib in ("lib64", "lib"):
        found = os.path.join(root, "include"), os.path.join(root, lib)
        if os.path.isfile(os.path.join(found[0], "nvrtc.h")) and \
                os.path.exists(os.path.join(found[1], "libnvrtc.so")):
            return found
    return None


def check_cuda(root, folder, file):
    """A CUDA block: '' or what is wrong."""
    nvcc = shutil.which("nvcc")
    if nvcc:
        code, out, text = run([nvcc, "-std=c++17", "-arch=sm_75", "-Werror", "all-warnings", "-ptx",
                               "-I", os.path.join(root, "include"), file, "-o", file + ".ptx"])
        return out + text if code else ""
    simt = os.path.join(root, "tests", "simt")
    code, _, text = run([sys.executable, os.path.join(simt, "delaunch.py"), file, file + ".cpp"])
    if code:
        return text
    code, _, text = run(["g++", "-std=c++17", "-fsyntax-only", "-Wno-unknown-pragmas",
                         "-I", os.path.join(folder, "mirror"),
                         "-isystem", os.path.join(simt, "include"),
                         "-include", os.path.join(simt, "simt.h"), file + ".cpp"])
    return text if code else ""


def check_words(root, name, text):
    """Names that no header has, and links to files that are not there."""
    declared = set()
    for path in glob.glob(os.path.join(root, "include", "threadmap", "**", "*.h"), recursive=True):
        declared |= set(re.findall(NAME, read(path)))
        if path.endswith("catalogue.h"):
            declared |= {"tmap_fractal_" + fractal
                         for fractal in re.findall(r"^    X\((\w+),", read(path), re.M)}
    for word in sorted(set(re.findall(NAME, text)) - declared):
        yield f"{name}: no header has {word}"
    folder = os.path.join(root, os.path.dirname(name))
    for link in re.findall(r"\]\(([^)#\s]+)", re.sub(r"```.*?```", "", text, flags=re.S)):
        if "://" not in link and not os.path.exists(os.path.join(folder, link)):
            yield f"{name}: a link to {link}, which is not there"


def check(root, documents, folder):
    """(faults, blocks compiled, blocks left out) of {name: text}."""
    faults, jobs = [], []
    for name, text in documents.items():
        blocks, wrong = parse(name, text)
        faults += [*wrong, *check_words(root, name, text)]
        jobs += [block for block in blocks if block.kind in ("c", "cuda")]
    cuda = any(block.kind == "cuda" for block in jobs)
    if cuda and not shutil.which("nvcc"):
        run([sys.executable, os.path.join(root, "tests", "simt", "delaunch.py"), "--tree",
             os.path.join(root, "include"), os.path.join(folder, "mirror")])

    def work(number):
        block = jobs[number]
        if block.source:
            wrong = check_source(root, block)
            if wrong:
                return wrong
        file = os.path.join(folder, f"block{number}." + ("c" if block.kind == "c" else "cu"))
        with open(file, "w", encoding="utf-8") as out:
            text = block.text if "#include" in block.text else MAPS + block.text
            out.write(f'#line {block.line + 1 - text[:-len(block.text)].count(chr(10))} '
                      f'"{block.name}"\n{text}')
        if block.kind == "c":
            return check_program(root, folder, block, file)
        return check_cuda(root, folder, file)

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        order = sorted(range(len(jobs)), key=lambda n: ("kernels/" not in jobs[n].text,
                                                        jobs[n].kind != "cuda"))  # slowest first
        answers = dict(zip(order, pool.map(work, order)))
    faults += [f"{jobs[n].where()}: {answers[n]}" for n in sorted(answers) if answers[n]]
    left_out = sum(answer is None for answer in answers.values())
    return faults, len(jobs) - left_out, left_out


PROGRAM = "```c\n#include <stdio.h>\nint main(void) { return puts(\"1\") < 0; }\n```\n"
FAULTS = {
    "does not compile": "```c\nint f(void) { return tmap_nbb_side_x(1); }\n```\n",
    "warns": "```c\nint f(void) { int unused; return 0; }\n```\n",
    "fails": "```c\nint main(void) { return 1; }\n```\n",
    "prints something else": PROGRAM + "<!-- output -->\n```text\n2\n```\n",
    "prints another table": PROGRAM + "<!-- output -->\n| 1 |\n",
    "prints what it does not show": PROGRAM,
    "names no sample": "<!-- from samples/00_none.cu: a -->\n```c\nint a;\n```\n",
    "differs from its sample":
        "<!-- from samples/01_first_map.cu: first-map -->\n```c\nint a;\n```\n",
    "has an unknown kind of block": "```cdua\nint a;\n```\n",
    "ends in a block": "```c\nint a;\n",
    "has a comment for no block": PROGRAM + "<!-- output -->\n",
    "has a misspelt comment": "<!-- from samples/01_first_map.cu -->\n",
    "names no function": "`tmap_nbb_lamda`\n",
    "links to nothing": "[maps](maps-missing.md)\n",
}


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("TMAP_ROOT") or \
        os.path.dirname(os.path.dirname(HERE))
    if not shutil.which("gcc"):
        print("SKIP: no gcc")
        sys.exit(77)
    names = [name for name in ["README.md"] + sorted(
        os.path.relpath(path, root) for path in glob.glob(os.path.join(root, "docs", "*.md")))
        if os.path.isfile(os.path.join(root, name))]
    documents = {name: read(os.path.join(root, name)) for name in names}
    with tempfile.TemporaryDirectory(prefix="snippets-") as folder:
        wrong = []
        for what, text in FAULTS.items():
            if not check(root, {"docs/x.md": text}, folder)[0]:
                wrong.append(f"a document that {what} would pass")
        faults, compiled, left_out = check(root, documents, folder)
    wrong += faults
    if compiled == 0:
        wrong.append("no block was found")
    if left_out:
        print(f"{left_out} block(s) left out: no NVRTC")
    if not shutil.which("nvcc"):
        print("no nvcc: CUDA blocks compiled for the CPU machine")
    print("\n".join(wrong + [f"{len(documents)} documents, {compiled} blocks, {len(wrong)} wrong"]))
    sys.exit(1 if wrong else 0)


main()
