"""Directives for the error box and for the lists of entries of the symptom pages.

An entry is a section of a page in ``symptoms/``. Its messages are the errors that its cells expect,
which the build compares with the errors raised, and those recorded with other torch versions.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.locale import _
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from _extensions.symptoms.versions import (
    build_table,
    insert_versions,
    read_recordings,
    same_message,
)

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
    """An entry as it is listed."""

    anchor: str
    title: Sequence[nodes.Node]
    cause: str
    messages: list[str]


class Box(SphinxDirective):
    """``{symptom-box}``: the field for a traceback; CSS hides it where scripts are disabled."""

    def run(self) -> list[nodes.Node]:
        """Return the box, and record that this page lists entries."""
        self.env.metadata[self.env.current_document.docname]["symptoms"] = True
        return [nodes.raw("", BOX, format="html")]


class entries(nodes.General, nodes.Element):  # noqa: N801  # docutils names its nodes so
    """Placeholder for the list of one page's entries."""


class Entries(SphinxDirective):
    """``{symptom-entries} PAGE``: a list of the page's entries with their errors and causes."""

    required_arguments: ClassVar[int] = 1

    def run(self) -> list[nodes.Node]:
        """Return a placeholder, which ``fill_in_lists`` replaces."""
        return [entries(page=FOLDER + self.arguments[0])]


class Versions(SphinxDirective):
    """``{symptom-versions}``: a table of the environments in which errors were recorded."""

    def run(self) -> list[nodes.Node]:
        """Return the table."""
        columns = ["torch", "python", "scipy", "system", "date"]
        rows = [[str(r[column]) for column in columns] for r in _load_recordings(self.env)]
        return [build_table(columns, rows, "wordings", "versions")]


def record_entries(app: Sphinx, doctree: nodes.document) -> None:
    """Record the entries of one page, and insert the messages of other versions below errors."""
    docname = app.env.current_document.docname
    if not docname.startswith(FOLDER):
        return
    recordings = _load_recordings(app.env)
    symptoms = app.env.metadata[docname]["symptom_entries"] = []
    for section in doctree.findall(nodes.section):
        if not isinstance(section.parent, nodes.section):
            continue
        cells = [n for n in section.findall(nodes.container) if n.get("nb_element") == "cell_code"]
        texts = [text for cell in cells for text in insert_versions(cell, recordings)]
        texts += [n.astext() for n in section.findall(nodes.literal) if "says" in n["classes"]]
        messages: list[str] = []
        for text in texts:
            if not any(same_message(text, message) for message in messages):
                messages.append(text)
        title, *body = section.children
        first = next((n for n in body if isinstance(n, nodes.paragraph)), None)
        causes = next((n for n in body if isinstance(n, nodes.enumerated_list)), None)
        if first is None or causes is None:
            problem = "an entry begins with a sentence, and its causes are a numbered list"
            LOG.warning(problem, location=section)
            continue
        section["classes"].append("symptom")
        heading = str(_("Cause:") if len(causes) == 1 else _("Causes:"))
        section.insert(section.index(causes), nodes.paragraph("", heading))
        anchor = next(name for name in section["ids"] if not name.startswith("symptom-"))
        cause = first.astext().splitlines()[0]
        symptoms.append(Symptom(anchor, title.deepcopy().children, cause, messages))


def _load_recordings(env: BuildEnvironment) -> list[dict[str, Any]]:
    """Return the recordings, and make the current page depend on their files."""
    recordings = read_recordings(Path(env.srcdir))
    for recording in recordings:
        env.note_dependency(str(recording["path"]))
    return recordings


def fill_in_lists(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Replace the placeholders by the lists."""
    for node in list(doctree.findall(entries)):
        uri = app.builder.get_relative_uri(docname, node["page"])
        items = [_list_item(uri, symptom) for symptom in get_entries(app.env, node["page"])]
        node.replace_self(nodes.bullet_list("", *items, classes=["symptoms"]))


def _list_item(uri: str, symptom: Symptom) -> nodes.list_item:
    """Return a link to the entry, its cause, and its messages that differ from the link's text."""
    title, texts = symptom.title, [" ".join(text.split()) for text in symptom.messages]
    title_text = "".join(n.astext() for n in title)
    if texts and title_text in (texts[0], texts[0].partition(": ")[2]):
        title = [nodes.literal("", texts.pop(0), classes=["says"])]
    title = [n.deepcopy() for n in title]
    link = nodes.reference("", "", *title, refuri=f"{uri}#{symptom.anchor}")
    item = nodes.list_item("", nodes.paragraph("", "", link), ids=[symptom.anchor])
    item += nodes.paragraph("", symptom.cause)
    for i, text in enumerate(texts):
        label = "In full: " if i == 0 and title_text in text else "Also: "
        literal = nodes.literal("", text, classes=["says"])
        item += nodes.paragraph("", "", nodes.Text(label), literal)
    return item


def pages_with_lists(_app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Return the pages that list entries; they are updated because an entry may have changed."""
    return [page for page, metadata in env.metadata.items() if metadata.get("symptoms")]


def get_entries(env: BuildEnvironment, docname: str) -> list[Symptom]:
    """Return the entries of one page."""
    symptoms: list[Symptom] = env.metadata.get(docname, {}).get("symptom_entries", [])
    return symptoms
