"""Two outputs that should be the same, and where they are not."""

from collections.abc import Mapping, Sequence

import torch

from lookup_matmul.equality.assertions import bits_differ
from lookup_matmul.figures.cells import (
    CELL_WIDTH,
    LABEL_WIDTH,
    canvas,
    draw_caption,
    draw_cell,
    draw_text,
    in_cells,
)
from lookup_matmul.figures.palette import INK, LINE, MARK, PICK, QUIET
from lookup_matmul.figures.svg import Drawing, finish
from lookup_matmul.inputs import check_type as expect

LARGEST, COLUMNS = 6, 5


def draw_differences(outputs: Mapping[str, torch.Tensor], *, labels: Sequence[str] = ()) -> Drawing:
    """Draw two tables of numbers one above the other, and mark the numbers that differ in a bit.

    Parameters
    ----------
    outputs : collections.abc.Mapping
        Two names, each with a tensor of shape (rows, columns): up to 6 rows and 5 columns,
        as many columns in both.
        A row that the other lacks differs as a whole; so do numbers of another dtype
        if their values differ.
    labels : collections.abc.Sequence of str
        What the rows are called, short enough for 46 points; by default "row 0" and so on.

    Returns
    -------
    Drawing
        The numbers with four decimals; those that differ are filled, outlined and bold.

    Raises
    ------
    TypeError
        If an output is no tensor.
    ValueError
        If there are not two tables, or these are too large to draw or of different widths,
        or if there are labels, but not one for each row.

    Examples
    --------
    >>> draw_differences({"a": torch.tensor([[1.0, 2.0]]), "b": torch.tensor([[1.0, 2.5]])})
    1 of 2 numbers differ. row 0: column 1 is 2.0000 in a, 2.5000 in b.
    """
    for name, output in outputs.items():
        expect(name, output, torch.Tensor, "wrap it in torch.tensor(...)")
    shapes = [tuple(output.shape) for output in outputs.values()]
    if (
        len(shapes) != 2
        or any(len(shape) != 2 or not 1 <= shape[0] <= LARGEST for shape in shapes)
        or not 1 <= shapes[0][1] == shapes[1][1] <= COLUMNS
    ):
        raise ValueError(
            f"outputs has shapes {shapes}, expected two tables of 1 to {LARGEST} rows and one "
            f"number of columns, 1 to {COLUMNS}; draw a slice."
        )
    longest = max(shape[0] for shape in shapes)
    names = list(labels) or [f"row {i}" for i in range(longest)]
    if len(names) != longest:
        raise ValueError(
            f"labels has {len(names)} entries, expected {longest}, one for each row; or none."
        )
    tables = [output.detach() for output in outputs.values()]
    common = min(shape[0] for shape in shapes)
    marked = [torch.ones(shape, dtype=torch.bool) for shape in shapes]
    for mark in marked:
        mark[:common] = _differ(*(table[:common] for table in tables))
    ax = canvas(LABEL_WIDTH + shapes[0][1] * CELL_WIDTH + 8, sum(s[0] for s in shapes) + 2.6)
    top = 0.0
    for name, table, mark in zip(outputs, tables, marked, strict=True):
        draw_caption(ax, top + 0.5, name)
        for i, (values, differs) in enumerate(zip(table, mark.tolist(), strict=True)):
            draw_text(ax, LABEL_WIDTH - 6, top + 1.5 + i, names[i], QUIET, ha="right")
            for j, text in enumerate(in_cells(values)):
                draw_cell(
                    ax,
                    LABEL_WIDTH + j * CELL_WIDTH,
                    top + 1 + i,
                    CELL_WIDTH,
                    text,
                    fill=PICK if differs[j] else "none",
                    edge=MARK if differs[j] else LINE,
                    lw=1.6 if differs[j] else 0.8,
                    zorder=2 if differs[j] else 1,
                    ink=INK if differs[j] else QUIET,
                    bold=differs[j],
                )
        top += len(table) + 1.5
    return finish(ax, _story(list(outputs), tables, marked, names))


def _differ(first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
    if first.dtype == second.dtype:
        return bits_differ(first, second)
    return first.double() != second.double()


def _story(
    names: list[str], tables: list[torch.Tensor], marked: list[torch.Tensor], labels: list[str]
) -> str:
    texts = [f"{int(marked[0].sum())} of {marked[0].numel()} numbers differ."]
    common = min(map(len, tables))
    shown = [[in_cells(values) for values in table] for table in tables]
    for i in range(common):
        places = [
            f"column {j} is {shown[0][i][j]} in {names[0]}, {shown[1][i][j]} in {names[1]}"
            for j in marked[0][i].nonzero().flatten().tolist()
        ]
        if places:
            texts.append(f"{labels[i]}: {'; '.join(places)}.")
    for name, table in zip(names, tables, strict=True):
        if len(table) > common:
            texts.append(f"{name} has {len(table)} rows, the other {common}.")
    return " ".join(texts)
