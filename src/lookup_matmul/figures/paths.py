"""The straight path from one row of a table to another, which a soft choice takes."""

import torch
from matplotlib import style
from matplotlib.axes import Axes

from lookup_matmul.figures.palette import INK, LINE, colours_of
from lookup_matmul.figures.plots import PLOT, check_finite, plot_axes
from lookup_matmul.figures.svg import FONT_SIZE, Drawing, finish

LARGEST = 8


def draw_path(
    weight: torch.Tensor, start: int, end: int, shares: torch.Tensor, direction: torch.Tensor
) -> Drawing:
    """Draw the rows of a table with two columns as points, and mixtures of two of them.

    Parameters
    ----------
    weight : torch.Tensor
        Shape (vocabulary size, 2), 2 to 8 rows of finite numbers.
    start, end : int
        Two ids; the path leads from the row of the first to that of the second.
    shares : torch.Tensor
        Shape (number of points,), the share of ``end`` at each point of the path, 0 to 1.
    direction : torch.Tensor
        Shape (2,), the weights of the two columns in a linear score; dashed lines join
        the points that score as much as ``start`` and as ``end``.

    Returns
    -------
    Drawing
        A point with its score for each row, and the path between two of them.

    Raises
    ------
    ValueError
        If a shape is another, a number is not finite, an id is not in the table, or a share
        is outside 0 to 1.

    Examples
    --------
    >>> corner = torch.tensor([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0]])
    >>> draw_path(corner, 0, 1, torch.tensor([0.0, 0.5, 1.0]), torch.tensor([1.0, -1.0]))
    3 rows as points of a plane: token 0 at (0, 0) with score 0; token 1 at (2, 0) with score 2; \
token 2 at (0, 2) with score -2. A straight path leads from token 0 to token 1 \
over mixtures at (0, 0), (1, 0), (2, 0); along it the score goes from 0 to 2.
    """
    _check(weight, start, end, shares, direction)
    table, steps = weight.detach().double().cpu(), shares.detach().double().cpu()
    scores = table @ direction.detach().double().cpu()
    path = table[start] + steps[:, None] * (table[end] - table[start])
    with style.context(PLOT):
        ax = plot_axes("column 0", "column 1", width=320, height=290)
        ax.set_aspect("equal")
        ax.plot(path[:, 0], path[:, 1], color=INK, lw=1.6, marker="o", markersize=4, zorder=3)
        for k, ((x, y), score) in enumerate(zip(table.tolist(), scores.tolist(), strict=True)):
            _, stroke = colours_of(k)
            ax.plot(x, y, "o", color=stroke, markersize=9, zorder=4)
            # The other dashed line never crosses a label on this side.
            side = 1 if (score == scores.max()) == (direction[0] >= 0) else -1
            ax.annotate(
                f"token {k}\nscore {score:g}",
                (x, y),
                (9 * side, 0),
                textcoords="offset points",
                ha="left" if side > 0 else "right",
                va="center",
                color=stroke,
                fontsize=FONT_SIZE,
                fontweight="bold",
                zorder=5,
            )
        low, high = table.amin(0).tolist(), table.amax(0).tolist()
        room = 0.5 * (high[0] - low[0])  # for the labels
        ax.set(xlim=(low[0] - room, high[0] + room), ylim=(low[1] - 0.8, high[1] + 0.8))
        for score in (scores[start].item(), scores[end].item()):
            _draw_level(ax, score, direction.tolist())
        return finish(ax, _story(table, scores, start, end, path))


def _draw_level(ax: Axes, score: float, direction: list[float]) -> None:
    """Draw the line of points with one score, which is at right angles to the direction."""
    a, b = direction
    scale = score / (a * a + b * b)
    ax.axline(
        (a * scale, b * scale),
        (a * scale - b, b * scale + a),
        color=LINE,
        lw=0.8,
        linestyle=(0, (4, 3)),
        zorder=1,
    )


def _check(
    weight: torch.Tensor, start: int, end: int, shares: torch.Tensor, direction: torch.Tensor
) -> None:
    shape = tuple(weight.shape)
    if len(shape) != 2 or shape[1] != 2 or not 2 <= shape[0] <= LARGEST:
        raise ValueError(f"weight has shape {shape}, expected (2 to {LARGEST}, 2).")
    if tuple(direction.shape) != (2,) or not direction.any():
        raise ValueError(f"direction is {direction.tolist()}, expected two numbers, not both zero.")
    check_finite("weight", weight.flatten().tolist())
    check_finite("direction", direction.tolist())
    for name, token in (("start", start), ("end", end)):
        if not 0 <= token < shape[0]:
            raise ValueError(f"{name} is {token}, expected 0 to {shape[0] - 1}, a row of weight.")
    if shares.dim() != 1 or not len(shares) or not ((shares >= 0) & (shares <= 1)).all():
        raise ValueError(f"shares is {shares.tolist()}, expected a row of numbers from 0 to 1.")


def _story(
    table: torch.Tensor, scores: torch.Tensor, start: int, end: int, path: torch.Tensor
) -> str:
    points = "; ".join(
        f"token {k} at {_point(row)} with score {score:g}"
        for k, (row, score) in enumerate(zip(table, scores.tolist(), strict=True))
    )
    mixtures = ", ".join(_point(row) for row in path)
    return (
        f"{len(table)} rows as points of a plane: {points}. "
        f"A straight path leads from token {start} to token {end} over mixtures at {mixtures}; "
        f"along it the score goes from {scores[start]:g} to {scores[end]:g}."
    )


def _point(row: torch.Tensor) -> str:
    return f"({row[0]:g}, {row[1]:g})"
