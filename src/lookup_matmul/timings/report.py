"""Measured times as tables that a page and a terminal both show."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from lookup_matmul.timings.clock import Spread

UNITS = {"s": 1.0, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9}


def in_unit(seconds: float) -> str:
    """Write a time with three digits, in the unit that leaves at least one before the point.

    Parameters
    ----------
    seconds : float
        The time, at least zero.

    Returns
    -------
    str
        Digits and unit.

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
    """Write a table in Markdown, numbers flush right and everything else flush left.

    Parameters
    ----------
    header : collections.abc.Sequence
        A name for each column.
    rows : collections.abc.Sequence
        The cells of each row, as many as there are names.

    Returns
    -------
    str
        One line for each row, padded so that it is readable as plain text too.
        A column is one of numbers if all its cells begin with a digit or are a dash,
        and it is not the first.

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
    right = [k > 0 and all(map(_is_number, column[1:])) for k, column in enumerate(columns)]
    lines = [
        "| "
        + " | ".join(
            cell.rjust(width) if flush else cell.ljust(width)
            for cell, width, flush in zip(cells, widths, right, strict=True)
        )
        + " |"
        for cells in (header, *rows)
    ]
    rule = "|".join(
        f"{'-' * (width + 1)}:" if flush else f":{'-' * (width + 1)}"
        for flush, width in zip(right, widths, strict=True)
    )
    return "\n".join([lines[0], f"|{rule}|", *lines[1:]])


def pivot_table(
    cases: list[dict[str, Any]],
    down: Sequence[str],
    across: str,
    cell: Callable[[dict[str, Any]], str],
) -> str:
    """Write cases as a table in Markdown.

    Parameters
    ----------
    cases : list
        As :func:`select` gives them.
    down : collections.abc.Sequence
        Members whose values begin the rows.
    across : str
        The member whose values are the columns.
    cell : collections.abc.Callable
        Writes a case.

    Returns
    -------
    str
        Rows in the order in which they first occur, columns too unless they are numbers;
        a dash where there is no case. Empty without cases.

    Raises
    ------
    ValueError
        If two cases fall into one cell.

    Examples
    --------
    >>> cases = [{"ids": 1, "draw": "equal", "s": 3}, {"ids": 2000, "draw": "zipf", "s": 4}]
    >>> print(pivot_table(cases, ["ids"], "draw", lambda case: f"{case['s']} s"))
    | ids   | equal | zipf |
    |:------|------:|-----:|
    | 1     |   3 s |    – |
    | 2,000 |     – |  4 s |
    """
    found: dict[tuple[Any, ...], dict[Any, str]] = {}
    for case in cases:
        row = found.setdefault(tuple(case[name] for name in down), {})
        if case[across] in row:
            raise ValueError(f"{case} shares its cell with another case; select more narrowly.")
        row[case[across]] = cell(case)
    columns = list(dict.fromkeys(case[across] for case in cases))
    if all(isinstance(column, int) for column in columns):
        columns.sort()
    rows = [
        [*map(_written, key), *(row.get(column, "–") for column in columns)]
        for key, row in found.items()
    ]
    short = {"vocab_size": "V", "dim": "d"}
    header = [
        *(short.get(name, name) for name in down),
        *(
            f"{short.get(across, across)} = {c:,}" if isinstance(c, int) else str(c)
            for c in columns
        ),
    ]
    return markdown_table(header, rows) if rows else ""


def ratio_table(times: Mapping[str, Spread], baseline: str) -> str:
    """Write the times of contenders, and each as a multiple of the baseline's.

    Parameters
    ----------
    times : collections.abc.Mapping
        Name and :class:`Spread` of each, measured in one run.
    baseline : str
        The name of the contender that counts as 1.

    Returns
    -------
    str
        A table in Markdown: name, median, quartiles, ratio of the medians.

    Examples
    --------
    >>> a, b = Spread(2e-6, 1.9e-6, 2.1e-6, 9, 100), Spread(3e-6, 2.9e-6, 3e-6, 9, 100)
    >>> print(ratio_table({"lookup": a, "product": b}, baseline="lookup"))
    | form    |  median | half of the rounds | ratio |
    |:--------|--------:|-------------------:|------:|
    | lookup  | 2.00 µs |    1.90 to 2.10 µs |  1.00 |
    | product | 3.00 µs |    2.90 to 3.00 µs |  1.50 |
    """
    rows = [
        [
            name,
            in_unit(spread.median_s),
            _between(in_unit(spread.low_s), in_unit(spread.high_s)),
            f"{spread.median_s / times[baseline].median_s:.2f}",
        ]
        for name, spread in times.items()
    ]
    return markdown_table(["form", "median", "half of the rounds", "ratio"], rows)


def _is_number(cell: str) -> bool:
    return cell == "–" or cell[:1].isdigit()


def _between(low: str, high: str) -> str:
    """Write the unit once, if both ends share it."""
    value, unit = low.split()
    return f"{value if high.endswith(f' {unit}') else low} to {high}"


def _written(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)
