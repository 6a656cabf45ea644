"""The bits of a number in several formats, and two computations that are equal in every bit."""

from collections.abc import Mapping
from functools import partial

import torch

from lookup_matmul.equality import assert_bitwise_equal
from lookup_matmul.figures.sheet import CELL_HEIGHT, QUIET, Drawing, Sheet, id_colors
from lookup_matmul.onehot.forms import lookup, one_hot, one_hot_matmul

EXPONENT, MANTISSA = 8, 23  # bits of float32; TF32 and bfloat16 have the same exponent
BIT_WIDTH, BIT_HEIGHT, GAP, MARGIN = 9.2, 17.0 / CELL_HEIGHT, 5.0, 4.0
WIDTH = 2 * MARGIN + (1 + EXPONENT + MANTISSA) * BIT_WIDTH + 2 * GAP
ROW_HEIGHT, CELL_WIDTH, ONE_HOT_WIDTH, LABEL_WIDTH = 22.0, 46.0, 24.0, 46.0  # of draw_equality


def draw_bits(numbers: Mapping[str, tuple[torch.Tensor, int]], *, token: int = 0) -> Drawing:
    """Draw the bits of numbers in float32 and in formats that shorten its mantissa.

    Each name maps to a number of shape () and to the size of the format's mantissa, from 0 to 23
    bits, which have the color of the id ``token``. Raise ValueError if any later bit is set.

    >>> draw_bits({"bfloat16": (torch.tensor(-2.84).bfloat16(), 7)})
    bfloat16 -2.84375: sign 1, exponent 10000000, mantissa 0110110, 16 bits fewer.
    """
    sheet, sentences = Sheet(WIDTH), []
    for i, (name, (number, mantissa_bits)) in enumerate(numbers.items()):
        digits, value = _bits(number, mantissa_bits), f"{number.item():.9g}"  # exact for float32
        stored_bits = 1 + EXPONENT + mantissa_bits
        sheet.text(MARGIN, 2 * i + 0.5, name, anchor="start", bold=True)
        sheet.text(WIDTH - MARGIN, 2 * i + 0.5, value, anchor="end")
        for k, digit in enumerate(digits):
            text, dashes = (digit, "none") if k < stored_bits else ("", "1 2")
            colors = id_colors(token) if EXPONENT < k < stored_bits else None
            position = (_bit_x(k), 2 * i + 1 - 2 / CELL_HEIGHT, BIT_WIDTH, text)
            sheet.cell(*position, height=BIT_HEIGHT, colors=colors, stroke_dasharray=dashes)
        exponent, mantissa = digits[1 : 1 + EXPONENT], digits[1 + EXPONENT : stored_bits] or "empty"
        fewer = f", {MANTISSA - mantissa_bits} bits fewer" if mantissa_bits < MANTISSA else ""
        sentences.append(
            f"{name} {value}: sign {digits[0]}, exponent {exponent}, mantissa {mantissa}{fewer}."
        )
    bottom = 2 * len(numbers) + 0.25
    sheet.text(MARGIN, bottom, "sign", QUIET, "start")
    sheet.text(_bit_x(1) + EXPONENT * BIT_WIDTH / 2 + 6, bottom, "exponent", QUIET)
    sheet.text(_bit_x(9) + MANTISSA * BIT_WIDTH / 2, bottom, "mantissa", QUIET)
    return sheet.to_drawing(" ".join(sentences))


def _bits(number: torch.Tensor, mantissa_bits: int) -> str:
    """Return the 32 bits of a number as digits; raise ValueError if the format lacks one."""
    digits = f"{int(number.detach().float().view(torch.int32).item()) & 0xFFFFFFFF:032b}"
    if "1" in digits[1 + EXPONENT + mantissa_bits :]:
        raise ValueError(
            f"{number.item()!r} has the bits {digits}, expected none set after the first "
            f"{mantissa_bits} of the mantissa; cut the number off first."
        )
    return digits


