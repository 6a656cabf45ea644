"""Small figures, each of which one page draws."""

from collections.abc import Mapping, Sequence
from itertools import product

import torch

from lookup_matmul.figures.palette import INK, LINE, MARK, QUIET, colors_of
from lookup_matmul.figures.sheet import CELL_WIDTH, LABEL_WIDTH, Drawing, Sheet
from lookup_matmul.figures.tables import in_words
from lookup_matmul.onehot.forms import lookup, one_hot_matmul
from lookup_matmul.sparse.sums import dense_rows, sum_of_rows


def draw_sum_of_rows(
    ids: torch.Tensor, values: torch.Tensor, weight: torch.Tensor, names: Sequence[str] = ()
) -> Drawing:
    """Draw the entries of one sparse row beside the rows of the table that they scale.

    For the page "A sparse row is a sum"; the rows of the table may have ``names``.
    """
    bags = (ids, torch.tensor([0, len(ids)]), values)
    total, (vocab_size, dim) = sum_of_rows(bags, weight)[0], weight.shape
    factors = dense_rows(bags, vocab_size)[0].tolist()
    picked = sorted(set(ids.tolist()))
    left = 2 * LABEL_WIDTH if names else LABEL_WIDTH
    sheet = Sheet(left + max(3, dim) * CELL_WIDTH + 12)  # so wide that the caption fits
    sheet.text(left, 0.5, "value × row of the table", QUIET, "start")
    for k in range(vocab_size):
        name = names[k] if names else ""
        label = f"{factors[k]:.4g}  × {name}".rstrip() if k in picked else name
        colors = colors_of(k) if k in picked else None
        sheet.row(1 + k, label, [f"{x:.4g}" for x in weight[k]], colors, left=left)
    sheet.line((4, vocab_size + 1.2), (left + dim * CELL_WIDTH, vocab_size + 1.2))
    sums = [f"{x:.4g}" for x in total]
    sheet.row(vocab_size + 1.4, "total", sums, None, left=left)
    terms = " ".join(
        f"Row {k} of the table is multiplied by {factors[k]:.4g}: {in_words(weight[k])}."
        for k in picked
    )
    return sheet.finish(
        f"A sparse row with {len(ids)} entries over a table of {vocab_size} rows. {terms} "
        f"The other rows are not read. The sum is {in_words(total)}."
    )


