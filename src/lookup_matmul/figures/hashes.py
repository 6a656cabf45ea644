"""Keys that a hash sends to the rows of a table, several of them to one."""

from collections.abc import Mapping
from numbers import Integral

from lookup_matmul.figures.cells import LARGEST, canvas, draw_arrow, draw_cell, draw_text
from lookup_matmul.figures.palette import INK, LINE, QUIET, colours_of
from lookup_matmul.figures.svg import Drawing, finish


def draw_hashes(rows: Mapping[str, int], size: int) -> Drawing:
    """Draw keys, the rows of a small table, and an arrow from each key to its row.

    Parameters
    ----------
    rows : collections.abc.Mapping
        The row of each key; 1 to 12 keys.
    size : int
        Number of rows of the table, 1 to 12.

    Returns
    -------
    Drawing
        A row that several keys share says how many; it has a bold outline.

    Raises
    ------
    TypeError
        If a row is no ``int``.
    ValueError
        If there is too much to draw, or a row is not in the table.

    Examples
    --------
    >>> draw_hashes({"user 1": 2, "user 2": 0, "user 3": 2}, 3)
    3 keys go to 3 rows. user 1 to row 2. user 2 to row 0. user 3 to row 2. Shared: row 2 by 2 keys.
    """
    if not (1 <= len(rows) <= LARGEST and 1 <= size <= LARGEST):
        raise ValueError(
            f"rows has {len(rows)} keys for a table of {size} rows, "
            f"expected 1 to {LARGEST} of both."
        )
    for key, row in rows.items():
        if not isinstance(row, Integral):
            raise TypeError(
                f"key {key!r} has row {row!r} of type {type(row).__name__}, expected an int; "
                "pass the remainder of its hash, such as hash(key) % size."
            )
    if not all(0 <= row < size for row in rows.values()):
        raise ValueError(f"a key has row {max(rows.values())}, expected 0 <= row < {size}.")
    high = max(len(rows), size)
    ax = canvas(280, 1.25 * high + 1.0)
    draw_text(ax, 86, 0.4, "keys", QUIET, ha="right")
    draw_text(ax, 174, 0.4, "rows of the table", QUIET, ha="left")
    place = {}
    for k in range(size):
        y = 1.0 + 1.25 * (k + (high - size) / 2)
        place[k] = y + 0.5
        guests = list(rows.values()).count(k)
        fill, stroke = colours_of(k) if guests else ("none", LINE)
        draw_cell(
            ax,
            174,
            y,
            60,
            f"row {k}",
            fill=fill,
            edge=stroke,
            lw=2.4 if guests > 1 else 0.8,
            ink=INK if guests else QUIET,
            bold=guests > 1,
        )
        if guests > 1:
            draw_text(ax, 240, y + 0.5, f"{guests} keys", stroke, ha="left", bold=True)
    for k, (key, row) in enumerate(rows.items()):
        y = 1.5 + 1.25 * (k + (high - len(rows)) / 2)
        stroke = colours_of(row)[1]
        draw_text(ax, 86, y, key, stroke, ha="right")
        draw_arrow(ax, (92, y), (172, place[row]), stroke, size=10, lw=1)
    goes = " ".join(f"{key} to row {row}." for key, row in rows.items())
    counts = {row: list(rows.values()).count(row) for row in sorted(set(rows.values()))}
    shared = ", ".join(f"row {row} by {n} keys" for row, n in counts.items() if n > 1)
    return finish(ax, f"{len(rows)} keys go to {size} rows. {goes} Shared: {shared or 'no row'}.")
