"""Record what other libraries do with a table, each in an environment of its own.

A script ``docs/_tools/crossings/NAME.py`` states its pinned requirements in its head, as PEP 723
has it, and leaves what it measured in a dict ``results``. The record has the results, the versions,
the date and the machine; what differs from the last record is printed.
"""

import json
import os
import re
import runpy
import subprocess
import sys
import tomllib
import venv
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
SCRIPTS = Path(__file__).parent / "crossings"
RECORDS = ROOT / "src/lookup_matmul/recorded/crossings"


def read_requirements(script: str) -> list[str]:
    """Return the requirements that the head of a script pins."""
    (head,) = re.findall(r"^# /// script\n(.*?)^# ///$", script, re.DOTALL | re.MULTILINE)
    requirements: list[str] = tomllib.loads(re.sub("^# ?", "", head, flags=re.M))["dependencies"]
    if loose := [text for text in requirements if "==" not in text]:
        raise SystemExit(f"The script requires {', '.join(loose)}, expected a version after `==`.")
    return requirements


def run_script(name: str) -> dict[str, Any]:
    """Return the record of a script, which runs here."""
    from lookup_matmul.costs import processor

    path = SCRIPTS / f"{name}.py"
    requirements = read_requirements(path.read_text("utf-8"))
    names = [re.split(r"[\[=]", text)[0] for text in requirements]
    results = runpy.run_path(str(path))["results"]
    return {
        "source": str(path.relative_to(ROOT)),
        "date": datetime.now(UTC).date().isoformat(),
        "machine": processor(),
        "versions": {"python": sys.version.split()[0]} | {name: version(name) for name in names},
        "results": results,
    }


def find_changes(before: Any, after: Any, path: str = "") -> Iterator[str]:
    """Yield a line for each value that differs between two records."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in {**before, **after}:
            yield from find_changes(before.get(key), after.get(key), f"{path}/{key}")
    elif before != after:
        yield f"{path}: {json.dumps(before)} became {json.dumps(after)}"


def install(name: str) -> Path:
    """Return the Python of a new environment with the requirements of a script."""
    requirements = read_requirements((SCRIPTS / f"{name}.py").read_text("utf-8"))
    folder = ROOT / ".nox" / f"crossing-{name}"
    venv.create(folder, clear=True, with_pip=True, symlinks=os.name != "nt")
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    subprocess.run([python, "-m", "pip", "install", "-q", "-e", ROOT, *requirements], check=True)
    return python


def main() -> None:
    """Record the scripts that are named, or all; ``--here NAME`` runs one in this environment."""
    if sys.argv[1:2] == ["--here"]:
        path = RECORDS / f"{sys.argv[2]}.json"
        before = json.loads(path.read_text("utf-8")) if path.exists() else {}
        after = json.loads(json.dumps(run_script(sys.argv[2])))  # tuples become lists
        path.write_text(json.dumps(after, indent=1, ensure_ascii=False) + "\n", "utf-8")
        changes = [*find_changes(before, after)] or ["unchanged"]
        print(f"{path.relative_to(ROOT)}:", *changes, sep="\n  ")
    else:
        for name in sys.argv[1:] or sorted(path.stem for path in SCRIPTS.glob("*.py")):
            subprocess.run([install(name), __file__, "--here", name], check=True)


if __name__ == "__main__":
    main()
