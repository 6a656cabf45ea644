"""Find the sentence above a cell, which the cell checks."""

import re

from docutils import nodes
from pybtex.database import Entry
from sphinx import addnodes

from _extensions.claims.folds import fold

CODE = "cell_code"


def find_sentence(place: nodes.Element) -> str:
    """Return the last sentence before a node in its section, or a cited one if all are."""
    last, before = "", _find_previous(place)
    while before is not None:
        paragraphs = (n for n in before.findall() if isinstance(n, nodes.paragraph | nodes.caption))
        for paragraph in reversed(list(paragraphs)):
            sentences = _sentences(paragraph)
            last = last or "".join(sentences[-1:])
            inlines = paragraph.findall(nodes.inline)
            cited = [s for i in inlines if "cited" in i["classes"] for s in _sentences(i)]
            if uncited := [sentence for sentence in sentences if sentence not in cited]:
                return uncited[-1]
        before = _find_previous(before)
    return last


def _sentences(node: nodes.Node) -> list[str]:
    return [line.strip() for line in write_prose(node).strip().splitlines()]


def write_prose(node: nodes.Node) -> str:
    """Return a paragraph as text, with author names for citation keys and formulas as text."""
    assert node.document is not None
    sources = node.document.settings.env.get_domain("cite").bibdata.data.entries
    copy = node.deepcopy()
    for source in list(copy.findall(addnodes.pending_xref)):
        if source.get("refdomain") == "cite":
            has_author = source["reftype"] == "t" and source["reftarget"] in sources
            name = _name_author(sources[source["reftarget"]]) if has_author else ""
            source.parent.replace(source, nodes.Text(name))
    for formula in list(copy.findall(nodes.math)):
        text = formula.astext()
        for latex, plain in (("{,}", ","), ("\\cdot", "·"), ("\\dots", "…")):
            text = text.replace(latex, plain)
        formula.replace_self(nodes.Text(text))
    words = re.sub(r" +\((see )?\)", "", copy.astext())  # around a key
    return re.sub(r" +([.,;:])(?=\s|$)", r"\1", words)


def _name_author(source: Entry) -> str:
    """Return the first author as a sentence names them, or the key of a source without authors."""
    authors = source.persons.get("author")
    name = " ".join(authors[0].last_names) if authors else source.fields["key"]
    return re.sub("[{}]", "", name) + (" et al." if authors and len(authors) > 1 else "")


def _find_previous(node: nodes.Element) -> nodes.Element | None:
    """Return the node before this one in its section, except cells."""
    siblings = node.parent.children[: node.parent.index(node)] if node.parent else []
    elements = (n for n in reversed(siblings) if isinstance(n, nodes.Element))
    return next(
        (n for n in elements if n.get("nb_element") != CODE and not isinstance(n, fold)), None
    )
