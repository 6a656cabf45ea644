"""Batches from left to right, and for each way to compile, which of them were compiled anew."""

from collections.abc import Mapping, Sequence

from lookup_matmul.figures.sheet import MARK, PICK, QUIET, Drawing, Sheet

LABEL_WIDTH = 142.0
CELL_WIDTH = 34.0


def draw_compilations(sizes: Sequence[int], ways: Mapping[str, Sequence[bool]]) -> Drawing:
    """Draw a row for each way, with a marked cell for each batch that was compiled anew."""
    sheet = Sheet(LABEL_WIDTH + len(sizes) * CELL_WIDTH + 4, 24)
    sheet.text(LABEL_WIDTH - 8, 0.5, "ids in the batch", QUIET, "end")
    for k, size in enumerate(sizes):
        sheet.text(LABEL_WIDTH + (k + 0.5) * CELL_WIDTH, 0.5, str(size), QUIET)
    sentences = [f"Batches of {', '.join(map(str, sizes))} ids."]
    for row, (way, compiled) in enumerate(ways.items()):
        top = 1.0 + 1.25 * row
        sheet.text(LABEL_WIDTH - 8, top + 0.5, way, anchor="end")
        for k, is_new in enumerate(compiled):
            colors, label = ((PICK, MARK), "new") if is_new else (("none", QUIET), "")
            x = LABEL_WIDTH + k * CELL_WIDTH
            sheet.cell(x, top, CELL_WIDTH, label, bold=is_new, colors=colors)
        new = [str(size) for size, is_new in zip(sizes, compiled, strict=True) if is_new]
        sentences.append(f"{way}: compiled for {', '.join(new)} ids.")
    return sheet.to_drawing(" ".join(sentences))
