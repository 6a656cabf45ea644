"""Write one purged style sheet for all languages, and delete unused files from ``_static``."""

import os
import re
import tomllib
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

from sphinx.application import Sphinx

from _extensions.html.fonts import FORMULA_FONT, find_signs, subset_font, subset_icons
from _extensions.html.style_sheet import find_names_in_page, find_names_in_script, purge
from _extensions.paths import ROOT, is_source_language

PALETTE = ROOT / "src" / "lookup_matmul" / "figures" / "palette.toml"
SHEET = "style.css"
FORMULA = re.compile(r"<math\b.*?</math>", re.DOTALL)
FORMULA_SHEET = "formulas.css"  # linked by pages with formulas only
LINK = re.compile(r'[ \t]*<link\b[^>]*?\bhref="([^"]*?_static/)([^"?]+\.css)[^"]*"[^>]*>\n?')
IMPORT = re.compile(r"""@import\s+(?:url\()?["']([^"')]+)["']\)?\s*;""")
NAMED = re.compile(r'"(?:\.\./)*_static/([\w./-]+)[?"]')
URL = re.compile(r"""url\(["']?(?!data:|#)([^"')?#]+)([^"')]*)["']?\)""")
PAGE_TEXTS = ("sections/", "search-sections.js", "search-later.js")  # scripts with pages' text
READABLE = {".css", ".js", ".json", ".svg", ".webmanifest"}  # suffixes of files that name others


def write_style_sheets(app: Sphinx, exception: Exception | None) -> None:
    """Write the style sheets, link the pages to them, and delete unused files.

    All languages share the sheets, and the files that their pages name, of the folder at the root.
    """
    if exception or app.builder.name != "html":
        return
    outdir = Path(app.outdir)
    static = outdir / "_static"
    is_below = not is_source_language(app.config) and (outdir.parent / "_static" / SHEET).exists()
    root = outdir.parent if is_below else outdir
    shared = root / "_static"
    paths = (path for path in sorted(root.rglob("*.html")) if static.name not in path.parts)
    pages = {path: path.read_text("utf-8") for path in paths}
    # Pages that this build did not write link to the last sheet, whose first line names its parts.
    last_sheet = (shared / SHEET).read_text("utf-8") if (shared / SHEET).exists() else ""
    names = last_sheet.partition("\n")[0].split()[1:-1]
    names += [name for page in pages.values() for _, name in LINK.findall(page)]
    names = [name for name in dict.fromkeys(names) if (static / name).exists()]
    names = [name for name in names if name not in (SHEET, FORMULA_SHEET)]
    files = {path for path in static.rglob("*") if path.is_file() and path.suffix != ".map"}
    files -= {static / name for name in (*names, SHEET, FORMULA_SHEET)}

    needed = find_referenced_files(files, pages.values())
    used = {name for page in pages.values() for name in find_names_in_page(page)}
    for path in needed:
        if path.suffix == ".js" and not path.relative_to(static).as_posix().startswith(PAGE_TEXTS):
            used |= find_names_in_script(path.read_text("utf-8"))
    colors = tomllib.loads(PALETTE.read_text("utf-8"))
    properties = ";".join(f"--figure-{name}:{color}" for name, color in colors.items())
    sheets = {PALETTE.name: f'html[data-theme="light"]{{{properties}}}'}
    for name in names:
        sheets |= read_sheet(static, static / name)
    signs = find_signs(math for page in pages.values() for math in FORMULA.findall(page))
    source = subset_font(FORMULA_FONT, signs)
    css = subset_icons(purge(sheets, used), static)
    sheet_texts = {
        # Embedded, so that formulas are drawn in no other font first.
        FORMULA_SHEET: f'@font-face{{font-family:"STIX Two Math";src:url({source})}}\n',
        SHEET: f"/* {' '.join(names)} */\n{css}\n",
    }
    needed |= find_referenced_files(files, sheet_texts.values())
    named = {name for page in pages.values() for name in NAMED.findall(page)} if is_below else set()
    # Scripts look for others in the folder of their language.
    scripts = {path.name: path.read_text("utf-8") for path in needed if path.suffix == ".js"}
    repeated = {name for name in named if not _is_loaded(Path(name).name, scripts)}
    repeated = {name for name in repeated if _is_same(static / name, shared / name)}
    delete_files(static, keep=needed - {static / name for name in repeated})
    for name, text in sheet_texts.items():
        partial = shared / f"{name}.partial"
        partial.write_text(text, "utf-8")
        partial.replace(shared / name)  # atomic, so a browser never loads half a file
    for path, page in pages.items():
        linked_page = link_sheets(page, sheet_texts)
        if is_below and path.is_relative_to(outdir):
            up = "../" * (len(path.relative_to(outdir).parents) - 1)
            linked_page = link_to_root(linked_page, up, repeated | sheet_texts.keys())
        if linked_page != page:
            path.write_text(linked_page, "utf-8")


