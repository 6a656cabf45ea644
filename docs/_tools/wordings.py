"""Run the symptom pages with the installed torch and record its error messages.

Each version has a file like ``docs/wordings/torch-2.15.0.json``, which the pages show. The cells
run in this process, with whichever torch and SciPy are installed.
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
from nbformat import NotebookNode

sys.path.append(str(Path(__file__).parents[1]))
from _extensions.page_record import read_page
from _extensions.recorded_errors import NO_ERROR

DOCS = Path(__file__).parents[1]
ORIGIN = re.compile(r"\n(Exception raised from|While executing|from user code)\b.*", re.DOTALL)
FOLDERS = re.compile(r"(?<![\w.:/])/(?:[^\s/]+/)+")
DIGEST = re.compile(r"\b\w{40,}\b")  # the name of a generated program
MAX_CHARACTERS = 700


def read_code_cells(path: Path) -> list[NotebookNode]:
    """Return the cells of a page with code."""
    return [cell for cell in read_page(path, path.stem).cells if cell.cell_type == "code"]


def is_reproduction(cell: NotebookNode) -> bool:
    """Return whether a cell reproduces an error whose message is recorded."""
    return not {"whole", "recorded"}.isdisjoint(cell.metadata.get("tags", []))


def run_page(page: Path) -> tuple[dict[str, str], dict[str, str]]:
    """Run a page; return the errors of its reproductions and its unexpected errors, by code."""
    errors = {}
    unexpected = {}
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for cell in read_code_cells(page):
        code = cell.source
        message = NO_ERROR
        try:
            with redirect_stdout(StringIO()):
                exec(compile(code, page.name, "exec"), namespace)
        except Exception as error:
            message = shorten(f"{type(error).__name__}: {error}")
        if is_reproduction(cell):
            errors[code] = message
        elif message != NO_ERROR and "raises-exception" not in cell.metadata.get("tags", []):
            unexpected[code] = message
    return errors, unexpected


def shorten(message: str) -> str:
    """Remove folders, digests and C++ locations from a message, and truncate it if it is long."""
    text = DIGEST.sub("…", FOLDERS.sub("…/", ORIGIN.sub("", message)))
    return text if len(text) <= MAX_CHARACTERS else f"{text[:MAX_CHARACTERS]}…"


def main() -> int:
    """Write the recording of the installed torch, and return 1 if a cell failed unexpectedly."""
    warnings.simplefilter("ignore")
    results = [run_page(page) for page in sorted((DOCS / "symptoms").glob("*.md"))]
    errors = {code: message for page_errors, _ in results for code, message in page_errors.items()}
    failed = {code: message for _, unexpected in results for code, message in unexpected.items()}
    recording = {
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "torch": torch.__version__,
        "python": platform.python_version(),
        "scipy": scipy.__version__,
        "system": f"{platform.system()} {platform.machine()}",
        "messages": errors,
        "failed": failed,
    }
    path = DOCS / "wordings" / f"torch-{torch.__version__.partition('+')[0]}.json"
    path.write_text(json.dumps(recording, indent=1, ensure_ascii=False) + "\n", "utf-8")
    print(f"Recorded {len(errors)} errors in {path.name}.")
    for code, message in failed.items():
        print(f"This cell failed with torch {torch.__version__}: {message}\n{code}\n")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
