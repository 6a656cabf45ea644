"""What the pages about an Embedding and a Linear draw: memory, names, a swap, and differences."""

from collections.abc import Mapping, Sequence

import torch
from torch import nn

from lookup_matmul.equality.assertions import assert_bitwise_equal, bits_differ
from lookup_matmul.equality.storage import shares_storage
from lookup_matmul.figures.palette import INK, LINE, MARK, PICK, QUIET, colors_of
from lookup_matmul.figures.sheet import CELL_WIDTH, LABEL_WIDTH, Drawing, Sheet
from lookup_matmul.figures.tables import in_cells
from lookup_matmul.onehot.forms import one_hot
from lookup_matmul.onehot.one_hot_linear import OneHotLinear


def draw_memory_order(embedding_weight: torch.Tensor, linear_weight: torch.Tensor) -> Drawing:
    """Draw the weights of both layers, and below each the numbers in the order of its memory.

    The order comes from the tensors' strides.
    """
    table, transposed = embedding_weight.detach(), linear_weight.detach()
    (rows, dim), left, cell = table.shape, 4.0, 25.0
    ids = torch.arange(rows).unsqueeze(1).expand(rows, dim)
    second = left + (dim + 2) * cell
    sheet = Sheet(max(second + rows * cell, left + table.numel() * cell) + left)

    def draw_numbers(x: float, row: float, values: list[float], tokens: list[int]) -> None:
        for j, (value, token) in enumerate(zip(values, tokens, strict=True)):
            fill, ink = colors_of(token)
            sheet.cell(x + j * cell, row, cell, f"{value:.3g}", fill=fill, ink=ink)

    both = [("Embedding", table, ids), ("Linear", transposed, ids.T)]
    for x, (name, weight, of) in zip((left, second), both, strict=True):
        sheet.text(x, 0.5, f"{name} {weight.shape[0]} × {weight.shape[1]}", QUIET, "start")
        for i, row in enumerate(weight.tolist()):
            draw_numbers(x, 1.0 + i, row, of[i].tolist())
    top, words = max(rows, dim) + 1.0, []
    for name, weight, of in both:
        title = f"Memory of the {name}"
        # A number is where its own strides put it, counted from the first.
        lines, columns = (torch.arange(size) for size in weight.shape)
        places = lines.unsqueeze(1) * weight.stride(0) + columns * weight.stride(1)
        order = places.flatten().argsort()
        numbers = weight.flatten()[order].tolist()
        sheet.text(left, top + 0.55, title, QUIET, "start")
        draw_numbers(left, top + 1.0, numbers, of.flatten()[order].tolist())
        words.append(f"{title}: {', '.join(f'{x:.4g}' for x in numbers)}.")
        top += 2.1
    return sheet.finish(
        f"The Embedding has {rows} rows of {dim}, the Linear {dim} rows of {rows}: "
        f"its columns are the rows of the Embedding. {' '.join(words)}"
    )


def draw_names(weights: Mapping[str, nn.Parameter]) -> Drawing:
    """Draw names, a box for each distinct Parameter, and a strip for each distinct memory."""
    parameters = {weight: p for p, weight in enumerate(dict.fromkeys(weights.values()))}
    held = [next(v for v in parameters if shares_storage(w, v)) for w in weights.values()]
    memories = {weight: m for m, weight in enumerate(dict.fromkeys(held))}
    ways = [(parameters[w], memories[v]) for w, v in zip(weights.values(), held, strict=True)]
    sheet, at = Sheet(326), [1.7 + 1.4 * i for i in range(len(ways))]
    box_at, memory_at = (_middles(members, at) for members in zip(*ways, strict=True))
    sheet.text(118, 0.4, "name", QUIET, "end")
    sheet.text(176, 0.4, "Parameter", QUIET)
    sheet.text(278, 0.4, "memory", QUIET)
    for p, row in enumerate(box_at):
        box = (138, row - 0.45, 76, f"Parameter {p + 1}")
        sheet.cell(*box, height=0.9, stroke=INK, stroke_width=1.4)
    for row, weight in zip(memory_at, memories, strict=True):
        width = 88 / len(weight)
        for k in range(len(weight)):
            fill, ink = colors_of(k)
            sheet.cell(234 + k * width, row - 0.45, width, str(k), height=0.9, fill=fill, ink=ink)
    for name, row, (p, m) in zip(weights, at, ways, strict=True):
        sheet.text(118, row, name, at="end")
        sheet.arrow((121, row), (138, box_at[p]))
        sheet.arrow((214, box_at[p]), (234, memory_at[m]))
    words = " ".join(
        f"{name} is Parameter {p + 1} on memory {m + 1}."
        for name, (p, m) in zip(weights, ways, strict=True)
    )
    names, boxes, stores = len(ways), len(parameters), len(memories)
    return sheet.finish(
        f"{names} name{'s' * (names > 1)}, {boxes} Parameter{'s' * (boxes > 1)}, "
        f"{stores} {'memory' if stores == 1 else 'memories'}. {words}"
    )


