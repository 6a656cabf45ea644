"""The outputs that a NaN or an infinity in the table reaches."""

from math import isfinite

import torch

from lookup_matmul.figures.sheet import CELL_WIDTH, INK, QUIET, Drawing, Sheet, cell_x, id_colors
from lookup_matmul.onehot.forms import lookup, one_hot_matmul


def draw_nan_reach(ids: torch.Tensor, weight: torch.Tensor) -> Drawing:
    """Draw a table, its one-hot product and its lookup, and mark each number that is not finite."""
    tokens = ids.tolist()
    vocab_size, dim = weight.shape
    right = cell_x(max(4, dim))
    product_top = vocab_size + 2.5
    lookup_top = product_top + len(tokens) + 1.5
    sheet = Sheet(right + 8)
    sheet.caption(0.5, f"weight: {vocab_size} rows × {dim} columns")
    # Aligned right, since the arrows pass on the left of most tables.
    sheet.text(right, product_top - 0.45, "one-hot rows @ weight", QUIET, "end")
    sheet.text(right, lookup_top - 0.45, "lookup: weight[ids]", QUIET, "end")
    rows = [(1.0 + k, f"row {k}", f"Row {k}", k, row) for k, row in enumerate(weight)]
    forms = ((product_top, "product", one_hot_matmul), (lookup_top, "lookup", lookup))
    for top, name, form in forms:
        for i, (k, row) in enumerate(zip(tokens, form(ids, weight), strict=True)):
            rows.append((top + i, f"id {k}", f"The {name} for id {k}", k, row))
    sentences = []
    for y, label, subject, k, row in rows:
        fill, color = id_colors(k) if k in tokens else ("none", QUIET)
        sheet.text(cell_x(0) - 6, y + 0.5, label, color, "end", k in tokens)
        problems = []
        for j, value in enumerate(row.tolist()):
            position = (cell_x(j), y, CELL_WIDTH)
            if isfinite(value):
                sheet.cell(*position, f"{value:.2f}", INK if k in tokens else QUIET, fill=fill)
            else:
                text = "NaN" if value != value else "Inf" if value > 0 else "-Inf"
                sheet.cell(*position, text, bold=True, stroke=INK, stroke_width=2)
                problems.append(f"{text} in column {j}")
        if problems:
            sentences.append(f"{subject} has {' and '.join(problems)}.")
        elif y >= product_top:
            sentences.append(f"{subject} is finite.")
    for k, j in (~weight.isfinite()).nonzero().tolist():
        x = cell_x(j + 1) - 5  # beside the numbers of the column
        sheet.arrow((x, k + 2.1), (x, product_top - 0.1))
    alt = f"A table with {vocab_size} rows of {dim} numbers. {' '.join(sentences)}"
    return sheet.to_drawing(alt)
