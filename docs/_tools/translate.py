"""Update the catalogs of the second language from the pages; needs sphinx-intl.

Name pages to start their translation: ``python docs/_tools/translate.py tutorials/NAME``.
"""

import shutil
import subprocess
import sys
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po, write_po

sys.path.append(str(Path(__file__).parents[1]))
from _extensions.claims.cells import HOLDS, KINDS
from _extensions.claims.ledger import FOOT
from _extensions.explorer.texts import SWITCHES, TITLES, WHY

ROOT = Path(__file__).parents[2]
TEMPLATES, LANGUAGE = ROOT / "build" / "gettext", "zh_CN"
CATALOGS = ROOT / "docs" / "locale" / LANGUAGE / "LC_MESSAGES"
EXTRACTORS = [("**.py", "python"), ("**.js", "javascript"), ("**.html", "jinja2.ext:babel_extract")]


def main(*names: str) -> None:
    """Extract the messages of the translated pages and of the site's code into the catalogs."""
    catalogs = [path.relative_to(CATALOGS).with_suffix("") for path in CATALOGS.rglob("*.po")]
    pages = sorted({*names, *map(Path.as_posix, catalogs)} - {"sphinx"})
    shutil.rmtree(TEMPLATES, ignore_errors=True)
    files = [f"docs/{page}.md" for page in pages]
    build = ["sphinx-build", "--quiet", "-d", "build/doctrees-gettext", "-b", "gettext", "docs"]
    subprocess.run([*build, str(TEMPLATES), *files], cwd=ROOT, check=True)
    add_code_messages(TEMPLATES / "sphinx.pot")
    for template in TEMPLATES.rglob("*.pot"):
        if template.relative_to(TEMPLATES).with_suffix("").as_posix() not in [*pages, "sphinx"]:
            template.unlink()
    update = "sphinx-intl update -p build/gettext -d docs/locale -w 0 --no-obsolete -l"
    subprocess.run([*update.split(), LANGUAGE], cwd=ROOT, check=True)


def add_code_messages(template: Path) -> None:
    """Add the messages of scripts, HTML templates and extensions to a template."""
    catalog = read_po(template.open("rb")) if template.exists() else Catalog()
    for folder in ("_extensions", "_static", "_templates"):
        extracted = extract_from_dir(ROOT / "docs" / folder, EXTRACTORS, keywords={"_": None})
        for file, line, text, *_ in extracted:
            catalog.add(str(text), locations=[(f"docs/{folder}/{file}", line)])
    constants = [HOLDS, *KINDS.values(), *FOOT.values(), "lookup", "product"]
    constants += [title for titles in TITLES.values() for title in titles]
    constants += [text for reason, link, _ in WHY.values() for text in (reason, link)]
    constants += [text for legend, names in SWITCHES.values() for text in (legend, *names.values())]
    for message in constants:
        catalog.add(message)
    with template.open("wb") as opened:
        write_po(opened, catalog, width=0)


if __name__ == "__main__":
    main(*sys.argv[1:])
