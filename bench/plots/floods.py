# SPDX-License-Identifier: MIT
"""Tables of floods and labels."""
from .others import against_host, host_size
from .results import least, pick
from .text import CLAIMS, NOTHING, UNKNOWN, bold, claim, ms, order, percent, sig, stated, table

# On which water turns often; "wet" and "checkerboard" are all water, and none beyond the source.
COMPLICATED = ("terrain", "serpentine_h", "serpentine_v", "spiral", "noise_593", "noise_650",
               "maze")


def flood_row(results, variant, given, size, dtype="i16"):
    return least(results.pick(work="label" if dtype == "u8" else "flood", variant=variant, input=given,
                              size=size, connectivity=4, dtype=dtype))


def flood_inputs(results):
    return list(dict.fromkeys(row["input"] for row in results.at("flood")))


def table_floods(data):
    """Floods and labels by the library."""
    results, rows = data["flood"], []
    sizes = (1024, 16384, 32768, 46341)
    for given in flood_inputs(results):
        found = [flood_row(results, "regions", given, size) for size in sizes]
        again = [flood_row(results, name, given, 16384) for name in ("first_bits", "again_bits")]
        label = flood_row(results, "regions", given, 16384, "u8")
        wide = [flood_row(results, name, given, 16384, "f32")
                for name in ("regions", "regions_depth")]
        rows.append([given.replace("_", " "), *(ms(row) for row in found), percent(found[1]),
                     percent(found[2]), *(ms(row) for row in wide), *(ms(row) for row in again),
                     ms(label)])
    return table(["input", *(f"{size}²" for size in sizes), "% of copying, 16384²",
                  "% of copying, 32768²", "floats", "floats to depths", "first, to bits",
                  "again, to bits", "labels"], rows)


def yacclab(results, domain):
    """{variant: name} of YACCLAB's labellers that have rows of this domain."""
    return {row["variant"]: row["variant"][8:].upper()
            for row in results.at("label", domain)
            if row["variant"].startswith("yacclab_")}


def table_granularity(data):
    """Pictures of random blocks of g x g cells: mean times over the densities, the fastest first."""
    ours, peers = data["granularity"], data["peers_granularity"]
    if not ours.rows:
        return NOTHING
    theirs = yacclab(peers, "granularity")
    titles = {"tmap_label": "`tmap_label`", "tmap_label_roots": "`tmap_label`, roots", **theirs}
    times = {}  # labeller, g: {density: ms}
    for results in (peers, ours):
        for row in results.at("label", "granularity"):
            if results is ours or row["variant"] in theirs:
                times.setdefault((row["variant"], row["granularity"]), {})[row["density"]] = row["ms"]
    sides = sorted(side for variant, side in times if variant == "tmap_label")

    def mean(variant, side):
        """None where a density of ours is missing."""
        found = [times.get((variant, side), {}).get(density) for density in times["tmap_label", side]]
        return None if None in found else sum(found) / len(found)
    rows = []
    for variant, title in titles.items():
        if variant == "tmap_label_roots" and not ours.pick(variant=variant):
            continue
        means = [mean(variant, side) for side in sides]
        rows.append((title, [*means, None if None in means else sum(means) / len(means)]))
    rows.sort(key=lambda row: (row[1][-1] is None, row[1][-1]))
    least = [min(mean for mean in column if mean is not None)
             for column in zip(*(means for _, means in rows))]
    kept = [i for i, side in enumerate(sides) if side in (1, 2, 3, 4, 6, 8, 12, 16)] + [len(sides)]
    return table(["labeller", *(f"g = {sides[i]}" for i in kept[:-1]), f"mean of {len(sides)} g"],
                 [[title, *(bold(sig(means[i])) if means[i] == least[i] else sig(means[i])
                            for i in kept)] for title, means in rows])


def table_granularity_quickest(data):
    """The first five of these labellers."""
    return "\n".join(table_granularity(data).split("\n")[:7])


def table_label3(data):
    """Labels of volumes and of batches of images, and those of CuPy and YACCLAB."""
    results, peers, rows = data["label3"], data["peers_label3"], []
    published = data["peers_granularity"]
    inputs = list(dict.fromkeys(row["input"] for row in results.at("label") if "input" in row))
    if not inputs:
        return NOTHING

    def line(title, variant, domain, near, of=results):
        found = {row["input"]: row for row in of.pick(work="label", variant=variant, domain=domain,
                                                      connectivity=near)}
        rows.append([title, str(near), *(ms(found.get(given)) for given in inputs)])
    for near in (26, 18, 6):
        line("512³", "label3", "volume", near)
    for variant, title in ("label3_periodic", "512³, three periodic axes"), ("label3_values", "512³, cells of one value"):
        for near in (26, 6) if results.pick(variant=variant) else ():
            line(title, variant, "volume", near)
    if peers.rows:
        line("512³, CuPy", "cupy_label", "volume", 26, peers)
    for variant, title in yacclab(published, "volume").items():
        line(f"512³, YACCLAB's {title}", variant, "volume", 26, published)
    for near in (8, 4):
        line("1024 images of 256²", "label3", "batch", near)
        line("one picture of 8192² by `tmap_label`", "picture", "map", near)
    return table(["masks of bytes ", "neighbours", *(given.replace("_", " ") for given in inputs)], rows)


