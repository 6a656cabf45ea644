"""Numbers the tutorials in the sidebar, in the order in which they are to be read."""

import re
from collections.abc import Callable
from html import escape
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

LINK = re.compile(r'(<a class="[^"]*reference internal[^"]*" href="([^"#]*)[^"]*">)([^<]*)')
UNNAMED = re.compile(r"(<a [^>]*>)((?:<[^>]*>|[^<])*?)(</a><details[^>]*>)<summary>")


def tutorials(env: BuildEnvironment) -> list[str]:
    """Give the pages of the folder ``tutorials``, in the order of the table of contents."""
    order, waiting = [], [str(env.config.root_doc)]
    while waiting:
        page = waiting.pop(0)
        order.append(page)
        waiting = env.toctree_includes.get(page, []) + waiting
    return [page for page in order if page.startswith("tutorials/")]


def number(
    app: Sphinx, page: str, _template: str, context: dict[str, Any], _tree: nodes.document | None
) -> None:
    """Write the numbers before the labels, and name the buttons that open a group of pages."""
    numbers = {name: i for i, name in enumerate(tutorials(app.env), 1)}
    own = {app.builder.get_relative_uri(page, name): i for name, i in numbers.items()}
    own[""] = numbers.get(page, 0)
    plain: Callable[..., Any] = context["generate_toctree_html"]

    def numbered(found: re.Match[str]) -> str:
        place = own.get(found[2], 0)
        return f'{found[1]}<span class="number">{place}</span> {found[3]}' if place else found[0]

    def labelled(found: re.Match[str]) -> str:
        name = escape(f"Pages under {re.sub('<[^>]*>', '', found[2])}")
        return f'{found[1]}{found[2]}{found[3]}<summary aria-label="{name}">'

    def generate(*arguments: Any, **options: Any) -> str:
        html = LINK.sub(numbered, str(plain(*arguments, **options)))
        return UNNAMED.sub(labelled, html)

    context["generate_toctree_html"] = generate


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect after the theme, which brings the function that writes the sidebar."""
    app.connect("html-page-context", number, priority=600)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
