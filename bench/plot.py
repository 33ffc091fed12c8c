#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws the figures of the papers, and makes the tables of documents, from results.

    plot.py [--results DIR] [--out DIR] [--format png|svg]   draws (needs matplotlib)
    plot.py --tables [--results DIR]                         prints all tables as Markdown
    plot.py --update [FILE...] [--results DIR]               refills the tables of documents, and sentences
    plot.py --all [--results DIR] [--out DIR]                does both, for all documents

DIR of results is bench/results/h200, or the only folder in bench/results; --out is docs/img. In a
document, what stands between `<!-- table: NAME -->` and `<!-- /table -->` is replaced by the table
of that name, and likewise `<!-- picture: NAME -->` and `<!-- /picture -->`. What results lack is
left out of tables and pictures, and said. All tables stand in tables.md beside the results, some in
documents; --update without a file refills all of these, and writes the numbers of the committed results
into the sentences of plots/sentences.py. Exit status: 0, 1 (no matplotlib), 2 (bad input).
"""
import argparse
import os
import re
import sys

from plots import (ask, ask_model, ask_paper, ask_pictures, choosing, compact, drmsd, floods, fractals,
                   fractals3, fractals_paper, fractals_pictures, near, others, triangle, triangle_paper,
                   triangle_pictures)
from plots.results import DOCUMENTS, ROOT, WORKS, default_results, load
from plots.sentences import SENTENCES, refresh
from plots.style import note, start
from plots.text import NOTHING

# A function table_NAME of one of these makes the table NAME, with hyphens for underscores.
TABLES = {name[len("table_"):].replace("_", "-"): make
          for module in (ask, ask_model, ask_paper, choosing, others, fractals, fractals3, fractals_paper,
                         triangle, triangle_paper, near, drmsd, floods, compact)
          for name, make in vars(module).items() if name.startswith("table_")}
for of in WORKS:
    TABLES[f"gasket-{of}"], TABLES[f"fractals-{of}"] = fractals.gasket(of), fractals.all_fractals(of)


def refill(text, data, images="img", suffix="png"):
    """A document with its tables and pictures made anew. Raises ValueError for an unknown name or a
    block without an end."""
    def fill(match):
        kind, name = match[1], match[2]
        if kind == "table" and name in TABLES:
            body = TABLES[name](data)
        elif kind == "picture" and name in PICTURES:
            title, has, _ = PICTURES[name]
            body = f"![{title}]({images}/{name}.{suffix})" if has(data) else NOTHING
        else:
            raise ValueError(f"no {kind} is called {name}")
        return f"<!-- {kind}: {name} -->\n{body}\n<!-- /{kind} -->"

    # The body may hold no other marker: a missing end must not swallow what follows.
    block = r"<!-- (table|picture): (\S+) -->\n(?:(?!<!-- /?(?:table|picture)).*\n)*?<!-- /\1 -->"
    marker = r"<!-- (?:table|picture):"
    if len(re.findall(block, text)) != len(re.findall(marker, text)):
        raise ValueError("a table or picture without an end")
    return re.sub(block, fill, text)


# name: title; what the results have to have for it; how it is drawn
PICTURES = {
    "gasket_speedup": ("Speedup over the bounding box, and times, against n", fractals_pictures.gaskets,
                       fractals_pictures.draw_speedup),
    "theory": ("Speedup in theory, and measured", fractals_pictures.gaskets,
               fractals_pictures.draw_theory),
    "forms": ("Each form of lambda over warp shuffles, against n",
              lambda data: fractals_pictures.gaskets(data) or data["fractal"].domains("dummy"),
              fractals_pictures.draw_forms),
    "fig11": ("Tensor-core variants over warp shuffles, against n",
              lambda data: fractals_paper.paper_results(data).pick(variant="wmma_fp16"),
              fractals_pictures.draw_fig11),
    "map_only": ("Times of the map alone", lambda data: data["fractal"].domains("dummy"),
                 fractals_pictures.draw_dummy),
    "fractals_speedup": ("Nine fractals: speedup and percent of the limit",
                         lambda data: [work for work in WORKS for domain in data["fractal"].domains(work)
                                       if data["fractal"].top(work, domain) is not None],
                         fractals_pictures.draw_fractals),
    "ask_speedup": ("Mandelbrot set: speedup over exhaustive against n, g, r and B", ask.compared,
                    ask_pictures.draw_ask_speedup),
    "ask_landscape": ("Mandelbrot set: speedup over (g, r, B)", ask.compared,
                      ask_pictures.draw_ask_landscape),
    "ask_model": ("Predicted and measured times of subdivisions",
                  lambda data: ask_model.predictions(data["ask"]), ask_pictures.draw_ask_model),
    "ask_omega": ("Work reduction by the cost model", lambda data: data["ask"].at("theory"),
                  ask_pictures.draw_ask_omega),
    "ask_theory": ("Speedups by the cost model", lambda data: data["ask"].at("theory"),
                   ask_pictures.draw_ask_theory),
    "triangle_speedup": ("Maps of the triangle over the bounding box, against n",
                         lambda data: data["triangle"].pick(variant="bb"),
                         triangle_pictures.draw_triangle),
    "triangle_published": ("Triangle: I against n with blocks of 16 x 16, and against features",
                           triangle_paper.measured, triangle_pictures.draw_triangle_published),
    "triangle_k": ("Triangle: the model's k, and blocks without a cell", triangle_paper.measured,
                   triangle_pictures.draw_triangle_k),
    "ask_published": ("Mandelbrot set, as published: speedup against n, g, r and B",
                      lambda data: data["ask"].pick(variant="published_exhaustive"), ask_pictures.draw_ask_published),
    "compact_speed": ("Life on compact storage: cells a second against the level",
                      lambda data: data["compact"].at("life"), compact.draw_compact_speed),
    "compact_memory": ("Memory of a state against that of a matrix",
                       lambda data: data["compact"].at("life"), compact.draw_compact_memory),
    "drmsd_rates": ("dRMSD of one pair of frames: pairs a second against n",
                    lambda data: drmsd.drmsd_pairs(data["drmsd"]), drmsd.draw_drmsd),
}


def draw(data, out, suffix):
    """Draws what there are results for. Returns an exit status."""
    try:
        pyplot = start()
    except ImportError:
        note("no matplotlib: python3 -m pip install matplotlib")
        return 1
    os.makedirs(out, exist_ok=True)
    for name, (_, has, make) in PICTURES.items():
        if not has(data):
            note(f"{name}: no results for it, left out")
            continue
        figure = make(pyplot, data)
        path = os.path.join(out, f"{name}.{suffix}")
        # Without a date or a version in it, the same results give the same file.
        figure.savefig(path, metadata={"Software": None} if suffix == "png" else {"Date": None})
        if suffix == "png":  # 256 colours are enough, and a third of the bytes
            from PIL import Image  # pylint: disable=import-outside-toplevel
            with Image.open(path) as image:
                image.convert("RGB").quantize(256, dither=Image.Dither.NONE).save(path,
                                                                                  optimize=True)
        pyplot.close(figure)
        print(path)
    return 0


def main(argv):
    parser = argparse.ArgumentParser(prog="plot.py", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", metavar="DIR", help="folder of JSON files")
    parser.add_argument("--out", metavar="DIR", default=os.path.join(ROOT, "docs", "img"))
    parser.add_argument("--format", choices=("png", "svg"), default="png")
    parser.add_argument("--tables", action="store_true", help="print all tables")
    parser.add_argument("--update", metavar="FILE", nargs="*", help="refill these documents")
    parser.add_argument("--all", action="store_true", help="refill all documents, and draw")
    options = parser.parse_args(argv)
    folder = options.results or default_results()
    try:
        data = load(folder)
    except (OSError, ValueError) as error:
        note(f"{folder}: {error}")
        return 2
    if options.all and options.update is None:
        options.update = []
    if not data and options.update is None:
        note(f"no results in {folder or os.path.join(ROOT, 'bench', 'results')}"
             " (bench/run makes them)")
        return 2
    if options.tables:
        print("\n\n".join(f"{name}:\n\n{make(data)}" for name, make in TABLES.items()))
    if options.update == []:
        options.update = [os.path.join(ROOT, name) for name in sorted({*DOCUMENTS, *SENTENCES})]
    for path in options.update or ():
        images = os.path.relpath(options.out, os.path.dirname(os.path.abspath(path)))
        try:
            with open(path, encoding="utf-8") as file:
                text = file.read()
            filled = refill(text, data, images, options.format)
            if not options.results:  # sentences are about the committed results
                filled = refresh(os.path.relpath(path, ROOT), filled, data, TABLES)
            if filled != text:
                with open(path, "w", encoding="utf-8") as file:
                    file.write(filled)
        except (OSError, ValueError) as error:
            note(f"{path}: {error}")
            return 2
    if (options.tables or options.update) and not options.all:
        return 0
    return draw(data, options.out, options.format)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
