"""Importing a drawing loads only the modules that it needs."""

import subprocess
import sys
from pathlib import Path

import lookup_matmul

CODE = """
import sys
from lookup_matmul import figures
assert not [name for name in sys.modules if name.startswith("lookup_matmul.figures.")]
from lookup_matmul.figures import draw_lookup
print(*sorted(sys.modules))
"""


def test_a_table_needs_neither_plots_nor_pages():
    """Page builds depend on the modules that a page loads."""
    folder = Path(lookup_matmul.__file__).parents[1]
    command = [sys.executable, "-c", CODE]
    output = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout
    modules = set(output.split())
    package = "lookup_matmul.figures."
    assert {name.removeprefix(package) for name in modules if name.startswith(package)} == {
        "sheet", "tables"
    }  # fmt: skip
    assert not modules & {"matplotlib", "scipy"}
