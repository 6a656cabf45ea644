"""What the pages "Text both ways" and "Inside a language model" draw."""

from collections.abc import Mapping, Sequence

import torch

from lookup_matmul.figures.palette import INK, LINE, MARK, QUIET, colors_of
from lookup_matmul.figures.sheet import Drawing, Sheet
from lookup_matmul.sparse.sums import sum_of_rows

LEFT, CELL, WIDTH = 86.0, 58.0, 330.0  # of a table of words
TABLE, TABLE_WIDTH, PASSAGE, END = 4.0, 74.0, 152.0, 322.0  # of a language model


def draw_bag_of_words(
    text: str, vocabulary: Mapping[str, int], weight: torch.Tensor, names: Sequence[str]
) -> Drawing:
    """Draw a text, the rows of the table that its words pick, and the sum of these rows.

    The columns of the table vote for ``names``; words outside of the vocabulary have no row.
    """
    words, sheet = text.split(), Sheet(WIDTH)
    counts = {word: words.count(word) for word in words if word in vocabulary}
    ids = torch.tensor([vocabulary[word] for word in counts])
    bag = (ids, torch.tensor([0, len(ids)]), torch.tensor([*counts.values()]))
    total = sum_of_rows(bag, weight)[0]
    top = _draw_text(sheet, words, vocabulary) + 0.3
    _draw_names(sheet, top, names)
    for k, (word, count) in enumerate(counts.items(), start=1):
        fill, stroke = colors_of(vocabulary[word])
        sheet.text(LEFT - 6, top + k + 0.5, f"{count} × {word}", stroke, "end", True)
        for j, value in enumerate(weight[vocabulary[word]]):
            place = (LEFT + j * CELL, top + k, CELL)
            sheet.cell(*place, _signed(value), fill=fill, stroke=stroke)
    under = top + len(counts) + 1.5
    sheet.line((4, under - 0.25), (LEFT + CELL * len(names), under - 0.25))
    largest = int(total.argmax())
    sheet.text(LEFT - 6, under + 0.5, "total", INK, "end", True)
    for j, value in enumerate(total):
        sheet.cell(LEFT + j * CELL, under, CELL, _signed(value), bold=j == largest)
    rows = ", ".join(
        f"{count} × {word} ({_row(weight[vocabulary[word]])})" for word, count in counts.items()
    )
    scores = ", ".join(f"{name} {_signed(x)}" for name, x in zip(names, total, strict=True))
    return sheet.finish(
        f'The text "{text}". Known words, with their rows: {rows}. '
        f"The sum of the rows is {scores}; the largest is {names[largest]}."
    )


def draw_column_votes(words: Sequence[str], weight: torch.Tensor, names: Sequence[str]) -> Drawing:
    """Draw the row of each word: a shade that grows with positive numbers, the largest bold."""
    sheet, story = Sheet(WIDTH), []
    _draw_names(sheet, 0, names)
    for k, (word, row) in enumerate(zip(words, weight, strict=True), start=1):
        best = int(row.argmax())
        sheet.text(LEFT - 6, k + 0.5, word, INK, "end", True)
        for j, value in enumerate(row):
            place, fill = (LEFT + j * CELL, k, CELL, _signed(value)), MARK if value > 0 else "none"
            # A pale one, so that the number stays legible in the dark.
            shade = round(0.1 + 0.35 * float(value.clamp(min=0) / weight.abs().max()), 2)
            sheet.cell(*place, bold=j == best, fill=fill, fill_opacity=shade)
        story.append(f"{word} ({_row(row)}): {names[best]}.")
    return sheet.finish(f"Votes for {', '.join(names)}. {' '.join(story)}")


def _draw_names(sheet: Sheet, top: float, names: Sequence[str]) -> None:
    for j, name in enumerate(names):
        sheet.text(LEFT + (j + 0.5) * CELL, top + 0.5, name, QUIET)


def _draw_text(sheet: Sheet, words: Sequence[str], vocabulary: Mapping[str, int]) -> float:
    """Write words in lines that fit, known ones in their colors; return where the text ends."""
    x, row = 6.0, 0.1
    for word in words:
        width = 6.2 * len(word) + 10  # so much that no word leaves its box
        if x > 6 and x + width > WIDTH:
            x, row = 6.0, row + 1.2
        if word in vocabulary:
            fill, stroke = colors_of(vocabulary[word])
            sheet.cell(x, row, width, word, stroke, True, fill=fill, stroke=stroke, stroke_width=1)
        else:
            sheet.text(x + width / 2, row + 0.5, word, QUIET)
        x += width + 4
    return row + 1.1


