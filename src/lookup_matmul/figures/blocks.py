"""Several columns of categories as blocks of one table."""

from collections.abc import Mapping, Sequence

import torch

from lookup_matmul.figures.cells import (
    canvas,
    check_sizes,
    draw_cells,
    draw_row,
    draw_rule,
    draw_text,
)
from lookup_matmul.figures.palette import QUIET, colours_of
from lookup_matmul.figures.svg import Drawing, finish
from lookup_matmul.inputs import check_inputs

LABEL_WIDTH, CELL_WIDTH, MARGIN = 132.0, 46.0, 8.0


def draw_blocks(
    columns: Mapping[str, Sequence[str]], ids: torch.Tensor, weight: torch.Tensor
) -> Drawing:
    """Draw a table with a block of rows for each column of categories, and one record's rows.

    Parameters
    ----------
    columns : collections.abc.Mapping
        Name of each column and its categories, in the order of the table's rows.
    ids : torch.Tensor
        Shape (number of rows picked,), the rows of the record, 1 to 12; dtype int32 or int64.
    weight : torch.Tensor
        Shape (number of categories in all, embedding dimension), 1 to 12 rows, 1 to 4 columns.

    Returns
    -------
    Drawing
        The categories beside their rows, each block apart and named with the row it begins at;
        the picked rows have the colours of their ids, and their sum stands below.

    Raises
    ------
    TypeError
        As :func:`lookup_matmul.check_inputs` says.
    ValueError
        As there, if the categories are not as many as the rows, if there are no ids,
        or if there is too much to draw.
    IndexError
        As there.

    Examples
    --------
    >>> sizes = {"size": ["small", "large"], "colour": ["red"]}
    >>> draw_blocks(sizes, torch.tensor([1, 2]), torch.tensor([[1.0], [2.0], [0.5]]))
    One table for size (rows 0 to 1) and colour (rows 2 to 2). The record picks row 1, large, \
and row 2, red; the sum of these rows is (2.5).
    """
    check_inputs(ids, weight)
    categories = [name for names in columns.values() for name in names]
    rows, dim = weight.shape
    check_sizes(ids, weight, columns=(1, 4))
    if len(categories) != rows:
        raise ValueError(
            f"columns has {len(categories)} categories and weight {rows} rows, expected as many; "
            "name a category for each row."
        )
    picked = ids.tolist()
    width = LABEL_WIDTH + max(dim, 2) * CELL_WIDTH + MARGIN
    ax = canvas(width, rows + 0.9 * len(columns) + 1.8)
    y, k, story = 0.0, 0, []
    for name, names in columns.items():
        draw_text(ax, 6, y + 0.5, f"{name}: rows from {k}", QUIET, ha="left")
        story.append(f"{name} (rows {k} to {k + len(names) - 1})")
        y += 0.9
        for category in names:
            stroke = colours_of(k)[1] if k in picked else QUIET
            draw_text(ax, LABEL_WIDTH - 28, y + 0.5, category, stroke, ha="right", bold=k in picked)
            draw_row(
                ax,
                y,
                str(k),
                _numbers(weight[k]),
                picked=k in picked,
                token=k,
                left=LABEL_WIDTH,
                width=CELL_WIDTH,
            )
            y, k = y + 1, k + 1
    draw_rule(ax, y + 0.3, LABEL_WIDTH + dim * CELL_WIDTH)
    total = weight[ids].sum(0)
    draw_text(ax, LABEL_WIDTH - 6, y + 1.1, "sum", ha="right", bold=True)
    draw_cells(ax, LABEL_WIDTH, y + 0.6, CELL_WIDTH, _numbers(total), bold=True)
    which = ", and ".join(f"row {k}, {categories[k]}" for k in picked)
    numbers = ", ".join(f"{value:.3g}" for value in total.tolist())
    return finish(
        ax,
        f"One table for {' and '.join(story)}. The record picks {which}; "
        f"the sum of these rows is ({numbers}).",
    )


def _numbers(values: torch.Tensor) -> list[str]:
    return [f"{value:.2f}" for value in values.tolist()]
