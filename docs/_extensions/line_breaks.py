"""Lets a line end inside of a long name, and not before a full stop or inside of *one-hot*."""

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

NAME = re.compile(r'(?<=<span class="pre">)[^<]+(?=</span>)')
INSIDE = re.compile(r"(?<=\w[._(])(?=[A-Za-z])")  # after a dot, an underscore, a bracket
# A browser takes a formula for a picture, after which any line may end.
ENDS = re.compile(r"(</math></span>|</code>(?:</a>)?)(?=[.,;:!?)’'])")
JOINER = "&#8288;"  # a word joiner, which takes no room
HEADING = re.compile(r"<h[12]>.*?</h[12]>", re.DOTALL)  # whose lines hold few words
WHOLE = re.compile(r"(\bone-)(?=hot\b[^<>]*<)")  # in text, not in a tag


def mark(
    _app: Sphinx, _page: str, _template: str, context: dict[str, Any], _tree: nodes.document | None
) -> None:
    """Mark the places in the text of a page."""
    if "body" in context:
        body = NAME.sub(lambda found: INSIDE.sub("<wbr>", found.group()), context["body"])
        body = HEADING.sub(lambda found: WHOLE.sub(rf"\1{JOINER}", found.group()), body)
        context["body"] = ENDS.sub(rf"\1{JOINER}", body)


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to the writing of pages."""
    app.connect("html-page-context", mark)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
