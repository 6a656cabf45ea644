"""Write the notebook of each executed page, which needs neither the site nor MyST-NB.

Glued values are part of its text, and links lead to the site or become plain text.
"""

import json
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote, urljoin

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.locale import _

from _extensions.claims.page import CODE
from _extensions.notebooks.cells import convert_cell, markdown_cell
from _extensions.notebooks.first_cells import make_first_cells
from _extensions.notebooks.markdown import Link, is_svg, to_blocks, to_inline
from _extensions.notebooks.wheel import wheel_address
from _extensions.run.pages import get_page
from _extensions.run.requirements import is_drawing

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


def write_page_notebook(
    app: Sphinx, docname: str, _template: str, context: dict[str, Any], tree: nodes.document | None
) -> None:
    """Write the notebook of a page that has one."""
    if tree is None or app.builder.name != "html":
        return
    notebook = app.outdir / f"{docname}.ipynb"
    page = get_page(app, docname)
    context["has_notebook"] = page.notebook is not None and page.head.get("notebook", True)
    if context["has_notebook"]:
        cells = make_cells(app, docname, tree)
        for index, cell in enumerate(cells):
            cell["id"] = f"cell-{index}"
        content = {"nbformat": 4, "nbformat_minor": 5, "metadata": METADATA, "cells": cells}
        text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
        notebook.parent.mkdir(parents=True, exist_ok=True)
        notebook.write_text(f"{text}\n", "utf-8")
    else:
        notebook.unlink(missing_ok=True)


def make_cells(app: Sphinx, docname: str, tree: nodes.document) -> list[Any]:
    """Return the notebook cells of a page."""
    page_cells = get_page(app, docname).cells
    bibliography: dict[str, str] = {}
    base = app.config.html_baseurl
    page_url = urljoin(base, app.builder.get_target_uri(docname)) if base else ""
    pieces = _split_page(tree, make_link_resolver(app, docname, tree, page_url, bibliography), 0)
    title = app.env.titles[docname].astext()
    name = f"[{title}](<{page_url}>)" if page_url else f"the page `{docname}`"
    about = ABOUT.format(page=name, project=app.config.project, release=app.config.release)
    codes = [index for index, cell in enumerate(page_cells) if cell.cell_type == "code"]
    remaining = [index for index in codes if not is_drawing(page_cells[index].source)]
    about += PICTURES if len(remaining) < len(codes) else ""
    cell_sources = (page_cells[index].source for index in remaining)
    cells = [
        markdown_cell(f"{next(pieces)}\n\n{about}"),  # the first piece is the title
        *make_first_cells(cell_sources, wheel_address(app), app.config.release),
    ]
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
        cells.append(markdown_cell(f"## Sources of this notebook\n\n{sources}"))
    return cells


def make_link_resolver(
    app: Sphinx, docname: str, tree: nodes.document, page_url: str, bibliography: dict[str, str]
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
        return urljoin(page_url, uri) if page_url else None

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
