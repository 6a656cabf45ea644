"""Holds expected errors to type and text, and keeps a list of all checks and cited sentences.

A page's author writes the tag ``check``, ``setup`` or ``raises-exception``; the rest is read
from the cell's code and from what it gave.
"""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any
from zlib import crc32

import nbformat
from docutils import nodes
from jupyter_cache import get_cache
from myst_nb.sphinx_ import NbMetadataCollector
from search.wordings import same_words
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging

from claims.check_cells import kinds_of, only_checks, refused_in_failing
from claims.folds import depart_fold, fold, fold_cell, visit_fold
from claims.sentence_above import CODE, said, sentence_above

LOG = logging.getLogger(__name__)


def read_page(app: Sphinx, doctree: nodes.document) -> None:
    """Fold and check the cells of one page, and note what was checked and cited."""
    docname = app.env.current_document.docname
    records = _store(app.env, "checks")[docname] = []
    cited = _store(app.env, "cited")[docname] = []
    cells = [n for n in doctree.findall(nodes.container) if n.get("nb_element") == CODE]
    ran = NbMetadataCollector.get_exec_data(app.env, docname)
    executed, lines = executed_cells(app, docname) if ran else ([], [])
    shown = {cell["cell_index"]: cell for cell in cells}
    ended = next((k for k, cell in enumerate(executed) if _failed(cell)), len(executed))
    place: nodes.Element = doctree
    for index, source in enumerate(executed):
        if source.cell_type != "code":
            continue
        place = shown.get(index, place)
        # A removed cell is in no node, and is named by its line in the source.
        where = shown.get(index, (docname, lines[index] + 1))
        # What stands below a cell that failed was not run, and cannot be judged.
        kinds = _judge(source, where) if index <= ended else kinds_of(source.source)
        if kinds:
            anchor = f"check-{len(records) + 1}"
            records.append(_record(place, kinds, anchor))
        if index in shown:
            fold_cell(shown[index], source, kinds, f"check-{len(records)}")
    if ran and not ran["succeeded"] and not any(_failed(cell) for cell in executed):
        reason = (ran["traceback"] or ran["error"]).strip().splitlines()[-1]
        LOG.warning(f"the page could not be executed to its end: {reason}", location=docname)
    for image in doctree.findall(nodes.image):
        if not image.get("alt"):
            message = (
                f"the picture {image['uri']} has no alternative text, for those who cannot see it"
            )
            LOG.warning(f"{message}; write ![what it shows](...)", location=_lined(image))
    # Last, so that no sentence above quotes the mark.
    for sentence in list(doctree.findall(nodes.inline)):
        if "cited" in sentence["classes"]:
            cited.append(" ".join(said(sentence).split()))
            sentence.append(nodes.inline("", "cited", classes=["cited-mark"]))


def _judge(cell: nbformat.NotebookNode, place: nodes.Element | tuple[str, int]) -> list[str]:
    """Give the kinds of a cell's checks, and warn where one is missing or could not fail."""
    tags, source = cell.metadata.get("tags", []), cell.source
    kinds = kinds_of(source)
    if noise := " ".join(o.text.strip() for o in cell.outputs if o.get("name") == "stderr"):
        message = f"this cell writes to standard error, which readers would see: {noise[-200:]!r}"
        LOG.warning(f"{message}; mend the cause, or filter a warning by its text", location=place)
    if _failed(cell):
        code = "\n".join(f"    {line}" for line in source.splitlines())
        complaint: str | None = f"this cell failed: {_error_of(cell)}\n{code}"
    elif "raises-exception" in tags:
        expected = str(cell.metadata.get("expect", ""))
        complaint = _unexpected(cell, expected) or refused_in_failing(source, expected)
        kinds = [f"raises {expected.partition(':')[0]}"]
    elif "expect" in cell.metadata:
        complaint = "`expect` stands in a cell without the tag raises-exception; add the tag"
    elif "check" in tags and not kinds:
        complaint = "this cell is tagged check and nothing in it can fail; assert what it shows"
    elif kinds and "remove-cell" in tags:
        complaint = "this cell checks, and no reader can open it; tag it check or setup"
    elif only_checks(source) and not {"check", "point"} & set(tags):
        complaint = "this cell only checks; tag it check, so that it folds"
    else:
        return kinds
    if complaint:
        LOG.warning(complaint, location=place)
    return kinds


