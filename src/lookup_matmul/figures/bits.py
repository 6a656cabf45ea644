"""One number in several formats, bit by bit."""

from collections.abc import Mapping

import torch

from lookup_matmul.figures.palette import LINE, QUIET, colors_of
from lookup_matmul.figures.sheet import CELL_HEIGHT, Drawing, Sheet

EXPONENT, MANTISSA = 8, 23  # bits of float32; TF32 and bfloat16 have its sign and its exponent
BIT_WIDTH, BIT_HEIGHT, GAP, MARGIN = 9.2, 17.0 / CELL_HEIGHT, 5.0, 4.0
WIDTH = 2 * MARGIN + (1 + EXPONENT + MANTISSA) * BIT_WIDTH + 2 * GAP
STRIP = 2.0  # heights of a cell from one strip to the next


def draw_bits(numbers: Mapping[str, tuple[torch.Tensor, int]], *, token: int = 0) -> Drawing:
    """Draw the bits of numbers in formats that are float32 with fewer bits in the mantissa.

    Each strip has a name, a number of shape () that float32 holds, and how many bits its format
    keeps of the mantissa, 0 to 23, which get the color of the id ``token``. Raise ValueError if
    bits are set after these.

    Examples
    --------
    >>> number = torch.tensor(-2.84)
    >>> draw_bits({"float32": (number, 23), "bfloat16": (number.bfloat16(), 7)})
    float32 -2.83999991: sign 1, exponent 10000000, mantissa 01101011100001010001111. \
bfloat16 -2.84375: sign 1, exponent 10000000, mantissa 0110110, 16 bits fewer.
    """
    strips = {name: (_bits(*entry), *entry) for name, entry in numbers.items()}
    sheet = Sheet(WIDTH)
    for i, (name, (bits, number, kept)) in enumerate(strips.items()):
        sheet.text(MARGIN, STRIP * i + 0.5, name, at="start", bold=True)
        sheet.text(WIDTH - MARGIN, STRIP * i + 0.5, _shown(number), at="end")
        for k, digit in enumerate(bits):
            there, colored = k < 1 + EXPONENT + kept, EXPONENT < k < 1 + EXPONENT + kept
            fill, stroke = colors_of(token) if colored else ("none", LINE)
            dash, text = ("none", digit) if there else ("1 2", "")
            place = (_left(k), STRIP * i + 1 - 2 / CELL_HEIGHT, BIT_WIDTH, text)
            sheet.cell(*place, height=BIT_HEIGHT, fill=fill, stroke=stroke, stroke_dasharray=dash)
    below = STRIP * len(strips) + 0.25
    sheet.text(MARGIN, below, "sign", QUIET, "start")
    sheet.text(_left(1) + EXPONENT * BIT_WIDTH / 2 + 6, below, "exponent", QUIET)
    sheet.text(_left(9) + MANTISSA * BIT_WIDTH / 2, below, "mantissa", QUIET)
    return sheet.finish(" ".join(_story(name, *strip) for name, strip in strips.items()))


def _bits(number: torch.Tensor, kept: int) -> str:
    """Return the 32 bits of a number as digits, once it is clear that the format holds them."""
    single = number.detach().float()
    digits = f"{int(single.view(torch.int32).item()) & 0xFFFFFFFF:032b}"
    if "1" in digits[1 + EXPONENT + kept :]:
        raise ValueError(
            f"{number.item()!r} has the bits {digits}, expected none set after the first {kept} "
            "of the mantissa; cut the number off first."
        )
    return digits


def _left(bit: int) -> float:
    """Return where a bit is drawn: sign, exponent and mantissa are apart."""
    return MARGIN + bit * BIT_WIDTH + GAP * ((bit >= 1) + (bit >= 1 + EXPONENT))


def _shown(number: torch.Tensor) -> str:
    return f"{number.item():.9g}"  # nine digits tell any two numbers of float32 apart


def _story(name: str, bits: str, number: torch.Tensor, kept: int) -> str:
    sign, exponent, mantissa = bits[0], bits[1 : 1 + EXPONENT], bits[1 + EXPONENT :][:kept]
    fewer = f", {MANTISSA - kept} bits fewer" if kept < MANTISSA else ""
    return (
        f"{name} {_shown(number)}: sign {sign}, exponent {exponent}, "
        f"mantissa {mantissa or 'empty'}{fewer}."
    )