def quiet_scripts(app: Sphinx, exception: Exception | None) -> None:
    """Have the theme's script write nothing to the console of a page without errors."""
    for path in Path(app.outdir, "_static", "scripts").glob("*.js") if not exception else ():
        path.write_text(path.read_text("utf-8").replace("console.log(", "void("), "utf-8")


def _is_loaded(name: str, scripts: dict[str, str]) -> bool:
    """Return whether a script composes the address of this file, which ends in its version."""
    others = (text for script, text in scripts.items() if script != name)
    return any(f"{name}?" in text for text in others)


def _is_same(path: Path, other: Path) -> bool:
    return path.is_file() and other.is_file() and path.read_bytes() == other.read_bytes()


def link_to_root(page: str, up: str, names: Iterable[str]) -> str:
    """Return a page that names these files in the folder above that of its language."""
    files = "|".join(map(re.escape, names))
    return re.sub(rf'"{up}(_static/(?:{files})[?"])', rf'"../{up}\1', page)


def read_sheet(static: Path, path: Path) -> dict[str, str]:
    """Return a style sheet after those that it imports, with URLs relative to ``static``."""

    def relative_url(url: re.Match[str]) -> str:
        target = Path(os.path.normpath(path.parent / url[1])).relative_to(static)
        return f"url({target.as_posix()}{url[2]})"

    css = path.read_text("utf-8")
    sheets: dict[str, str] = {}
    for name in IMPORT.findall(css):
        sheets |= read_sheet(static, path.parent / name)
    return sheets | {
        path.relative_to(static).as_posix(): URL.sub(relative_url, IMPORT.sub("", css))
    }


def find_referenced_files(files: set[Path], texts: Iterable[str]) -> set[Path]:
    """Return the files whose names are in the texts, and those that these files name in turn."""
    matches: set[Path] = set()
    while texts := list(texts):
        new = {path for path in files - matches if any(path.name in text for text in texts)}
        matches |= new
        texts = [path.read_text("utf-8") for path in new if path.suffix in READABLE]
    return matches


def delete_files(folder: Path, keep: set[Path]) -> None:
    """Delete all other files of a folder, and folders that become empty."""
    for path in sorted(folder.rglob("*"), reverse=True):
        if path.is_file() and path not in keep:
            path.unlink()
        elif path.is_dir() and not any(path.iterdir()):
            path.rmdir()


def link_sheets(page: str, sheets: dict[str, str]) -> str:
    """Return a page whose links to style sheets are replaced by links to the written ones."""
    first = LINK.search(page)
    if not first:
        return page
    # The font of formulas blocks the first paint, so that no formula is painted in another one.
    names = [SHEET, FORMULA_SHEET] if "<math" in page else [SHEET]
    links = ""
    for name in names:
        version = sha256(sheets[name].rpartition("*/")[2].encode()).hexdigest()[:8]
        links += f'    <link rel="stylesheet" href="{first[1]}{name}?v={version}" />\n'
    return page[: first.start()] + links + LINK.sub("", page[first.start() :])
