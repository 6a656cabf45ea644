"""Makes a notebook of every executed page, from what Sphinx resolved and what the cells gave.

It needs neither this site nor MyST-NB: values stand in the text, links lead to the site or are
words, sources are listed at the end, and the first cells install what is missing.
"""

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, urljoin

import nbformat
from checks import CODE, executed_cells
from docutils import nodes
from first_cells import needs, settings
from glue_free import without_glue
from markdown_of import Link, blocks, words
from myst_nb.sphinx_ import NbMetadataCollector
from nbformat import v4 as nbformat_v4
from sphinx.application import Sphinx
from wheel import address

v4: Any = nbformat_v4  # its functions have no types
FOLDED = {"check", "setup", "remove-input", "remove-cell", "hide-cell", "hide-input"}
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
ABOUT = """\
*A notebook of {page}, from the site {project}, version {release}. \
It runs from top to bottom in any Jupyter. Cells that are folded here are folded there: \
they check what the text says, prepare it, or draw a figure, which shows when they are run.*"""
SOURCES = "Sources of this notebook"


def make(app: Sphinx, docname: str, tree: nodes.document) -> dict[str, Any]:
    """Make the notebook of a page from its resolved tree and its executed cells."""
    executed, _ = executed_cells(app, docname)
    cited: dict[str, str] = {}
    base = app.config.html_baseurl
    page = urljoin(base, app.builder.get_target_uri(docname)) if base else ""
    link = links(app, docname, tree, page, cited)
    pieces = list(_pieces(tree, link, 0))
    first = pieces.pop(0)  # the title
    name = f"[{app.env.titles[docname].astext()}](<{page}>)" if page else f"the page `{docname}`"
    about = ABOUT.format(page=name, project=app.config.project, release=app.config.release)
    waiting = [k for k, cell in enumerate(executed) if cell.cell_type == "code"]
    cells = [
        v4.new_markdown_cell(f"{first}\n\n{about}"),
        v4.new_code_cell(needs((executed[k].source for k in waiting), address(app))),
        v4.new_code_cell(settings(), metadata={"jupyter": {"source_hidden": True}}),
    ]
    for piece in [*pieces, len(executed)]:
        if isinstance(piece, str):
            cells.append(v4.new_markdown_cell(piece))
        while isinstance(piece, int) and waiting and waiting[0] <= piece:
            cells += _cell(executed[waiting.pop(0)])
    if cited:
        listed = "\n".join(f"- {text}" for text in sorted(cited.values()))
        cells.append(v4.new_markdown_cell(f"## {SOURCES}\n\n{listed}"))
    return _numbered(_joined(cells))


def links(
    app: Sphinx, docname: str, tree: nodes.document, page: str, cited: dict[str, str]
) -> Link:
    """Give the rule by which a reference becomes an address; what it cites is noted."""
    headings = {
        anchor: section.next_node(nodes.title).astext()  # type: ignore[union-attr]
        for section in tree.findall(nodes.section)
        for anchor in section["ids"]
    }
    sources = {c.citation_id: c for c in app.env.get_domain("cite").citations}  # type: ignore[attr-defined]

    def link(reference: nodes.reference) -> str | None:
        uri = reference.get("refuri") or f"#{reference.get('refid', '')}"
        path, _, anchor = uri.partition("#")
        if anchor in sources and "bibliography" in path:
            source = sources[anchor]
            cited[anchor] = f"{reference.astext()} {source.tooltip_entry.text.render_as('markdown')}"
        if "://" in uri or uri.startswith("mailto:"):
            return uri
        if not path and anchor in headings:  # Jupyter names a heading by its words
            return "#" + quote(headings[anchor].replace(" ", "-"), safe="-")
        return urljoin(page, uri) if page else None

    return link


