"""Fold the cells of each page, warn of their faults, and count checks and cited sentences."""

import re
from importlib.metadata import version as installed
from pathlib import Path
from typing import NamedTuple

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.locale import _
from sphinx.util import logging
from sphinx.util.nodes import get_node_line

from _extensions.claims.checks import (
    WITH_RECORDING,
    check_cell,
    find_recorded,
    find_stderr_fault,
    has_failed,
)
from _extensions.claims.folds import fold_cell
from _extensions.recorded_errors import read_wordings
from _extensions.run.pages import get_page

LOG = logging.getLogger(__name__)
CODE = "cell_code"  # the nb_element of a cell
IMAGE_WITHOUT_TEXT = re.compile(r"""<img\b(?![^>]*\salt=(?:"[^"]+"|'[^']+'))[^>]*>""")
MINUS = re.compile(r"(?<!\w)-(?=\.?\d)|(?<=\de)-(?=\d)")  # of a number or its exponent


class Claims(NamedTuple):
    """The kind of each check of one page, and the number of sentences that only cite a source."""

    kinds: list[str]
    cited: int


def get_claims(env: BuildEnvironment) -> dict[str, Claims]:
    """Return the claims of each page that was read."""
    return {page: facts["claims"] for page, facts in env.metadata.items() if "claims" in facts}


def record_claims(app: Sphinx, doctree: nodes.document) -> None:
    """Fold the cells of one page, warn of their faults, and count checks and cited sentences."""
    docname = app.env.current_document.docname
    page = get_page(app, docname)
    all_kinds = list[str]()
    cited = 0
    wordings = read_wordings(Path(app.srcdir), installed("torch"))
    cells = (n for n in doctree.findall(nodes.container) if n.get("nb_element") == CODE)
    containers = {cell["cell_index"]: cell for cell in cells}
    code = [cell.source if cell.cell_type == "code" else "" for cell in page.cells]
    compares_recording = find_recorded(code)
    end = next((k for k, cell in enumerate(page.cells) if has_failed(cell)), len(page.cells))
    # Cells below a failed one were not executed.
    for index, cell in enumerate(page.cells[: end + 1]):
        if cell.cell_type != "code":
            continue
        kinds, fault = check_cell(cell, wordings)
        for message in filter(None, (find_stderr_fault(cell), fault)):
            # A removed cell is in no node, and is named by its line in the source.
            LOG.warning(message, location=containers.get(index, (docname, page.lines[index] + 1)))
        if fault or index == end:  # it stays open, and neither counts nor gets a tick
            continue
        all_kinds += kinds
        if index in containers:
            labels = [*kinds, WITH_RECORDING] if compares_recording[index] else kinds
            fold_cell(containers[index], cell, labels)
    for image in filter(_is_image_without_text, doctree.findall(nodes.Element)):
        name = image.get("uri") or image.astext()
        message = f"an image has no alternative text: {name:.80}; describe it in `alt`"
        LOG.warning(message, location=(docname, get_node_line(image)))
    for sentence in list(doctree.findall(nodes.inline)):
        if "pasted-text" in sentence["classes"]:  # a glued number, with the minus sign of prose
            sentence[:] = [nodes.Text(MINUS.sub("−", sentence.astext()))]
        if "cited" in sentence["classes"]:
            cited += 1
            sentence.append(nodes.inline("", _("cited"), classes=["cited-mark"]))
    app.env.metadata[docname]["claims"] = Claims(all_kinds, cited)


def _is_image_without_text(node: nodes.Node) -> bool:
    """Return whether a node is an image, or contains one in HTML, for readers who see only."""
    if isinstance(node, nodes.image):
        return not node.get("alt")
    return isinstance(node, nodes.raw) and bool(IMAGE_WITHOUT_TEXT.search(node.astext()))
