"""The numbers in which the outputs of two layers differ."""

from collections.abc import Mapping, Sequence

import torch

from lookup_matmul.equality.assertions import bits_differ
from lookup_matmul.figures.palette import INK, MARK, PICK, QUIET
from lookup_matmul.figures.sheet import CELL_WIDTH, LABEL_WIDTH, Drawing, Sheet
from lookup_matmul.figures.tables import format_values


def draw_differences(outputs: Mapping[str, torch.Tensor], *, labels: Sequence[str] = ()) -> Drawing:
    """Draw two outputs of the same dtype and width, and mark the numbers that differ in any bit.

    All numbers of a row that only one output has are marked.
    """
    tables = [output.detach() for output in outputs.values()]
    labels = labels or [f"row {i}" for i in range(max(map(len, tables)))]
    texts = [[format_values(row) for row in table] for table in tables]
    common = min(map(len, tables))
    differs = bits_differ(*(table[:common] for table in tables)).tolist()
    sheet, y = Sheet(LABEL_WIDTH + tables[0].shape[1] * CELL_WIDTH + 8), 0.0
    for title, rows in zip(outputs, texts, strict=True):
        sheet.caption(y + 0.5, title)
        for i, row in enumerate(rows):
            sheet.text(LABEL_WIDTH - 6, y + 1.5 + i, labels[i], QUIET, "end")
            for j, text in enumerate(row):
                cell = (LABEL_WIDTH + j * CELL_WIDTH, y + 1 + i, CELL_WIDTH, text)
                if i >= common or differs[i][j]:
                    sheet.cell(*cell, INK, True, colors=(PICK, MARK), stroke_width=1.6)
                else:
                    sheet.cell(*cell, QUIET)
        y += len(rows) + 1.5
    count = sum(map(sum, differs)) + tables[0][common:].numel()
    sentences = [f"{count} of {tables[0].numel()} numbers differ."]
    for i in range(common):
        pairs = [
            f"column {j} is "
            + ", ".join(
                f"{text[i][j]} in {name}" for name, text in zip(outputs, texts, strict=True)
            )
            for j, different in enumerate(differs[i])
            if different
        ]
        if pairs:
            sentences.append(f"{labels[i]}: {'; '.join(pairs)}.")
    for name, table in zip(outputs, tables, strict=True):
        if len(table) > common:
            sentences.append(f"{name} has {len(table)} rows, the other {common}.")
    return sheet.to_drawing(" ".join(sentences))
