"""An Embedding beside the OneHotLinear that replaces it, and replacements of single tokens."""

from collections.abc import Sequence

import torch
from torch import nn

from lookup_matmul.equality import assert_bitwise_equal
from lookup_matmul.figures.sheet import INK, MARK, PICK, QUIET, Drawing, Sheet, id_colors
from lookup_matmul.onehot.forms import one_hot
from lookup_matmul.onehot.one_hot_linear import OneHotLinear

# The middle of each half.
LEFT = 75
RIGHT = 247
WORD_WIDTH = 50  # of draw_replacements
CHANGE_WIDTH = 21  # of its cells
GAP = 14


def draw_swap(ids: torch.Tensor, embedding: nn.Embedding, layer: OneHotLinear) -> Drawing:
    """Draw inputs and outputs of both layers; raise AssertionError if outputs differ."""
    assert_bitwise_equal(layer(ids), embedding(ids))
    rows = layer.num_embeddings
    dim = layer.embedding_dim
    tokens = ids.tolist()
    count = len(tokens)
    height = 0.55 * len(tokens)
    layer_top = 3.5 + height
    output_top = 5.8 + height
    sheet = Sheet(322)

    def draw_grid(middle: float, top: float, bit_rows: Sequence[Sequence[int]]) -> None:
        for i, (token, bits) in enumerate(zip(tokens, bit_rows, strict=True)):
            for j, bit in enumerate(bits):
                position = (middle + (j - len(bits) / 2) * 12, top + i * 0.55, 12)
                colors, stroke_width = (id_colors(token), 1.0) if bit else (None, 0.8)
                sheet.cell(*position, height=0.55, colors=colors, stroke_width=stroke_width)

    names = f"Embedding({rows}, {dim})", f"Linear({rows}, {dim})"
    for x, name in zip((LEFT, RIGHT), names, strict=True):
        sheet.text(x, 0.4, "ids", QUIET)
        for i, token in enumerate(tokens):
            fill, color = id_colors(token)
            cell = (x + (i - count / 2) * 24, 0.8, 24, str(token), color, True)
            sheet.cell(*cell, height=0.85, fill=fill)
        is_replacement = x == RIGHT
        colors, stroke_width = ((PICK, MARK), 2.0) if is_replacement else (("none", INK), 1.0)
        box = (x - 60, layer_top, 120, name, INK, is_replacement)
        sheet.cell(*box, colors=colors, stroke_width=stroke_width)
        sheet.arrow((x, layer_top + 1.05), (x, layer_top + 1.65))
        sheet.text(x, layer_top + 1.95, f"rows, {count} × {dim}", QUIET)
        draw_grid(x, output_top, [[1] * dim] * count)
    sheet.text(RIGHT, 2.35, f"one-hot rows, {count} × {rows}", QUIET)
    draw_grid(RIGHT, 2.7, one_hot(ids, rows, dtype=torch.int64).tolist())
    end = layer_top - 0.05
    for x, start, stop in ((LEFT, 1.7, end), (RIGHT, 1.7, 2.1), (RIGHT, end - 0.7, end)):
        sheet.arrow((x, start), (x, stop))
    sheet.text((LEFT + RIGHT) / 2, output_top + height / 2, "=")
    output = f"{count} rows of {dim} numbers"
    return sheet.to_drawing(
        f"Left: the ids {', '.join(map(str, tokens))} go into {names[0]}, and {output} come out. "
        f"Right: they become {count} one-hot rows of {rows} numbers, which go into {names[1]}; "
        f"tools find this layer. {output} come out, equal to those on the left."
    )


def draw_replacements(
    sentence: Sequence[str],
    words: Sequence[str],
    predicted: torch.Tensor,
    true: torch.Tensor,
    needed: float,
) -> Drawing:
    """Draw what each word at each place of a sentence changes, predicted and true.

    Both have shape (words of the sentence, number of words); changes above ``needed`` are shaded.
    """
    places = len(sentence)
    sheet = Sheet(WORD_WIDTH + 2 * places * CHANGE_WIDTH + GAP, 19)
    numbered = [f"{place} {word}" for place, word in enumerate(sentence, 1)]
    sheet.text(sheet.width / 2, 0.5, "  ".join(numbered), QUIET)
    descriptions = []
    for half, (name, changes) in enumerate({"predicted": predicted, "true": true}.items()):
        panel_x = WORD_WIDTH + half * (places * CHANGE_WIDTH + GAP)
        sheet.text(panel_x + places * CHANGE_WIDTH / 2, 1.6, name, bold=True)
        best = int(changes.argmax())
        for place in range(places):
            x = panel_x + place * CHANGE_WIDTH
            sheet.text(x + CHANGE_WIDTH / 2, 2.6, str(place + 1), QUIET)
            for k, word in enumerate(words):
                change = float(changes[place, k])
                is_shaded = change > needed
                is_best = place * len(words) + k == best
                fill, color = id_colors(0) if is_shaded else ("none", QUIET)
                text = "" if word == sentence[place] else f"{round(change):d}"
                cell = (x, 3.1 + k, CHANGE_WIDTH, text, color, is_shaded)
                sheet.cell(*cell, fill=fill, stroke_width=2.4 if is_best else 0.5)
        place, k = divmod(best, len(words))
        count = int((changes > needed).sum())
        descriptions.append(
            f"{name.capitalize()}, {count} replacements change it by more than {needed:.1f}, most "
            f"of all {words[k]} at place {place + 1}: {float(changes[place, k]):+.1f}."
        )
    for k, word in enumerate(words):
        sheet.text(WORD_WIDTH - 6, 3.6 + k, word, anchor="end")
    return sheet.to_drawing(f"The sentence {' '.join(sentence)}. {' '.join(descriptions)}")
