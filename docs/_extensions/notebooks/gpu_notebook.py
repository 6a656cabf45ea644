"""The notebook that measures a reader's GPU: it begins as all do, and ends with its page's rule."""

import subprocess
from contextlib import suppress
from pathlib import Path

from sphinx.application import Sphinx

from _extensions.notebooks.first_cells import first_cells
from _extensions.notebooks.notebooks import v4, write_notebook
from _extensions.notebooks.wheel import wheel_address as address
from _extensions.run.pages import page_of

PAGE = "tutorials/is-the-product-ever-faster"
NAME = "measure-your-gpu"  # the page links to the notebook
# Of the sources in 40 digits, with a word where they were changed since.
COMMIT = ["git", "describe", "--always", "--exclude=*", "--abbrev=40", "--dirty=-changed"]
TITLE = """# Measure a lookup and a one-hot product on your GPU

Choose a runtime with an NVIDIA GPU, then run all cells; it takes about two minutes.
The three predictions stand at the end, with what your GPU says of them."""
LOOK = """import torch

if not torch.cuda.is_available():
    raise RuntimeError(
        "torch finds no NVIDIA GPU here, so nothing is measured. In a hosted notebook choose a "
        "runtime with a GPU; elsewhere install a CUDA build of torch. Then run all cells again."
    )"""
MEASURE = """import sys

!{{sys.executable}} -m lookup_matmul.costs --minutes 2 --out recordings --commit {commit}"""
SAY = """from pathlib import Path

recordings = costs.read_recordings(Path("recordings"))  # refuses what is not sound
for name, recording in recordings.items():
    display(Markdown(f"`recordings/{name}.json`: {costs.describe(recording)}"))
Markdown(verdicts(recordings))"""
GIVE = """To contribute the recording, download the file named above, put it into
`src/lookup_matmul/recorded/` of the project, and propose it.
Do not change a number in it: whoever reads the site relies on them all."""


def write_gpu_notebook(app: Sphinx, exception: Exception | None) -> None:
    """Lay the notebook beside its page."""
    if exception or app.builder.name != "html" or PAGE not in app.env.found_docs:
        return
    cells = (cell for cell in page_of(app, PAGE).cells if cell.cell_type == "code")
    rule = [cell.source for cell in cells if "notebook" in cell.metadata.get("tags", [])]
    if not rule:
        raise ValueError(f"{PAGE} has no cell with the tag 'notebook', expected the predictions.")
    code = [LOOK, MEASURE.format(commit=_commit(app)), *rule, SAY]
    made = [
        v4.new_markdown_cell(TITLE),
        *first_cells(code, address(app)),
        *map(v4.new_code_cell, code),
        v4.new_markdown_cell(GIVE),
    ]
    write_notebook(Path(app.outdir, PAGE).with_name(f"{NAME}.ipynb"), made)


def _commit(app: Sphinx) -> str:
    """Return the commit of this clone, or the word for it where there is no clone or no git."""
    said = ""
    with suppress(OSError):
        asked = subprocess.run(COMMIT, cwd=app.srcdir, capture_output=True, text=True, check=False)
        said = asked.stdout.strip()
    return said or "COMMIT"
