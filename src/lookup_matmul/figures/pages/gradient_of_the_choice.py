"""A path between two rows of a table, as the choice between them becomes continuous."""

import torch
from matplotlib import style

from lookup_matmul.figures.axes import PLOT_STYLE, create_axes, to_drawing
from lookup_matmul.figures.sheet import INK, LINE, Drawing, id_colors


def draw_path(
    weight: torch.Tensor, start: int, end: int, shares: torch.Tensor, direction: torch.Tensor
) -> Drawing:
    """Draw the rows of a table of two columns as points, and mixtures of two of them.

    The path leads from row ``start`` to row ``end``, whose share in each mixture is in ``shares``.
    The score of a point is its product with ``direction``; dashed lines join points of equal score.
    """
    table, scores = weight.double(), (weight.double() @ direction.double()).tolist()
    path = table[start] + shares.double()[:, None] * (table[end] - table[start])
    with style.context(PLOT_STYLE):
        ax = create_axes("column 0", "column 1", 320, 290)
        ax.set_aspect("equal")
        ax.plot(path[:, 0], path[:, 1], color=INK, lw=1.6, marker="o", ms=4, zorder=3)
        for k, ((x, y), score) in enumerate(zip(table.tolist(), scores, strict=True)):
            _, color = id_colors(k)
            ax.plot(x, y, "o", color=color, ms=9, zorder=4)
            # The other dashed line never crosses a label on this side.
            right = (score == max(scores)) == (direction[0] >= 0)
            offset, alignment = (9, "left") if right else (-9, "right")
            label = f"token {k}\nscore {score:g}".replace("-", "−")
            note = ax.annotate(label, (x, y), (offset, 0), textcoords="offset points", zorder=5)
            note.set(color=color, ha=alignment, va="center", fontweight="bold")
        (x_min, y_min), (x_max, y_max) = table.amin(0).tolist(), table.amax(0).tolist()
        margin = 0.5 * (x_max - x_min)  # for the labels
        ax.set(xlim=(x_min - margin, x_max + margin), ylim=(y_min - 0.8, y_max + 0.8))
        a, b = direction.tolist()
        for score in (scores[start], scores[end]):
            # Points of equal score are on a line perpendicular to the direction.
            x, y = (part * score / (a * a + b * b) for part in (a, b))
            ax.axline((x, y), (x - b, y + a), color=LINE, lw=0.8, ls=(0, (4, 3)), zorder=1)
        points = "; ".join(
            f"token {k} at {_format_point(row)} with score {score:g}"
            for k, (row, score) in enumerate(zip(table, scores, strict=True))
        )
        return to_drawing(
            ax,
            f"{len(table)} rows as points of a plane: {points}. A straight path leads from token "
            f"{start} to token {end} over mixtures at {', '.join(map(_format_point, path))}; "
            f"along it the score goes from {scores[start]:g} to {scores[end]:g}.",
        )


def _format_point(row: torch.Tensor) -> str:
    return f"({row[0]:g}, {row[1]:g})"
