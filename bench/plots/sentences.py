# SPDX-License-Identifier: MIT
"""Sentences of the documents whose numbers were measured, and where each number comes from.

In a sentence {2} is a measured number with two decimals. Its key is a row of results, or a number in a cell
of a table that results make. bench/plot.py --update writes the numbers of today into the sentences; a test
fails if one is old, or if docs/papers.md has a number that no table, no sentence here and no fragment of
UNMEASURED has.
"""
import math
import re

from .ask import ask_rows, ask_sizes
from .ask_model import predictions
from .triangle_paper import triangle_gain, triangle_rows


def cell(table, row, index=0, column=None):
    """The number `index` in a cell of the first row of TABLES[table] whose cells begin with `row`. column:
    of the table; without it "here" of a table of claims, and else the cell after `row`."""
    return lambda data, tables: cell_number(data.text(tables[table]), row, index, column)


def cell_number(text, row, index, column):
    lines = [line.strip("| ").split(" | ") for line in text.split("\n") if line.startswith("|")]
    for line in lines[2:]:
        for start, word in enumerate(line):
            if " | ".join(line[start:]).startswith(row):
                place = lines[0].index(column or "here") if column or "here" in lines[0] \
                    else start + row.count(" | ") + 1
                found = re.findall(r"\d+(?:\.\d+)?", line[place].replace(",", "")
                                   if column or "here" not in lines[0] else line[place])
                return float(found[index])
    raise KeyError(f"no row begins with {row}")


def ms(bench, **want):
    """The time of the fastest row that has all of these."""
    return lambda data, _: data[bench].least(**want)["ms"]


def us(bench, **want):
    return lambda data, tables: 1000 * ms(bench, **want)(data, tables)


def of(key, change):
    """A key whose number is changed: rounded otherwise, made a percentage, ..."""
    return lambda data, tables: change(key(data, tables))


def ratio(slow, fast):
    return lambda data, tables: slow(data, tables) / fast(data, tables)


def product(*keys):
    return lambda data, tables: math.prod(key(data, tables) for key in keys)


def gasket(work, variant, **more):
    return ms("fractal", work=work, variant=variant, domain="gasket", size=16, **more)


def in_box(work, index):
    """How many times as fast as the published launch unrolling (0) and the table (1) are with a block for each
    tile; unrolling against sub-boxes (2)."""
    return cell("fractal-forms", f"unrolling, table × the published launch, ρ = 16, 1 tile a block, {work}", index)


def of_works(pick, key):
    """The least or greatest key(work)."""
    return lambda data, tables: pick(key(work)(data, tables) for work in ("SW", "RD", "CA"))


def tensor(work, variant, index):
    return cell("fractal-claims", f"variant {variant} over shuffles, {work}", index)


def sentence_flood(over, under, inputs, sizes, pick):
    """The least or greatest ratio of two forms' speeds over inputs and sizes."""
    def found(data, _):
        rows = {(row["variant"], row["input"], row["size"]): row["mpix_s"] for row in data["flood"].rows
                if row["work"] == "flood" and row["connectivity"] == 4 and row["dtype"] == "i16"}
        return pick(speed / rows[under, given, size] for (variant, given, size), speed in rows.items()
                    if variant == over and given in inputs and size in sizes)
    return found


LARGE = cell("triangle-k", "dummy | 32", 0, "exact map, ns a block")
LARGE_BB = cell("triangle-k", "dummy | 32", 0, "BB, ns a block")
VOLUME, VOLUME_CUPY = (ms(bench, variant=variant, domain="volume", input="noise_50", connectivity=26)
                       for bench, variant in (("label3", "label3"), ("peers_label3", "cupy_label")))
WATER, HARD = ("wet", "serpentine_h", "serpentine_v", "spiral"), ("noise_593", "noise_650", "maze")
FORMS = "fractal-claims"
BLOCKS = "triangle-claims"
ASK = "ask-claims"
DRMSD = "drmsd-claims"
COMPACT = "compact-claims"
FLOOD = "flood-claims"

