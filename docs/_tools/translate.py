"""Bring the catalogs of the second language up to date with the pages; needs sphinx-intl.

Name pages to begin their translation: ``python docs/_tools/translate.py tutorials/NAME``.
"""

import shutil
import subprocess
import sys
from itertools import chain
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po, write_po

sys.path.append(str(Path(__file__).parents[1]))
from _extensions.claims.cells import HOLDS, KINDS
from _extensions.claims.ledger import FOOT
from _extensions.explorer.texts import SWITCHES, TITLES, WHY

ROOT = Path(__file__).parent.parent.parent
MADE, LANGUAGE = ROOT / "build" / "gettext", "zh_CN"
CATALOGS = ROOT / "docs" / "locale" / LANGUAGE / "LC_MESSAGES"
CODE = [("**.py", "python"), ("**.js", "javascript"), ("**.html", "jinja2.ext:babel_extract")]


def main(*names: str) -> None:
    """Collect the messages of the translated pages and of the frame, and merge them."""
    there = [path.relative_to(CATALOGS).with_suffix("") for path in CATALOGS.rglob("*.po")]
    pages = sorted({*names, *map(Path.as_posix, there)} - {"sphinx"})
    shutil.rmtree(MADE, ignore_errors=True)
    files = [f"docs/{page}.md" for page in pages]
    build = ["sphinx-build", "--quiet", "-d", "build/doctrees-gettext", "-b", "gettext", "docs"]
    subprocess.run([*build, str(MADE), *files], cwd=ROOT, check=True)
    add_frame(MADE / "sphinx.pot")
    for template in MADE.rglob("*.pot"):
        if template.relative_to(MADE).with_suffix("").as_posix() not in [*pages, "sphinx"]:
            template.unlink()
    update = "sphinx-intl update -p build/gettext -d docs/locale -w 0 --no-obsolete -l"
    subprocess.run([*update.split(), LANGUAGE], cwd=ROOT, check=True)


def add_frame(template: Path) -> None:
    """Add to the messages of the templates those of scripts and of the code that writes pages."""
    catalog = read_po(template.open("rb")) if template.exists() else Catalog()
    for folder in ("_extensions", "_static", "_templates"):
        found = extract_from_dir(ROOT / "docs" / folder, CODE, keywords={"_": None})
        for file, line, said, *_ in found:
            catalog.add(said, locations=[(f"docs/{folder}/{file}", line)])
    pairs = [[said, link] for said, link, _ in WHY.values()]
    chosen = [[legend, *choices.values()] for legend, choices in SWITCHES.values()]
    for said in chain(
        [HOLDS, *KINDS.values(), *FOOT.values(), "lookup", "product"],
        *pairs,
        *chosen,
        *TITLES.values(),
    ):
        catalog.add(said)
    with template.open("wb") as written:
        write_po(written, catalog, width=0)


if __name__ == "__main__":
    main(*sys.argv[1:])
