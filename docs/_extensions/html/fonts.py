"""Subset fonts to the characters that the site uses: Font Awesome's icons and signs of formulas."""

import base64
import html
import io
import logging
import re
import unicodedata
from collections.abc import Iterable
from pathlib import Path

from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont

logging.getLogger("fontTools").setLevel(logging.WARNING)  # its default logs each step
FONT_FACE = re.compile(r"@font-face\{[^}]*?url\(([^)]*/(fa-[\w-]+\.woff2))\)[^}]*\}")
ICONS = "fa-solid-900.woff2"  # the only style of Font Awesome on these pages
# Few phones have a font with stretching brackets. A part of STIX Two Math, see the README there.
FORMULA_FONT = Path(__file__).parents[2] / "_fonts" / "stix-two-math.woff2"
RADICAL = "√"  # drawn by <msqrt>, whose text does not contain it
# The italic character that a browser draws for a variable of one letter.
ITALIC = {
    unicodedata.normalize("NFKC", chr(code)): code
    for code in [0x210E, *range(0x1D434, 0x1D468), *range(0x1D6E2, 0x1D71C)]
}


def subset_font(path: Path, codes: Iterable[int]) -> str:
    """Return a font as a data URL, with these code points only, its copyright and its license."""
    font = TTFont(path, recalcTimestamp=False)
    file = io.BytesIO()
    if "MATH" in font:  # the radical in one size, since a browser reserves the width of the widest
        variants = font["MATH"].table.MathVariants
        radical = font.getBestCmap()[ord(RADICAL)]
        index = variants.VertGlyphCoverage.glyphs.index(radical)
        del variants.VertGlyphCoverage.glyphs[index], variants.VertGlyphConstruction[index]
        variants.VertGlyphCount -= 1
    # Hints, a third of the font, serve screens of few pixels on Windows alone.
    subsetter = Subsetter(Options(layout_features=["ssty"], name_IDs=[0, 13, 14], hinting=False))
    subsetter.populate(unicodes=codes)
    subsetter.subset(font)
    font.flavor = "woff2"
    font.save(file)
    return f"data:font/woff2;base64,{base64.b64encode(file.getvalue()).decode()}"


def subset_icons(css: str, static: Path) -> str:
    """Replace Font Awesome's fonts in a style sheet by one with the icons that the sheet names."""
    rules = FONT_FACE.sub("", css)
    codes = {ord(char) for char in rules if 0xE000 <= ord(char) <= 0xF8FF}
    codes |= {int(code, 16) for code in re.findall(r"\\([ef][0-9a-f]{3})\b", rules)}

    def embed(face: re.Match[str]) -> str:
        if face[2] != ICONS:
            return ""
        return face.group().replace(face[1], subset_font(static / face[1], codes))

    return FONT_FACE.sub(embed, css)


def find_signs(formulas: Iterable[str]) -> set[int]:
    """Return the code points with which a browser draws formulas in MathML."""
    markup = "".join(formulas)
    text = set(html.unescape(re.sub("<[^>]*>", "", markup)))
    text |= {RADICAL} if re.search("<m(sqrt|root)", markup) else set()
    return {ord(char) for char in text} | {ITALIC[char] for char in text & ITALIC.keys()}
