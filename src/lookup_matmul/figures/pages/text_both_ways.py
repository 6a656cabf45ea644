"""The votes of words for the classes of a text."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape

import torch

from lookup_matmul.figures.sheet import INK, MARK, QUIET, Drawing, Sheet, id_colors
from lookup_matmul.sparse.sums import sum_of_rows

LABEL_WIDTH, CELL_WIDTH, WIDTH = 86.0, 58.0, 330.0
WORD = re.compile(r"\w\w+")  # as scikit-learn's vectorizers


def draw_bag_of_words(
    text: str, vocabulary: Mapping[str, int], weight: torch.Tensor, classes: Sequence[str]
) -> Drawing:
    """Draw a text, the rows of the table that its words pick, and their sum; others have no row."""
    words, sheet = text.split(), Sheet(WIDTH)
    counts = {word: words.count(word) for word in words if word in vocabulary}
    ids = torch.tensor([vocabulary[word] for word in counts])
    bags = (ids, torch.tensor([0, len(ids)]), torch.tensor([*counts.values()]))
    total = sum_of_rows(bags, weight)[0]
    top = _draw_text(sheet, words, vocabulary) + 0.3
    _draw_classes(sheet, top, classes)
    summands = []
    for y, (word, count) in enumerate(counts.items(), start=1):
        row, colors = weight[vocabulary[word]], id_colors(vocabulary[word])
        sheet.text(LABEL_WIDTH - 6, top + y + 0.5, f"{count} × {word}", colors[1], "end", True)
        for j, value in enumerate(row):
            sheet.cell(_column_x(j), top + y, CELL_WIDTH, _format(value), colors=colors)
        summands.append(f"{count} × {word} ({_format_row(row)})")
    total_top, largest = top + len(counts) + 1.5, int(total.argmax())
    sheet.line((4, total_top - 0.25), (_column_x(len(classes)), total_top - 0.25))
    sheet.text(LABEL_WIDTH - 6, total_top + 0.5, "total", anchor="end", bold=True)
    for j, value in enumerate(total):
        sheet.cell(_column_x(j), total_top, CELL_WIDTH, _format(value), bold=j == largest)
    scores = ", ".join(f"{name} {_format(x)}" for name, x in zip(classes, total, strict=True))
    return sheet.to_drawing(
        f'The text "{text}". Known words, with their rows: {", ".join(summands)}. '
        f"The sum of the rows is {scores}; the largest is {classes[largest]}."
    )


def draw_column_votes(
    words: Sequence[str], weight: torch.Tensor, classes: Sequence[str]
) -> Drawing:
    """Draw the row of each word; shades grow with positive numbers, and the largest is bold."""
    sheet, votes = Sheet(WIDTH), []
    _draw_classes(sheet, 0, classes)
    for y, (word, row) in enumerate(zip(words, weight, strict=True), start=1):
        largest = int(row.argmax())
        sheet.text(LABEL_WIDTH - 6, y + 0.5, word, anchor="end", bold=True)
        for j, value in enumerate(row):
            # Pale shades, so that the number stays legible in dark mode.
            opacity = round(0.1 + 0.35 * float(value.clamp(min=0) / weight.abs().max()), 2)
            fill = MARK if value > 0 else "none"
            cell = (_column_x(j), y, CELL_WIDTH, _format(value), INK, j == largest)
            sheet.cell(*cell, fill=fill, fill_opacity=opacity)
        votes.append(f"{word} ({_format_row(row)}): {classes[largest]}.")
    return sheet.to_drawing(f"Votes for {', '.join(classes)}. {' '.join(votes)}")


def draw_message_votes(
    text: str,
    vocabulary: Mapping[str, int],
    idf: torch.Tensor,
    weight: torch.Tensor,
    classes: Sequence[str],
) -> Drawing:
    """Draw how much each known word of a text adds to each class, and the sums.

    ``vocabulary`` maps words to rows of ``idf``, of shape (vocabulary size,), and of ``weight``,
    with a column for each class. The drawing holds both, rounded, for ``votes.js``.
    """
    counts = Counter(word for word in WORD.findall(text.lower()) if word in vocabulary)
    ids = torch.tensor([vocabulary[word] for word in counts], dtype=torch.int64)
    values = torch.tensor([*counts.values()]) * idf[ids]
    votes = (values / values.norm())[:, None] * weight[ids]
    drawing = draw_column_votes([*counts, "total"], torch.cat([votes, votes.sum(0)[None]]), classes)
    rows = torch.cat([100 * idf[:, None], 1_000 * weight], dim=1).round().int().tolist()
    words = (f"{word} {' '.join(map(str, rows[k]))}" for word, k in vocabulary.items())
    data = escape("|".join([text, ",".join(classes), *words]))
    alt = f'The text "{text}". {drawing.alt}'
    attributes = f'"{escape(alt)}" data-votes="{data}"'
    svg = drawing.svg.replace(f'"{escape(drawing.alt)}"', attributes, 1)
    return Drawing(svg, alt)


def _column_x(column: int) -> float:
    return LABEL_WIDTH + column * CELL_WIDTH


def _draw_classes(sheet: Sheet, top: float, classes: Sequence[str]) -> None:
    for j, name in enumerate(classes):
        sheet.text(_column_x(j) + CELL_WIDTH / 2, top + 0.5, name, QUIET)


def _draw_text(sheet: Sheet, words: Sequence[str], vocabulary: Mapping[str, int]) -> float:
    """Write words in lines, known ones in boxes of their colors, and return the bottom."""
    x, row = 6.0, 0.1
    for word in words:
        width = 6.2 * len(word) + 10  # wide enough for any word
        if x > 6 and x + width > WIDTH:
            x, row = 6.0, row + 1.2
        if word in vocabulary:
            colors = id_colors(vocabulary[word])
            sheet.cell(x, row, width, word, colors[1], True, colors=colors, stroke_width=1)
        else:
            sheet.text(x + width / 2, row + 0.5, word, QUIET)
        x += width + 4
    return row + 1.1


def _format(value: torch.Tensor) -> str:
    """Format a number with a sign and two decimals, or none if it is whole."""
    return f"{float(value):+.2f}".removesuffix(".00") if value else "0"


def _format_row(row: torch.Tensor) -> str:
    return ", ".join(map(_format, row))
