"""Write each page as Markdown, and each executed page as a notebook that needs no MyST-NB.

Glued values are part of the text. Links lead to the site, or in Markdown to the other pages as
Markdown; without an address they become plain text in a notebook.
"""

import json
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any
from urllib.parse import quote, urljoin

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.locale import _

from _extensions.claims.page import CODE
from _extensions.notebooks.cells import convert_cell, markdown_cell
from _extensions.notebooks.first_cells import make_first_cells
from _extensions.notebooks.markdown import Link, is_svg, to_blocks, to_inline
from _extensions.notebooks.text import to_text
from _extensions.notebooks.wheel import wheel_address
from _extensions.run.pages import get_page
from _extensions.run.requirements import is_drawing

Place = Callable[[str], str | None]  # of a URL relative to the page, or None for no link

METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
ABOUT = """\
*A notebook of {page}, from the site {project}, version {release}. \
It runs from top to bottom in Jupyter with Python 3.11 or newer. Collapsed cells check what the \
text says, prepare the cells below, or draw a figure, which appears when they are run.*"""
PICTURES = """

*The site drew the pictures in the text; `docs/_figures` of its repository has their code.*"""
DRAWING = "<details><summary>{summary}</summary>\n\n```python\n{code}\n```\n\n</details>"
BACKSLASH = re.compile(r"\\([-.(){}#+!])")  # pybtex escapes characters that begin no list here


def write_page_copies(
    app: Sphinx, docname: str, _template: str, context: dict[str, Any], tree: nodes.document | None
) -> None:
    """Write the Markdown of a page, and its notebook if it has one."""
    if tree is None or app.builder.name != "html":
        return
    notebook = app.outdir / f"{docname}.ipynb"
    notebook.parent.mkdir(parents=True, exist_ok=True)
    cells = make_cells(app, docname, tree, lambda uri: uri.replace(".html", ".md"))
    notebook.with_suffix(".md").write_text(to_text(cells), "utf-8")
    page = get_page(app, docname)
    context["has_notebook"] = page.notebook is not None and page.head.get("notebook", True)
    if context["has_notebook"]:
        cells = make_notebook_cells(app, docname, tree)
        for index, cell in enumerate(cells):
            cell["id"] = f"cell-{index}"
        content = {"nbformat": 4, "nbformat_minor": 5, "metadata": METADATA, "cells": cells}
        text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
        notebook.write_text(f"{text}\n", "utf-8")
    else:
        notebook.unlink(missing_ok=True)


def make_notebook_cells(app: Sphinx, docname: str, tree: nodes.document) -> list[Any]:
    """Return the cells of a page's notebook: its title, the first cells, and the page's own."""
    base = app.config.html_baseurl
    page_url = urljoin(base, app.builder.get_target_uri(docname)) if base else ""
    place = partial(urljoin, page_url) if page_url else lambda _: None
    title, *cells = make_cells(app, docname, tree, place)
    heading = app.env.titles[docname].astext()
    name = f"[{heading}](<{page_url}>)" if page_url else f"the page `{docname}`"
    about = ABOUT.format(page=name, project=app.config.project, release=app.config.release)
    sources = [cell.source for cell in get_page(app, docname).cells if cell.cell_type == "code"]
    drawings = [source for source in sources if is_drawing(source)]
    first, separator, remaining = title["source"].partition("\n\n")
    about += PICTURES if drawings else ""
    own = [source for source in sources if source not in drawings]
    return [
        markdown_cell(f"{first}\n\n{about}"),
        *make_first_cells(own, wheel_address(app), app.config.release),
        *([markdown_cell(remaining)] if separator else []),
        *cells,
    ]


