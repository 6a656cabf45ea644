"""The characters in use, out of fonts of many: the icons of Font Awesome, the signs of formulas."""

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

logging.getLogger("fontTools").setLevel(logging.WARNING)  # it tells each step otherwise
FACE = re.compile(r"@font-face\{[^}]*?url\(([^)]*/(fa-[\w-]+\.woff2))\)[^}]*\}")
ICONS = "fa-solid-900.woff2"  # the only style of Font Awesome on these pages
# Few phones have a font with stretching brackets. A part of STIX Two Math, see the README there.
FORMULAS = Path(__file__).parents[2] / "_fonts" / "stix-two-math.woff2"
ROOT = "√"  # which a browser draws where no letter stands
# As which signs a browser sets a variable of one letter.
ITALIC = {
    unicodedata.normalize("NFKC", chr(code)): code
    for code in [0x210E, *range(0x1D434, 0x1D468), *range(0x1D6E2, 0x1D71C)]
}


def subset(font: Path, codes: Iterable[int]) -> bytes:
    """Give the font with these characters alone, with its copyright and license."""
    loaded, made = TTFont(font, recalcTimestamp=False), io.BytesIO()
    if "MATH" in loaded:
        _one_root(loaded)
    subsetter = Subsetter(Options(layout_features=["ssty"], name_IDs=[0, 13, 14]))
    subsetter.populate(unicodes=codes)
    subsetter.subset(loaded)
    loaded.flavor = "woff2"
    loaded.save(made)
    return made.getvalue()


def _one_root(font: TTFont) -> None:
    """Leave the root one size: a browser keeps room for the widest that the font has."""
    variants, root = font["MATH"].table.MathVariants, font.getBestCmap().get(ord(ROOT))
    if root in (grow := variants.VertGlyphCoverage.glyphs):
        del variants.VertGlyphConstruction[grow.index(root)]
        grow.remove(root)
        variants.VertGlyphCount -= 1


def with_icons(css: str, static: Path) -> str:
    """Replace the faces of Font Awesome by one of the icons that the style sheet names."""
    rest = FACE.sub("", css)
    codes = {ord(char) for char in rest if 0xE000 <= ord(char) <= 0xF8FF}
    codes |= {int(code, 16) for code in re.findall(r"\\([ef][0-9a-f]{3})\b", rest)}

    def face(found: re.Match[str]) -> str:
        if found[2] != ICONS:
            return ""
        return found.group().replace(found[1], as_data(subset(static / found[1], codes)))

    return FACE.sub(face, css)


def for_formulas(signs: Iterable[int]) -> str:
    """Give the style sheet with the font of the formulas, so that none is seen in another first."""
    data = as_data(subset(FORMULAS, signs))
    return f'@font-face{{font-family:"STIX Two Math";src:url({data})}}\n'


def as_data(font: bytes) -> str:
    """Give a font as an address that needs no request, and may be read from a file's page."""
    return f"data:font/woff2;base64,{base64.b64encode(font).decode()}"


def signs(formulas: Iterable[str]) -> set[int]:
    """Give the code points that formulas in MathML are set with."""
    written = "".join(formulas)
    text = set(html.unescape(re.sub("<[^>]*>", "", written)))
    text |= {ROOT} if re.search("<m(sqrt|root)", written) else set()
    return {ord(char) for char in text} | {ITALIC[char] for char in text & ITALIC.keys()}
