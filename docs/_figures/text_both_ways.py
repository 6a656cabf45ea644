"""The votes of words for the classes of a text."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape
from itertools import pairwise

import torch

from lookup_matmul.figures.sheet import INK, MARK, QUIET, Drawing, Sheet, id_colors

LABEL_WIDTH = 86.0
CELL_WIDTH = 58.0
WIDTH = 330.0
FULL_VOTE = 0.6  # has the strongest shade, as in votes.js
WORD = re.compile(r"\w\w+")  # as scikit-learn's vectorizers


def draw_column_votes(
    words: Sequence[str], weight: torch.Tensor, classes: Sequence[str]
) -> Drawing:
    """Draw the row of each word; shades grow with positive numbers, and the largest is bold."""
    sheet = Sheet(WIDTH)
    votes = []
    column_x = [LABEL_WIDTH + j * CELL_WIDTH for j in range(len(classes))]
    for x, name in zip(column_x, classes, strict=True):
        sheet.text(x + CELL_WIDTH / 2, 0.5, name, QUIET)
    for y, (word, row) in enumerate(zip(words, weight, strict=True), start=1):
        largest = int(row.argmax())
        texts = list(map(_format, row))
        sheet.text(LABEL_WIDTH - 6, y + 0.5, word, anchor="end", bold=True)
        for j, (x, value) in enumerate(zip(column_x, row, strict=True)):
            # Pale shades, so that the number stays legible in dark mode.
            opacity = round(0.1 + 0.35 * min(float(value.clamp(min=0)) / FULL_VOTE, 1.0), 2)
            cell = (x, y, CELL_WIDTH, texts[j], INK, j == largest)
            sheet.cell(*cell, fill=MARK if value > 0 else "none", fill_opacity=opacity)
        votes.append(f"{word} ({', '.join(texts)}): {classes[largest]}.")
    return sheet.to_drawing(f"Votes for {', '.join(classes)}. {' '.join(votes)}")


def draw_message_votes(
    text: str,
    vocabulary: Mapping[str, int],
    idf: torch.Tensor,
    weight: torch.Tensor,
    classes: Sequence[str],
) -> Drawing:
    """Draw how much each known word of a text adds to each class, and the sums of what is shown.

    ``vocabulary`` maps words to rows of ``idf``, of shape (vocabulary size,), and of ``weight``,
    with a column for each class. The drawing holds both, rounded, for ``votes.js``.
    """
    counts = Counter(word for word in WORD.findall(text.lower()) if word in vocabulary)
    ids = torch.tensor([vocabulary[word] for word in counts], dtype=torch.int64)
    values = torch.tensor([*counts.values()]) * idf[ids]
    votes = ((values / values.norm())[:, None] * weight[ids]).double().round(decimals=2)
    drawing = draw_column_votes([*counts, "total"], torch.cat([votes, votes.sum(0)[None]]), classes)
    rows = torch.cat([100 * idf[:, None], 1_000 * weight], dim=1).round().int().tolist()
    words = (f"{word} {' '.join(map(str, rows[k]))}" for word, k in vocabulary.items())
    data = escape("|".join([text, ",".join(classes), *words]))
    alt = f'The text "{text}". {drawing.alt}'
    attributes = f'"{escape(alt)}" data-votes="{data}"'
    return Drawing(drawing.svg.replace(f'"{escape(drawing.alt)}"', attributes, 1), alt)


def draw_offsets(words: Sequence[str], offsets: Sequence[int]) -> Drawing:
    """Draw the words of several texts in one row, and where each begins, with CSR's last offset."""
    sheet = Sheet(WIDTH)
    width = (WIDTH - LABEL_WIDTH - 10) / len(words)
    edges = [LABEL_WIDTH + offset * width for offset in offsets]
    for y, label in ((1.5, "ids"), (2.8, "offsets")):
        sheet.text(LABEL_WIDTH - 14, y, label, QUIET, "end")
    for k, (start, end) in enumerate(pairwise(offsets)):
        sheet.text((edges[k] + edges[k + 1]) / 2, 0.5, f"text {k}", QUIET)
        for j in range(start, end):
            sheet.cell(LABEL_WIDTH + j * width, 1, width, words[j], bold=True, colors=id_colors(k))
    for x, offset in zip(edges, offsets, strict=True):
        sheet.line((x, 1.0), (x, 2.3))
        sheet.text(x, 2.8, str(offset), bold=True)
    texts = "; ".join(", ".join(words[start:end]) for start, end in pairwise(offsets))
    return sheet.to_drawing(f"Texts in one row: {texts}. Offsets: {', '.join(map(str, offsets))}.")


def _format(value: torch.Tensor) -> str:
    """Format a number with a sign and two decimals, or none if it is whole."""
    return f"{float(value):+.2f}".removesuffix(".00") if value else "0"
