"""Measured times and recordings as text and tables that a page and a terminal both show."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lookup_matmul.timings.clock import Spread

UNITS = {"s": 1.0, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9}


def in_unit(seconds: float) -> str:
    """Write a time (s, at least zero) with three digits and its unit.

    Examples
    --------
    >>> in_unit(0.000205), in_unit(0.0123), in_unit(9.9996), in_unit(0)
    ('205 µs', '12.3 ms', '10.0 s', '0 s')
    """
    if seconds == 0:
        return "0 s"
    unit = next((unit for unit, size in UNITS.items() if seconds >= size), "ns")
    value = float(f"{seconds / UNITS[unit]:.3g}")
    return f"{value:#.3g}".rstrip(".") + f" {unit}" if value < 1000 else f"{value:.0f} {unit}"


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Write a table in Markdown, a line for each row, readable as plain text too.

    A column is flush right if all its cells begin with a digit or are a dash and it is not the
    first. Each row has as many cells as there are names in the header.

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


def ratio_table(times: Mapping[str, Spread], baseline: str) -> str:
    """Write the times of contenders measured in one run, and each over the baseline's.

    Examples
    --------
    >>> a, b = Spread(2e-6, 1.9e-6, 2.1e-6, 9, 100), Spread(3e-6, 2.9e-6, 3e-6, 9, 100)
    >>> print(ratio_table({"lookup": a, "product": b}, baseline="lookup"))
    | form    |  median | half of the rounds | ratio |
    |:--------|--------:|-------------------:|------:|
    | lookup  | 2.00 µs |    1.90 to 2.10 µs |  1.00 |
    | product | 3.00 µs |    2.90 to 3.00 µs |  1.50 |
    """
    base = times[baseline].median_s
    rows = []
    for name, spread in times.items():
        low, unit = in_unit(spread.low_s).split()
        high = in_unit(spread.high_s)
        half = f"{low}{'' if high.endswith(f' {unit}') else f' {unit}'} to {high}"
        rows.append([name, in_unit(spread.median_s), half, f"{spread.median_s / base:.2f}"])
    return markdown_table(["form", "median", "half of the rounds", "ratio"], rows)


def select(cases: Iterable[dict[str, Any]], **fixed: object) -> list[dict[str, Any]]:
    """Pick the measured cases with these members, by vocabulary size, then by number of ids.

    Examples
    --------
    >>> cases = [{"form": "lookup", "vocab_size": 4, "ids": 1, "median_s": 1e-6},
    ...          {"form": "lookup", "vocab_size": 8, "ids": 1, "skipped": {}}]
    >>> [case["vocab_size"] for case in select(cases, form="lookup")]
    [4]
    """
    fitting = (
        case
        for case in cases
        if "skipped" not in case and all(case[name] == value for name, value in fixed.items())
    )
    return sorted(fitting, key=lambda case: (case["vocab_size"], case["ids"]))


def describe(recording: dict[str, Any]) -> str:
    """Say where a recording comes from and what it lacks, in a line of Markdown without markup.

    Examples
    --------
    >>> origin = {"device": "A device", "driver": "1.2", "cuda": "13.0", "torch": "2.13.0",
    ...           "date": "2026-01-31", "commit": 4 * "0123456789", "quick": False}
    >>> describe({"provenance": origin, "complete": True})
    'A device, driver 1.2, CUDA 13.0, torch 2.13.0, recorded on 2026-01-31 at commit 0123456'
    """
    origin = recording["provenance"]
    said = [escaped(origin["device"])]
    if origin["driver"]:
        said += [f"driver {escaped(origin['driver'])}", f"CUDA {escaped(origin['cuda'])}"]
    changed = ", changed since" if origin["commit"].endswith("-changed") else ""
    said.append(f"torch {escaped(origin['torch'])}")
    said.append(f"recorded on {origin['date']} at commit {origin['commit'][:7]}{changed}")
    lacks = "; a trial with few rounds" if origin["quick"] else ""
    return ", ".join(said) + lacks + ("" if recording["complete"] else "; not complete")


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
