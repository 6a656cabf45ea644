"""The numbers in which the outputs of two layers differ."""

from collections.abc import Mapping, Sequence

import torch

from lookup_matmul.equality import bits_differ
from lookup_matmul.figures.sheet import CELL_WIDTH, INK, MARK, PICK, QUIET, Drawing, Sheet, cell_x
from lookup_matmul.figures.tables import format_values


def draw_differences(outputs: Mapping[str, torch.Tensor], *, labels: Sequence[str] = ()) -> Drawing:
    """Draw two outputs of one dtype and width, and mark numbers that differ or only one has."""
    tensors = {name: output.detach() for name, output in outputs.items()}
    (a, first), (b, second) = tensors.items()
    texts = {name: list(map(format_values, output)) for name, output in tensors.items()}
    shared_rows = min(len(first), len(second))
    differs = bits_differ(first[:shared_rows], second[:shared_rows])
    labels = labels or [f"row {i}" for i in range(max(len(first), len(second)))]
    sheet = Sheet(cell_x(first.shape[1]) + 8)
    top = 0.0
    for name, rows in texts.items():
        sheet.caption(top + 0.5, name)
        for i, row in enumerate(rows):
            y = top + 1 + i
            sheet.text(cell_x(0) - 6, y + 0.5, labels[i], QUIET, "end")
            for j, text in enumerate(row):
                cell = (cell_x(j), y, CELL_WIDTH, text)
                if i >= shared_rows or differs[i, j]:
                    sheet.cell(*cell, INK, True, colors=(PICK, MARK), stroke_width=1.6)
                else:
                    sheet.cell(*cell, QUIET)
        top += len(rows) + 1.5
    count = int(differs.sum()) + first[shared_rows:].numel()
    sentences = [f"{count} of {first.numel()} numbers differ."]
    for i in range(shared_rows):
        pairs = [
            f"column {j} is {texts[a][i][j]} in {a}, {texts[b][i][j]} in {b}"
            for j in differs[i].nonzero().flatten().tolist()
        ]
        if pairs:
            sentences.append(f"{labels[i]}: {'; '.join(pairs)}.")
    for name, output in tensors.items():
        if len(output) > shared_rows:
            sentences.append(f"{name} has {len(output)} rows, the other {shared_rows}.")
    return sheet.to_drawing(" ".join(sentences))
