"""Lets a line end inside of a long name, and not before a full stop or inside of *one-hot*."""

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

NAME = re.compile(r'(?<=<span class="pre">)[^<]+(?=</span>)')
INSIDE = re.compile(r"(?<=\w[._(])(?=[A-Za-z])")  # after a dot, an underscore, a bracket
ENDS = re.compile(r"(</code>(?:</a>)?)(?=[.,;:!?)’'])")
# A browser takes a formula for a picture, after which any line may end.
FORMULA = re.compile(
    r'\(?<span class="math[^>]*><math>(?:(?!</math>).)*</math></span>[.,;:!?)’]+', re.DOTALL
)
SHORT = 16  # letters of a name that stays whole
JOINER = "&#8288;"  # a word joiner, which takes no room
HEADING = re.compile(r"<h[12]>.*?</h[12]>", re.DOTALL)  # whose lines hold few words
WHOLE = re.compile(r"(\b(?:one|all|to)-)(?=[a-z]+\b[^<>]*<)")  # in text, not in a tag


def mark(
    _app: Sphinx, _page: str, _template: str, context: dict[str, Any], _tree: nodes.document | None
) -> None:
    """Mark the places in the text of a page."""
    if "body" in context:
        body = NAME.sub(_in_parts, context["body"])
        body = FORMULA.sub(r'<span class="whole">\g<0></span>', body)
        body = HEADING.sub(lambda found: WHOLE.sub(rf"\1{JOINER}", found.group()), body)
        context["body"] = ENDS.sub(rf"\1{JOINER}", body)


def _in_parts(name: re.Match[str]) -> str:
    return INSIDE.sub("<wbr>", name.group()) if len(name.group()) > SHORT else name.group()


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to the writing of pages."""
    app.connect("html-page-context", mark)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
