"""Makes the type of the site, ``docs/_static/face``, from Source Sans Pro.

Its result lies in the repository, so no build runs this. To make it again, in an empty environment:
``python -m pip install fonttools brotli font-source-sans-pro`` and then
``python docs/_tools/face.py``.

Its license reserves the name for the font as it was; changed, as here, it needs another. What is
changed: only the signs of these pages are kept, and ≡ and ⋮, which it lacks, are made from its own
bars and dots.
"""

import shutil
from importlib.util import find_spec
from pathlib import Path

from fontTools import subset
from fontTools.pens.transformPen import TransformPen
from fontTools.pens.ttGlyphPen import TTGlyphPen
from fontTools.ttLib import TTFont

FACE = Path(__file__).parents[1] / "_static" / "face"
NAME = "Lookup Sans"
STYLES = {"Regular": "regular", "It": "italic", "Semibold": "bold"}
SIGNS = "".join(map(chr, range(0x20, 0x7F))) + ("\u00a0©±²³¹µ·×÷éëöü–—‘’“”…⁹√∞∑−≈≠≡≤≥←↑→↓⋮✓")


def add(font: TTFont, sign: str, part: str, shifts: list[float], *, upright: bool) -> None:
    """Draw a sign as copies of another, moved up or, for ⋮, up and back to the middle."""
    glyphs = font.getGlyphSet()
    source, name = font.getBestCmap()[ord(part)], f"uni{ord(sign):04X}"
    pen = TTGlyphPen(glyphs)
    lean = 0.0 if upright else 0.2
    for shift in shifts:
        glyphs[source].draw(TransformPen(pen, (1, 0, 0, 1, lean * shift, shift)))
    font["glyf"][name] = pen.glyph()
    font["hmtx"][name] = font["hmtx"][source]
    for table in font["cmap"].tables:
        if table.isUnicode():
            table.cmap[ord(sign)] = name


def make(source: Path, target: Path, *, upright: bool) -> None:
    """Write one style with the signs of these pages, under its own name."""
    font = TTFont(source)
    add(font, "≡", "−", [-145, 0, 145], upright=upright)
    add(font, "⋮", ".", [40, 290, 540], upright=upright)
    options = subset.Options(hinting=False, layout_features=["kern", "tnum"])
    options.name_IDs = [0, 1, 2, 4, 6, 13, 14]  # copyright and license travel with the file
    subsetter = subset.Subsetter(options)
    subsetter.populate(text=SIGNS)
    subsetter.subset(font)
    for record in font["name"].names:
        if record.nameID in {1, 4, 6}:
            record.string = NAME if record.nameID != 6 else NAME.replace(" ", "")
    font.flavor = "woff2"
    font.save(target)
    print(f"{target.name}: {target.stat().st_size:,} bytes")


if __name__ == "__main__":
    spec = find_spec("font_source_sans_pro")
    assert spec is not None, "font-source-sans-pro is not installed: see above"
    assert spec.origin is not None
    files = Path(spec.origin).parent / "files"
    FACE.mkdir(exist_ok=True)
    for style, name in STYLES.items():
        upright = style != "It"
        make(files / f"SourceSansPro-{style}.ttf", FACE / f"{name}.woff2", upright=upright)
    shutil.copy(files / "LICENSE.txt", FACE / "OFL.txt")
