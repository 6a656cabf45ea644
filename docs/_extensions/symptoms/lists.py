"""Directives for the lists of entries of the symptom pages, which are sections of these pages."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.locale import _
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from _extensions.recorded_errors import read_recordings, same_message
from _extensions.symptoms.versions import insert_versions
from _extensions.tables import build_table

LOG = logging.getLogger(__name__)
FOLDER = "symptoms/"


class Symptom(NamedTuple):
    """An entry as it is listed."""

    anchor: str
    title: Sequence[nodes.Node]
    cause: str
    messages: list[str]


class entries(nodes.General, nodes.Element):  # noqa: N801  # docutils names its nodes so
    """Placeholder for a list of entries."""


class Entries(SphinxDirective):
    """``{symptom-entries} PAGE``: links to all entries of a page, or to each ``PAGE#ANCHOR``."""

    optional_arguments: ClassVar[int] = 1
    has_content: ClassVar[bool] = True

    def run(self) -> list[nodes.Node]:
        """Return a placeholder, which ``fill_in_lists`` replaces."""
        self.env.metadata[self.env.current_document.docname]["symptoms"] = True
        return [entries(names=list(self.content) or self.arguments, whole=bool(self.arguments))]


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
        messages = list[str]()
        for text in texts:
            messages += [] if any(same_message(text, m) for m in messages) else [text]
        first = section.next_node(nodes.paragraph)
        causes = section.next_node(nodes.enumerated_list)
        if first is None or causes is None:
            problem = "an entry begins with a sentence, and its causes are a numbered list"
            LOG.warning(problem, location=section)
            continue
        section["classes"].append("symptom")
        heading = str(_("Cause:") if len(causes) == 1 else _("Causes:"))
        section.insert(section.index(causes), nodes.paragraph("", heading))
        anchor = next(name for name in section["ids"] if not name.startswith("symptom-"))
        cause = first.astext().splitlines()[0]
        symptoms.append(Symptom(anchor, section[0].deepcopy().children, cause, messages))


def _load_recordings(env: BuildEnvironment) -> list[dict[str, Any]]:
    """Return the recordings, and make the current page depend on their files."""
    recordings = read_recordings(Path(env.srcdir))
    for recording in recordings:
        env.note_dependency(str(recording["path"]))
    return recordings


def fill_in_lists(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Replace the placeholders by the lists."""
    for node in list(doctree.findall(entries)):
        items = []
        for name in node["names"]:
            page, _, anchor = f"{FOLDER}{name}".partition("#")
            uri = app.builder.get_relative_uri(docname, page)
            symptoms = get_entries(app.env, page)
            matches = [symptom for symptom in symptoms if anchor in ("", symptom.anchor)]
            if symptoms and not matches:
                LOG.warning(f"no symptom is named {name}", location=docname)
            for symptom in matches:
                title = [part.deepcopy() for part in symptom.title]
                link = nodes.reference("", "", *title, refuri=f"{uri}#{symptom.anchor}")
                texts = [nodes.paragraph("", "", link), nodes.paragraph("", symptom.cause)]
                item = nodes.list_item("", *texts)
                if node["whole"]:  # other sites may link to the id in the list of a whole page
                    item["ids"].append(symptom.anchor)
                items.append(item)
        node.replace_self(nodes.bullet_list("", *items, classes=["symptoms"]))


def find_pages_with_lists(_app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Return the pages that list entries; they are updated because an entry may have changed."""
    return [page for page, metadata in env.metadata.items() if metadata.get("symptoms")]


def get_entries(env: BuildEnvironment, docname: str) -> list[Symptom]:
    """Return the entries of one page."""
    return list(env.metadata.get(docname, {}).get("symptom_entries", []))
