# SPDX-License-Identifier: MIT
"""Tables of floods."""
from .text import NOTHING, ms, percent, sig, table


def flood_row(results, variant, given, size, dtype="i16"):
    found = [row for row in results.at("label" if dtype == "u8" else "flood")
             if row["variant"] == variant and row["input"] == given and row["size"] == size
             and row["connectivity"] == 4 and row["dtype"] == dtype]
    return found[0] if found else None


def flood_inputs(results):
    return list(dict.fromkeys(row["input"] for row in results.at("flood")))


def table_floods(data):
    """Floods and labels by the library."""
    results, rows = data.get("flood"), []
    sizes = (1024, 16384, 32768, 46341)
    for given in flood_inputs(results) if results else ():
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


def flood_ratios(results, over, under, given):
    """The speed of one form by that of another, size by size."""
    found = {}
    for row in results.at("flood"):
        if (row["variant"] == over and row["input"] == given and row["connectivity"] == 4
                and row["dtype"] == "i16"):
            other = flood_row(results, under, given, row["size"])
            if other:
                found[row["size"]] = row["mpix_s"] / other["mpix_s"]
    return dict(sorted(found.items()))


def table_flood_claims(data):
    """What the slides say of floods, beside what was measured here."""
    results = data.get("flood")
    if not results:
        return NOTHING
    flood = [row for row in results.at("flood") if row["connectivity"] == 4
             and row["input"] != "dry" and row["dtype"] == "i16"]

    def pick(best, **want):
        rows = [row for row in flood if all(row[key] == value for key, value in want.items())]
        return best(rows, key=lambda row: row["mpix_s"]) if rows else None

    def line(text, slides, row, compared, why):
        if not row:
            return [text, slides, "-", "-", "-", compared, why]
        return [text, slides, f"{row['mpix_s']:.0f}", f"{row['input']}, {row['size']}²".replace(
            "_", " "), sig(row["limit_pct"], 2), compared, why]

    def against(text, slides, over, under, why):
        """Which of two forms is ahead on terrain, from small maps to large ones."""
        found = flood_ratios(results, over, under, "terrain")
        if not found:
            return [text, slides, "-", "-", "-", "-", "-"]
        ahead = [size for size, gain in found.items() if gain > 1.02]
        return [text, slides, ", ".join(f"{gain:.2f}" for gain in found.values()) + " times",
                "terrain, " + ", ".join(f"{size}²" for size in found), "-",
                f"agrees from {ahead[0]}² on" if ahead else "differs", why]
    slow = pick(min, variant="naive", input="terrain")
    fast = flood_row(results, "regions", "terrain", slow["size"]) if slow else None
    coalesced = pick(min, variant="line", input="terrain")
    rows = [
        line("the fastest of all", "the chart's axis ends at 2500 Mpix/s",
             pick(max, variant="regions"), "cannot be known", "which maps, which size"),
        line("the fastest, on its worst input of 16384²", "-",
             pick(min, variant="regions", size=16384), "-", "-"),
        line("moving line, coalesced, at its slowest size of terrain",
             "more than the 250 Mpix/s that the project asks for", coalesced,
             "-" if not coalesced else "agrees" if coalesced["mpix_s"] > 250 else "differs", "-"),
        line("the same, on its worst input", "low if the map is complicated",
             pick(min, variant="line"), "agrees", "as many rounds as the water turns"),
        against("tiles against the moving line", "better", "tiles", "line",
                "in small maps few tiles have water at their rims at a time, the slides' lack of "
                "parallelism"),
        against("special code for uniform tiles against tiles", "better still", "uniform",
                "tiles", "few tiles of this terrain are uniform"),
        line("naive", "extremely inefficient", slow, "agrees", "as many rounds as the way is long"),
    ]
    if slow and fast:
        rows.append([f"the fastest by the slowest, terrain, {slow['size']}²",
                     "4 orders of magnitude", f"{fast['mpix_s'] / slow['mpix_s']:.0f} times", "-",
                     "-", "agrees", "mainly by the algorithm, as the slides say"])
    return table(["", "the slides ", "here, Mpix/s", "input, size ", "% of the memory's limit",
                  "compared ", "why "], rows)
