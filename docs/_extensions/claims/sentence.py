"""The sentence above a cell, which the cell checks, as plain text."""

import re

from docutils import nodes
from pybtex.database import Entry
from sphinx import addnodes

from claims.folds import fold

CODE = "cell_code"


def sentence_above(place: nodes.Element) -> str:
    """Return the last sentence before a node in its section, or nothing; each has its line."""
    before = _previous(place)
    while before is not None:
        paragraphs = list(before.findall(lambda n: isinstance(n, nodes.paragraph | nodes.caption)))
        if paragraphs and (words := said(paragraphs[-1]).strip()):
            return words.splitlines()[-1].strip()
        before = _previous(before)
    return ""


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