def _unexpected(cell: nbformat.NotebookNode, expected: str) -> str | None:
    """Say how the error of a cell differs from the expected one, or ``None``."""
    found = _error_of(cell)
    if not expected.partition(":")[0].isidentifier() or ": " not in expected:
        said = json.dumps((found or "IndexError: index out of").splitlines()[0][:60])
        return (
            "a cell tagged raises-exception names the error it expects: "
            f"add `:expect: {said}` with type and beginning of the message"
        )
    if found is None:
        return f"this cell was expected to raise and did not; expected {expected!r}, found no error"
    whole = "whole" in cell.metadata.get("tags", [])
    if same_words(found, expected) if whole else found.startswith(expected):
        return None
    return f"this cell raised another error; expected {expected!r}, found {found!r}"


def _failed(cell: nbformat.NotebookNode) -> bool:
    """Tell whether a cell raised what nobody expected."""
    if cell.cell_type != "code" or "raises-exception" in cell.metadata.get("tags", []):
        return False
    return _error_of(cell) is not None


def _error_of(cell: nbformat.NotebookNode) -> str | None:
    errors = (output for output in cell.outputs if output.output_type == "error")
    found = next((f"{error.ename}: {error.evalue}" for error in errors), None)
    return "it ran for too long and was interrupted" if found == "KeyboardInterrupt: " else found


def _record(place: nodes.Element, kinds: list[str], anchor: str) -> dict[str, Any]:
    """Note where a check stands: its section, and the sentence before it."""
    section = place
    while section.parent is not None and not isinstance(section, nodes.section):
        section = section.parent
    title = next(section.findall(nodes.title), None)
    return {
        "anchor": anchor,
        "section": title.astext() if title else "",
        "sentence": sentence_above(place),
        "kinds": kinds,
    }


def _lined(node: nodes.Element) -> nodes.Element:
    """Give the nearest node around one that knows its line in the source."""
    while not node.line and node.parent is not None:
        node = node.parent
    return node


def executed_cells(app: Sphinx, docname: str) -> tuple[list[nbformat.NotebookNode], list[int]]:
    """Give the cells of a page with what they gave, and the line before each.

    MyST-NB writes the notebook beside the site, but without outputs where they come from the
    cache; so they are asked of the cache.
    """
    path = Path(app.outdir).parent / "jupyter_execute" / f"{docname}.ipynb"
    notebook = nbformat.reads(path.read_text("utf-8"), as_version=4)  # type: ignore[no-untyped-call]
    cache = get_cache(app.config.nb_execution_cache_path)
    with suppress(KeyError):  # of a page with a failing cell, which is not kept
        notebook = cache.merge_match_into_notebook(notebook)[1]
    return list(notebook.cells), list(notebook.metadata["source_map"])


def _store(env: BuildEnvironment, name: str) -> dict[str, list[Any]]:
    if not hasattr(env, f"lookup_{name}"):
        setattr(env, f"lookup_{name}", {})
    stored: dict[str, list[Any]] = getattr(env, f"lookup_{name}")
    return stored


def checks_of(env: BuildEnvironment) -> dict[str, list[dict[str, Any]]]:
    """Give the checks of each page."""
    return _store(env, "checks")


def cited_of(env: BuildEnvironment) -> dict[str, list[str]]:
    """Give the cited sentences of each page."""
    return _store(env, "cited")


def forget(_app: Sphinx, env: BuildEnvironment, docname: str) -> None:
    """Drop what was noted of a page that is read again or gone."""
    for name in ("checks", "cited"):
        _store(env, name).pop(docname, None)


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect to reading; nothing here is safe to run in parallel readers."""
    app.add_node(fold, html=(visit_fold, depart_fold))
    app.connect("doctree-read", read_page)
    app.connect("env-purge-doc", forget)
    # Another version of these files makes other pages, so Sphinx reads them again.
    own = sorted(Path(__file__).parents[1].rglob("*.py"))
    version = crc32(b"".join(path.read_bytes() for path in own)) or 1
    return {"env_version": version, "parallel_read_safe": False, "parallel_write_safe": True}
