"""The sentence above a cell, which the cell checks, as plain text."""

import re

from docutils import nodes
from pybtex.database import Entry
from sphinx import addnodes

from _extensions.claims.folds import fold

CODE = "cell_code"


def sentence_above(place: nodes.Element) -> str:
    """Return the last sentence before a node in its section, or nothing; each has its line.

    What only cites is passed over while the section has another sentence.
    """
    last = ""
    before = _previous(place)
    while before is not None:
        for paragraph in reversed(list(before.findall(_is_prose))):
            sentences = _sentences(paragraph)
            last = last or "".join(sentences[-1:])
            inlines = paragraph.findall(nodes.inline)
            cited = [s for i in inlines if "cited" in i["classes"] for s in _sentences(i)]
            if own := [sentence for sentence in sentences if sentence not in cited]:
                return own[-1]
        before = _previous(before)
    return last


def _is_prose(node: nodes.Node) -> bool:
    return isinstance(node, nodes.paragraph | nodes.caption)


def _sentences(node: nodes.Node) -> list[str]:
    return [line.strip() for line in said(node).strip().splitlines()]


def said(node: nodes.Node) -> str:
    """Return the words of a paragraph, with names for the keys of its sources, formulas as text."""
    assert node.document is not None  # as no read one is without
    sources = node.document.settings.env.get_domain("cite").bibdata.data.entries
    spoken = node.deepcopy()
    for source in list(spoken.findall(addnodes.pending_xref)):
        if source.get("refdomain") == "cite":
            named = source["reftype"] == "t" and source["reftarget"] in sources
            name = _author(sources[source["reftarget"]]) if named else ""
            source.parent.replace(source, nodes.Text(name))
    for formula in list(spoken.findall(nodes.math)):
        text = formula.astext()
        for written, read in (("{,}", ","), ("\\cdot", "·"), ("\\dots", "…")):
            text = text.replace(written, read)
        formula.replace_self(nodes.Text(text))
    words = re.sub(r" +\((see )?\)", "", spoken.astext())  # around a key
    return re.sub(r" +([.,;:])(?=\s|$)", r"\1", words)


def _author(source: Entry) -> str:
    """Name the first author as a sentence does, or a source without authors by its key."""
    authors = source.persons.get("author")
    name = " ".join(authors[0].last_names) if authors else source.fields["key"]
    return re.sub("[{}]", "", name) + (" et al." if authors and len(authors) > 1 else "")


def _previous(node: nodes.Element) -> nodes.Element | None:
    """Return what stands before a node in its section, cells left out."""
    siblings = node.parent.children[: node.parent.index(node)] if node.parent else []
    elements = (n for n in reversed(siblings) if isinstance(n, nodes.Element))
    return next(
        (n for n in elements if n.get("nb_element") != CODE and not isinstance(n, fold)), None
    )
