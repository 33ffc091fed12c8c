#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compiles the code of all documents (*.md), and compares it with its samples and its output.

    snippets.py [--update] [ROOT]
        ROOT: a checkout ($TMAP_ROOT, else the one that this file lies in)
        --update: first writes what samples have into the blocks that come from them, then what programs
        print into the blocks and tables of their output

Each ```c block is compiled as C11 without a warning; one with a main is run, and must return 0.
Each ```cuda block is compiled by nvcc, or for the CPU machine where there is no nvcc; one with an
output is a program, which the CPU machine runs. In the text around blocks:

    <!-- from samples/WING/FILE.cu: NAME -->  the block that follows is what stands in that file
                                              between `// [snippet: NAME]` and `// [/snippet]`, but
                                              for its indentation; it is compiled as its sample is
    <!-- output -->                           the ```text block or the table that follows is what
                                              the program before it prints
    <!-- link nvrtc -->                       the program that follows needs <nvrtc.h> and -lnvrtc,
                                              and is left out where they are missing

Also: no unknown kind of block, no name tmap_... or TMAP_... that no header has, no `name.h` that is
nowhere, no link to a missing file or to a heading that its document does not have, and no image in
docs/img that no document shows; in sources no document docs/... that is not there, and no marker of a snippet without its other half. Before that,
documents with one fault each are shown to fail. Exit status: 0, 1 or 77.
"""
import concurrent.futures
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap

HERE = os.path.dirname(os.path.abspath(__file__))
OTHER_KINDS = {"sh", "text", "meson", "cmake", "ini", "python", "bibtex", "json"}
FOLDERS = ("docs", "samples", "bench", "tests")  # with documents, beside the root's own
HISTORY = ("CHANGELOG.md", "docs/notebook.md")  # may name what there was once
NAME = r"\btmap_[a-z0-9_]*[a-z0-9]\b|\bTMAP_[A-Z0-9_]*[A-Z0-9]\b(?!\*)"  # not TMAP_E*
VARIABLES = {"TMAP_OFFLINE", "TMAP_ROOT", "TMAP_OUT", "TMAP_KAT", "TMAP_TEST_SMALL", "TMAP_TEST_PART"}  # of the environment, not of a header
SYSTEM = {"cuda_runtime.h", "cuda_fp16.h", "mma.h", "nvrtc.h", "stdint.h", "math.h", "stdio.h"}
MARKER = r"^[ \t]*// \[snippet: (\S+)\]\n(.*?)^[ \t]*// \[/snippet\]$"
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
        self.source = self.output = self.link = self.printed = None

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
            elif line == "<!-- output -->" and blocks and blocks[-1].kind in ("c", "cuda"):
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


def snippet(root, path, name):
    """(the text of a snippet, '') or (None, what is wrong)."""
    file = os.path.join(root, path)
    if not os.path.isfile(file):
        return None, f"no file {path}"
    found = [textwrap.dedent(text) for marker, text in re.findall(MARKER, read(file), re.S | re.M)
             if marker == name]
    if len(found) != 1:
        return None, f"{path} has {len(found)} snippets {name}"
    return found[0], ""


def check_source(root, block):
    """A block that claims to come from a sample: '' or what is wrong."""
    path, name = block.source
    text, wrong = snippet(root, path, name)
    if text is None or text == block.text:
        return wrong
    return f"differs from {path}: {name}, which is\n{text}"


def updated(root, text):
    """A document with the blocks that come from samples as these have them now."""
    def put(found):
        now = snippet(root, found[2], found[3])[0]
        return found[1] + (found[4] if now is None else now) + "```\n"
    return re.sub(r"^(<!-- from (\S+): (\S+) -->\n```\w+\n)(.*?)^```\n", put, text,
                  flags=re.S | re.M)


def with_output(text, blocks):
    """A document in which the output of its blocks is what they have printed."""
    lines = text.split("\n")
    for block in reversed(blocks):  # so that earlier lines keep their numbers
        if block.output is None or block.printed in (None, block.output):
            continue
        first = lines.index("<!-- output -->", block.line) + 1
        first += not lines[first].startswith("|")
        lines[first:first + block.output.count("\n")] = block.printed.split("\n")[:-1]
    return "\n".join(lines)


