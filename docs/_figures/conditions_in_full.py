"""The bits of a number in several formats."""

from collections.abc import Mapping

import torch

from lookup_matmul.figures.sheet import CELL_HEIGHT, QUIET, Drawing, Sheet, id_colors

# Bits of float32; TF32 and bfloat16 have the same exponent.
EXPONENT = 8
MANTISSA = 23
BIT_WIDTH = 9.2
BIT_HEIGHT = 17.0 / CELL_HEIGHT
GAP = 5.0
MARGIN = 4.0
WIDTH = 2 * MARGIN + (1 + EXPONENT + MANTISSA) * BIT_WIDTH + 2 * GAP


def draw_bits(numbers: Mapping[str, tuple[torch.Tensor, int]], *, token: int = 0) -> Drawing:
    """Draw the bits of numbers in float32 and in formats that shorten its mantissa.

    Each name maps to a number of shape () and to the size of the format's mantissa, from 0 to 23
    bits, which have the color of the id ``token``. Raise ValueError if any later bit is set.
    """
    sheet = Sheet(WIDTH)
    sentences = []
    for i, (name, (number, mantissa_bits)) in enumerate(numbers.items()):
        digits = _bits(number, mantissa_bits)
        value = f"{number.item():.9g}"  # exact for float32
        stored_bits = 1 + EXPONENT + mantissa_bits
        sheet.text(MARGIN, 2 * i + 0.5, name, anchor="start", bold=True)
        sheet.text(WIDTH - MARGIN, 2 * i + 0.5, value, anchor="end")
        for k, digit in enumerate(digits):
            text, dashes = (digit, "none") if k < stored_bits else ("", "1 2")
            colors = id_colors(token) if EXPONENT < k < stored_bits else None
            position = (_bit_x(k), 2 * i + 1 - 2 / CELL_HEIGHT, BIT_WIDTH, text)
            sheet.cell(*position, height=BIT_HEIGHT, colors=colors, stroke_dasharray=dashes)
        exponent = digits[1 : 1 + EXPONENT]
        mantissa = digits[1 + EXPONENT : stored_bits] or "empty"
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
