"""The memory of tables: each number in the place where the storage has it."""

import torch
from matplotlib.axes import Axes

from lookup_matmul.equality.storage import shares_storage
from lookup_matmul.figures.cells import canvas, draw_cell, draw_text
from lookup_matmul.figures.palette import QUIET, colours_of
from lookup_matmul.figures.svg import Drawing, finish

CELL_WIDTH, LARGEST, MARGIN = 25.0, 12, 4.0


def draw_strips(embedding_weight: torch.Tensor, linear_weight: torch.Tensor) -> Drawing:
    """Draw the weights of both layers, and below each the numbers in the order of its memory.

    The order comes from the tensors' strides, and one strip is drawn if they share storage.

    Parameters
    ----------
    embedding_weight : torch.Tensor
        Shape (vocabulary size, embedding dimension), at most 12 numbers;
        those with one decimal are the ones that a cell has room for.
    linear_weight : torch.Tensor
        The same numbers as (embedding dimension, vocabulary size).

    Returns
    -------
    Drawing
        Both tables side by side and one or two strips, every number in the colour of its id.

    Raises
    ------
    ValueError
        If the shapes are not each other's transposes, a number differs, a memory has gaps,
        or there is too much to draw.

    Examples
    --------
    >>> table = torch.tensor([[0.1, 0.2], [1.1, 1.2]])
    >>> draw_strips(table, table.T)
    The Embedding has 2 rows of 2, the Linear 2 rows of 2: its columns are the rows of the \
Embedding. One memory holds both: 0.1, 0.2, 1.1, 1.2.
    >>> draw_strips(table, table.T.contiguous())
    The Embedding has 2 rows of 2, the Linear 2 rows of 2: its columns are the rows of the \
Embedding. Memory of the Embedding: 0.1, 0.2, 1.1, 1.2. Memory of the Linear: 0.1, 1.1, 0.2, 1.2.
    """
    table, transposed = embedding_weight.detach(), linear_weight.detach()
    if table.dim() != 2 or not torch.equal(table, transposed.T):
        raise ValueError(
            f"embedding_weight has shape {tuple(table.shape)} and linear_weight "
            f"{tuple(transposed.shape)}, expected the same numbers transposed."
        )
    if not 1 <= table.numel() <= LARGEST:
        raise ValueError(
            f"the weight has {table.numel()} numbers, expected 1 to {LARGEST}, to be readable; "
            "draw a slice."
        )
    rows, dim = table.shape
    ids = torch.arange(rows).unsqueeze(1).expand(rows, dim)
    second = MARGIN + (dim + 2) * CELL_WIDTH
    width = max(second + rows * CELL_WIDTH, MARGIN + table.numel() * CELL_WIDTH) + MARGIN
    shared = shares_storage(table, transposed)
    top = max(rows, dim) + 1.0
    ax = canvas(max(width, 250.0), top + (2.1 if shared else 4.2))
    for left, name, weight, of in (
        (MARGIN, "Embedding", table, ids),
        (second, "Linear", transposed, ids.T),
    ):
        draw_text(ax, left, 0.5, f"{name} {weight.shape[0]} × {weight.shape[1]}", QUIET, ha="left")
        for i, row in enumerate(weight.tolist()):
            _draw_cells(ax, left, 1.0 + i, row, of[i].tolist())
    strips = {"One memory holds both": (table, ids)}
    if not shared:
        strips = {
            "Memory of the Embedding": (table, ids),
            "Memory of the Linear": (transposed, ids.T),
        }
    words = []
    for s, (title, (weight, of)) in enumerate(strips.items()):
        order = _places(weight).argsort()
        numbers, owners = weight.flatten()[order].tolist(), of.flatten()[order].tolist()
        draw_text(ax, MARGIN, top + 0.55 + 2.1 * s, title, QUIET, ha="left")
        _draw_cells(ax, MARGIN, top + 1.0 + 2.1 * s, numbers, owners)
        words.append(f"{title}: {', '.join(f'{x:.4g}' for x in numbers)}.")
    return finish(
        ax,
        f"The Embedding has {rows} rows of {dim}, the Linear {dim} rows of {rows}: "
        f"its columns are the rows of the Embedding. {' '.join(words)}",
    )


def _places(weight: torch.Tensor) -> torch.Tensor:
    """Give the place in memory of each number, counted from the first, in the tensor's order."""
    rows, columns = (torch.arange(size) for size in weight.shape)
    down, across = weight.stride()
    places = (rows.unsqueeze(1) * down + columns * across).flatten()
    if sorted(places.tolist()) != list(range(weight.numel())):
        raise ValueError(
            f"the weight has strides {weight.stride()}, expected a memory without gaps."
        )
    return places


def _draw_cells(ax: Axes, left: float, row: float, values: list[float], ids: list[int]) -> None:
    for j, (value, token) in enumerate(zip(values, ids, strict=True)):
        fill, stroke = colours_of(token)
        draw_cell(ax, left + j * CELL_WIDTH, row, CELL_WIDTH, f"{value:.3g}", fill=fill, ink=stroke)