def check_source_text(root, path, text):
    """What a source says of documents: markers that are not pairs, files that are not there."""
    left = re.sub(MARKER, lambda pair: "twice [snippet:" if "[snippet:" in pair[2] else "", text,
                  flags=re.S | re.M)
    if re.search(r"^[ \t]*// \[/?snippet|twice \[snippet", left, re.M):
        yield f"{path}: a marker of a snippet without its other half"
    for name in re.findall(r"\bdocs/[\w/]+\.md\b", text):
        if not os.path.isfile(os.path.join(root, name)):
            yield f"{path}: there is no {name}"


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
    code, _, text = run([*command, "-o", program, "-lm"])
    if code:
        return text
    return check_run(root, block, program, env)


def check_run(root, block, program, env=None):
    """Runs a block's program: '' or what is wrong."""
    code, out, text = run([program], cwd=root, env=env)
    if code or text:
        return f"exit status {code}\n{text}"
    block.printed = out
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


def check_cuda(root, folder, block, file, nvcc):
    """A CUDA block, by nvcc or for the CPU machine, which runs it: '' or what is wrong."""
    include = ["-I", os.path.join(root, "include")]
    if nvcc:
        # No optimizer: names, types and warnings are the front end's.
        code, out, text = run([nvcc, "-std=c++17", "-arch=sm_75", "-Werror", "all-warnings", "-ptx",
                               "-Xcicc", "-O0", *include, file, "-o", file + ".ptx"])
        if code or block.output is None:
            return out + text if code else ""
    simt = os.path.join(root, "tests", "simt")
    code, _, text = run([sys.executable, os.path.join(simt, "delaunch.py"), file, file + ".cpp"])
    if code:
        return text
    command = ["g++", "-std=c++17", "-Wno-unknown-pragmas", "-I", os.path.join(folder, "mirror"), *include,
               "-isystem", os.path.join(simt, "include"), "-include", os.path.join(simt, "simt.h"), file + ".cpp"]
    if block.output is None:
        code, _, text = run([*command, "-fsyntax-only"])
        return text if code else ""
    code, _, text = run([*command, "-O1", "-o", file + ".out"])
    return text if code else check_run(root, block, file + ".out")


def declared_names(root):
    """What headers declare: every name in their code, comments left out."""
    names = set(VARIABLES)
    for path in glob.glob(os.path.join(root, "include", "threadmap", "**", "*.h"), recursive=True):
        text = re.sub(r"//[^\n]*|/\*.*?\*/", "", read(path), flags=re.S)
        names |= set(re.findall(NAME, text))
        for header, prefix in (("catalogue.h", "tmap_fractal"), ("catalogue3.h", "tmap_fractal3"),
                               ("turned.h", "tmap_turned"), ("pdist.h", "TMAP_PDIST")):
            if path.endswith("/" + header):
                names |= {f"{prefix}_{one}" for one in re.findall(r"^    X\((\w+),", text, re.M)}
    return names


def header_files(root):
    """The headers of the repository, as paths below its root."""
    return ["/" + os.path.relpath(path, root) for folder in ("include", *FOLDERS)
            for path in glob.glob(os.path.join(root, folder, "**", "*.h"), recursive=True)]


def anchors(text):
    """The anchors that a page of this document has, as GitHub makes them of headings."""
    found = set()
    for heading in re.findall(r"^#+ +(.*?) *$", re.sub(r"^```.*?^```", "", text, flags=re.S | re.M),
                              re.M):
        heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        slug = re.sub(r"[^\w\- ]", "", heading).replace(" ", "-")
        number = 0
        while (slug if number == 0 else f"{slug}-{number}") in found:
            number += 1
        found.add(slug if number == 0 else f"{slug}-{number}")
    return found


def check_words(name, text, declared, files):
    """Names and headers that are nowhere. files: the headers of the repository."""
    for word in sorted(set(re.findall(NAME, text)) - declared):
        yield f"{name}: no header has {word}"
    inline = re.sub(r"^```.*?^```", "", text, flags=re.S | re.M)
    for header in sorted(set(re.findall(r"`<?([a-z0-9_/]+\.h)>?`", inline)) - SYSTEM):
        if not any(path.endswith("/" + header) for path in files):
            yield f"{name}: there is no {header}"


def check_links(root, name, text):
    """Links to files, and to headings in them, that are not there."""
    folder = os.path.join(root, os.path.dirname(name))
    for link in re.findall(r"\]\(([^)\s]+)", re.sub(r"^```.*?^```", "", text, flags=re.S | re.M)):
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        target = os.path.join(folder, path) if path else None
        if target and not os.path.exists(target):
            yield f"{name}: a link to {path}, which is not there"
        elif anchor and anchor not in anchors(read(target) if target else text):
            yield f"{name}: a link to {link}, a heading that is not there"