def _bit_x(bit: int) -> float:
    return MARGIN + bit * BIT_WIDTH + GAP * ((bit >= 1) + (bit >= 1 + EXPONENT))


def draw_equality(ids: torch.Tensor, weight: torch.Tensor) -> Drawing:
    """Draw a lookup and a one-hot product of the same ids, and their common output.

    ``ids`` has shape (number of ids,), ``weight`` (vocabulary size, embedding dimension); up to 6
    ids and 6 rows with 3 to 5 columns fit a phone. Raise AssertionError if the outputs are not
    bitwise equal.

    >>> draw_equality(torch.tensor([1]), torch.tensor([[0.5, 1.0, 2.0], [1.5, -2.0, 3.0]]))
    Two ways from the ids 1 to one output, over one table of 2 rows. \
Looking up: id 1 picks row 1. \
Multiplying: id 1 becomes the one-hot row (0, 1), times the table. \
Both give: (1.50, -2.00, 3.00).
    """
    rows = lookup(ids, weight)
    assert_bitwise_equal(one_hot_matmul(ids, weight), rows)
    tokens, count, (vocab_size, dim) = ids.tolist(), len(ids), weight.shape
    encoding = [list(map(str, row)) for row in one_hot(ids, vocab_size, dtype=torch.int64).tolist()]
    one_hot_width = vocab_size * ONE_HOT_WIDTH
    right = LABEL_WIDTH + max(dim * CELL_WIDTH, 2.5 * CELL_WIDTH + one_hot_width)
    sheet = Sheet(right + 8, ROW_HEIGHT)
    draw_row = partial(sheet.row, x=LABEL_WIDTH, width=CELL_WIDTH)
    sheet.text(LABEL_WIDTH, 0.5, "the table W", anchor="start")
    for k in range(vocab_size):
        draw_row(1 + k, f"row {k}", _format(weight[k]), id_colors(k) if k in tokens else None)

    top, output_top = vocab_size + 3.4, vocab_size + count + 5.6
    one_hot_x = right - one_hot_width
    middles = (LABEL_WIDTH + CELL_WIDTH / 2, one_hot_x + one_hot_width / 2)
    for x, title in zip(middles, ("look up", "multiply: X W"), strict=True):
        sheet.text(x, top - 0.6, title, bold=True)
    for x, name in ((LABEL_WIDTH, "ids"), (one_hot_x, "X")):
        sheet.text(x - 5, top + count / 2, name, anchor="end")
    output_middle = LABEL_WIDTH + dim * CELL_WIDTH / 2
    sheet.text(output_middle, output_top - 0.6, "one output, equal in every bit", bold=True)
    for i, (k, bits) in enumerate(zip(tokens, encoding, strict=True)):
        colors = id_colors(k)
        draw_row(top + i, "", [str(k)], colors)
        draw_row(top + i, "", bits, colors, only=k, x=one_hot_x, width=ONE_HOT_WIDTH)
        draw_row(output_top + i, f"id {k}", _format(rows[i]), colors)
    for x in middles:
        sheet.arrow((x, vocab_size + 1.2), (x, top - 1.2))
        sheet.arrow((x, top + count + 0.2), (x, output_top - 1.2))
    lookups = ", ".join(f"id {k} picks row {k}" for k in tokens)
    products = ", ".join(
        f"id {k} becomes the one-hot row ({', '.join(bits)})"
        for k, bits in zip(tokens, encoding, strict=True)
    )
    outputs = ", ".join(f"({', '.join(_format(row))})" for row in rows)
    return sheet.to_drawing(
        f"Two ways from the ids {', '.join(map(str, tokens))} to one output, "
        f"over one table of {vocab_size} rows. Looking up: {lookups}. "
        f"Multiplying: {products}, times the table. Both give: {outputs}."
    )


def _format(values: torch.Tensor) -> list[str]:
    """Format numbers with two decimals, or with an exponent if they do not fit."""
    return [f"{v:.2f}" if abs(v) < 100 else f"{v:.0e}" for v in values.tolist()]
