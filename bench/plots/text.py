# SPDX-License-Identifier: MIT
"""Tables as Markdown, and how numbers are written in them."""
import math

NOTHING = "Not measured yet."


def sig(value, digits=3):
    """A number with this many significant digits, never with an exponent; - for None."""
    if value is None:
        return "-"
    if value == 0:
        return "0"
    decimals = digits - 1 - math.floor(math.log10(abs(value)))
    return f"{value:.{max(decimals, 0)}f}"


def ms(row):
    return sig(row["ms"]) if row else "-"


def percent(row):
    """The percentage of the limit of a row."""
    value = row.get("limit_pct") if row else None
    return "-" if value is None else f"{value:.0f}" if value >= 10 else f"{value:.1f}"


def bold(text):
    return text if text == "-" else f"**{text}**"


def memory(size):
    if not size:
        return "-"
    for scale, unit in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if size >= scale:
            return f"{sig(size / scale)} {unit}"
    return f"{size:.0f} B"


def code(name):
    return f"`{name}`"


def table(header, rows):
    """Markdown; the first column is text, so are those whose header ends with a space."""
    if not rows:
        return NOTHING
    marks = [":---" if i == 0 or title.endswith(" ") else "---:" for i, title in enumerate(header)]
    lines = [[title.strip() for title in header], marks, *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def captioned(caption, header, rows):
    """A table with a line above it; nothing at all where there are no rows."""
    return f"{caption}\n\n{table(header, rows)}" if rows else ""


# ---- claims ----
# A claim's verdict comes from one of six rules, which take the paper's numbers and our rows: no script
# has a tolerance of its own. "-" where nothing was measured, or nothing is claimed.
NEAR = 0.2  # how far from a stated number ours may be, as a fraction of it
AGREES, DIFFERS, UNKNOWN = "agrees", "differs", "cannot be known"
LESS, MORE = "less", "more"
CLAIMS = ["claim", "the paper ", "here ", "verdict ", "why "]


def between(value, low, high):
    """A stated range: agrees inside it, or within 20% of the nearer end; else less or more."""
    if value is None:
        return "-"
    if value < low - NEAR * abs(low):
        return LESS
    return MORE if value > high + NEAR * abs(high) else AGREES


def stated(value, said):
    """A stated number: agrees within 20% of it; else less or more."""
    return between(value, said, said)


def up_to(values, said):
    """"Up to x": the best of ours is compared with x. It agrees within 20%; else it is more if it exceeds
    x, and less if it falls short."""
    return stated(max((value for value in values if value is not None), default=None), said)


def order(pairs):
    """An order, as pairs (greater, smaller): agrees if all pairs do; else differs. Equal values agree:
    sizes that were measured in powers of two do not tell which one is first."""
    pairs = list(pairs)
    if not pairs or any(value is None for pair in pairs for value in pair):
        return "-"
    return verdict(all(greater >= smaller for greater, smaller in pairs))


def same(values):
    """"The same": agrees if the least is within 20% of the greatest; else differs."""
    values = list(values)
    if not values or None in values:
        return "-"
    return verdict(min(values) >= (1 - NEAR) * max(values))


def below(less, more):
    """"Less": agrees if the first is less than the second, and not "the same" by the rule above."""
    if None in (less, more):
        return "-"
    return verdict(less < (1 - NEAR) * more)


def farthest(values, said):
    """The value with the largest quotient to a stated number."""
    return max(values, key=lambda value: max(value / said, said / value))


def claim(what, paper, here, judged=None, why="-"):
    """A row of CLAIMS. judged: what a rule returned; UNKNOWN, with the reason in `why`; None where
    the paper claims nothing. Raises ValueError for UNKNOWN without a reason."""
    if judged == UNKNOWN and why in ("", "-"):
        raise ValueError(f"no reason why it cannot be known: {what}")
    return [what, paper, here, judged or "-", why]


def beside(rows, data):
    """Rows of claims, with the authors' own data beside what their paper says. data: by the first cell of a row."""
    return [[row[0], f"{row[1]}; data {data[row[0]]}", *row[2:]] if row[0] in data else row for row in rows]


def verdict(holds):
    return AGREES if holds else DIFFERS


def span(found):
    return f"{sig(found[0])} to {sig(found[2])}, mean {sig(found[1])}" if found else "-"


def whole(number):
    return "-" if number is None else f"{number:,.0f}"