def make_cells(app: Sphinx, docname: str, tree: nodes.document, place: Place) -> list[Any]:
    """Return the title, the cells of a page, and its sources; text between cells is one cell."""
    page_cells = get_page(app, docname).cells
    bibliography: dict[str, str] = {}
    pieces = _split_page(tree, make_link_resolver(app, docname, tree, place, bibliography), 0)
    codes = [index for index, cell in enumerate(page_cells) if cell.cell_type == "code"]
    remaining = [index for index in codes if not is_drawing(page_cells[index].source)]
    cells = [markdown_cell(str(next(pieces)))]
    for piece in (*pieces, len(page_cells)):
        if isinstance(piece, int):  # cells that the page removed come before their successor
            while remaining and remaining[0] <= piece:
                cells += convert_cell(page_cells[remaining.pop(0)])
        elif cells[-1]["cell_type"] == "code" or piece.startswith("#"):
            cells.append(markdown_cell(piece))
        else:
            cells[-1]["source"] += f"\n\n{piece}"
    if bibliography:
        labels = sorted(bibliography, key=lambda label: (len(label), label))
        sources = "\n".join(f"- \\[{label}\\] {bibliography[label]}" for label in labels)
        cells.append(markdown_cell(f"## Sources\n\n{sources}"))
    return cells


def make_link_resolver(
    app: Sphinx, docname: str, tree: nodes.document, place: Place, bibliography: dict[str, str]
) -> Link:
    """Return a function from reference to URL, which adds cited sources to ``bibliography``."""
    headings = {
        anchor: section.next_node(nodes.title).astext()  # type: ignore[union-attr]
        for section in tree.findall(nodes.section)
        for anchor in section["ids"]
    }
    citations = {
        f"{app.builder.get_relative_uri(docname, c.bibliography_key.docname)}#{c.citation_id}": c
        for c in app.env.get_domain("cite").citations  # type: ignore[attr-defined]
    }

    def resolve(reference: nodes.reference) -> str | None:
        uri = reference.get("refuri") or f"#{reference.get('refid', '')}"
        path, _, anchor = uri.partition("#")
        if uri in citations:
            entry = citations[uri].tooltip_entry
            source = " ".join(entry.text.render_as("markdown").split())
            bibliography[entry.label] = BACKSLASH.sub(r"\1", source)
        if "://" in uri or uri.startswith("mailto:"):
            return uri
        if not path and anchor in headings:  # Jupyter makes an anchor of a heading's text
            return "#" + quote(headings[anchor].replace(" ", "-"), safe="-")
        return place(uri)

    return resolve


def _split_page(node: nodes.Node, link: Link, depth: int) -> Iterator[str | int]:
    """Yield the Markdown between cells, and each cell as its index in the page."""
    if isinstance(node, nodes.Element) and _is_cell(node):
        codes = (block.astext() for block in node.findall(nodes.literal_block))
        if code := next(filter(is_drawing, codes), ""):
            blocks = _convert_drawing(node, link, code)
        elif "skip-execution" in node["cell_metadata"].get("tags", []):
            blocks = (to_blocks(n, link) for n in node.findall(nodes.literal_block))
        else:
            yield int(node["cell_index"])
            blocks = (to_blocks(n, link) for n in node.findall(nodes.caption))
        yield from (text for texts in blocks for text in texts)
    elif isinstance(node, nodes.title) and isinstance(node.parent, nodes.section):
        yield f"{'#' * depth} {to_inline(node, link)}"
    elif isinstance(node, nodes.document | nodes.section) or any(map(_is_cell, node.findall())):
        for child in node.children:
            yield from _split_page(child, link, depth + isinstance(node, nodes.section))
    else:
        yield from to_blocks(node, link)


def _convert_drawing(node: nodes.Element, link: Link, code: str) -> Iterator[list[str]]:
    """Yield the picture of a cell, its caption, and its code, which a reader cannot run."""
    for part in node.findall(lambda part: is_svg(part) or isinstance(part, nodes.caption)):
        yield to_blocks(part, link)
    yield [DRAWING.format(summary=_("code of this figure"), code=code)]


def _is_cell(node: nodes.Node) -> bool:
    return isinstance(node, nodes.Element) and node.get("nb_element") == CODE
