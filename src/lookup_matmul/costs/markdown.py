"""How pages write times and tables, and text of strangers without reading markup in it."""

import re
from collections.abc import Sequence

UNITS = {"s": 1.0, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9}


def in_unit(seconds: float) -> str:
    """Return a time (s) with three digits and its unit.

    Examples
    --------
    >>> in_unit(0.000205), in_unit(0.0123), in_unit(0.9996), in_unit(0)
    ('205 µs', '12.3 ms', '1.00 s', '0 s')
    """
    if seconds == 0:
        return "0 s"
    rounded = float(f"{seconds:.3g}")  # first, or 0.9996 s would be 1000 ms
    unit = next((unit for unit, size in UNITS.items() if rounded >= size), "ns")
    value = float(f"{rounded / UNITS[unit]:.3g}")
    return f"{value:#.3g}".rstrip(".") + f" {unit}" if value < 1000 else f"{value:.0f} {unit}"


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown, a line for each row, readable as plain text too.

    A column is flush right if all its cells begin with a digit or are an en dash and it is not
    the first. Each row has as many cells as there are names in the header. Cells stand as they are:
    write those with text of strangers, or with a ``|``, by :func:`escaped` first.

    Examples
    --------
    >>> print(markdown_table(["form", "time"], [["lookup", "2 µs"], ["product", "30 µs"]]))
    | form    |  time |
    |:--------|------:|
    | lookup  |  2 µs |
    | product | 30 µs |
    """
    columns = list(zip(header, *rows, strict=True))
    widths = [max(map(len, column)) for column in columns]
    pads = [str.ljust] + [
        str.rjust if all(cell == "–" or cell[:1].isdigit() for cell in cells) else str.ljust
        for _, *cells in columns[1:]
    ]

    def line(cells: Sequence[str], between: str = " | ") -> str:
        padded = zip(pads, cells, widths, strict=True)
        return between.join(pad(cell, width) for pad, cell, width in padded)

    lines = [f"| {line(cells)} |" for cells in (header, *rows)]
    ends = [pad(":", width + 2).replace(" ", "-") for pad, width in zip(pads, widths, strict=True)]
    return "\n".join([lines[0], f"|{'|'.join(ends)}|", *lines[1:]])


def escaped(text: str) -> str:
    r"""Return any text on one line, so that Markdown within a line shows it as it is.

    Examples
    --------
    >>> print(escaped("NVIDIA H200 ![](https://example.org) <script> 0|1"))
    NVIDIA H200 \!\[\](https://example.org) \<script\> 0\|1
    """
    return re.sub(r"[\\`*_{}\[\]<>|~$!&^]", r"\\\g<0>", " ".join(text.split()))