PAPERS = (
    # fractals
    ("tensor cores gain in {0} of {0} configurations of variant 1 and, in RD, in {0} of {0} of variant 2",
     *(cell(FORMS, row, index) for row in ("variant 1, in some", "variant 2, overall") for index in (2, 3))),
    ("as published {1} (SW), {1} (RD) and {1} times (CA), best blocks of each; {2} and {1} times (ρ = 2) in SW by our block "
     "for each tile; variant 1 between +{1}% and -{1}%",
     *(cell(FORMS, "× BB, each with its best ρ, as published", index) for index in (0, 1, 2)),
     cell(FORMS, "× BB, each with its best ρ, tiles"),
     cell(FORMS, "× BB, the most with one ρ for both, tiles"), cell(FORMS, "variant 1, in some", 0),
     cell(FORMS, "variant 1, in some", 1)),
    ("{1} (write) to {1} times (sum) the paper's bounding box at n = 65536",
     ratio(gasket("sw", "bb"), gasket("sw", "each", dtype="i32")),
     ratio(gasket("rd", "bb"), gasket("rd", "fold", dtype="i32"))),
    ("Variant 2, the paper's best in SW, is {0}% slower there", tensor("SW", 2, 0)),
    ("With a block for each tile unrolling is {2} to {2} times as fast as the published launch; the table "
     "is {2} to {2} times as fast",
     *(of_works(pick, lambda work, index=index: in_box(work, index)) for index in (0, 1) for pick in (min, max))),
    # triangles
    ("{2}, {2} and {2} times at N = 30720 in the dummy, by LTM-X, LTM-N and LTM-R; {2}, {2} and {2} in EDM "
     "with one feature", *(lambda data, _, d=d, root=root: triangle_gain(data["triangle"], d, 30720, root)
                           for d in (0, 1) for root in ("ltm_sqrt", "ltm_newton", "ltm_rsqrt"))),
    ("up to {1} times as fast as a thread for each pair", lambda data, _: max(
        slow["ms"] / fast["ms"] for slow in data["pairs"].rows if slow["variant"] == "thread_a_pair"
        for fast in data["pairs"].rows if fast["variant"] == slow["of"] and fast["size"] == slow["size"])),
    ("An H200 starts a block of 8 × 8 or 16 × 16 threads in {1} ns",
     cell("triangle-k", "dummy | 16", 0, "BB, ns a block")),
    ("A block of 32 × 32 takes {1} ns with work in the dummy and, from BB's mean of {2}, about {1} ns without",
     LARGE, LARGE_BB, lambda data, tables: 2 * LARGE_BB(data, tables) - LARGE(data, tables)),
    ("the exact map is {1} (dummy) to {1} times as fast as BB at N = 30720", *(
        lambda data, _, d=d: min(row["ms"] for row in triangle_rows(data["triangle"], d, 30720, "bb", None))
        / min(row["ms"] for row in triangle_rows(data["triangle"], d, 30720, "ltm_exact", None)) for d in (0, 1))),
    # adaptive
    ("{1}, {2} and {2} to {2} times", cell(ASK, "ASK against exhaustive"),
     cell(ASK, "DP against exhaustive"), cell(ASK, "ASK against DP", 0), cell(ASK, "ASK against DP", 1)),
    ("does: {1} times, with MBR ahead", cell(ASK, "ASK against exhaustive", 2)),
    ("In three dimensions ours is {2} and DP {2} times as fast as exhaustive at n = 512, {2} and {2} times at "
     "n = 1024", *(cell(ASK, "section 7.2: three dimensions", index) for index in (6, 36, 11, 41))),
    # molecules
    ("everal atoms in a thread gain {0}%, and", of(
        ratio(*(cell("drmsd-u", f"2D, by tiles | {u}", 0, "n = 131072") for u in (4, 1))), lambda gain: 100 * (gain - 1))),
    ("shared memory {2} by tiles and {2} by a sliding window, two dimensions {2} to {2}, the "
     "root {2} times", cell(DRMSD, "tiles in shared memory"), product(
         cell(DRMSD, "tiles in shared memory"), cell(DRMSD, "sliding window against")),
     cell(DRMSD, "2D against 1D", 2), cell(DRMSD, "2D against 1D", 4),
     cell(DRMSD, "`sqrt.approx` against x rsqrt(x)")),
    # compact
    ("{1} times with bytes; with bits {1} times a box of bytes and {1} times a box of bits; {0} times less memory "
     "at r = 20, {0} times with bits", *(cell(COMPACT, "BB by compact storage", index) for index in range(3)),
     *(cell(COMPACT, "r = 20: a matrix", index) for index in range(2))),
    # floods
    ("{0} times between the library, from scratch, and the naive form at 4096²; tiles {2} to {2} times the line on "
     "terrain", cell(FLOOD, "the fastest program against"),
     sentence_flood("tiles", "line", ("terrain",), range(1 << 20), min),
     sentence_flood("tiles", "line", ("terrain",), range(1 << 20), max)),
    ("the line reads {1} bytes a cell, tiles {2}", cell(FLOOD, "bytes read", 0), cell(FLOOD, "bytes read", 1)),
    ("{1} times the fastest sweep on terrain of 16384²", cell(
        "choose-maps", "flood, terrain | `tmap_flood` | 16,384²", 0, "times as fast")),
    ("tiles have {2} to {2} times the line's speed",
     sentence_flood("tiles", "line", WATER, range(1 << 20), min),
     sentence_flood("tiles", "line", WATER, range(1 << 20), max)),
    ("mazes up to 4096²: {0} to {0} times",
     sentence_flood("tiles", "line", HARD, (1024, 4096), min),
     sentence_flood("tiles", "line", HARD, (1024, 4096), max)),
)

