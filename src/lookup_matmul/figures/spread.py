"""How far a NaN or an infinity of the table gets: in a product, and in a lookup."""

import torch
from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch

from lookup_matmul.figures.cells import (
    CELL_HEIGHT,
    CELL_WIDTH,
    LABEL_WIDTH,
    canvas,
    check_sizes,
    draw_caption,
    draw_cell,
    draw_text,
)
from lookup_matmul.figures.palette import INK, LINE, QUIET, colours_of
from lookup_matmul.figures.svg import Drawing, finish
from lookup_matmul.onehot.forms import lookup, one_hot_matmul

LARGEST, COLUMNS = 6, (1, 5)


def draw_spread(ids: torch.Tensor, weight: torch.Tensor) -> Drawing:
    """Draw a table with numbers that are not finite, its one-hot product and its lookup.

    Parameters
    ----------
    ids : torch.Tensor
        Shape (number of ids,), 1 to 6 of them; dtype int32 or int64.
    weight : torch.Tensor
        Shape (vocabulary size, embedding dimension), up to 6 rows of up to 5 numbers.

    Returns
    -------
    Drawing
        The table, below it what the product gives and what the lookup gives;
        every number that is not finite is outlined and has lost the colour of its id.

    Raises
    ------
    TypeError
        As :func:`lookup_matmul.check_inputs` says.
    ValueError
        As there, and if there is too much to draw.
    IndexError
        As :func:`lookup_matmul.check_inputs` says.

    Examples
    --------
    >>> draw_spread(torch.tensor([1]), torch.tensor([[float("nan"), 2.0], [3.0, 4.0]]))
    A table with 2 rows of 2 numbers. Row 0 has NaN in column 0. \
The product for id 1 has NaN in column 0. The lookup for id 1 is finite.
    """
    product, rows = one_hot_matmul(ids, weight), lookup(ids, weight)
    check_sizes(ids, weight, LARGEST, COLUMNS)
    picked, vocab_size, dim = ids.tolist(), *weight.shape
    gap = 1.5
    height = vocab_size + 2 * len(picked) + 2 * gap + 1.2
    right = LABEL_WIDTH + max(4, dim) * CELL_WIDTH
    ax = canvas(right + 8, height)
    draw_caption(ax, 0.5, f"weight: {vocab_size} rows × {dim} columns")
    for k in range(vocab_size):
        _draw_row(ax, 1 + k, f"row {k}", weight[k], k if k in picked else None)
    tops = [1 + vocab_size + gap, 1 + vocab_size + len(picked) + 2 * gap]
    captions = ["one-hot rows @ weight", "lookup: weight[ids]"]
    for top, caption, result in zip(tops, captions, (product, rows), strict=True):
        # Flush right, since the arrows pass on the left of most tables.
        draw_text(ax, right, top - 0.45, caption, QUIET, ha="right")
        for i, k in enumerate(picked):
            _draw_row(ax, top + i, f"id {k}", result[i], k)
    for j in (~weight.isfinite()).any(0).nonzero().flatten().tolist():
        x = LABEL_WIDTH + (j + 0.5) * CELL_WIDTH
        source = 2 + int((~weight[:, j].isfinite()).nonzero()[-1])
        _draw_arrow(ax, x, source + 2 / CELL_HEIGHT, tops[0] - 2 / CELL_HEIGHT)
    story = [_finding(f"Row {k}", weight[k]) for k in range(vocab_size)]
    stories = [text for text in story if "finite" not in text]
    stories += [_finding(f"The product for id {k}", product[i]) for i, k in enumerate(picked)]
    stories += [_finding(f"The lookup for id {k}", rows[i]) for i, k in enumerate(picked)]
    return finish(ax, f"A table with {vocab_size} rows of {dim} numbers. {' '.join(stories)}")


def _draw_row(ax: Axes, row: float, label: str, values: torch.Tensor, token: int | None) -> None:
    fill, stroke = ("none", QUIET) if token is None else colours_of(token)
    draw_text(ax, LABEL_WIDTH - 6, row + 0.5, label, stroke, ha="right", bold=token is not None)
    for j, value in enumerate(values.tolist()):
        finite = abs(value) < float("inf")  # also false for NaN
        draw_cell(
            ax,
            LABEL_WIDTH + j * CELL_WIDTH,
            row,
            CELL_WIDTH,
            _number(value),
            fill=fill if finite else "none",
            edge=LINE if finite else INK,
            lw=0.8 if finite else 2,
            zorder=1 if finite else 2,
            ink=QUIET if finite and token is None else INK,
            bold=not finite,
        )


def _draw_arrow(ax: Axes, x: float, top: float, bottom: float) -> None:
    """Lead from the cell to the column below, along the right edge, past the numbers between."""
    x += CELL_WIDTH / 2 - 5
    arrow = FancyArrowPatch(
        (x, top), (x, bottom), arrowstyle="-|>", mutation_scale=9, color=INK, lw=1.3, zorder=2
    )
    ax.add_patch(arrow)


def _number(value: float) -> str:
    return {"nan": "NaN", "inf": "Inf", "-inf": "-Inf"}.get(str(value)) or f"{value:.2f}"


def _finding(name: str, values: torch.Tensor) -> str:
    places = [
        f"{_number(value)} in column {j}"
        for j, value in enumerate(values.tolist())
        if not abs(value) < float("inf")
    ]
    return f"{name} has {' and '.join(places)}." if places else f"{name} is finite."
