"""Leaves in the built site one style sheet, and in ``_static`` no file that nothing names."""

import os
import re
import runpy
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

from sphinx.application import Sphinx

from _extensions.html.fonts import FORMULAS, for_formulas, signs, with_icons
from _extensions.html.style_sheet import names_in, purge, words_in
from _extensions.paths import ROOT, SECOND_LANGUAGE

PALETTE = ROOT / "src" / "lookup_matmul" / "figures" / "palette.py"
SHEET = "style.css"
FORMULA = re.compile(r"<math\b.*?</math>", re.DOTALL)
FONT_SHEET = "formulas.css"  # linked by the pages with formulas only
LINK = re.compile(r'[ \t]*<link\b[^>]*?\bhref="([^"]*?_static/)([^"?]+\.css)[^"]*"[^>]*>\n?')
IMPORT = re.compile(r"""@import\s+(?:url\()?["']([^"')]+)["']\)?\s*;""")
URL = re.compile(r"""url\(["']?(?!data:|#)([^"')?#]+)([^"')]*)["']?\)""")
TEXTS = ("sections/", "search-sections.js")  # scripts that hold the pages' words
# What style sheets are made with, besides what the build has: fonts, libraries and this code.
FACTS = [FORMULAS, ROOT / "constraints.txt", *sorted(Path(__file__).parent.glob("*.py"))]
READ = {".css", ".js", ".json", ".svg", ".webmanifest"}  # files that may name others


def write_style_sheets(app: Sphinx, exception: Exception | None) -> None:
    """Write the style sheets, let the pages link to them, and delete what nothing names."""
    if exception or app.builder.name != "html":
        return
    static = Path(app.outdir, "_static")
    apart = {
        static,
        Path(app.outdir, SECOND_LANGUAGE),
    }
    paths = [path for path in Path(app.outdir).rglob("*.html") if apart.isdisjoint(path.parents)]
    pages = {path: path.read_text("utf-8") for path in sorted(paths)}
    there = [path for path in (static / SHEET, static / FONT_SHEET) if path.exists()]
    made = {path.name: path.read_text("utf-8") for path in there}
    # A page that this build did not write again links to what was made of its style sheets.
    before, stamp = head_of(made.get(SHEET, ""))
    linked = [name for page in pages.values() for _, name in LINK.findall(page)]
    names = [name for name in dict.fromkeys([*before, *linked]) if (static / name).exists()]
    sheets = [static / name for name in names if name not in (SHEET, FONT_SHEET)]
    others = {path for path in static.rglob("*") if path.is_file() and path.suffix != ".map"}
    others -= {*sheets, static / SHEET, static / FONT_SHEET}

    kept = named(others, pages.values())
    used = {name for page in pages.values() for name in names_in(page)}
    for script in kept:
        if script.suffix == ".js" and not script.relative_to(static).as_posix().startswith(TEXTS):
            used |= words_in(script.read_text("utf-8"))
    whole = "\n".join([palette(), *(read(static, path) for path in sheets)])
    drawn = signs(formula for page in pages.values() for formula in FORMULA.findall(page))
    facts = [whole, *sorted(used), *map(chr, sorted(drawn))]
    data = [*(path.read_bytes() for path in FACTS), "\0".join(facts).encode()]
    now = sha256(b"".join(data)).hexdigest()
    if len(made) < 2 or stamp != now:  # to make them takes seconds
        names = [path.relative_to(static).as_posix() for path in sheets]
        css = with_icons(purge(whole, used), static)
        # The one with the stamp last: after a kill between them both are made again.
        made = {FONT_SHEET: for_formulas(drawn), SHEET: headed(names, now, css)}
    delete(static, but=kept | named(others, made.values()))
    for name, text in made.items():
        partial = static / f"{name}.partial"
        partial.write_text(text, "utf-8")
        partial.replace(static / name)  # nobody meets half of one
    for path, page in pages.items():
        if (changed := link(page, made)) != page:
            path.write_text(changed, "utf-8")


def headed(names: list[str], stamp: str, css: str) -> str:
    """Begin a style sheet with a line that says of which ones, and of what else, it was made."""
    return f"/* {' '.join([*names, stamp])} */\n{css}\n"


def head_of(sheet: str) -> tuple[list[str], str]:
    """Return the names and the stamp of that line, none of a sheet without it."""
    *names, stamp = sheet.partition("\n")[0][3:-3].split() or [""]
    return names, stamp


def palette() -> str:
    """Return the colors of the figures, as they are drawn, for all else that has them."""
    colors = runpy.run_path(str(PALETTE))["COLORS"]  # alone: the package around it loads torch
    return f'html[data-theme="light"]{{{";".join(map(":".join, colors.items()))}}}'


def read(static: Path, path: Path) -> str:
    """Give the text of a style sheet with those that it imports, its addresses from the folder."""

    def moved(found: re.Match[str]) -> str:
        target = Path(os.path.normpath(path.parent / found[1])).relative_to(static)
        return f"url({target.as_posix()}{found[2]})"

    text, *imports = IMPORT.split(path.read_text("utf-8"))
    nested = [read(static, path.parent / name) for name in imports[::2]]
    return "\n".join([*nested, *(URL.sub(moved, part) for part in (text, *imports[1::2]))])


def named(files: set[Path], texts: Iterable[str]) -> set[Path]:
    """Give the files whose names stand in the texts, and those that they name in turn."""
    found: set[Path] = set()
    while texts := list(texts):
        new = {path for path in files - found if any(path.name in text for text in texts)}
        found |= new
        texts = [path.read_text("utf-8") for path in new if path.suffix in READ]
    return found


def delete(static: Path, but: set[Path]) -> None:
    """Delete all other files, and folders without any."""
    for path in sorted(static.rglob("*"), reverse=True):
        if path.is_file() and path not in but:
            path.unlink()
        elif path.is_dir() and not any(path.iterdir()):
            path.rmdir()


def link(page: str, made: dict[str, str]) -> str:
    """Replace the page's style sheets by those made of them, where the first of them stands."""
    first = LINK.search(page)
    if not first:
        return page
    links = ""
    for name in (SHEET, FONT_SHEET):
        if name == SHEET or "<math" in page:
            rules = made[name].rpartition("*/")[2]  # of what it was made is no matter to a browser
            address = f"{first[1]}{name}?v={sha256(rules.encode()).hexdigest()[:8]}"
            links += f'    <link rel="stylesheet" href="{address}" />\n'
    return page[: first.start()] + links + LINK.sub("", page[first.start() :])
