"""Run the symptom pages with the torch that is installed, and record what its errors say.

``nox -s wordings`` does it with the lowest supported and the pinned torch, ``-- 2.15.0`` with that.
Each version writes a file of its own, ``docs/wordings/torch-2.15.0.json``, which the pages show.
It needs nothing but torch and SciPy, so that it runs wherever they can be installed.
"""

import json
import platform
import re
import sys
import warnings
from contextlib import redirect_stdout
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from typing import Any

import scipy
import torch

DOCS = Path(__file__).parents[1]
CELL = re.compile(r"^```\{code-cell\}.*\n((?:^:.*\n)*)((?:^(?!```).*\n)*)^```$", re.MULTILINE)
ENTERED = re.compile(r"\n(Exception raised from|While executing|from user code)\b.*", re.DOTALL)

LONGEST = 700


def cells(page: Path) -> list[tuple[str, str]]:
    """Give the options and the code of each cell of a page."""
    found = CELL.findall(page.read_text("utf-8"))
    return [(options, code.rstrip("\n")) for options, code in found]


def is_reproduction(options: str) -> bool:
    """Tell whether a cell is there for the words of its error."""
    return bool(re.search(r"^:tags:.*\b(whole|recorded)\b", options, re.MULTILINE))


def run(page: Path) -> tuple[dict[str, str], dict[str, str]]:
    """Run all cells of a page; give what each reproduction said, and what failed besides."""
    said, failed = {}, {}
    space: dict[str, Any] = {"__name__": "__main__"}
    for options, code in cells(page):
        found = "no error"
        try:
            with redirect_stdout(StringIO()):
                exec(compile(code, page.name, "exec"), space)
        except Exception as error:
            found = _without_paths(f"{type(error).__name__}: {error}")
        if is_reproduction(options):
            said[code] = found
        elif found != "no error" and "raises-exception" not in options:
            failed[code] = found
    return said, failed


def _without_paths(text: str) -> str:
    """Leave out folders and made-up names, where in C++ it happened, and the end of a long text."""
    text = re.sub(r"(?<![\w.:/])/(?:[^\s/]+/)+", "…/", ENTERED.sub("", text))
    text = re.sub(r"\b\w{40,}\b", "…", text)  # a generated program is named for its digest
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def main() -> int:
    """Write the file of this version of torch."""
    warnings.simplefilter("ignore")
    said: dict[str, str] = {}
    failed: dict[str, str] = {}
    for page in sorted((DOCS / "symptoms").glob("*.md")):
        for kept, found in zip((said, failed), run(page), strict=True):
            kept.update(found)
    made = {
        "made": f"{datetime.now(UTC):%Y-%m-%d}",
        "torch": torch.__version__,
        "python": platform.python_version(),
        "scipy": scipy.__version__,
        "system": f"{platform.system()} {platform.machine()}",
        "said": said,
        "failed": failed,
    }
    path = DOCS / "wordings" / f"torch-{torch.__version__.partition('+')[0]}.json"
    path.write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n", "utf-8")
    print(f"{len(said)} errors recorded in {path.name}")
    for code, error in failed.items():
        print(f"failed with torch {torch.__version__}: {error}\n{code}\n")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
