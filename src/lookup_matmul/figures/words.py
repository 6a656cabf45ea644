"""A text as a bag of words: each word has a colour, a row of the table and a vote."""

from collections.abc import Mapping, Sequence

import torch
from matplotlib.axes import Axes

from lookup_matmul.figures.cells import LARGEST, canvas, draw_cell, draw_rule, draw_text
from lookup_matmul.figures.column_votes import (
    CELL_WIDTH,
    LABEL_WIDTH,
    WIDTH,
    check_votes,
    draw_header,
    draw_signed_row,
    signed,
    signed_row,
)
from lookup_matmul.figures.palette import INK, LINE, PICK, QUIET, colours_of
from lookup_matmul.figures.svg import Drawing, finish
from lookup_matmul.sparse.sums import sum_of_rows

CHARACTER = 6.2  # width of a letter, so much that no word leaves its box


def draw_bag_of_words(
    text: str, vocabulary: Mapping[str, int], weight: torch.Tensor, names: Sequence[str]
) -> Drawing:
    """Draw a text, the rows of the table that its words pick, and the sum of these rows.

    Parameters
    ----------
    text : str
        Words with spaces between them; those that are not in the vocabulary have no row.
    vocabulary : collections.abc.Mapping
        The row of each word.
    weight : torch.Tensor
        Shape (vocabulary size, number of names), 1 to 4 names.
    names : collections.abc.Sequence
        What each column of the table speaks for.

    Returns
    -------
    Drawing
        The text with a colour for each word of the vocabulary, a row for each of these words
        with the number of times that it occurs, and the sum, its largest number marked.

    Raises
    ------
    TypeError
        If ``weight`` is no tensor of a dtype that torch can multiply.
    ValueError
        If no word or more than 12 words are in the vocabulary, the sizes do not fit together,
        or a number of the table is not finite.
    IndexError
        If the vocabulary names a row that the table does not have.

    Examples
    --------
    >>> votes = torch.tensor([[2.0, -1.0], [0.0, 3.0]])
    >>> draw_bag_of_words("sum the sum", {"sum": 0, "tensor": 1}, votes, ["numpy", "torch"])
    The text "sum the sum". Known words, with their rows: 2 × sum (+2, -1). \
The sum of the rows is numpy +4, torch -2; the largest is numpy.
    """
    check_votes(weight, names)
    words = text.split()
    counts = {word: words.count(word) for word in words if word in vocabulary}
    if not 1 <= len(counts) <= LARGEST:
        raise ValueError(
            f"text has {len(counts)} different words of the vocabulary, expected 1 to {LARGEST}."
        )
    ids = torch.tensor([vocabulary[word] for word in counts])
    values = torch.tensor(list(counts.values()))
    total = sum_of_rows((ids, torch.tensor([0, len(ids)]), values), weight)[0]
    lines = _lines(words)
    ax = canvas(WIDTH, 1.2 * len(lines) + len(counts) + 3.6)
    for k, line in enumerate(lines):
        _draw_line(ax, 0.1 + 1.2 * k, line, vocabulary)
    top = 1.2 * len(lines) + 0.3
    draw_header(ax, top + 0.5, names)
    for k, (word, count) in enumerate(counts.items(), start=1):
        fill, stroke = colours_of(vocabulary[word])
        draw_text(
            ax, LABEL_WIDTH - 6, top + k + 0.5, f"{count} × {word}", stroke, ha="right", bold=True
        )
        draw_signed_row(ax, top + k, weight[vocabulary[word]], [fill] * len(names), stroke)
    under = top + len(counts) + 1.5
    draw_rule(ax, under - 0.25, LABEL_WIDTH + CELL_WIDTH * len(names))
    largest = int(total.argmax())
    fills = [PICK if k == largest else "none" for k in range(len(names))]
    draw_text(ax, LABEL_WIDTH - 6, under + 0.5, "sum", INK, ha="right", bold=True)
    draw_signed_row(ax, under, total, fills, LINE, bold=largest)
    rows = ", ".join(
        f"{count} × {word} ({signed_row(weight[vocabulary[word]])})"
        for word, count in counts.items()
    )
    scores = ", ".join(f"{name} {signed(x)}" for name, x in zip(names, total, strict=True))
    return finish(
        ax,
        f'The text "{text}". Known words, with their rows: {rows}. '
        f"The sum of the rows is {scores}; the largest is {names[largest]}.",
    )


def _lines(words: Sequence[str]) -> list[list[tuple[str, float]]]:
    """Break words into lines that fit, each word with the place of its left edge."""
    lines: list[list[tuple[str, float]]] = [[]]
    x = 6.0
    for word in words:
        width = _width(word)
        if lines[-1] and x + width > WIDTH:
            lines.append([])
            x = 6.0
        lines[-1].append((word, x))
        x += width + 4
    return lines


def _width(word: str) -> float:
    return CHARACTER * len(word) + 10


def _draw_line(
    ax: Axes, row: float, line: list[tuple[str, float]], vocabulary: Mapping[str, int]
) -> None:
    for word, x in line:
        width = _width(word)
        if word in vocabulary:
            fill, stroke = colours_of(vocabulary[word])
            draw_cell(ax, x, row, width, word, fill=fill, edge=stroke, lw=1, ink=stroke, bold=True)
        else:
            draw_text(ax, x + width / 2, row + 0.5, word, QUIET)