def other(table, row):
    """How many times as fast a call is as the quickest other way."""
    return cell(table, row, 0, "times as fast")


CHOOSING = (
    ("tiles in shared memory are {1} × as fast at n = 3000", of(
        other("choose-pairs", "sum for each point (gravity)"), lambda gain: 1 / gain)),
    ("from 1024² on: {1} × |", other("choose-maps", "flood, terrain")),
    ("512³: {0} × CuPy", ratio(VOLUME_CUPY, VOLUME)),
    ("takes at least {0} µs on the gasket, {0} on the carpet", *(
        us("fractal", work="ca", variant="life", domain=domain) for domain in ("gasket", "carpet"))),
    ("4096 frames of 200 atoms in {3} ms", ms("drmsd", variant="frames", n=200, frames=4096)),
    ("on tensor cores, at 4096 frames {0} to {0} times faster and less exact", *(
        ratio(ms("drmsd", variant="matrix", n=200, frames=4096),
              ms("drmsd", variant=f"matrix_mma_{form}", n=200, frames=4096)) for form in ("split", "half"))),
    ("n = 30720, d = 3: {2} ms; `torch.pdist` takes {0}, `torch.cdist` {2} for both halves",
     ms("pairs", variant="store_euclidean", size=30720, d=3), ms("peers_pairs", variant="torch_pdist", size=30720),
     ms("peers_pairs", variant="torch_cdist", size=30720)),
)


def of_limit(work, dtypes, pick):
    """The least or greatest percentage of the limit, of the fractals whose times are not those of launches."""
    def found(data, _):
        results = data["fractal"]
        return pick(results.task(work, dtype, domain, results.top("sw", domain))["limit_pct"]
                    for domain in results.domains("sw") if domain not in ("cantor", "chandelier") for dtype in dtypes)
    return found


def plan_loss(g, r, B, least):
    """How many per cent longer a plan takes than the best one, ASK-MBR from n = `least` on, at most: with the
    driver of the search and its block size."""
    def found(data, _):
        losses = []
        for n in (n for n in ask_sizes(data["ask"]) if n >= least):
            rows = [row for row in ask_rows(data["ask"], n, ("ask_mbr",)) if row.get("driver") == "stream"
                    and row.get("part") in ("sizes", "landscape", "around", "best")]
            losses.append(min(row["ms"] for row in rows if (row["g"], row["r"], row["B"]) == (g, r, B))
                          / min(row["ms"] for row in rows))
        return 100 * (max(losses) - 1)
    return found


def walking(domain, pick):
    """How many times as fast BB walking is as BB, in the three tests at the top level: the least or most."""
    def found(data, _):
        results = data["fractal"]
        return pick(math.prod(results.best(work, domain, results.top(work, domain), (variant,))["ms"]**sign
                              for variant, sign in (("bb", 1), ("bb_walk", -1))) for work in ("sw", "rd", "ca"))
    return found


