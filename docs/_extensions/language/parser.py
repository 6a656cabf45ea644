"""Parse translated messages that contain glued values.

MyST-NB resolves ``{glue:text}`` in a page's own text only, while Sphinx parses each translated
message as a document of its own. Remove this when MyST-NB passes the values on.
"""

from copy import deepcopy
from functools import cache
from types import SimpleNamespace
from typing import Any

from docutils import nodes
from myst_nb.ext.glue import extract_glue_data_cell
from myst_nb.sphinx_ import Parser
from sphinx.application import Sphinx

from _extensions.run.pages import get_page


class GlueAwareParser(Parser):  # type: ignore[misc]  # MyST-NB has no types
    """MyST-NB's parser, which also resolves glued values in translated messages."""

    def parse(self, inputstring: str, document: nodes.document) -> None:
        """Parse a page or one of its messages."""
        if not str(document.current_source).endswith("<translated>"):
            super().parse(inputstring, document)
            return
        env = document.settings.env
        client = SimpleNamespace(glue_data=_glue_data(env.app, env.current_document.docname))
        document["nb_renderer"] = SimpleNamespace(renderer=SimpleNamespace(nb_client=client))
        super().parse(inputstring, document)
        del document["nb_renderer"]


@cache
def _glue_data(app: Sphinx, docname: str) -> dict[str, Any]:
    """Return the glued values of an executed page by their names."""
    cells = deepcopy([c for c in get_page(app, docname).cells if c.cell_type == "code"])
    return dict(value for cell in cells for value in extract_glue_data_cell(cell))
