"""Small tables with each number in its cell: lookups, products, gradients, and blocks of rows."""

from collections.abc import Container, Mapping, Sequence

import torch

from lookup_matmul.figures.palette import INK, QUIET, colors_of
from lookup_matmul.figures.sheet import CELL_WIDTH, LABEL_WIDTH, Drawing, Sheet
from lookup_matmul.onehot.forms import lookup, one_hot, one_hot_matmul


def draw_lookup(ids: torch.Tensor, weight: torch.Tensor) -> Drawing:
    """Draw the rows that ``ids`` pick from the table, and where each of them goes.

    ``ids`` has shape (number of ids,), ``weight`` (vocabulary size, embedding dimension);
    up to 12 of each can be read.

    Examples
    --------
    >>> draw_lookup(torch.tensor([1]), torch.tensor([[0.5, 1.0], [1.5, -2.0]]))
    A table with 2 rows of 2 numbers. Id 1 picks row 1: (1.5000, -2.0000). No arithmetic is done.
    """
    rows = lookup(ids, weight)
    vocab_size, dim = weight.shape
    picked = ids.tolist()
    right = LABEL_WIDTH + dim * CELL_WIDTH
    sheet = Sheet(right + 48)
    sheet.caption(0.5, f"weight: {vocab_size} rows × {dim} columns")
    draw_rows(sheet, 1, "row", range(vocab_size), weight, picked)
    below = vocab_size + 2.0
    sheet.caption(below - 0.4, "output: one row for each id")
    draw_rows(sheet, below, "id", picked, rows, picked)
    for i, k in enumerate(picked):
        # The arrows nest instead of crossing on one line.
        bend = 0.22 + 0.1 * i / len(picked)
        begin, end = (right + 1, 1.5 + k), (right + 1, below + i + 0.5)
        sheet.arrow(begin, end, colors_of(k)[1], bend=bend)
    story = " ".join(f"Id {k} picks row {k}: {in_words(weight[k])}." for k in picked)
    return sheet.finish(
        f"A table with {vocab_size} rows of {dim} numbers. {story} No arithmetic is done."
    )


def draw_one_hot_product(token: int, weight: torch.Tensor) -> Drawing:
    """Draw the one-hot row of one id times the table, term by term.

    ``weight`` has shape (vocabulary size, embedding dimension); up to 12 of each can be read.

    Examples
    --------
    >>> draw_one_hot_product(1, torch.tensor([[0.5, 1.0], [1.5, -2.0]]))
    The one-hot row of id 1 is (0, 1). Row 0 of the table is multiplied by 0. \
Row 1 of the table is multiplied by 1: (1.5000, -2.0000). The sum is (1.5000, -2.0000). \
2 of 4 multiplications are by zero.
    """
    product = one_hot_matmul(torch.tensor([token]), weight)[0]
    vocab_size, dim = weight.shape
    factors = one_hot(torch.tensor(token), vocab_size, dtype=torch.int64).tolist()
    right = LABEL_WIDTH + dim * CELL_WIDTH
    sheet = Sheet(right + 40)
    sheet.caption(0.5, f"one-hot row of id {token}, upright, × weight")
    for k, factor in enumerate(factors):
        sheet.row(1 + k, f"{factor}  ×", in_cells(weight[k]), colors_of(k) if factor else None)
        note, color = ("kept", colors_of(k)[1]) if factor else ("all 0", QUIET)
        sheet.text(right + 6, 1.5 + k, note, color, "start")
    sheet.line((4, vocab_size + 1.2), (right, vocab_size + 1.2))
    sheet.row(vocab_size + 1.4, "sum", in_cells(product), colors_of(token))
    terms = [
        f"Row {k} of the table is multiplied by {x}{': ' + in_words(weight[k]) if x else ''}."
        for k, x in enumerate(factors)
    ]
    return sheet.finish(
        f"The one-hot row of id {token} is ({', '.join(map(str, factors))}). {' '.join(terms)} "
        f"The sum is {in_words(product)}. "
        f"{(vocab_size - 1) * dim} of {vocab_size * dim} multiplications are by zero."
    )