def _middles(members: Sequence[int], rows: Sequence[float]) -> list[float]:
    """Return the middle of the rows that belong to each member."""
    of = [[r for m, r in zip(members, rows, strict=True) if m == each] for each in set(members)]
    return [sum(each) / len(each) for each in of]


def draw_swap(ids: torch.Tensor, embedding: nn.Embedding, layer: OneHotLinear) -> Drawing:
    """Draw the way of a few ids through an Embedding, and through a OneHotLinear beside it."""
    rows, dim, picked = layer.num_embeddings, layer.embedding_dim, ids.tolist()
    height, names = 0.55 * len(picked), (f"Embedding({rows}, {dim})", f"Linear({rows}, {dim})")
    box_at = 2.9 + height
    sheet = Sheet(322)

    def draw_grid(middle: float, row: float, filled: list[list[int]]) -> None:
        for i, (token, marks) in enumerate(zip(picked, filled, strict=True)):
            for j, mark in enumerate(marks):
                fill, edge, lw = (*colors_of(token), 1.0) if mark else ("none", LINE, 0.8)
                place = (middle + (j - len(marks) / 2) * 12, row + i * 0.55, 12)
                sheet.cell(*place, height=0.55, fill=fill, stroke=edge, stroke_width=lw)

    for middle, name in zip((75, 247), names, strict=True):
        sheet.text(middle, 0.4, "ids", QUIET)
        for i, token in enumerate(picked):
            fill, ink = colors_of(token)
            place = (middle + (i - len(picked) / 2) * 24, 0.8, 24, str(token))
            sheet.cell(*place, height=0.85, fill=fill, ink=ink, bold=True)
        found = name == names[1]
        fill, edge, lw = (PICK, MARK, 2.0) if found else ("none", INK, 1.0)
        box = (middle - 60, box_at + 0.6, 120, name)
        sheet.cell(*box, bold=found, fill=fill, stroke=edge, stroke_width=lw)
        sheet.arrow((middle, box_at + 1.65), (middle, box_at + 2.25))
        sheet.text(middle, box_at + 2.55, f"rows, {len(ids)} × {dim}", QUIET)
        draw_grid(middle, box_at + 2.9, [[1] * dim] * len(picked))
    sheet.text(247, 2.35, f"one-hot rows, {len(ids)} × {rows}", QUIET)
    draw_grid(247, 2.7, one_hot(ids, rows, dtype=torch.int64).tolist())
    last = box_at + 0.55
    for x, begin, end in ((75, 1.7, last), (247, 1.7, 2.1), (247, box_at - 0.15, last)):
        sheet.arrow((x, begin), (x, end))
    assert_bitwise_equal(layer(ids), embedding(ids))
    sheet.text(161, box_at + 2.9 + height / 2, "=")
    out = f"{len(ids)} rows of {dim} numbers"
    return sheet.finish(
        f"Left: the ids {', '.join(map(str, picked))} go into {names[0]}, and {out} come out. "
        f"Right: they become {len(ids)} one-hot rows of {rows} numbers, which go into {names[1]}; "
        f"tools find this layer. {out} come out, equal to those on the left."
    )


def draw_differences(outputs: Mapping[str, torch.Tensor], *, labels: Sequence[str] = ()) -> Drawing:
    """Draw two tables of one dtype one above the other, and mark the numbers that differ in a bit.

    A row that the other lacks differs as a whole.
    """
    tables = [output.detach() for output in outputs.values()]
    names = list(labels) or [f"row {i}" for i in range(max(map(len, tables)))]
    shown = [[in_cells(row) for row in table] for table in tables]
    common = min(map(len, tables))
    differ = bits_differ(*(table[:common] for table in tables))
    sheet, top = Sheet(LABEL_WIDTH + differ.shape[1] * CELL_WIDTH + 8), 0.0
    for title, table in zip(outputs, shown, strict=True):
        sheet.caption(top + 0.5, title)
        for i, texts in enumerate(table):
            sheet.text(LABEL_WIDTH - 6, top + 1.5 + i, names[i], QUIET, "end")
            for j, text in enumerate(texts):
                differs = i >= common or bool(differ[i, j])
                fill, edge, ink = (PICK, MARK, INK) if differs else ("none", LINE, QUIET)
                place = (LABEL_WIDTH + j * CELL_WIDTH, top + 1 + i, CELL_WIDTH, text)
                lw = 1.6 if differs else 0.8
                sheet.cell(*place, ink, differs, fill=fill, stroke=edge, stroke_width=lw)
        top += len(table) + 1.5
    beyond = tables[0][common:].numel()
    words = [f"{int(differ.sum()) + beyond} of {tables[0].numel()} numbers differ."]
    (a, b), (here, there) = outputs, shown
    for i in range(common):
        places = [
            f"column {j} is {here[i][j]} in {a}, {there[i][j]} in {b}"
            for j in differ[i].nonzero().flatten().tolist()
        ]
        if places:
            words.append(f"{names[i]}: {'; '.join(places)}.")
    for name, output in zip(outputs, tables, strict=True):
        if len(output) > common:
            words.append(f"{name} has {len(output)} rows, the other {common}.")
    return sheet.finish(" ".join(words))
