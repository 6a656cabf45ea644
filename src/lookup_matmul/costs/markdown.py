"""How pages write times and tables, and text of strangers without reading markup in it."""

import re
from collections.abc import Sequence

# What could be markup, besides controls and hidden marks.
REFUSED = r"<>{}|`\x00-\x1f\x7f-\x9f\u2028\u2029\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ud800-\udfff"  # noqa: E501
PLAIN = f"[^{REFUSED}]{{1,300}}"

UNITS = {"s": 1.0, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9}


def in_unit(seconds: float) -> str:
    """Write a time (s) with three digits and its unit; one below zero, or NaN, is a ValueError.

    Examples
    --------
    >>> in_unit(0.000205), in_unit(0.0123), in_unit(0.9996), in_unit(0)
    ('205 µs', '12.3 ms', '1.00 s', '0 s')
    """
    if not 0 <= seconds < float("inf"):
        raise ValueError(
            f"seconds is {seconds}, expected a finite time of at least 0; measure again."
        )
    if seconds == 0:
        return "0 s"
    rounded = float(f"{seconds:.3g}")  # first, or 0.9996 s would be 1000 ms
    unit = next((unit for unit, size in UNITS.items() if rounded >= size), "ns")
    value = float(f"{rounded / UNITS[unit]:.3g}")
    return f"{value:#.3g}".rstrip(".") + f" {unit}" if value < 1000 else f"{value:.0f} {unit}"


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Write a table in Markdown, a line for each row, readable as plain text too.

    A column is flush right if all its cells begin with a digit or are a dash and it is not the
    first. Each row has as many cells as there are names in the header. Cells stand as they are:
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
    pads = [
        (
            str.rjust if k and all(c == "–" or c[:1].isdigit() for c in column[1:]) else str.ljust,
            max(map(len, column)),
        )
        for k, column in enumerate(columns)
    ]
    lines = [
        " | ".join(pad(cell, width) for cell, (pad, width) in zip(cells, pads, strict=True))
        for cells in (header, *rows)
    ]
    rule = "|".join(pad(":", width + 2).replace(" ", "-") for pad, width in pads)
    return "\n".join([f"| {lines[0]} |", f"|{rule}|", *(f"| {line} |" for line in lines[1:])])


def escaped(text: str) -> str:
    r"""Write any text on one line so that Markdown shows it as it is and reads no markup in it.

    Examples
    --------
    >>> print(escaped("NVIDIA H200 ![](https://example.org) <script> 0|1"))
    NVIDIA H200 \!\[\](https://example.org) \<script\> 0\|1
    """
    line = " ".join(text.split())
    line = re.sub(r"[\\`*_{}\[\]<>|~$!&^]", r"\\\g<0>", line)
    # What begins a line could begin a heading, a list, a directive or a comment.
    line = re.sub(r"^[#+\-:=%(\"'@/;,.?)]", r"\\\g<0>", line)
    return re.sub(r"^(\d+)([.)])(?=\s|$)", r"\1\\\2", line)


def plain(text: str) -> str:
    """Write the first line of a message with marks that look like markup's, to match ``PLAIN``.

    Examples
    --------
    >>> plain("`0 <= ids` is not satisfied.")
    "'0 ‹= ids' is not satisfied."
    """
    line = next(iter(text.strip().splitlines()), "no word")
    return re.sub(f"[{REFUSED}]", "?", line.translate(str.maketrans("<>{}|`", "‹›()/'")))[:200]
