"""Makes a notebook of every executed page, from what Sphinx resolved and what the cells gave.

It needs neither this site nor MyST-NB: values stand in the text, links lead to the site or are
words, sources are listed at the end, and the first cells install what is missing.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, urljoin

from docutils import nodes
from nbformat import v4 as nbformat_v4
from sphinx.application import Sphinx

from _extensions.claims.sentence import CODE
from _extensions.notebooks.first_cells import first_cells
from _extensions.notebooks.markdown_of import Link, blocks, words
from _extensions.notebooks.notebook_cells import notebook_cell
from _extensions.notebooks.wheel import address
from _extensions.run.pages import page_of

v4: Any = nbformat_v4  # its functions have no types
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
ABOUT = """\
*A notebook of {page}, from the site {project}, version {release}. \
It runs from top to bottom in Jupyter with Python 3.11 or newer. Cells that are folded here are \
folded there: they check what the text says, prepare it, or draw a figure, which shows when they \
are run.*"""
ESCAPED = re.compile(r"\\([-.(){}#+!])")  # pybtex escapes what cannot begin a list here


def write_page_notebook(
    app: Sphinx, docname: str, _template: str, context: dict[str, Any], tree: nodes.document | None
) -> None:
    """Lay the notebook and the Markdown source of a page beside it."""
    if tree is None or app.builder.name != "html":
        return
    target = app.outdir / f"{docname}.md"
    target.parent.mkdir(parents=True, exist_ok=True)
    page = page_of(app, docname)
    target.write_bytes(page.path.read_bytes())
    context["has_notebook"] = page.notebook is not None
    if context["has_notebook"]:
        write_notebook(target.with_suffix(".ipynb"), cells_of(app, docname, tree))


def write_notebook(path: Path, cells: list[Any]) -> None:
    """Write cells as a notebook, the same in every build."""
    for k, cell in enumerate(cells):
        cell["id"] = f"cell-{k}"
    made = v4.new_notebook(cells=cells, metadata=METADATA)
    text = json.dumps(made, ensure_ascii=False, separators=(",", ":"))
    path.write_text(f"{text}\n", "utf-8")


def cells_of(app: Sphinx, docname: str, tree: nodes.document) -> list[Any]:
    """Return the cells of a page's notebook, from its resolved tree and its executed cells."""
    executed = page_of(app, docname).cells
    cited: dict[str, str] = {}
    base = app.config.html_baseurl
    page = urljoin(base, app.builder.get_target_uri(docname)) if base else ""
    pieces = _pieces(tree, links(app, docname, tree, page, cited), 0)
    name = f"[{app.env.titles[docname].astext()}](<{page}>)" if page else f"the page `{docname}`"
    about = ABOUT.format(page=name, project=app.config.project, release=app.config.release)
    waiting = [k for k, cell in enumerate(executed) if cell.cell_type == "code"]
    cells = [
        v4.new_markdown_cell(f"{next(pieces)}\n\n{about}"),  # the first piece is the title
        *first_cells((executed[k].source for k in waiting), address(app)),
    ]
    for piece in (*pieces, len(executed)):
        if isinstance(piece, int):
            while waiting and waiting[0] <= piece:
                cells += notebook_cell(executed[waiting.pop(0)])
        elif cells[-1].cell_type == "code" or piece.startswith("#"):
            cells.append(v4.new_markdown_cell(piece))
        else:
            cells[-1].source += f"\n\n{piece}"
    if cited:
        order = sorted(cited, key=lambda label: (len(label), label))
        listed = "\n".join(f"- \\[{label}\\] {cited[label]}" for label in order)
        cells.append(v4.new_markdown_cell(f"## Sources of this notebook\n\n{listed}"))
    return cells


def links(
    app: Sphinx, docname: str, tree: nodes.document, page: str, cited: dict[str, str]
) -> Link:
    """Return the rule by which a reference becomes an address; what it cites is noted."""
    headings = {
        anchor: section.next_node(nodes.title).astext()  # type: ignore[union-attr]
        for section in tree.findall(nodes.section)
        for anchor in section["ids"]
    }
    sources = {
        f"{app.builder.get_relative_uri(docname, c.bibliography_key.docname)}#{c.citation_id}": c
        for c in app.env.get_domain("cite").citations  # type: ignore[attr-defined]
    }

    def link(reference: nodes.reference) -> str | None:
        uri = reference.get("refuri") or f"#{reference.get('refid', '')}"
        path, _, anchor = uri.partition("#")
        if uri in sources:
            entry = sources[uri].tooltip_entry
            written = " ".join(entry.text.render_as("markdown").split())
            cited[entry.label] = ESCAPED.sub(r"\1", written)
        if "://" in uri or uri.startswith("mailto:"):
            return uri
        if not path and anchor in headings:  # Jupyter names a heading by its words
            return "#" + quote(headings[anchor].replace(" ", "-"), safe="-")
        return urljoin(page, uri) if page else None

    return link


def _pieces(node: nodes.Node, link: Link, depth: int) -> Iterator[str | int]:
    """Yield the text between the cells, and the cells by their place in the page."""
    if isinstance(node, nodes.Element) and _is_cell(node):
        if "skip-execution" in node["cell_metadata"].get("tags", []):
            yield from (b for n in node.findall(nodes.literal_block) for b in blocks(n, link))
            return
        yield int(node["cell_index"])
        yield from (b for n in node.findall(nodes.caption) for b in blocks(n, link))
    elif isinstance(node, nodes.title) and isinstance(node.parent, nodes.section):
        yield f"{'#' * depth} {words(node, link)}"
    elif isinstance(node, nodes.document | nodes.section) or any(map(_is_cell, node.findall())):
        for child in node.children:
            yield from _pieces(child, link, depth + isinstance(node, nodes.section))
    else:
        yield from blocks(node, link)


def _is_cell(node: nodes.Node) -> bool:
    return isinstance(node, nodes.Element) and node.get("nb_element") == CODE
