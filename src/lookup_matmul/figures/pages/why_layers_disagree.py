"""The numbers in which the outputs of two layers differ."""

from collections.abc import Mapping, Sequence

import torch

from lookup_matmul.equality.assertions import bits_differ
from lookup_matmul.figures.palette import INK, MARK, PICK, QUIET
from lookup_matmul.figures.sheet import CELL_WIDTH, LABEL_WIDTH, Drawing, Sheet
from lookup_matmul.figures.tables import format_values


def draw_differences(outputs: Mapping[str, torch.Tensor], *, labels: Sequence[str] = ()) -> Drawing:
    """Draw two outputs of the same dtype and shape, and mark the numbers that differ in any bit."""
    (a, first), (b, second) = ((name, output.detach()) for name, output in outputs.items())
    differs = bits_differ(first, second)
    labels = labels or [f"row {i}" for i in range(len(first))]
    texts = {a: list(map(format_values, first)), b: list(map(format_values, second))}
    sheet = Sheet(LABEL_WIDTH + first.shape[1] * CELL_WIDTH + 8)
    for top, (name, rows) in zip((0, len(first) + 1.5), texts.items(), strict=True):
        sheet.caption(top + 0.5, name)
        for i, row in enumerate(rows):
            y = top + 1 + i
            sheet.text(LABEL_WIDTH - 6, y + 0.5, labels[i], QUIET, "end")
            for j, text in enumerate(row):
                cell = (LABEL_WIDTH + j * CELL_WIDTH, y, CELL_WIDTH, text)
                if differs[i, j]:
                    sheet.cell(*cell, INK, True, colors=(PICK, MARK), stroke_width=1.6)
                else:
                    sheet.cell(*cell, QUIET)
    sentences = [f"{int(differs.sum())} of {first.numel()} numbers differ."]
    for i, label in enumerate(labels):
        pairs = [
            f"column {j} is {texts[a][i][j]} in {a}, {texts[b][i][j]} in {b}"
            for j in differs[i].nonzero().flatten().tolist()
        ]
        if pairs:
            sentences.append(f"{label}: {'; '.join(pairs)}.")
    return sheet.to_drawing(" ".join(sentences))
