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

from plots.ask import (table_ask, table_ask_blocks, table_ask_bulbs, table_ask_costs,
                       table_ask_differ, table_ask_dp, table_ask_drivers, table_ask_energy,
                       table_ask_insert, table_ask_levels, table_ask_lost, table_ask_optima,
                       table_ask_order, table_ask_p, table_ask_summary)
from plots.ask_model import table_ask_predict
from plots.ask_paper import table_ask_claims
from plots.ask_pictures import (draw_ask_landscape, draw_ask_model, draw_ask_omega, draw_ask_p,
                                draw_ask_speedup, draw_ask_theory, has_ask, has_ask_levels,
                                has_ask_model, has_ask_theory)
from plots.choosing import (table_choose, table_choose_ask, table_choose_compact,
                            table_choose_fractals, table_choose_maps, table_choose_pairs)
from plots.compact import (draw_compact_memory, draw_compact_speed, has_compact, table_compact,
                           table_compact_claims, table_compact_levels, table_compact_moves,
                           table_compact_top, table_compact_works)
from plots.drmsd import (draw_drmsd, has_drmsd, table_drmsd, table_drmsd_claims, table_drmsd_u,
                         table_molecules)
from plots.floods import table_flood_claims, table_floods, table_granularity, table_label3
from plots.fractals import (table_block, table_dummy, table_engine, table_fractals, table_gasket,
                            table_meta, table_n_0, table_reduce, table_rho, table_summary)
from plots.fractals3 import table_fractal3, table_fractal3_life, table_fractal3_turned
from plots.fractals_paper import table_fractal_claims, table_simplex_claims
from plots.fractals_pictures import (draw_dummy, draw_fig11, draw_forms, draw_fractals,
                                     draw_speedup, draw_theory, has_dummy, has_fig11, has_forms,
                                     has_gasket, has_tops)
from plots.others import table_others, table_versions
from plots.results import DOCUMENTS, ROOT, WORKS, default_results, load
from plots.sentences import SENTENCES, refresh
from plots.style import note, start
from plots.text import NOTHING
from plots.triangle import (table_pairs, table_pdist, table_triangle, table_triple_tables,
                            table_triples)
from plots.triangle_paper import table_triangle_claims, table_triangle_k, table_triangle_waste
from plots.triangle_pictures import (draw_triangle, draw_triangle_k, draw_triangle_published,
                                     has_triangle, has_triangle_maps)

ASK_TABLES = {
    "ask": table_ask, "ask-differ": table_ask_differ, "ask-drivers": table_ask_drivers,
    "ask-bulbs": table_ask_bulbs, "ask-levels": table_ask_levels, "ask-costs": table_ask_costs,
    "ask-predict": table_ask_predict, "ask-lost": table_ask_lost, "ask-energy": table_ask_energy,
    "ask-summary": table_ask_summary, "ask-dp": table_ask_dp, "ask-p": table_ask_p,
    "ask-optima": table_ask_optima, "ask-blocks": table_ask_blocks,
    "ask-insert": table_ask_insert, "ask-order": table_ask_order,
    "ask-claims": table_ask_claims,
}

TABLES = {
    **ASK_TABLES,
    "choose": table_choose, "choose-pairs": table_choose_pairs,
    "choose-fractals": table_choose_fractals, "choose-compact": table_choose_compact,
    "choose-maps": table_choose_maps, "choose-ask": table_choose_ask,
    "others": table_others, "versions": table_versions,
    "meta": table_meta, "summary": table_summary, "engine": table_engine,
    **{f"gasket-{work}": table_gasket(work) for work in WORKS},
    "fractal3": table_fractal3, "fractal3-life": table_fractal3_life,
    "fractal3-turned": table_fractal3_turned,
    "rho": table_rho,
    **{f"fractals-{work}": table_fractals(work) for work in WORKS},
    "n0": table_n_0, "dummy": table_dummy, "triangle": table_triangle, "pdist": table_pdist,
    "triangle-claims": table_triangle_claims, "triangle-k": table_triangle_k,
    "triangle-waste": table_triangle_waste,
    "pairs": table_pairs, "triples": table_triples, "triple-tables": table_triple_tables,
    "molecules": table_molecules,
    "drmsd": table_drmsd, "drmsd-u": table_drmsd_u, "drmsd-claims": table_drmsd_claims,
    "floods": table_floods, "granularity": table_granularity, "label3": table_label3,
    "flood-claims": table_flood_claims,
    "fractal-claims": table_fractal_claims, "simplex-claims": table_simplex_claims,
    "block": table_block, "reduce": table_reduce,
    "compact": table_compact, "compact-levels": table_compact_levels,
    "compact-top": table_compact_top, "compact-works": table_compact_works,
    "compact-moves": table_compact_moves, "compact-claims": table_compact_claims,
}


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


# name: title, whether the results have it, how it is drawn
PICTURES = {
    "gasket_speedup": ("Speedup over the bounding box, and times, against n", has_gasket,
                       draw_speedup),
    "theory": ("Speedup in theory, and measured", has_gasket, draw_theory),
    "forms": ("Each form of lambda over warp shuffles, against n", has_forms, draw_forms),
    "fig11": ("Tensor-core variants over warp shuffles, against n", has_fig11, draw_fig11),
    "map_only": ("Times of the map alone", has_dummy, draw_dummy),
    "fractals_speedup": ("Nine fractals: speedup and percent of the limit", has_tops,
                         draw_fractals),
    "ask_speedup": ("Mandelbrot set: speedup over exhaustive against n, g, r and B", has_ask,
                    draw_ask_speedup),
    "ask_landscape": ("Mandelbrot set: speedup over (g, r, B)", has_ask, draw_ask_landscape),
    "ask_model": ("Predicted and measured times of subdivisions", has_ask_model, draw_ask_model),
    "ask_omega": ("Work reduction by the cost model", has_ask_theory, draw_ask_omega),
    "ask_theory": ("Speedups by the cost model", has_ask_theory, draw_ask_theory),
    "triangle_speedup": ("Maps of the triangle over the bounding box, against n", has_triangle,
                         draw_triangle),
    "triangle_published": ("Triangle: I against n with blocks of 16 x 16, and against features",
                           has_triangle_maps, draw_triangle_published),
    "triangle_k": ("Triangle: the model's k, and blocks without a cell", has_triangle_maps,
                   draw_triangle_k),
    "ask_p": ("Mandelbrot set: P by level", has_ask_levels, draw_ask_p),
    "compact_speed": ("Life on compact storage: cells a second against the level", has_compact,
                      draw_compact_speed),
    "compact_memory": ("Memory of a state against that of a matrix", has_compact,
                       draw_compact_memory),
    "drmsd_rates": ("dRMSD of one pair of frames: pairs a second against n", has_drmsd, draw_drmsd),
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
