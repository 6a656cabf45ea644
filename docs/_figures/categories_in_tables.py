"""Blocks of rows in one table, and keys that a hash function maps to rows."""

from collections import Counter
from collections.abc import Mapping, Sequence

import torch

from lookup_matmul.figures.sheet import INK, QUIET, Drawing, Sheet, id_colors


def draw_hashes(rows: Mapping[str, int], size: int) -> Drawing:
    """Draw keys, a table of ``size`` rows with shared ones marked, and an arrow from each key."""
    counts = Counter(rows.values())
    height = max(len(rows), size)
    key_y, row_y = (
        [1.5 + 1.25 * (k + (height - count) / 2) for k in range(count)]
        for count in (len(rows), size)
    )
    sheet = Sheet(280)
    sheet.text(86, 0.4, "keys", QUIET, "end")
    sheet.text(174, 0.4, "rows of the table", QUIET, "start")
    for k, y in enumerate(row_y):
        is_shared = counts[k] > 1
        colors = id_colors(k) if counts[k] else None
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


def draw_blocks(
    columns: Mapping[str, Sequence[str]], ids: torch.Tensor, weight: torch.Tensor
) -> Drawing:
    """Draw a table with a block of rows for each categorical column, and one record's rows.

    ``columns`` maps each column to its categories, in the order of the table's rows. ``ids`` has
    shape (number of picked rows,), ``weight`` (number of categories, embedding dimension), of up to
    12 rows and 4 columns.
    """
    dim = weight.shape[1]
    tokens = ids.tolist()
    total = weight[ids].sum(0).tolist()
    x = 132.0
    width = 46.0
    sheet = Sheet(x + max(dim, 2) * width + 8)
    y = 0.0
    categories = list[str]()
    blocks = []
    for block, (name, block_categories) in enumerate(columns.items()):
        first = len(categories)
        sheet.text(6, y + 0.5, f"{name}: rows from {first}", QUIET, "start")
        blocks.append(f"{name} (rows {first} to {first + len(block_categories) - 1})")
        y += 0.9
        for k, category in enumerate(block_categories, start=first):
            # The first four pairs of colors are those of ids in other figures.
            colors = id_colors(block + 4) if k in tokens else None
            _, color = colors or ("none", QUIET)
            sheet.text(x - 28, y + 0.5, category, color, "end", bool(colors))
            cells = [f"{value:.2f}" for value in weight[k].tolist()]
            sheet.row(y, str(k), cells, colors, x=x, width=width)
            y += 1
        categories += block_categories
    sheet.line((4, y + 0.3), (x + dim * width, y + 0.3))
    sheet.text(x - 6, y + 1.1, "sum", INK, "end", True)
    for j, value in enumerate(total):
        sheet.cell(x + j * width, y + 0.6, width, f"{value:.2f}", bold=True)
    rows = ", and ".join(f"row {k}, {categories[k]}" for k in tokens)
    return sheet.to_drawing(
        f"One table for {' and '.join(blocks)}. The record picks {rows}; "
        f"the sum of these rows is ({', '.join(f'{value:.3g}' for value in total)})."
    )
