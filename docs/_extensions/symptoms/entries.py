"""The box for errors, and below it the lists of the entries of the symptom pages.

An entry is a section of a page in ``symptoms/``. Its errors are those that its cells expect, which
the build compares with what torch said, and what other versions said; so no text is written twice.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from _extensions.symptoms.versions import recordings, same_words, table, words_of

LOG = logging.getLogger(__name__)
FOLDER = "symptoms/"
BOX = """\
<div class="symptom-box">
<label class="fw-bold" for="symptom-text">Paste an error, a whole traceback, or a few words</label>
<textarea class="d-block" id="symptom-text" rows="5" autocomplete="off" spellcheck="false"
 aria-describedby="symptom-note"></textarea>
<p id="symptom-note">It is compared with the entries below, in your browser, and sent nowhere.</p>
<p class="symptom-status" role="status" aria-live="polite"></p>
<pre class="symptom-line" hidden></pre>
<ol class="symptom-found symptoms"></ol>
<p class="symptom-search" hidden><a href="search.html">Search the site for its words</a></p>
</div>
"""


class Symptom(NamedTuple):
    """What the lists show of a section."""

    anchor: str
    title: Sequence[nodes.Node]
    cause: str
    said: list[str]


class Box(SphinxDirective):
    """``{symptom-box}``: where a traceback is pasted; its style hides it where no script runs."""

    def run(self) -> list[nodes.Node]:
        """Leave the box, and note that this page lists entries."""
        self.env.metadata[self.env.current_document.docname]["symptoms"] = True
        return [nodes.raw("", BOX, format="html")]


class entries(nodes.General, nodes.Element):  # noqa: N801  # docutils names its nodes so
    """The place of the list of one page's entries."""


class Entries(SphinxDirective):
    """``{symptom-entries} PAGE``: the entries of one page, each with its errors and its cause."""

    required_arguments: ClassVar[int] = 1

    def run(self) -> list[nodes.Node]:
        """Leave a place for the list."""
        return [entries(page=FOLDER + self.arguments[0])]


class Versions(SphinxDirective):
    """``{symptom-versions}``: with what the errors were tried besides this build."""

    def run(self) -> list[nodes.Node]:
        """Return the table."""
        names = ["torch", "python", "scipy", "system", "made"]
        rows = [[str(each[name]) for name in names] for each in _recorded(self.env)]
        return [table(names, rows, "wordings", "versions")]


def record_entries(app: Sphinx, doctree: nodes.document) -> None:
    """Note the entries of one page, and say under each error how other versions word it."""
    docname = app.env.current_document.docname
    if not docname.startswith(FOLDER):
        return
    recorded = _recorded(app.env)
    noted = app.env.metadata[docname]["symptom_entries"] = []
    for section in doctree.findall(nodes.section):
        if not isinstance(section.parent, nodes.section):
            continue
        cells = [n for n in section.findall(nodes.container) if n.get("nb_element") == "cell_code"]
        said = [words for cell in cells for words in words_of(cell, recorded)]
        said += [n.astext() for n in section.findall(nodes.literal) if "says" in n["classes"]]
        said = [s for i, s in enumerate(said) if not any(same_words(s, each) for each in said[:i])]
        title, *body = section.children
        first = next((n for n in body if isinstance(n, nodes.paragraph)), None)
        causes = next((n for n in body if isinstance(n, nodes.enumerated_list)), None)
        if first is None or causes is None:
            complaint = "an entry begins with a sentence, and its causes are a numbered list"
            LOG.warning(complaint, location=section)
            continue
        section["classes"].append("symptom")
        head = "Cause:" if len(causes) == 1 else "Causes:"
        section.insert(section.index(causes), nodes.paragraph("", head))
        anchor = next(name for name in section["ids"] if not name.startswith("symptom-"))
        cause = first.astext().splitlines()[0]
        noted.append(Symptom(anchor, title.deepcopy().children, cause, said))


def _recorded(env: BuildEnvironment) -> list[dict[str, Any]]:
    """Return what versions said; the page that asks is read again when it changes."""
    found = recordings(Path(env.srcdir))
    for recording in found:
        env.note_dependency(str(recording["path"]))
    return found


def fill_in_lists(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Put the lists in their places."""
    for place in list(doctree.findall(entries)):
        uri = app.builder.get_relative_uri(docname, place["page"])
        items = [_item(uri, entry) for entry in entries_of(app.env, place["page"])]
        place.replace_self(nodes.bullet_list("", *items, classes=["symptoms"]))


def _item(uri: str, entry: Symptom) -> nodes.list_item:
    """Return the link, the cause, and what the error says where the link does not."""
    title, texts = entry.title, [" ".join(text.split()) for text in entry.said]
    named = "".join(n.astext() for n in title)
    if texts and named in (texts[0], texts[0].partition(": ")[2]):
        title = [nodes.literal("", texts.pop(0), classes=["says"])]
    title = [n.deepcopy() for n in title]
    link = nodes.reference("", "", *title, refuri=f"{uri}#{entry.anchor}")
    item = nodes.list_item("", nodes.paragraph("", "", link), ids=[entry.anchor])
    item += nodes.paragraph("", entry.cause)
    for place, text in enumerate(texts):
        label = "In full: " if not place and named in text else "Also: "
        literal = nodes.literal("", text, classes=["says"])
        item += nodes.paragraph("", "", nodes.Text(label), literal)
    return item


def pages_with_lists(_app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Name the pages that list entries, since an entry may have changed."""
    return [page for page, facts in env.metadata.items() if facts.get("symptoms")]


def entries_of(env: BuildEnvironment, docname: str) -> list[Symptom]:
    """Return the entries of one page."""
    found: list[Symptom] = env.metadata.get(docname, {}).get("symptom_entries", [])
    return found
