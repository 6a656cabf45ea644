"""One table in two layers: the order of the numbers in memory, and the names of one Parameter."""

from collections.abc import Mapping
from statistics import fmean

import torch
from torch import nn

from lookup_matmul.equality import shares_storage
from lookup_matmul.figures.sheet import INK, QUIET, Drawing, Sheet, id_colors

X = 4.0
CELL_WIDTH = 25.0


def draw_memory_order(embedding_weight: torch.Tensor, linear_weight: torch.Tensor) -> Drawing:
    """Draw both weights, and their numbers in the order of memory, which strides determine."""
    rows, dim = embedding_weight.shape
    ids = torch.arange(rows).unsqueeze(1).expand(rows, dim)
    layers = [
        ("Embedding", X, embedding_weight.detach(), ids),
        ("Linear", X + (dim + 2) * CELL_WIDTH, linear_weight.detach(), ids.T),
    ]
    sheet = Sheet(2 * X + CELL_WIDTH * max(dim + 2 + max(rows, 3), rows * dim))

    def draw_numbers(x: float, y: float, numbers: torch.Tensor, tokens: torch.Tensor) -> None:
        for j, (number, token) in enumerate(zip(numbers.tolist(), tokens.tolist(), strict=True)):
            fill, color = id_colors(token)
            sheet.cell(x + j * CELL_WIDTH, y, CELL_WIDTH, f"{number:.3g}", color, fill=fill)

    for name, x, weight, tokens in layers:
        sheet.text(x, 0.5, f"{name} {weight.shape[0]} × {weight.shape[1]}", QUIET, "start")
        for i in range(len(weight)):
            draw_numbers(x, 1.0 + i, weight[i], tokens[i])
    top = max(rows, dim) + 1.0
    sentences = []
    for name, _, weight, tokens in layers:
        numbers = weight.as_strided((rows * dim,), (1,))  # in the order of memory
        tokens = torch.empty_strided(weight.shape, weight.stride(), dtype=torch.int64).copy_(tokens)
        sheet.text(X, top + 0.55, f"Memory of the {name}", QUIET, "start")
        draw_numbers(X, top + 1.0, numbers, tokens.as_strided((rows * dim,), (1,)))
        listing = ", ".join(f"{number:.4g}" for number in numbers.tolist())
        sentences.append(f"Memory of the {name}: {listing}.")
        top += 2.1
    return sheet.to_drawing(
        f"The Embedding has {rows} rows of {dim}, the Linear {dim} rows of {rows}: "
        f"its columns are the rows of the Embedding. {' '.join(sentences)}"
    )


def draw_names(weights: Mapping[str, nn.Parameter]) -> Drawing:
    """Draw names, a box for each distinct Parameter, and a strip for each distinct memory."""
    parameters = {weight: p for p, weight in enumerate(dict.fromkeys(weights.values()))}
    owners = [next(v for v in parameters if shares_storage(w, v)) for w in weights.values()]
    memories = {weight: m for m, weight in enumerate(dict.fromkeys(owners))}
    links = [(parameters[w], memories[v]) for w, v in zip(weights.values(), owners, strict=True)]
    sheet = Sheet(326)
    name_y = [1.7 + 1.4 * i for i in range(len(links))]
    parameter_y, memory_y = (
        [
            fmean(y for t, y in zip(targets, name_y, strict=True) if t == k)
            for k in sorted({*targets})
        ]
        for targets in zip(*links, strict=True)
    )
    sheet.text(118, 0.4, "name", QUIET, "end")
    sheet.text(176, 0.4, "Parameter", QUIET)
    sheet.text(278, 0.4, "memory", QUIET)
    for p, y in enumerate(parameter_y):
        box = (138, y - 0.45, 76, f"Parameter {p + 1}")
        sheet.cell(*box, height=0.9, stroke=INK, stroke_width=1.4)
    for weight, y in zip(memories, memory_y, strict=True):
        width = 88 / len(weight)
        for k in range(len(weight)):
            fill, color = id_colors(k)
            sheet.cell(234 + k * width, y - 0.45, width, str(k), color, height=0.9, fill=fill)
    sentences = []
    for name, y, (p, m) in zip(weights, name_y, links, strict=True):
        sheet.text(118, y, name, anchor="end")
        sheet.arrow((121, y), (138, parameter_y[p]))
        sheet.arrow((214, parameter_y[p]), (234, memory_y[m]))
        sentences.append(f"{name} is Parameter {p + 1} on memory {m + 1}.")
    names = len(links)
    boxes = len(parameters)
    strips = len(memories)
    return sheet.to_drawing(
        f"{names} {'name' if names == 1 else 'names'}, "
        f"{boxes} {'Parameter' if boxes == 1 else 'Parameters'}, "
        f"{strips} {'memory' if strips == 1 else 'memories'}. {' '.join(sentences)}"
    )
