"""Writes the notebook that measures a reader's GPU, from the page that links to it."""

import base64
import io
import json
import tarfile
from pathlib import Path
from typing import Any

from myst_nb.core.read import read_myst_markdown_notebook
from myst_parser.config.main import MdParserConfig
from nbformat import v4 as nbformat_v4
from sphinx.application import Sphinx
from sphinx.util import logging

import lookup_matmul
from lookup_matmul.costs.machine import provenance

v4: Any = nbformat_v4  # its functions have no types
PAGE, NAME = "tutorials/on-a-gpu", "measure-your-gpu.ipynb"
MODULE = "lookup_matmul.costs"
TITLE = """# Measure a lookup and a one-hot product on your GPU

Choose a runtime with an NVIDIA GPU, then run all cells; it takes about {minutes:g} minutes.
The four predictions stand at the end, with what your GPU says of them.
"""
UNPACK = """# The package as of commit {commit}, nothing else is downloaded but four small helpers.
%pip install --quiet jsonschema psutil py-cpuinfo tqdm
import base64, io, sys, tarfile
package = "{package}"
tarfile.open(fileobj=io.BytesIO(base64.b64decode(package))).extractall(".", filter="data")
sys.path.insert(0, ".")
"""
MEASURE = "!{{sys.executable}} -m {module} --minutes {minutes:g} --out recordings --commit {commit}"
SAY = """from pathlib import Path

recordings = costs.read_recordings(Path("recordings"))  # refuses what is not sound
for name, recording in recordings.items():
    display(Markdown(f"`recordings/{name}.json`: {costs.describe(recording)}"))
Markdown(verdicts(recordings))
"""
GIVE = """To contribute the recording, download the file named above, put it into
`src/lookup_matmul/recorded/` of the project, and propose it.
Do not change a number in it: whoever reads the site relies on them all.
"""


def notebook(page: str, commit: str, minutes: float = 2) -> dict[str, Any]:
    """Make the notebook from the cells of a page that are tagged for it."""
    read = read_myst_markdown_notebook(
        page, MdParserConfig(), code_directive="{code-cell}", raw_directive="{raw-cell}"
    )
    told = [cell.source for cell in read.cells if "notebook" in cell.metadata.get("tags", [])]
    if not told:
        raise ValueError(f"{PAGE} has no cell with the tag 'notebook', expected the predictions.")
    cells = [
        v4.new_markdown_cell(TITLE.format(minutes=minutes)),
        v4.new_code_cell(UNPACK.format(commit=commit, package=packed())),
        v4.new_code_cell(MEASURE.format(module=MODULE, commit=commit, minutes=minutes)),
        *map(v4.new_code_cell, [*told, SAY]),
        v4.new_markdown_cell(GIVE),
    ]
    for k, cell in enumerate(cells):
        cell["id"] = f"cell-{k}"  # else drawn at random, and every build would differ
    made: dict[str, Any] = v4.new_notebook(
        cells=cells, metadata={"kernelspec": read.metadata["kernelspec"]}
    )
    return made


def packed() -> str:
    """Pack what measuring needs of the package, the same bytes for the same source."""
    folder, made = Path(lookup_matmul.__file__).parent, io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:xz") as archive:
        for path in sorted([*folder.rglob("*.py"), *folder.rglob("*.toml")]):
            if "figures" not in path.parts:
                content = path.read_bytes()
                entry = tarfile.TarInfo(f"lookup_matmul/{path.relative_to(folder).as_posix()}")
                entry.size = len(content)
                archive.addfile(entry, io.BytesIO(content))
    return base64.b64encode(made.getvalue()).decode()


def write(app: Sphinx, exception: Exception | None) -> None:
    """Lay the notebook beside the page that links to it."""
    if exception or app.builder.name != "html" or PAGE not in app.env.found_docs:
        return
    try:
        commit = provenance("cpu", f"python -m {MODULE}")["commit"]
    except ValueError:
        commit = "COMMIT"  # a build outside of a clone cannot know it
        logging.getLogger(__name__).info("The notebook asks for the commit: there is no clone.")
    page = Path(app.env.doc2path(PAGE)).read_text("utf-8")
    target = Path(app.outdir, PAGE).with_name(NAME)
    target.write_text(json.dumps(notebook(page, commit), indent=1) + "\n", "utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to the end of a build."""
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
