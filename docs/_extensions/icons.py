"""The icons that a style sheet asks for, as a font of only these, written into the style sheet."""

import base64
import io
import logging
import re
from pathlib import Path

from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont

FACE = re.compile(r"@font-face\{[^}]*?url\(([^)]*/(fa-[\w-]+\.woff2))\)[^}]*\}")
logging.getLogger("fontTools").setLevel(logging.WARNING)  # it tells each step otherwise
USED = "fa-solid-900.woff2"  # the only style of Font Awesome on these pages


def subset(font: Path, css: str) -> bytes:
    """Give the font with the glyphs alone whose code points the style sheet names."""
    codes = {ord(char) for char in css if 0xE000 <= ord(char) <= 0xF8FF}
    codes |= {int(code, 16) for code in re.findall(r"\\([ef][0-9a-f]{3})\b", css)}
    loaded, made = TTFont(font), io.BytesIO()
    subsetter = Subsetter(Options(layout_features=[], name_IDs=[]))
    subsetter.populate(unicodes=codes)
    subsetter.subset(loaded)
    loaded.flavor = "woff2"
    loaded["head"].modified = loaded["head"].created  # else every build would differ
    loaded.recalcTimestamp = False
    loaded.save(made)
    return made.getvalue()


def with_icons(css: str, static: Path) -> str:
    """Replace the faces of Font Awesome, whose addresses begin at the folder, by the one in use."""
    rest = FACE.sub("", css)

    def face(found: re.Match[str]) -> str:
        if found[2] != USED:
            return ""
        data = base64.b64encode(subset(static / found[1], rest)).decode()
        return found.group().replace(found[1], f"data:font/woff2;base64,{data}")

    return FACE.sub(face, css)