def check(root, documents, folder, nvcc=shutil.which("nvcc"), update=False):
    """(faults, blocks compiled, blocks left out) of {name: text}. update: 1: the texts get the output that
    programs print, which is then no fault."""
    faults, jobs = [], []
    declared, files = declared_names(root), header_files(root)
    for name, text in documents.items():
        blocks, wrong = parse(name, text)
        faults += [*wrong, *check_links(root, name, text)]
        if name not in HISTORY:
            faults += check_words(name, text, declared, files)
        jobs += [block for block in blocks if block.kind in ("c", "cuda")]
    if any(block.kind == "cuda" and not block.source and not (nvcc and block.output is None) for block in jobs):
        run([sys.executable, os.path.join(root, "tests", "simt", "delaunch.py"), "--tree",
             os.path.join(root, "include"), os.path.join(folder, "mirror")])

    def work(number):
        block = jobs[number]
        if block.source:
            return check_source(root, block)
        file = os.path.join(folder, f"block{number}." + ("c" if block.kind == "c" else "cu"))
        with open(file, "w", encoding="utf-8") as out:
            out.write(f'#line {block.line + 1} "{block.name}"\n{block.text}')
        if block.kind == "c":
            return check_program(root, folder, block, file)
        return check_cuda(root, folder, block, file, nvcc)

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        order = sorted(range(len(jobs)), key=lambda n: jobs[n].kind != "cuda")  # slowest first
        answers = dict(zip(order, pool.map(work, order)))
    for name, text in documents.items() if update else ():
        documents[name] = with_output(text, [block for block in jobs if block.name == name])
    faults += [f"{jobs[n].where()}: {answers[n]}" for n in sorted(answers)
               if answers[n] and not (update and answers[n].startswith("prints\n"))]
    left_out = sum(answer is None for answer in answers.values())
    return faults, len(jobs) - left_out, left_out


PROGRAM = "```c\n#include <stdio.h>\nint main(void) { return puts(\"1\") < 0; }\n```\n"
CUDA_PROGRAM = ("```cuda\n#include <stdio.h>\n__global__ void k(int *a) { *a = (int)blockDim.x; }\nint main() {\n"
                "    int *a;\n    if (cudaMallocManaged(&a, 4)) return 1;\n    k<<<1, 7>>>(a);\n"
                "    cudaDeviceSynchronize();\n    printf(\"%d\\n\", *a);\n}\n```\n<!-- output -->\n```text\n7\n```\n")
QUOTE = "<!-- from samples/fractal/01_first_map.cu: first-map -->\n```cuda\nint a;\n```\n"
NBB = "#include <threadmap/fractal/nbb.h>\n"
FAULTS = {  # a document, and what must be said about it
    f"```c\n{NBB}int f(void) {{ return tmap_nbb_tau(1); }}\n```\n": "incompatible type",
    f"```cuda\n{NBB}__device__ int f() {{ return undeclared; }}\n```\n": "undeclared",
    "```c\nint f(void) { int unused; return 0; }\n```\n": "unused variable",
    "```c\nint main(void) { return 1; }\n```\n": "exit status 1",
    PROGRAM + "<!-- output -->\n```text\n2\n```\n": "prints\n1",
    PROGRAM + "<!-- output -->\n| 1 |\n": "prints\n1",
    PROGRAM: "prints\n1",
    CUDA_PROGRAM.replace("<1, 7>", "<1, 8>"): "prints\n8",
    CUDA_PROGRAM.replace("printf", "return 3; printf"): "exit status 3",
    QUOTE.replace("01_first", "00_none"): "no file samples/fractal/00_none",
    QUOTE.replace("first-map", "no-map"): "has 0 snippets no-map",
    QUOTE: "differs from samples/fractal/01_first_map.cu",
    "```cdua\nint a;\n```\n": "unknown kind of block 'cdua'",
    "```c\nint a;\n": "ends inside a block",
    PROGRAM + "<!-- output -->\n": "ends inside a block, or after a comment",
    "<!-- output -->\nText.\n": "says nothing here",
    "<!-- from samples/fractal/01_first_map.cu -->\n": "says nothing here",
    "<!-- link nvrtc -->\nText.\n": "a comment that no block follows",
    "`tmap_nbb_lamda`\n": "no header has tmap_nbb_lamda",
    "`fractal/nnb.h`\n": "there is no fractal/nnb.h",
    "[maps](maps-missing.md)\n": "a link to maps-missing.md",
    "[errata](errata.md#z9-nothing)\n": "a heading that is not there",
    "# One\n[here](#two)\n": "a heading that is not there",
}
SOUND = ("# The ρ of `x`, 3 × 3\n[a](#the-ρ-of-x-3--3)\n" + PROGRAM +
         "<!-- output -->\n```text\n1\n```\n")
