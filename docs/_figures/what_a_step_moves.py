"""The rows of a table that each step of an optimizer moves."""

import torch

from lookup_matmul.figures.sheet import MARK, QUIET, Drawing, Sheet

X = 24.0
CELL_WIDTH = 36.0


def draw_moves(moved: torch.Tensor, used: torch.Tensor, alt: str) -> Drawing:
    """Draw rows, shaded where they moved, against steps, with a dot where the batch used a row."""
    rows, steps = moved.shape
    sheet = Sheet(X + steps * CELL_WIDTH + 8, 22)
    sheet.text(X, 0.5, "row of the table", anchor="start")
    for i in range(rows):
        sheet.text(X - 6, i + 1.6, str(i), QUIET, "end")
        for j in range(steps):
            fill = MARK if moved[i, j] else "none"
            # A pale shade, so that the dot stays visible.
            sheet.cell(X + j * CELL_WIDTH, i + 1.1, CELL_WIDTH, fill=fill, fill_opacity=0.6)
            if used[i, j]:
                sheet.dot(X + (j + 0.5) * CELL_WIDTH, i + 1.6)
    for j in range(steps):
        sheet.text(X + (j + 0.5) * CELL_WIDTH, rows + 1.6, str(j), QUIET)
    sheet.text(X + steps * CELL_WIDTH / 2, rows + 2.4, "step")
    return sheet.to_drawing(alt)
