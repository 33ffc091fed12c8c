# SPDX-License-Identifier: MIT
"""Tables as Markdown, and how numbers are written in them."""
import math

NOTHING = "Not measured yet."


def sig(value, digits=3):
    """A number with so many significant digits, never with an exponent; - for None."""
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


def compared(value, least, most):
    return "agrees" if least <= value <= most else "less" if value < least else "more"


AGREES, DIFFERS, UNKNOWN = "agrees", "differs", "cannot be known"
CLAIMS = ["claim", "the paper ", "here ", "verdict ", "why "]


def span(found):
    return f"{sig(found[0])} to {sig(found[2])}, mean {sig(found[1])}" if found else "-"


def verdict(holds):
    return AGREES if holds else DIFFERS


def whole(number):
    return "-" if number is None else f"{number:,.0f}"