def _signed(value: torch.Tensor) -> str:
    """Write two decimals with a sign, and a whole number without decimals."""
    return f"{float(value):+.2f}".removesuffix(".00") if value else "0"


def _row(row: torch.Tensor) -> str:
    return ", ".join(map(_signed, row))


def draw_both_ends(tokens: Sequence[str], ids: torch.Tensor, vocab_size: int) -> Drawing:
    """Draw how a text passes through a language model whose one table serves both ends.

    All tokens but the last go in, all but the first are to be guessed.
    """
    numbers = ids.tolist()
    inputs, targets = numbers[:-1], numbers[1:]
    n = len(inputs)
    sheet, cell = Sheet(END + 4), (END - PASSAGE) / n
    for row, label, texts, of in (
        (0.1, "text", tokens[:-1], inputs),
        (1.8, "ids", inputs, inputs),
        (4.2, "rows", inputs, inputs),
        (5.3, "+ position", range(n), None),
        (8.5, "results", ["h"] * n, None),
        (11.4, "scores", [f"{vocab_size:,} scores"] * n, None),
        (13.1, "loss reads", targets, targets),
    ):
        sheet.text(PASSAGE - 6, row + 0.5, label, QUIET, "end")
        for j, text in enumerate(texts):
            fill, edge = colors_of(of[j]) if of else ("none", LINE)
            place, lw = (PASSAGE + j * cell, row, cell, str(text)), 1.4 if of else 0.8
            sheet.cell(*place, bold=bool(of), fill=fill, stroke=edge, stroke_width=lw)
    sheet.cell(PASSAGE, 6.8, END - PASSAGE, "the rest of the model", height=1.2, stroke=INK)
    for begin, end in ((1.15, 1.8), (6.3, 6.8), (8.0, 8.5), (12.4, 13.1)):
        for j in range(n):
            middle = PASSAGE + (j + 0.5) * cell
            sheet.arrow((middle, begin), (middle, end), QUIET)
    middles, bottom = _draw_table(sheet, numbers, vocab_size)
    for row, title in (
        (3.5, f"lookup: copies {n} rows"),
        (10.45, f"product: all {vocab_size:,} rows"),
    ):
        sheet.text(PASSAGE, row, title, INK, "start", True)
    right, fork = TABLE + TABLE_WIDTH, TABLE + TABLE_WIDTH + 9
    for token in set(inputs):
        sheet.line((right, middles[token]), (fork, middles[token]), (fork, 3.5), (fork + 3, 3.5))
    sheet.arrow((fork, 3.5), (PASSAGE - 4, 3.5))
    under = TABLE + TABLE_WIDTH / 2
    sheet.line((under, bottom), (under, 10.45), (under + 3, 10.45))
    sheet.arrow((under, 10.45), (PASSAGE - 4, 10.45))
    goes_in, places = ", ".join(map(str, inputs)), ", ".join(map(str, range(n)))
    read = ", ".join(f"{token} at position {t}" for t, token in enumerate(targets))
    return sheet.finish(
        f"{', '.join(tokens[:-1])} go in as ids {goes_in}. The lookup copies rows {goes_in} of the "
        f"table, the position rows {places} are added, and the rest of the model follows. At the "
        f"other end each result is multiplied by all {vocab_size:,} rows of the same table, the "
        f"{vocab_size:,} scores become probabilities, and the loss reads one: {read}."
    )


def _draw_table(
    sheet: Sheet, ids: Sequence[int], vocab_size: int
) -> tuple[dict[int, float], float]:
    """Draw the rows of the ids, and dots for rows between; return their middles and the bottom."""
    shown = sorted(set(ids))
    height = 1.7 * len(shown) + 0.7
    top = 6.1 - height / 2
    sheet.text(TABLE, top - 1.1, "one table,", INK, "start", True)
    sheet.text(TABLE, top - 0.4, f"{vocab_size:,} rows", INK, "start", True)
    sheet.cell(TABLE, top, TABLE_WIDTH, height=height, stroke_width=1.6)
    for k in range(len(shown) + 1):
        sheet.text(TABLE + TABLE_WIDTH / 2, top + 1.7 * k + 0.35, "⋮", QUIET)
    for k, token in enumerate(shown):
        fill, edge = colors_of(token)
        place = (TABLE, top + 1.7 * k + 0.7, TABLE_WIDTH, f"row {token}")
        sheet.cell(*place, bold=True, fill=fill, stroke=edge)
    return {token: top + 1.7 * k + 1.2 for k, token in enumerate(shown)}, top + height