def _pieces(node: nodes.Node, link: Link, depth: int) -> Iterator[str | int]:
    """Give the text between the cells, and the cells by their place in the page."""
    if isinstance(node, nodes.Element) and node.get("nb_element") == CODE:
        tags = node["cell_metadata"].get("tags", [])
        if "skip-execution" in tags:
            yield from (b for n in node.findall(nodes.literal_block) for b in blocks(n, link))
            return
        yield int(node["cell_index"])
        yield from (b for n in node.findall(nodes.caption) for b in blocks(n, link))
    elif isinstance(node, nodes.title) and isinstance(node.parent, nodes.section):
        yield f"{'#' * depth} {words(node, link)}"
    elif isinstance(node, nodes.section) or any(_holds_cell(n) for n in node.findall()):
        for child in node.children:
            yield from _pieces(child, link, depth + isinstance(node, nodes.section))
    else:
        yield from blocks(node, link)


def _holds_cell(node: nodes.Node) -> bool:
    return isinstance(node, nodes.Element) and node.get("nb_element") == CODE


def _cell(cell: nbformat.NotebookNode) -> list[Any]:
    """Give a cell without glue, with its outputs, or nothing if nothing is left."""
    tags = cell.metadata.get("tags", [])
    source = without_glue(cell.source)
    if not source or "skip-execution" in tags:
        return []
    jupyter = {}
    if FOLDED & set(tags) or "figure" in cell.metadata.get("mystnb", {}):
        jupyter["source_hidden"] = True
    if "remove-output" in tags:
        jupyter["outputs_hidden"] = True
    metadata = {"tags": tags} if tags else {}
    if jupyter:
        metadata["jupyter"] = jupyter
    outputs = [_without_drawing(output) for output in outputs_of(cell)]
    return [v4.new_code_cell(source, metadata=metadata, outputs=outputs)]


def outputs_of(cell: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    """Give the outputs of a cell, but what glue keeps for the prose."""
    return [output for output in cell.outputs if "scrapbook" not in output.get("metadata", {})]


def _without_drawing(output: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Leave a drawing's words alone: Jupyter shows no SVG of a notebook that it has not run."""
    output = copy.deepcopy(output)
    if output.get("data", {}).get("text/html", "").startswith("<svg"):
        del output["data"]["text/html"]
    return output


def _joined(cells: list[Any]) -> list[Any]:
    """Join the pieces of text between two cells or headings."""
    joined: list[Any] = []
    for cell in cells:
        if cell.cell_type == "markdown" and joined and joined[-1].cell_type == "markdown":
            if not cell.source.startswith("#"):
                joined[-1].source += f"\n\n{cell.source}"
                continue
        joined.append(cell)
    return joined


def _numbered(cells: list[Any]) -> dict[str, Any]:
    """Number the cells as a run from top to bottom does, the same in every build."""
    count = 0
    for k, cell in enumerate(cells):
        cell["id"] = f"cell-{k}"
        if cell.cell_type == "code":
            count += 1
            cell["execution_count"] = count
            for output in cell.outputs:
                if output.output_type == "execute_result":
                    output["execution_count"] = count
    metadata = {"kernelspec": KERNEL, "language_info": {"name": "python"}}
    made: dict[str, Any] = v4.new_notebook(cells=cells, metadata=metadata)
    return made


def write(
    app: Sphinx, docname: str, _template: str, _context: dict[str, Any], tree: nodes.document | None
) -> None:
    """Lay the notebook and the Markdown source of a page beside it."""
    if tree is None or app.builder.name != "html":
        return
    target = Path(app.outdir, docname)
    target.parent.mkdir(parents=True, exist_ok=True)
    source = Path(app.env.doc2path(docname))
    target.with_name(f"{target.name}.md").write_bytes(source.read_bytes())
    if is_executed(app, docname):
        text = json.dumps(make(app, docname, tree), ensure_ascii=False, separators=(",", ":"))
        target.with_name(f"{target.name}.ipynb").write_text(text + "\n", "utf-8")


def is_executed(app: Sphinx, docname: str) -> bool:
    """Tell whether a page has cells that ran."""
    return NbMetadataCollector.get_exec_data(app.env, docname) is not None


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to the writing of a page."""
    app.connect("html-page-context", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