def draw_scatter_add(
    ids: torch.Tensor, arriving: torch.Tensor, vocab_size: int, *, padding_idx: int | None = None
) -> Drawing:
    """Draw where each row of an arriving gradient is added, and the sums.

    ``ids`` has shape (number of ids,) and ``arriving``, the gradient of each looked-up row,
    (number of ids, embedding dimension); up to 12 of each can be read. Rows that arrive for
    ``padding_idx``, an id of at least 0, are left out, as by :class:`torch.nn.Embedding`.

    Examples
    --------
    >>> draw_scatter_add(torch.tensor([1, 1]), torch.tensor([[0.5], [2.0]]), 2)
    2 rows arrive. (0.5000) arrives for id 1 and is added into row 1. \
(2.0000) arrives for id 1 and is added into row 1. \
The table's gradient: row 0 is (0.0000), row 1 is (2.5000).
    """
    places = ids.tolist()
    added = [k != padding_idx for k in places]
    kept = arriving.detach() * torch.tensor(added).unsqueeze(1)
    total = arriving.new_zeros(vocab_size, arriving.shape[1]).index_add(0, ids, kept)
    right = LABEL_WIDTH + arriving.shape[1] * CELL_WIDTH
    sheet = Sheet(max(right + 70, 230))
    sheet.caption(0.5, "G: a row arrives for each id")
    below, words = len(places) + 2.0, []
    for n, k in enumerate(places):
        sheet.row(1 + n, f"id {k}", in_cells(arriving[n]), colors_of(k) if added[n] else None)
        fate = f"is added into row {k}" if added[n] else "is left out, as padding"
        words.append(f"{in_words(arriving[n])} arrives for id {k} and {fate}.")
        if added[n]:
            # The further the way, the wider the bend, so that the arrows do not lie on each other.
            bend = 0.2 + 0.35 * (below + k - n) / (below + vocab_size)
            begin, end = (right + 1, 1.5 + n), (right + 1, below + k + 0.5)
            sheet.arrow(begin, end, colors_of(k)[1], bend=bend)
    sheet.caption(below - 0.4, "gradient of the table")
    used = {k for k, is_added in zip(places, added, strict=True) if is_added}
    draw_rows(sheet, below, "row", range(vocab_size), total, used)
    sums = ", ".join(f"row {k} is {in_words(total[k])}" for k in range(vocab_size))
    return sheet.finish(
        f"{len(places)} rows arrive. {' '.join(words)} The table's gradient: {sums}."
    )


def draw_blocks(
    columns: Mapping[str, Sequence[str]], ids: torch.Tensor, weight: torch.Tensor
) -> Drawing:
    """Draw a table with a block of rows for each column of categories, and one record's rows.

    ``columns`` has the categories of each column, in the order of the table's rows. ``ids`` has
    shape (number of rows picked,), ``weight`` (number of categories in all, embedding dimension),
    of which 12 and 4 can be read.

    Examples
    --------
    >>> sizes = {"size": ["small", "large"], "color": ["red"]}
    >>> draw_blocks(sizes, torch.tensor([1, 2]), torch.tensor([[1.0], [2.0], [0.5]]))
    One table for size (rows 0 to 1) and color (rows 2 to 2). The record picks row 1, large, \
and row 2, red; the sum of these rows is (2.5).
    """
    categories = [name for names in columns.values() for name in names]
    dim, picked, total = weight.shape[1], ids.tolist(), weight[ids].sum(0)
    left, width = 132.0, 46.0
    sheet = Sheet(left + max(dim, 2) * width + 8)
    y, k, story = 0.0, 0, []
    for column, (name, names) in enumerate(columns.items()):
        colors = colors_of(column + 4)  # of the block; the first ones are those of ids elsewhere
        sheet.text(6, y + 0.5, f"{name}: rows from {k}", QUIET, "start")
        story.append(f"{name} (rows {k} to {k + len(names) - 1})")
        y += 0.9
        for category in names:
            there = k in picked
            ink = colors[1] if there else QUIET
            sheet.text(left - 28, y + 0.5, category, ink, "end", bold=there)
            cells = [f"{value:.2f}" for value in weight[k].tolist()]
            sheet.row(y, str(k), cells, colors if there else None, left=left, width=width)
            y, k = y + 1, k + 1
    sheet.line((4, y + 0.3), (left + dim * width, y + 0.3))
    sheet.text(left - 6, y + 1.1, "sum", INK, "end", True)
    for j, value in enumerate(total.tolist()):
        sheet.cell(left + j * width, y + 0.6, width, f"{value:.2f}", bold=True)
    which = ", and ".join(f"row {k}, {categories[k]}" for k in picked)
    numbers = ", ".join(f"{value:.3g}" for value in total.tolist())
    return sheet.finish(
        f"One table for {' and '.join(story)}. The record picks {which}; "
        f"the sum of these rows is ({numbers})."
    )


def draw_rows(
    sheet: Sheet,
    top: float,
    what: str,
    ids: Sequence[int],
    rows: torch.Tensor,
    picked: Container[int],
) -> None:
    """Draw a row for each id from ``top`` down, those in color that are picked."""
    for i, (k, row) in enumerate(zip(ids, rows, strict=True)):
        sheet.row(top + i, f"{what} {k}", in_cells(row), colors_of(k) if k in picked else None)


def in_cells(values: torch.Tensor) -> list[str]:
    """Write four decimals, as torch prints them, and fewer digits where a cell has no room."""
    return list(map(_number, values.tolist()))


def _number(value: float) -> str:
    fitting = (text for spec in (".4f", ".4g", ".3g") if len(text := f"{value:{spec}}") <= 7)
    return next(fitting, f"{value:.0e}")


def in_words(values: torch.Tensor) -> str:
    """Write a row of numbers as the cells show them, for those who hear the drawing."""
    return f"({', '.join(in_cells(values))})"
