"""Leaves in the built site one style sheet, and in ``_static`` no file that nothing names."""

import posixpath
import re
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

from icons import with_icons
from sphinx.application import Sphinx
from style_sheet import Used, purge

SHEET = "style.css"
LINK = re.compile(r'[ \t]*<link\b[^>]*?\bhref="([^"]*?_static/)([^"?]+\.css)[^"]*"[^>]*>\n?')
IMPORT = re.compile(r"""@import\s+(?:url\()?["']([^"')]+)["']\)?\s*;""")
URL = re.compile(r"""url\(["']?(?!data:|#)([^"')?#]+)([^"')]*)["']?\)""")
READ = {".css", ".js", ".json", ".svg", ".webmanifest"}  # files that may name others


def finish(app: Sphinx, exception: Exception | None) -> None:
    """Write the style sheet, let the pages link to it, and delete what nothing names."""
    if exception or app.builder.name != "html":
        return
    static = Path(app.outdir, "_static")
    paths = [path for path in Path(app.outdir).rglob("*.html") if static not in path.parents]
    pages = {path: path.read_text("utf-8") for path in sorted(paths)}
    # A page that this build did not write again links to what was made of its style sheets.
    before = _first_line(static / SHEET)[3:-3].split()
    linked = [name for page in pages.values() for _, name in LINK.findall(page)]
    names = [name for name in dict.fromkeys([*before, *linked]) if name != SHEET]
    sheets = [static / name for name in names if (static / name).exists()]
    others = {path for path in static.rglob("*") if path.is_file() and path.suffix != ".map"}
    others -= {*sheets, static / SHEET}

    used = Used()
    for page in pages.values():
        used.read_page(page)
    kept = named(others, pages.values())
    for path in kept:
        if path.suffix == ".js":
            used.read_script(path.read_text("utf-8"))
    css = purge("\n".join(read(static, name) for name in names if static / name in sheets), used)
    css = f"/* {' '.join(names)} */\n{with_icons(css, static)}\n"
    kept |= named(others, [css])
    for path in static.rglob("*"):
        if path.is_file() and path not in kept:
            path.unlink()
    for path in sorted(static.rglob("*"), reverse=True):
        if path.is_dir() and not any(path.iterdir()):
            path.rmdir()
    (static / SHEET).write_text(css, "utf-8")
    for path, page in pages.items():
        if (changed := link(page, sha256(css.encode()).hexdigest()[:8])) != page:
            path.write_text(changed, "utf-8")


def read(static: Path, name: str) -> str:
    """Give the text of a style sheet with those that it imports, its addresses from the folder."""
    folder = posixpath.dirname(name)

    def moved(found: re.Match[str]) -> str:
        return f"url({posixpath.normpath(posixpath.join(folder, found[1]))}{found[2]})"

    parts = IMPORT.split((static / name).read_text("utf-8"))
    nested = [read(static, posixpath.normpath(posixpath.join(folder, n))) for n in parts[1::2]]
    return "\n".join([*nested, *(URL.sub(moved, text) for text in parts[::2])])


def named(files: set[Path], texts: Iterable[str]) -> set[Path]:
    """Give the files whose names stand in the texts, and those that they name in turn."""
    found: set[Path] = set()
    while texts := list(texts):
        new = {path for path in files - found if any(path.name in text for text in texts)}
        found |= new
        texts = [path.read_text("utf-8") for path in new if path.suffix in READ]
    return found


def link(page: str, version: str) -> str:
    """Replace the page's style sheets by the one, where the first of them stands."""
    first = LINK.search(page)
    if not first:
        return page
    one = f'    <link rel="stylesheet" href="{first[1]}{SHEET}?v={version}" />\n'
    return page[: first.start()] + one + LINK.sub("", page[first.start() :])


def _first_line(path: Path) -> str:
    return path.read_text("utf-8").partition("\n")[0] if path.exists() else ""


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to the end of a build, after all who write files."""
    app.connect("build-finished", finish, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
