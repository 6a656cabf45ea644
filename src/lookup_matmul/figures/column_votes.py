"""Rows of a table that vote for the names of its columns: positive for, negative against."""

from collections.abc import Sequence

import torch
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from lookup_matmul.figures.cells import LARGEST, canvas, draw_cell, draw_text
from lookup_matmul.figures.palette import INK, LINE, MARK, QUIET
from lookup_matmul.figures.plots import check_finite
from lookup_matmul.figures.svg import Drawing, finish
from lookup_matmul.inputs import check_type as expect

LABEL_WIDTH, CELL_WIDTH, WIDTH = 86.0, 58.0, 330.0


def draw_votes(words: Sequence[str], weight: torch.Tensor, names: Sequence[str]) -> Drawing:
    """Draw some rows of a table, a bar in each cell for its number.

    Parameters
    ----------
    words : collections.abc.Sequence
        A word for each row.
    weight : torch.Tensor
        Shape (number of words, number of names), 1 to 12 words and 1 to 4 names.
    names : collections.abc.Sequence
        What each column of the table speaks for.

    Returns
    -------
    Drawing
        Numbers with a shade that grows with them if they are positive; the largest of each
        row is bold.

    Raises
    ------
    TypeError
        If ``weight`` is no tensor.
    ValueError
        If the sizes do not fit together, a number is not finite, or there is too much to draw.

    Examples
    --------
    >>> draw_votes(["dim"], torch.tensor([[-1.0, 2.0]]), ["numpy", "torch"])
    Votes for numpy, torch. dim (-1, +2): torch.
    """
    check_votes(weight, names)
    if len(words) != weight.shape[0] or not 1 <= len(words) <= LARGEST:
        raise ValueError(
            f"words has {len(words)} entries and weight {weight.shape[0]} rows, "
            f"expected as many, 1 to {LARGEST}."
        )
    ax = canvas(WIDTH, len(words) + 1.2)
    draw_header(ax, 0.5, names)
    largest = max(float(weight.abs().max()), torch.finfo(torch.float32).tiny)
    story = []
    for k, (word, row) in enumerate(zip(words, weight, strict=True), start=1):
        best = int(row.argmax())
        draw_text(ax, LABEL_WIDTH - 6, k + 0.5, word, INK, ha="right", bold=True)
        for j, value in enumerate(row.tolist()):
            if value > 0:
                share = 0.1 + 0.35 * value / largest  # so that the number stays legible in the dark
                place = (LABEL_WIDTH + j * CELL_WIDTH, k)
                ax.add_patch(Rectangle(place, CELL_WIDTH, 1, facecolor=MARK, alpha=share, lw=0))
        draw_signed_row(ax, k, row, ["none"] * len(names), LINE, bold=best)
        story.append(f"{word} ({signed_row(row)}): {names[best]}.")
    return finish(ax, f"Votes for {', '.join(names)}. {' '.join(story)}")


def check_votes(weight: torch.Tensor, names: Sequence[str]) -> None:
    """Raise unless a table holds finite numbers and each of its few columns has a name."""
    expect("weight", weight, torch.Tensor, "wrap it in torch.tensor(...)")
    if weight.dim() != 2 or weight.shape[1] != len(names) or not 1 <= len(names) <= 4:
        raise ValueError(
            f"weight has shape {tuple(weight.shape)} and names {len(names)} entries, "
            "expected a name for each of 1 to 4 columns."
        )
    check_finite("weight", weight.flatten().tolist())


def draw_header(ax: Axes, row: float, names: Sequence[str]) -> None:
    """Write what each column speaks for."""
    for j, name in enumerate(names):
        draw_text(ax, LABEL_WIDTH + (j + 0.5) * CELL_WIDTH, row, name, QUIET)


def draw_signed_row(
    ax: Axes, row: float, values: torch.Tensor, fills: Sequence[str], edge: str, bold: int = -1
) -> None:
    """Draw a row of cells with signed numbers, one of them bold."""
    for j, (value, fill) in enumerate(zip(values, fills, strict=True)):
        left = LABEL_WIDTH + j * CELL_WIDTH
        draw_cell(ax, left, row, CELL_WIDTH, signed(value), fill=fill, edge=edge, bold=j == bold)


def signed(value: torch.Tensor) -> str:
    """Write two decimals with a sign, and a whole number without decimals."""
    return f"{float(value):+.2f}".removesuffix(".00") if value else "0"


def signed_row(row: torch.Tensor) -> str:
    """Write a row of numbers as the cells show them, for those who hear the drawing."""
    return ", ".join(map(signed, row))