PERFORMANCE = (
    ("BB walking is {1} to {1} times as fast as BB on the gasket at n = 65536, and {1} to {1} times on the carpet",
     *(walking(domain, pick) for domain in ("gasket", "carpet") for pick in (min, max))),
    ("Writes of 4 bytes reach {0} to {0}% of the limit and writes of 1 byte {0} to {0}%.", *(
        of_limit("sw", (dtype,), pick) for dtype in ("i32", "u8") for pick in (min, max))),
    ("sums of 4 bytes reach {0} to {0}% on the same seven fractals", *(
        of_limit("rd", ("i32", "f32"), pick) for pick in (min, max))),
    ("(64, 4, 4) takes at most {0}% longer than the best at every n, and (16, 4, 4) at most {0}% longer from n = "
     "16384 on", plan_loss(64, 4, 4, 0), plan_loss(16, 4, 4, 16384)),
    ("whose time is within {0}% of the best", lambda data, _: 100 * (
        max(row["ratio"] for row in predictions(data["ask"])) - 1)),
    ("n = 4096 `tmap_each` takes {1} µs, the plain map {0} and the list {0}.", *(
        us("fractal", work="sw", dtype="i32", domain="gasket", size=12, variant=variant)
        for variant in ("each", "lambda_linear", "list"))),
    ("sectors: {2} ms instead of {2} for the gasket at n = 65536", gasket("ca", "life"),
     gasket("sw", "each", dtype="i32")),
)

OTHERS = (
    ("runs {2} times as fast with either as with the bounding box.",
     cell(BLOCKS, "an error of one can be repaired by blocks")),
)

ERRATA = (
    ("SW gains {2} and {2} times", cell(FORMS, "× BB, ρ = 32, tiles, SW"),
     cell(FORMS, "× BB, each with its best ρ, tiles")),
)

MOLECULES = (("32768 frames once takes {2} ms.", ms("drmsd", variant="read", size=32768)),)

SENTENCES = {
    "docs/papers.md": PAPERS, "docs/choosing.md": CHOOSING, "docs/performance.md": PERFORMANCE,
    "docs/maps/papers.md": OTHERS, "docs/maps/molecules.md": MOLECULES,
    "docs/errata.md": ERRATA,
}

# What docs/papers.md says without a benchmark: the papers' own numbers, those of data sheets, and what
# follows from the text beside it.
UNMEASURED = (
    "a stated number agrees if ours is within 20% of it", "smallest value is within 20% of the largest",
    "within 20% of its nearer end",
    "less than the paper's up to 40%", "arXiv 1308.1419", "arXiv 2206.02255", "arXiv 2201.00613",
    "arXiv 2110.12952", "authors' scripts use 0.7",
    "about 11 and 234 times", "2500 is 4% of the 59000", "11% of the 22000",
    "0.6 ns each on an H200", "a ratio of 4.5 to 6", "62.7 times is more", "at 1.98 GHz both limits are 2.09 · 10^12",
    "6 times fewer", "section 7.2", "Section 7.2",
)


def pattern(sentence):
    """A sentence as a regular expression: any numbers, and any white space between words."""
    parts = re.split(r"\{\d\}", sentence)
    return r"(\d+(?:\.\d+)?)".join(r"\s+".join(map(re.escape, part.split(" "))) for part in parts)


def refresh(page, text, data, tables):
    """A document with the numbers of today in its sentences. Raises ValueError for a sentence that it does
    not have, or has twice."""
    for sentence, *keys in SENTENCES.get(page, ()):
        found = list(re.finditer(pattern(sentence), text))
        if len(found) != 1 or len(keys) != found[0].re.groups:
            raise ValueError(f"{page} has it {len(found)} times, with {len(keys)} keys: {sentence}")
        digits = re.findall(r"\{(\d)\}", sentence)
        for index in reversed(range(len(keys))):  # from the right, so that places stay
            start, end = found[0].span(index + 1)
            text = text[:start] + f"{keys[index](data, tables):.{digits[index]}f}" + text[end:]
    return text


def unknown(page, text):
    """The measured-looking numbers (decimals, percentages, "times") of a document that are in no sentence of
    the list, no table, no promise of a paper and no fragment of UNMEASURED."""
    text = re.sub(r"<!-- table: [\s\S]*?<!-- /table -->|^\|.*$|`[^`]*`", "", text, flags=re.M)
    text = re.sub(r"\]\([^)]*\)", "]", text)
    text = re.sub(r"^- \*\*Promised:\*\*.*(\n  .*)*|^\*\*(?:Their set-up|Their data|Not stated)[.:*][\s\S]*?\n\n", "",
                  text, flags=re.M)
    for known in (*(pattern(sentence) for sentence, *_ in SENTENCES[page]), *map(pattern, UNMEASURED)):
        text = re.sub(known, "", text)
    return re.findall(r".{0,60}(?:\d+\.\d+|\d+%|\d+ times).{0,30}", text)
