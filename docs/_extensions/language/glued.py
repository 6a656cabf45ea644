"""Lets translated sentences name the values of their page.

MyST-NB gives the values to the page's own text only, and not to a message that Sphinx parses apart.
Superfluous when its parser hands them on.
"""

from copy import deepcopy
from functools import cache
from types import SimpleNamespace
from typing import Any

from docutils import nodes
from myst_nb.ext.glue import extract_glue_data_cell
from myst_nb.sphinx_ import Parser
from sphinx.application import Sphinx

from _extensions.run.pages import page_of


class Translated(Parser):  # type: ignore[misc]  # MyST-NB has no types
    """The parser of pages, and of messages with the values of their page."""

    def parse(self, inputstring: str, document: nodes.document) -> None:
        """Parse a page, or a message of one."""
        if not str(document.current_source).endswith("<translated>"):
            super().parse(inputstring, document)
            return
        env = document.settings.env
        client = SimpleNamespace(glue_data=_values(env.app, env.current_document.docname))
        document["nb_renderer"] = SimpleNamespace(renderer=SimpleNamespace(nb_client=client))
        super().parse(inputstring, document)
        del document["nb_renderer"]


@cache
def _values(app: Sphinx, docname: str) -> dict[str, Any]:
    cells = deepcopy([c for c in page_of(app, docname).cells if c.cell_type == "code"])
    return dict(value for cell in cells for value in extract_glue_data_cell(cell))