def draw_cuts(rows: int, columns: int) -> Drawing:
    """Draw two tables on two machines: each whole, cut by rows, and cut by columns.

    For the page "On many machines"; each cell says which machine holds it.
    """
    sheet, label, cell = Sheet(96 + 2 * columns * 24, 19), 76, 24
    for table in range(2):
        middle = label + (table + 0.5) * columns * cell + table * 14
        sheet.text(middle, 0.5, f"table {'AB'[table]}", QUIET)
    for k, cut in enumerate(("whole tables", "by rows", "by columns")):
        top = 1.1 + k * (rows + 0.7)
        sheet.text(label - 8, top + rows / 2, cut, at="end")
        for table, i, j in product(range(2), range(rows), range(columns)):
            machine = (table, 2 * i // rows, 2 * j // columns)[k]
            fill, ink = colors_of(machine)
            left = label + (table * columns + j) * cell + table * 14
            sheet.cell(left, top + i, cell, str(machine), ink, fill=fill)
    return sheet.finish(
        f"Two tables of {rows} rows and {columns} columns on machines 0 and 1. "
        "Whole tables: machine 0 holds table A and machine 1 table B. "
        f"By rows: machine 0 holds the first {rows // 2} rows of both tables, machine 1 the rest. "
        f"By columns: machine 0 holds the first {columns // 2} columns of both, machine 1 the rest."
    )


def draw_hashes(rows: Mapping[str, int], size: int) -> Drawing:
    """Draw keys, the rows of a small table, and an arrow from each key to its row.

    For the page "Categories in tables"; a row that several keys share says how many.
    """
    high, guests = max(len(rows), size), list(rows.values())
    sheet = Sheet(280)
    sheet.text(86, 0.4, "keys", QUIET, "end")
    sheet.text(174, 0.4, "rows of the table", QUIET, "start")
    middles = [1.5 + 1.25 * (k + (high - size) / 2) for k in range(size)]
    for k, row in enumerate(middles):
        count = guests.count(k)
        fill, edge = colors_of(k) if count else ("none", LINE)
        lw, ink = 2.4 if count > 1 else 0.8, INK if count else QUIET
        bold = count > 1
        place = (174, row - 0.5, 60, f"row {k}")
        sheet.cell(*place, ink, bold, fill=fill, stroke=edge, stroke_width=lw)
        if bold:
            sheet.text(240, row, f"{count} keys", edge, "start", True)
    for k, (key, row) in enumerate(rows.items()):
        y, ink = 1.5 + 1.25 * (k + (high - len(rows)) / 2), colors_of(row)[1]
        sheet.text(86, y, key, ink, "end")
        sheet.arrow((92, y), (172, middles[row]), ink)
    goes = " ".join(f"{key} to row {row}." for key, row in rows.items())
    shared = [k for k in range(size) if guests.count(k) > 1]
    told = ", ".join(f"row {k} by {guests.count(k)} keys" for k in shared) or "no row"
    return sheet.finish(f"{len(rows)} keys go to {size} rows. {goes} Shared: {told}.")


def draw_nan_reach(ids: torch.Tensor, weight: torch.Tensor) -> Drawing:
    """Draw how far a NaN or an infinity of a table gets: in its one-hot product, and in its lookup.

    For the page "Where equality stops"; such a number is outlined, without the color of its id.
    """
    picked, (vocab_size, dim) = ids.tolist(), weight.shape
    right = LABEL_WIDTH + max(4, dim) * CELL_WIDTH
    product_at = vocab_size + 2.5
    lookup_at = product_at + len(picked) + 1.5
    sheet = Sheet(right + 8)
    sheet.caption(0.5, f"weight: {vocab_size} rows × {dim} columns")
    # Flush right, since the arrows pass on the left of most tables.
    sheet.text(right, product_at - 0.45, "one-hot rows @ weight", QUIET, "end")
    sheet.text(right, lookup_at - 0.45, "lookup: weight[ids]", QUIET, "end")
    lines = [(1.0 + k, f"row {k}", f"Row {k}", k, weight[k]) for k in range(vocab_size)]
    for top, name, form in ((product_at, "product", one_hot_matmul), (lookup_at, "lookup", lookup)):
        for i, (k, row) in enumerate(zip(picked, form(ids, weight), strict=True)):
            lines.append((top + i, f"id {k}", f"The {name} for id {k}", k, row))
    story = []
    for y, label, said, k, numbers in lines:
        fill, ink = colors_of(k) if k in picked else ("none", QUIET)
        sheet.text(LABEL_WIDTH - 6, y + 0.5, label, ink, "end", bold=k in picked)
        broken = {}
        for j, number in enumerate(numbers.tolist()):
            place = (LABEL_WIDTH + j * CELL_WIDTH, y, CELL_WIDTH)
            if abs(number) < float("inf"):
                ink = INK if k in picked else QUIET
                sheet.cell(*place, f"{number:.2f}", fill=fill, ink=ink)
            else:
                broken[j] = "NaN" if number != number else "Inf" if number > 0 else "-Inf"
                sheet.cell(*place, broken[j], stroke=INK, stroke_width=2, bold=True)
        places = " and ".join(f"{what} in column {j}" for j, what in broken.items())
        if places or not label.startswith("row"):
            story.append(f"{said} has {places}." if places else f"{said} is finite.")
    for k, j in (~weight.isfinite()).nonzero().tolist():
        # Along the right edge of the cells, past the numbers between.
        x = LABEL_WIDTH + (j + 1) * CELL_WIDTH - 5
        sheet.arrow((x, k + 2.1), (x, product_at - 0.1))
    return sheet.finish(f"A table with {vocab_size} rows of {dim} numbers. {' '.join(story)}")


def draw_moves(moved: torch.Tensor, used: torch.Tensor, alt: str) -> Drawing:
    """Draw rows against steps, shaded where a row moved, with a dot where its batch used it.

    For the page "What a step moves".
    """
    (rows, steps), left, cell = moved.shape, 24.0, 36.0
    sheet = Sheet(left + steps * cell + 8, 22)
    sheet.text(left, 0.5, "row of the table", at="start")
    for i, (shaded, dots) in enumerate(zip(moved.tolist(), used.tolist(), strict=True), start=1):
        sheet.text(left - 6, i + 0.6, str(i - 1), QUIET, "end")
        for j, (shade, dot) in enumerate(zip(shaded, dots, strict=True)):
            # A pale one, so that the dot stays visible.
            fill = MARK if shade else "none"
            sheet.cell(left + j * cell, i + 0.1, cell, fill=fill, fill_opacity=0.6)
            if dot:
                sheet.dot(left + (j + 0.5) * cell, i + 0.6)
    for j in range(steps):
        sheet.text(left + (j + 0.5) * cell, rows + 1.6, str(j), QUIET)
    sheet.text(left + steps * cell / 2, rows + 2.4, "step")
    return sheet.finish(alt)
