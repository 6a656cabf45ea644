"""A text as a bag of words: each word has a colour, a row of the table and a vote."""

from collections.abc import Mapping, Sequence

import torch
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from lookup_matmul.figures.cells import LARGEST, canvas, draw_cell, draw_rule, draw_text
from lookup_matmul.figures.palette import INK, LINE, MARK, PICK, QUIET, colours_of
from lookup_matmul.figures.svg import Drawing, finish
from lookup_matmul.sums import sum_of_rows

LABEL, CELL, WIDTH = 86.0, 58.0, 330.0
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
    ValueError
        If no word or more than 12 words are in the vocabulary, or the sizes do not fit together.

    Examples
    --------
    >>> votes = torch.tensor([[2.0, -1.0], [0.0, 3.0]])
    >>> draw_bag_of_words("sum the sum", {"sum": 0, "tensor": 1}, votes, ["numpy", "torch"])
    The text "sum the sum". Known words, with their rows: 2 × sum (+2, -1). \
The sum of the rows is numpy +4, torch -2; the largest is numpy.
    """
    _check_names(weight, names)
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
    _draw_names(ax, top + 0.5, names)
    for k, (word, count) in enumerate(counts.items(), start=1):
        fill, stroke = colours_of(vocabulary[word])
        draw_text(ax, LABEL - 6, top + k + 0.5, f"{count} × {word}", stroke, ha="right", bold=True)
        _draw_cells(ax, top + k, weight[vocabulary[word]], [fill] * len(names), stroke)
    under = top + len(counts) + 1.5
    draw_rule(ax, under - 0.25, LABEL + CELL * len(names))
    largest = int(total.argmax())
    fills = [PICK if k == largest else "none" for k in range(len(names))]
    draw_text(ax, LABEL - 6, under + 0.5, "sum", INK, ha="right", bold=True)
    _draw_cells(ax, under, total, fills, LINE, bold=largest)
    rows = ", ".join(
        f"{count} × {word} ({_signed_row(weight[vocabulary[word]])})"
        for word, count in counts.items()
    )
    scores = ", ".join(f"{name} {_signed(x)}" for name, x in zip(names, total, strict=True))
    return finish(
        ax,
        f'The text "{text}". Known words, with their rows: {rows}. '
        f"The sum of the rows is {scores}; the largest is {names[largest]}.",
    )


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
    ValueError
        If the sizes do not fit together, or there is too much to draw.

    Examples
    --------
    >>> draw_votes(["dim"], torch.tensor([[-1.0, 2.0]]), ["numpy", "torch"])
    Votes for numpy, torch. dim (-1, +2): torch.
    """
    _check_names(weight, names)
    if len(words) != weight.shape[0] or not 1 <= len(words) <= LARGEST:
        raise ValueError(
            f"words has {len(words)} entries and weight {weight.shape[0]} rows, "
            f"expected as many, 1 to {LARGEST}."
        )
    ax = canvas(WIDTH, len(words) + 1.2)
    _draw_names(ax, 0.5, names)
    largest = max(float(weight.abs().max()), torch.finfo(torch.float32).tiny)
    story = []
    for k, (word, row) in enumerate(zip(words, weight, strict=True), start=1):
        best = int(row.argmax())
        draw_text(ax, LABEL - 6, k + 0.5, word, INK, ha="right", bold=True)
        for j, value in enumerate(row.tolist()):
            if value > 0:
                share = 0.1 + 0.35 * value / largest  # so that the number stays legible in the dark
                place = (LABEL + j * CELL, k)
                ax.add_patch(Rectangle(place, CELL, 1, facecolor=MARK, alpha=share, lw=0))
        _draw_cells(ax, k, row, ["none"] * len(names), LINE, bold=best)
        story.append(f"{word} ({_signed_row(row)}): {names[best]}.")
    return finish(ax, f"Votes for {', '.join(names)}. {' '.join(story)}")


def _check_names(weight: torch.Tensor, names: Sequence[str]) -> None:
    if weight.dim() != 2 or weight.shape[1] != len(names) or not 1 <= len(names) <= 4:
        raise ValueError(
            f"weight has shape {tuple(weight.shape)} and names {len(names)} entries, "
            "expected a name for each of 1 to 4 columns."
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


def _draw_names(ax: Axes, row: float, names: Sequence[str]) -> None:
    for j, name in enumerate(names):
        draw_text(ax, LABEL + (j + 0.5) * CELL, row, name, QUIET)


def _draw_cells(
    ax: Axes, y: float, row: torch.Tensor, fills: Sequence[str], stroke: str, bold: int = -1
) -> None:
    for j, (value, fill) in enumerate(zip(row, fills, strict=True)):
        left = LABEL + j * CELL
        draw_cell(ax, left, y, CELL, _signed(value), fill=fill, edge=stroke, bold=j == bold)


def _signed(value: torch.Tensor) -> str:
    """Write two decimals with a sign, and a whole number without decimals."""
    return f"{float(value):+.2f}".removesuffix(".00") if value else "0"


def _signed_row(row: torch.Tensor) -> str:
    return ", ".join(map(_signed, row))
