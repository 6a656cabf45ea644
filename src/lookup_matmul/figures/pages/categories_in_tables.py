"""Keys that a hash function maps to the rows of a small table."""

from collections import Counter
from collections.abc import Mapping

from lookup_matmul.figures.sheet import INK, QUIET, Drawing, Sheet, id_colors


def draw_hashes(rows: Mapping[str, int], size: int) -> Drawing:
    """Draw keys, a table of ``size`` rows with shared ones marked, and an arrow from each key."""
    counts, height = Counter(rows.values()), max(len(rows), size)
    key_y, row_y = (
        [1.5 + 1.25 * (k + (height - count) / 2) for k in range(count)]
        for count in (len(rows), size)
    )
    sheet = Sheet(280)
    sheet.text(86, 0.4, "keys", QUIET, "end")
    sheet.text(174, 0.4, "rows of the table", QUIET, "start")
    for k, y in enumerate(row_y):
        is_shared, colors = counts[k] > 1, id_colors(k) if counts[k] else None
        cell = (174, y - 0.5, 60, f"row {k}", INK if colors else QUIET, is_shared)
        sheet.cell(*cell, colors=colors, stroke_width=2.4 if is_shared else 0.8)
        if is_shared:
            sheet.text(240, y, f"{counts[k]} keys", id_colors(k)[1], "start", True)
    for (key, row), y in zip(rows.items(), key_y, strict=True):
        _, color = id_colors(row)
        sheet.text(86, y, key, color, "end")
        sheet.arrow((92, y), (172, row_y[row]), color)
    targets = " ".join(f"{key} to row {row}." for key, row in rows.items())
    repeated = [f"row {k} by {counts[k]} keys" for k in range(size) if counts[k] > 1]
    shared_rows = ", ".join(repeated) or "no row"
    return sheet.to_drawing(f"{len(rows)} keys go to {size} rows. {targets} Shared: {shared_rows}.")