# Compiles for both, with a header of the library and one of the samples' files.
SOUND_CUDA = ("```cuda\n#include \"../samples/files/state.h\"\n" + NBB +
              "__global__ void k(int *a) { *a = (int)threadIdx.x; }\n```\n")
WRONG_SOURCES = ("// [snippet: a]\n", "// [/snippet]\n",
                 "// [snippet: a]\n// [snippet: b]\n// [/snippet]\n", "// see docs/none.md\n")
SOUND_SOURCE = "    // [snippet: a]\n    int a; // docs/errata.md\n    // [/snippet]\n"


def self_test(root, folder):
    """What is wrong with the checks themselves."""
    for number, (text, said) in enumerate(FAULTS.items()):
        faults = check(root, {"docs/x.md": text}, folder)[0]
        if not any(said in fault for fault in faults):
            yield f"fault {number}, '{said}', is not seen, but: {faults}"
    yield from check(root, {"docs/x.md": SOUND}, folder)[0]
    yield from check(root, {"docs/x.md": updated(root, QUOTE)}, folder)[0]
    for right in ("```text\n1\n```\n", "| 1 |\n"):
        wrong = PROGRAM + "<!-- output -->\n" + right.replace("1", "2") + "End.\n"
        documents = {"docs/x.md": wrong.replace('"1"', '"| 1 |"') if "|" in right else wrong}
        yield from check(root, documents, folder, update=True)[0]
        if not documents["docs/x.md"].endswith("<!-- output -->\n" + right + "End.\n"):
            yield f"output is not updated: {documents['docs/x.md']}"
    for nvcc in {shutil.which("nvcc"), None}:
        yield from check(root, {"docs/x.md": SOUND_CUDA + CUDA_PROGRAM}, folder, nvcc)[0]
    for text in WRONG_SOURCES:
        if not list(check_source_text(root, "x.cu", text)):
            yield f"a source is not seen to be wrong: {text}"
    yield from check_source_text(root, "x.cu", SOUND_SOURCE)


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--update"]
    root = arguments[0] if arguments else os.environ.get("TMAP_ROOT") or \
        os.path.dirname(os.path.dirname(HERE))
    if not shutil.which("gcc"):
        print("SKIP: no gcc")
        sys.exit(77)
    names = glob.glob("*.md", root_dir=root) + [
        path for folder in FOLDERS
        for path in glob.glob(os.path.join(folder, "**", "*.md"), root_dir=root, recursive=True)]
    documents = {name: read(os.path.join(root, name)) for name in sorted(names)}
    update, before = "--update" in sys.argv, dict(documents)
    if update:
        documents = {name: updated(root, text) for name, text in documents.items()}
    sources = [path for folder in ("include", *FOLDERS) for end in ("h", "c", "cu", "py")
               for path in glob.glob(os.path.join(folder, "**", "*." + end), root_dir=root,
                                     recursive=True)
               if not os.path.samefile(os.path.join(root, path), __file__)]
    with tempfile.TemporaryDirectory(prefix="snippets-") as folder:
        wrong = list(self_test(root, folder))
        faults, compiled, left_out = check(root, documents, folder, update=update)
    for name, text in documents.items():
        if text != before[name]:
            with open(os.path.join(root, name), "w", encoding="utf-8") as file:
                file.write(text)
    for path in sorted(sources):
        wrong += check_source_text(root, path, read(os.path.join(root, path)))
    wrong += faults
    shown = {name for text in documents.values() for name in re.findall(r"\bimg/(\w+\.\w+)\)", text)}
    wrong += [f"no document shows docs/img/{name}"
              for name in sorted(set(os.listdir(os.path.join(root, "docs", "img"))) - shown)]
    if compiled == 0:
        wrong.append("no block was found")
    if left_out:
        print(f"{left_out} block(s) left out: no NVRTC")
    if not shutil.which("nvcc"):
        print("no nvcc: CUDA blocks compiled for the CPU machine")
    print("\n".join(wrong + [f"{len(documents)} documents, {compiled} blocks, {len(wrong)} wrong"]))
    sys.exit(1 if wrong else 0)


main()
