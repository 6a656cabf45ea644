"""Show the definition of a term where a page links to it."""

import re

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

GLOSSARY = "glossary"
SENTENCE = re.compile(r".+?(?:\.(?=\s|$)|。|$)", re.DOTALL)


def define_links(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Give each link to a term the first sentence of its definition as its title."""
    links = [
        link for link in doctree.findall(nodes.reference) if "#term-" in link.get("refuri", "")
    ]
    if not links or docname == GLOSSARY or GLOSSARY not in app.env.found_docs:
        return
    definitions = _read_definitions(app.env.get_doctree(GLOSSARY))
    for link in links:
        if definition := definitions.get(link["refuri"].partition("#")[2]):
            link["reftitle"] = definition


def _read_definitions(doctree: nodes.document) -> dict[str, str]:
    definitions: dict[str, str] = {}
    for item in doctree.findall(nodes.definition_list_item):
        if isinstance(item.parent.parent, addnodes.glossary):
            text = next(item.findall(nodes.paragraph)).astext()
            terms = [child for child in item.children if isinstance(child, nodes.term)]
            sentence = SENTENCE.match(text)
            definitions |= {name: sentence[0] for term in terms for name in term["ids"] if sentence}
    return definitions
