"""A language model whose input and output share one table."""

from collections.abc import Mapping, Sequence
from html import escape

import torch

from lookup_matmul.figures.sheet import INK, MARK, OTHER, QUIET, Drawing, Sheet, id_colors, to_steps

TABLE_X = 4.0
TABLE_WIDTH = 74.0
MODEL_X = 152.0
RIGHT = 322.0
LINE_LENGTH = 30  # characters of a written line
LINE_HEIGHT = 18.0  # points


def draw_both_ends(tokens: Sequence[str], ids: torch.Tensor, vocab_size: int) -> Drawing:
    """Draw the way of a text, all but its last token, through a model that uses one table twice."""
    inputs = ids[:-1].tolist()
    targets = ids[1:].tolist()
    n = len(inputs)
    sheet = Sheet(RIGHT + 4)
    width = (RIGHT - MODEL_X) / n
    for y, label, texts, cell_ids in (
        (0.1, "text", tokens[:-1], inputs),
        (1.8, "ids", inputs, inputs),
        (4.2, "rows", inputs, inputs),
        (5.3, "+ position", range(n), []),
        (8.5, "results", ["h"] * n, []),
        (11.4, "scores", [f"{vocab_size:,} scores"] * n, []),
        (13.1, "loss reads", targets, targets),
    ):
        sheet.text(MODEL_X - 6, y + 0.5, label, QUIET, "end")
        bold, stroke_width = (True, 1.4) if cell_ids else (False, 0.8)
        for j, text in enumerate(texts):
            cell = (MODEL_X + j * width, y, width, str(text), INK, bold)
            colors = id_colors(cell_ids[j]) if cell_ids else None
            sheet.cell(*cell, colors=colors, stroke_width=stroke_width)
    sheet.cell(MODEL_X, 6.8, RIGHT - MODEL_X, "the rest of the model", height=1.2, stroke=INK)
    for start, end in ((1.15, 1.8), (6.3, 6.8), (8.0, 8.5), (12.4, 13.1)):
        for j in range(n):
            x = MODEL_X + (j + 0.5) * width
            sheet.arrow((x, start), (x, end), QUIET)
    _draw_table(sheet, inputs, sorted({*inputs, *targets}), vocab_size)
    sheet.text(MODEL_X, 3.5, f"lookup: copies {n} rows", anchor="start", bold=True)
    sheet.text(MODEL_X, 10.45, f"product: all {vocab_size:,} rows", anchor="start", bold=True)
    rows = ", ".join(map(str, inputs))
    positions = ", ".join(map(str, range(n)))
    losses = ", ".join(f"{token} at position {t}" for t, token in enumerate(targets))
    return sheet.to_drawing(
        f"{', '.join(tokens[:-1])} go in as ids {rows}. The lookup copies rows {rows} of the "
        f"table, the position rows {positions} are added, and the rest of the model follows. At "
        f"the other end each result is multiplied by all {vocab_size:,} rows of the same table, "
        f"the {vocab_size:,} scores become probabilities, and the loss reads one: {losses}."
    )


def _draw_table(sheet: Sheet, inputs: list[int], row_numbers: list[int], vocab_size: int) -> None:
    """Draw the rows of all tokens, with dots for rows between, and arrows into the model."""
    right = TABLE_X + TABLE_WIDTH
    middle = TABLE_X + TABLE_WIDTH / 2
    arrow_end = MODEL_X - 4
    height = 1.7 * len(row_numbers) + 0.7
    top = 6.1 - height / 2
    sheet.text(TABLE_X, top - 1.1, "one table,", anchor="start", bold=True)
    sheet.text(TABLE_X, top - 0.4, f"{vocab_size:,} rows", anchor="start", bold=True)
    sheet.cell(TABLE_X, top, TABLE_WIDTH, height=height, stroke_width=1.6)
    for k in range(len(row_numbers) + 1):
        sheet.text(middle, top + 1.7 * k + 0.35, "⋮", QUIET)
    fork = right + 9
    row_y = {token: top + 1.7 * k + 1.2 for k, token in enumerate(row_numbers)}
    for token, y in row_y.items():
        cell = (TABLE_X, y - 0.5, TABLE_WIDTH, f"row {token}")
        sheet.cell(*cell, bold=True, colors=id_colors(token))
    for token in set(inputs):
        sheet.line((right, row_y[token]), (fork, row_y[token]), (fork, 3.5), (fork + 3, 3.5))
    sheet.arrow((fork, 3.5), (arrow_end, 3.5))
    sheet.line((middle, top + height), (middle, 10.45), (middle + 3, 10.45))
    sheet.arrow((middle, 10.45), (arrow_end, 10.45))


def draw_writing(texts: Mapping[str, Mapping[str, str]]) -> Drawing:
    """Draw what models write at each step, named in frames.js, and mark what the first does not."""
    steps = [*texts]
    groups = []
    sentences = []
    height = 0.0
    marked = f'<tspan style="fill: {MARK}">{{}}</tspan>'
    for step, by_model in texts.items():
        lines = []
        y = LINE_HEIGHT
        first = next(iter(by_model.values()))
        names = dict[str, list[str]]()
        for name, text in by_model.items():
            names.setdefault(text, []).append(name)  # models that write the same share a phrase
            lines.append(_text_line(y, escape(name, quote=False), "font-weight: 700"))
            letters = [
                ("{}" if letter == expected else marked).format(escape(letter, quote=False))
                for letter, expected in zip(text, first, strict=True)
            ]
            for start in range(0, len(letters), LINE_LENGTH):
                y += LINE_HEIGHT
                line = "".join(letters[start : start + LINE_LENGTH])
                style = f"fill: {OTHER}; font-family: monospace"
                lines.append(_text_line(y, line, style, 'translate="no"'))
            y += 1.5 * LINE_HEIGHT
        shown = ";".join("1" if other == step else "0" for other in steps)
        opacity = int(step == steps[-1])
        groups.append(f'<g opacity="{opacity}" data-frames="opacity;{shown}">{"".join(lines)}</g>')
        height = max(height, y - LINE_HEIGHT / 2)
        phrases = "; ".join(f"{' and '.join(n)}: “{text}”" for text, n in names.items())
        sentences.append(f"{phrases}.")
    style = f"fill: {INK}; font-size: 13px"
    elements = f'<g style="{style}">{"".join(groups)}</g>'
    return to_steps(RIGHT, height, steps, " ".join(sentences), elements)


def _text_line(y: float, text: str, style: str, more: str = "") -> str:
    return f'<text x="4" y="{y:g}" xml:space="preserve" style="{style}" {more}>{text}</text>'
