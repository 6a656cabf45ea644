"""A language model from its ids to its loss, with the one table that serves both ends."""

from collections.abc import Sequence

import torch
from matplotlib.axes import Axes

from lookup_matmul.figures.cells import (
    canvas,
    draw_arrow,
    draw_cell,
    draw_cells,
    draw_text,
)
from lookup_matmul.figures.palette import INK, LINE, QUIET, colours_of
from lookup_matmul.figures.svg import Drawing, finish
from lookup_matmul.inputs import check_ids

WIDTH, TABLE, TABLE_WIDTH, LEFT, RIGHT = 326.0, 4.0, 74.0, 152.0, 322.0
LARGEST = 4


def draw_both_ends(tokens: Sequence[str], ids: torch.Tensor, vocab_size: int) -> Drawing:
    """Draw how a text passes through a language model whose one table serves both ends.

    Parameters
    ----------
    tokens : collections.abc.Sequence
        The text, token by token; all but the last go in, all but the first are to be guessed.
    ids : torch.Tensor
        Shape (2 to 5,), one id for each token; dtype int32 or int64.
    vocab_size : int
        Number of rows of the table, of which those of ``ids`` are drawn.

    Returns
    -------
    Drawing
        The table at the left; at the right, from top to bottom, tokens, ids, their rows, the
        positions' rows, the blocks, the scores, and the one score that the loss reads each time.

    Raises
    ------
    TypeError
        As :func:`lookup_matmul.check_ids` says.
    ValueError
        As there, and if there are not 2 to 5 ids, or not as many tokens.
    IndexError
        As :func:`lookup_matmul.check_ids` says.

    Examples
    --------
    >>> draw_both_ends("byt", torch.tensor([98, 121, 116]), 256)
    b, y go in as ids 98, 121. The lookup copies rows 98, 121 of the table, the position rows \
0, 1 are added, and the blocks follow. At the other end each result is multiplied by all 256 rows \
of the same table, and of the 256 scores the loss reads one: 121 at position 0, 116 at position 1.
    """
    check_ids(ids, vocab_size)
    if ids.dim() != 1 or not 2 <= len(ids) <= LARGEST + 1 or len(tokens) != len(ids):
        raise ValueError(
            f"ids has shape {tuple(ids.shape)} for {len(tokens)} tokens, expected 2 to "
            f"{LARGEST + 1} ids and as many tokens; draw a shorter piece of the text."
        )
    numbers = ids.tolist()
    inputs, targets = numbers[:-1], numbers[1:]
    n = len(inputs)
    cell = (RIGHT - LEFT) / n
    ax = canvas(WIDTH, 14.5)
    _draw_line(ax, 0.1, "text", list(tokens[:-1]), cell, inputs)
    _draw_line(ax, 1.8, "ids", [str(token) for token in inputs], cell, inputs)
    _draw_line(ax, 4.2, "rows", [str(token) for token in inputs], cell, inputs)
    _draw_line(ax, 5.3, "+ position", [str(t) for t in range(n)], cell)
    draw_cell(ax, LEFT, 6.8, RIGHT - LEFT, "the blocks", height=1.2, edge=INK)
    _draw_line(ax, 8.5, "results", ["h"] * n, cell)
    _draw_line(ax, 11.4, "scores", [f"{vocab_size:,}"] * n, cell)
    _draw_line(ax, 13.1, "loss reads", [str(token) for token in targets], cell, targets)
    for begin, end in ((1.15, 1.8), (6.3, 6.8), (8.0, 8.5), (12.4, 13.1)):
        for j in range(n):
            middle = LEFT + (j + 0.5) * cell
            draw_arrow(ax, (middle, begin), (middle, end), QUIET, size=8, lw=1.0)
    top, bottom = _draw_table(ax, numbers, vocab_size)
    draw_text(ax, LEFT, 3.5, f"lookup: copies {n} row{'s' if n > 1 else ''}", INK, "left", True)
    draw_arrow(ax, (TABLE + TABLE_WIDTH, top), (LEFT - 4, 3.5), INK)
    draw_text(ax, LEFT, 10.45, f"product: all {vocab_size:,} rows", INK, "left", True)
    draw_arrow(ax, (TABLE + TABLE_WIDTH, bottom), (LEFT - 4, 10.45), INK)
    return finish(ax, _story(tokens, inputs, targets, vocab_size))


def _draw_line(
    ax: Axes, row: float, label: str, texts: Sequence[str], width: float, ids: Sequence[int] = ()
) -> None:
    """Draw one line of cells, in the colours of its ids if it has some."""
    draw_text(ax, LEFT - 6, row + 0.5, label, QUIET, ha="right")
    if not ids:
        draw_cells(ax, LEFT, row, width, texts)
    for j, (text, token) in enumerate(zip(texts, ids, strict=False)):
        fill, stroke = colours_of(token)
        left = LEFT + j * width
        draw_cell(ax, left, row, width, text, fill=fill, edge=stroke, lw=1.4, bold=True)


def _draw_table(ax: Axes, ids: Sequence[int], vocab_size: int) -> tuple[float, float]:
    """Draw the rows of the ids, and dots for rows between; give where arrows leave it."""
    shown = sorted(set(ids))
    gaps = [b - a > 1 for a, b in zip([-1, *shown], [*shown, vocab_size], strict=True)]
    height = len(shown) + 0.7 * sum(gaps)
    row = top = 7.7 - height / 2
    draw_text(ax, TABLE, top - 1.1, "one table,", INK, "left", True)
    draw_text(ax, TABLE, top - 0.4, f"{vocab_size:,} rows", INK, "left", True)
    draw_cell(ax, TABLE, top, TABLE_WIDTH, height=height, edge=LINE, lw=1.6)
    for token, gap in zip([*shown, None], gaps, strict=True):
        if gap:
            draw_text(ax, TABLE + TABLE_WIDTH / 2, row + 0.35, "⋮", QUIET)
            row += 0.7
        if token is not None:
            fill, stroke = colours_of(token)
            text = f"row {token}"
            draw_cell(ax, TABLE, row, TABLE_WIDTH, text, fill=fill, edge=stroke, bold=True)
            row += 1
    return top + 0.2 * height, top + 0.8 * height


def _story(
    tokens: Sequence[str], inputs: Sequence[int], targets: Sequence[int], vocab_size: int
) -> str:
    ids = ", ".join(map(str, inputs))
    places = ", ".join(map(str, range(len(inputs))))
    read = ", ".join(f"{token} at position {t}" for t, token in enumerate(targets))
    return (
        f"{', '.join(tokens[:-1])} go in as ids {ids}. The lookup copies rows {ids} of the table, "
        f"the position rows {places} are added, and the blocks follow. At the other end each "
        f"result is multiplied by all {vocab_size:,} rows of the same table, and of the "
        f"{vocab_size:,} scores the loss reads one: {read}."
    )
