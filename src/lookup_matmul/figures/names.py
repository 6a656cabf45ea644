"""Names, the Parameters that they stand for, and the memory under those."""

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.patches import FancyBboxPatch
from torch.nn import Parameter

from lookup_matmul.equality.storage import shares_storage
from lookup_matmul.figures.cells import CELL_HEIGHT, canvas, draw_arrow, draw_cell, draw_text
from lookup_matmul.figures.palette import INK, QUIET, colours_of
from lookup_matmul.figures.svg import Drawing, finish

NAMES_END, BOX, BOX_WIDTH, MEMORY, MEMORY_WIDTH = 118.0, 138.0, 76.0, 234.0, 88.0
LARGEST_NAMES, LARGEST_ROWS = 4, 8


def draw_names(weights: Mapping[str, Parameter]) -> Drawing:
    """Draw which names stand for one Parameter, and which Parameters lie on one memory.

    Parameters
    ----------
    weights : collections.abc.Mapping
        One to four names and their tables, each of shape (vocabulary size, embedding dimension),
        the vocabulary size 1 to 8.

    Returns
    -------
    Drawing
        Names on the left, a box for each distinct Parameter, a strip for each distinct memory,
        a cell for each row in the colour of its id.

    Raises
    ------
    ValueError
        If there are no or too many names, or a table is too large to draw.

    Examples
    --------
    >>> import torch
    >>> table = torch.nn.Parameter(torch.zeros(4, 3))
    >>> draw_names({"embedding.weight": table, "head.weight": table})
    2 names, 1 Parameter, 1 memory. embedding.weight is Parameter 1 on memory 1. \
head.weight is Parameter 1 on memory 1.
    >>> draw_names({"a": table, "b": torch.nn.Parameter(table.detach())})
    2 names, 2 Parameters, 1 memory. a is Parameter 1 on memory 1. b is Parameter 2 on memory 1.
    """
    if not 1 <= len(weights) <= LARGEST_NAMES:
        raise ValueError(f"weights has {len(weights)} names, expected 1 to {LARGEST_NAMES}.")
    for name, weight in weights.items():
        if weight.dim() != 2 or not 1 <= len(weight) <= LARGEST_ROWS:
            raise ValueError(
                f"{name} has shape {tuple(weight.shape)}, expected two sizes and at most "
                f"{LARGEST_ROWS} rows, to be readable; draw a smaller table."
            )
    parameters: list[Parameter] = []
    memories: list[Parameter] = []
    ways = []
    for name, weight in weights.items():
        ways.append((name, _place(weight, parameters), _place(weight, memories, by_storage=True)))
    rows = len(ways)
    ax = canvas(MEMORY + MEMORY_WIDTH + 4, 1.2 + 1.4 * rows)
    for x, title in ((NAMES_END, "name"), (BOX + BOX_WIDTH / 2, "Parameter")):
        draw_text(ax, x, 0.4, title, QUIET, ha="right" if x == NAMES_END else "center")
    draw_text(ax, MEMORY + MEMORY_WIDTH / 2, 0.4, "memory", QUIET)
    name_at = [1.0 + 1.4 * (i + 0.5) for i in range(rows)]
    box_at = _middles([p for _, p, _ in ways], name_at)
    memory_at = _middles([m for _, _, m in ways], name_at)
    for (name, _, _), row in zip(ways, name_at, strict=True):
        draw_text(ax, NAMES_END, row, name, ha="right")
    for p, row in box_at.items():
        box = FancyBboxPatch((BOX, row - 0.45), BOX_WIDTH, 0.9, fill=False, edgecolor=INK, lw=1.4)
        box.set_boxstyle("round,pad=0,rounding_size=5")
        box.set_mutation_aspect(1 / CELL_HEIGHT)  # so that the corners are round
        ax.add_patch(box)
        draw_text(ax, BOX + BOX_WIDTH / 2, row, f"Parameter {p + 1}")
    for m, row in memory_at.items():
        _draw_memory(ax, row, memories[m])
    for i, (_, p, m) in enumerate(ways):
        for begin, end in (
            ((NAMES_END + 3, name_at[i]), (BOX, box_at[p])),
            ((BOX + BOX_WIDTH, box_at[p]), (MEMORY, memory_at[m])),
        ):
            draw_arrow(ax, begin, end, size=10, lw=1.2)
    words = " ".join(f"{n} is Parameter {p + 1} on memory {m + 1}." for n, p, m in ways)
    plural = "" if len(parameters) == 1 else "s"
    stores = "1 memory" if len(memories) == 1 else f"{len(memories)} memories"
    head = f"{rows} name{'s' if rows > 1 else ''}, {len(parameters)} Parameter{plural}, {stores}."
    return finish(ax, f"{head} {words}")


def _place(weight: Parameter, found: list[Parameter], by_storage: bool = False) -> int:
    """Give the place of a Parameter, or of its storage, among those found; add it if it is new."""
    for place, other in enumerate(found):
        if weight is other or (by_storage and shares_storage(weight, other)):
            return place
    found.append(weight)
    return len(found) - 1


def _middles(members: Sequence[int], rows: Sequence[float]) -> dict[int, float]:
    """Give the middle of the rows that belong to each member."""
    return {
        member: sum(r for m, r in zip(members, rows, strict=True) if m == member)
        / members.count(member)
        for member in members
    }


def _draw_memory(ax: Axes, row: float, weight: Parameter) -> None:
    width = MEMORY_WIDTH / len(weight)
    for k in range(len(weight)):
        fill, stroke = colours_of(k)
        left = MEMORY + k * width
        draw_cell(ax, left, row - 0.45, width, str(k), height=0.9, fill=fill, ink=stroke)