def flood_ratios(results, over, under, given):
    """The speed of one form by that of another, size by size."""
    found = {}
    for row in results.pick(work="flood", variant=over, input=given, connectivity=4, dtype="i16"):
        other = flood_row(results, under, given, row["size"])
        if other:
            found[row["size"]] = row["mpix_s"] / other["mpix_s"]
    return dict(sorted(found.items()))


def table_flood_claims(data):
    """What the slides say of floods, beside what was measured here."""
    results = data["flood"]
    if not results.rows:
        return NOTHING
    flood = [row for row in results.pick(work="flood", connectivity=4, dtype="i16") if row["input"] != "dry"]

    def most(best, **want):
        return best(pick(flood, **want), key=lambda row: row["mpix_s"], default=None)

    def here(row):
        if not row:
            return "-"
        where = f"{row['input']}, {row['size']}²".replace("_", " ")
        share = 100 * row["limit_ms"] / row["ms"]  # limit_pct has three decimals
        return f"{row['mpix_s']:.0f} Mpix/s ({where}), {sig(share, 2)}% of the memory's limit"

    def against(over, under):
        """The speed of one form by that of another: {input: {size: ratio}}."""
        return {given: flood_ratios(results, over, under, given)
                for given in flood_inputs(results) if given != "dry"}

    def times(found):
        """On terrain, from small maps to large ones, and on all other inputs."""
        land = found.get("terrain")
        rest = [gain for given, gains in found.items() if given != "terrain"
                for gain in gains.values()]
        return "-" if not land else (
            ", ".join(f"{gain:.2f}" for gain in land.values()) + " times (terrain, "
            + ", ".join(f"{size}²" for size in land) + ")"
            + (f"; {min(rest):.2f} to {max(rest):.2f} times (other inputs)" if rest else ""))

    def traffic():
        """Bytes that each form reads for a cell of terrain of 16384²: {form: bytes}."""
        found = {name: flood_row(results, name, "terrain", 16384)
                 for name in ("line", "tiles", "uniform", "regions")}
        return {name: row["read_bytes"] / 16384**2
                for name, row in found.items() if row and "read_bytes" in row}
    slow = most(min, variant="naive", input="terrain")
    rest = [flood_row(results, name, "terrain", slow["size"]) if slow else None
            for name in ("line", "tiles", "uniform", "regions")]
    fast = rest[-1]
    coalesced = most(min, variant="line", input="terrain")
    simple = [(row, flood_row(results, "line", given, row["size"])) for given in COMPLICATED
              for row in flood if row["variant"] == "line" and row["input"] == "wet"]
    tiles, uniform = against("tiles", "line"), against("uniform", "tiles")
    moved = traffic()
    rows = [
        claim("`regions` from scratch, maps with water: the fastest", "the chart's axis ends at 2500, unit not in the text",
              here(most(max, variant="regions")), UNKNOWN,
              "nor are the chart's speeds, maps and sizes"),
        claim("the same, on its worst input of 16384²", "-",
              here(most(min, variant="regions", size=16384))),
        claim("moving line, coalesced, at its slowest size of terrain",
              "more than the 250 Mpix/s that the project asks for", here(coalesced),
              order([(coalesced["mpix_s"] if coalesced else None, 250)])),
        claim("moving line, on its worst input", "low if the map is complicated",
              here(most(min, variant="line")), order(
                  [(row["mpix_s"], other["mpix_s"]) for row, other in simple if other]),
              "as many rounds as the water turns; a map all wet is faster at each size"),
        claim("tiles against the moving line", "better", times(tiles),
              order([(gain, 1) for gains in tiles.values() for gain in gains.values()]),
              "in small maps few tiles have water at their rims at a time"),
        claim("special code for uniform tiles against tiles", "better still", times(uniform),
              order([(gain, 1) for gains in uniform.values() for gain in gains.values()]),
              "few tiles here are uniform; where none is, the two are within 1%"),
        claim("bytes read in global memory, terrain, 16384²",
              "tiles: much less than the moving line",
              ", ".join(f"{name} {sig(value)}" for name, value in moved.items())
              + " bytes a cell" if moved else "-",
              order((moved["line"], moved[name]) for name in ("tiles", "uniform")
                    if "line" in moved and name in moved),
              "heights have 2; the library reads them once"),
        claim("naive", "extremely inefficient", here(slow), order(
            [(row["mpix_s"], slow["mpix_s"]) for row in rest if row]),
              "as many rounds as the way is long"),
    ]
    if slow and fast:
        gain = fast["mpix_s"] / slow["mpix_s"]
        rows.append(claim("the fastest program against the slowest", "4 orders of magnitude, of a class's programs",
                          f"{gain:.0f} times: `regions` from scratch by naive, terrain, {slow['size']}²",
                          stated(gain, 1e4), "mainly the algorithm, as the slides say"))
    size = host_size(data, {row["size"]: row for row in flood if row["variant"] == "regions"
                            and row["input"] == "terrain"}, work="flood")
    if size:
        rows.append(claim(f"`regions` from scratch against the cores of a CPU, terrain, {size}²", "-",
                          against_host(data, flood_row(results, "regions", "terrain", size), size,
                                       work="flood"), None, "OpenMP; the slides have no CPU"))
    return table(["claim", "the slides ", *CLAIMS[2:]], rows)
