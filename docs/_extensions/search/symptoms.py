"""Lists the entries of the symptom pages, with the words of other versions, and finds pasted ones.

An entry is a section of a page in ``symptoms/``. Its errors are those that its cells expect, which
``checks.py`` compares with what torch said; so no text stands anywhere twice.
"""

from pathlib import Path
from typing import Any, ClassVar

from claims.sentence import CODE
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from search.words import recordings, release, same_words, spans

LOG = logging.getLogger(__name__)
FOLDER = "symptoms/"
BOX = """\
<div class="symptom-box">
<label for="symptom-text">Paste an error, a whole traceback, or a few words</label>
<textarea id="symptom-text" rows="5" autocomplete="off" spellcheck="false"
 aria-describedby="symptom-note"></textarea>
<p id="symptom-note">It is compared with the entries below, in your browser, and sent nowhere.</p>
<p class="symptom-status" role="status" aria-live="polite"></p>
<pre class="symptom-line" hidden></pre>
<ol class="symptom-found symptoms"></ol>
</div>
"""


class Box(SphinxDirective):
    """``{symptom-box}``: where a traceback is pasted; its style hides it where no script runs."""

    has_content: ClassVar[bool] = False

    def run(self) -> list[nodes.Node]:
        """Leave the box, and note that this page wants the script."""
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

    has_content: ClassVar[bool] = False

    def run(self) -> list[nodes.Node]:
        """Give the table."""
        names = ("torch", "python", "scipy", "system", "made")
        found = recordings(Path(self.env.srcdir))
        for recording in found:
            self.env.note_dependency(str(recording["path"]))
        return [_table(list(names), [[str(r[name]) for name in names] for r in found], "versions")]


def read_page(app: Sphinx, doctree: nodes.document) -> None:
    """Note the entries of one page, and say under each error how other versions word it."""
    docname = app.env.current_document.docname
    if not docname.startswith(FOLDER):
        return
    recorded = recordings(Path(app.env.srcdir))
    for recording in recorded:
        app.env.note_dependency(str(recording["path"]))
    noted = _entries_of(app.env)[docname] = []
    for section in doctree.findall(nodes.section):
        if not isinstance(section.parent, nodes.section):
            continue
        says = []
        for cell in [n for n in section.findall(nodes.container) if n.get("nb_element") == CODE]:
            says += _words_of(cell, recorded)
        says += [said.astext() for said in section.findall(_is_said)]
        first = next((n for n in section.children if isinstance(n, nodes.paragraph)), None)
        causes = next((n for n in section if isinstance(n, nodes.enumerated_list)), None)
        title = section[0].deepcopy()
        if first is None or causes is None:
            if title.astext() != "Exercise":
                complaint = "an entry begins with a sentence, and its causes are a numbered list"
                LOG.warning(complaint, location=section)
            continue
        section["classes"].append("symptom")
        head = "Cause:" if len(causes) == 1 else "Causes, the likeliest first:"
        section.insert(section.index(causes), nodes.paragraph("", head))
        cause = first.astext().splitlines()[0]
        anchor = next(name for name in section["ids"] if not name.startswith("symptom-"))
        noted.append((anchor, title.children, cause, _distinct(says)))


def _distinct(says: list[str]) -> list[str]:
    """Leave out texts that differ from an earlier one by their numbers alone."""
    return [s for i, s in enumerate(says) if not any(same_words(s, each) for each in says[:i])]


def _is_said(node: nodes.Node) -> bool:
    return isinstance(node, nodes.literal) and "says" in node["classes"]


def _words_of(cell: nodes.Element, recorded: list[dict[str, Any]]) -> list[str]:
    """Give what a cell's error says, in every version, and write it under the cell."""
    metadata = cell["cell_metadata"]
    code = next(block.astext() for block in cell.findall(nodes.literal_block))
    tags = metadata.get("tags", [])
    if not {"whole", "recorded"} & set(tags):
        return []
    expected = str(metadata.get("expect", ""))
    found = spans(code, expected, recorded)
    library = "SciPy" if "scipy" in tags else "torch"  # whose words they are
    versions = (r[library.lower()].partition("+")[0] for r in recorded if code in r["said"])
    told = _told(found, expected, library, sorted(set(versions), key=release))
    place: nodes.Element = cell.parent if "check" in tags else cell
    shown: list[nodes.Node] = [told]
    if "recorded" in tags:
        shown.insert(
            0, nodes.paragraph("", "Recorded, not run in this build.", classes=["wordings"])
        )
    elif "remove-output" in tags:  # a message that goes on for pages is shown as far as compared
        shown.insert(0, nodes.literal_block("", expected, classes=["message"]))
    place.parent.insert(place.parent.index(place) + 1, shown)
    return [text for text in (expected, *(words for _, _, words in found)) if ": " in text]


def _told(
    found: list[tuple[str, str, str]], expected: str, library: str, tried: list[str]
) -> nodes.Element:
    """Say since when and until when torch says what, of the versions tried."""
    if not found:
        return nodes.paragraph("", "Not tried with another torch yet.", classes=["wordings"])
    if len(found) == 1 and found[0][2] == expected:
        *before, last = tried
        names = f"{', '.join(before)} and {last}" if before else last
        return nodes.paragraph("", f"Worded so in {library} {names}.", classes=["wordings"])
    rows = [[a, b, "as above" if said == expected else said] for a, b, said in found]
    return _table(["since", "until", "worded as"], rows, "spans")


def resolve(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Put the lists in their places."""
    for place in list(doctree.findall(entries)):
        uri = app.builder.get_relative_uri(docname, place["page"])
        items = [_item(uri, *entry) for entry in _entries_of(app.env).get(place["page"], [])]
        place.replace_self(nodes.bullet_list("", *items, classes=["symptoms"]))


def _item(
    uri: str, anchor: str, title: list[nodes.Node], cause: str, says: list[str]
) -> nodes.list_item:
    """Give the link, the cause, and what the error says where the link does not."""
    texts = [" ".join(text.split()) for text in says]
    if texts and texts[0].partition(": ")[2] == "".join(n.astext() for n in title):
        title = [nodes.literal("", texts.pop(0), classes=["says"])]
    link = nodes.reference("", "", *(n.deepcopy() for n in title), refuri=f"{uri}#{anchor}")
    item = nodes.list_item("", nodes.paragraph("", "", link), ids=[anchor])
    item += nodes.paragraph("", cause)
    said = (nodes.literal("", text, classes=["says"]) for text in texts)
    item += [nodes.paragraph("", "", literal) for literal in said]
    return item


def _table(head: list[str], rows: list[list[str]], kind: str) -> nodes.table:
    group = nodes.tgroup("", *(nodes.colspec(colwidth=1) for _ in head), cols=len(head))
    group += nodes.thead("", _row(head))
    group += nodes.tbody("", *(_row(row) for row in rows))
    return nodes.table("", group, classes=["wordings", kind])


def _row(texts: list[str]) -> nodes.row:
    cells = (nodes.literal("", t) if ": " in t else nodes.Text(t) for t in texts)
    return nodes.row("", *(nodes.entry("", nodes.paragraph("", "", cell)) for cell in cells))


def rewrite(_app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Name the pages that list entries, since an entry may have changed."""
    return [page for page, facts in env.metadata.items() if facts.get("symptoms")]


def add_script(
    app: Sphinx, page: str, _template: str, _context: dict[str, Any], _tree: nodes.document | None
) -> None:
    """Load the script on the page with the box; no module, since browsers load none from a file."""
    if app.env.metadata.get(page, {}).get("symptoms"):
        app.add_js_file("symptoms.js", loading_method="defer")


def _entries_of(env: BuildEnvironment) -> dict[str, list[Any]]:
    if not hasattr(env, "lookup_symptoms"):
        env.lookup_symptoms = {}  # type: ignore[attr-defined]
    stored: dict[str, list[Any]] = env.lookup_symptoms  # type: ignore[attr-defined]
    return stored


def said_under(env: BuildEnvironment, docname: str) -> dict[str, list[str]]:
    """Give what the errors of one page say, by the anchors of their entries."""
    return {anchor: says for anchor, _, _, says in _entries_of(env).get(docname, [])}


def forget(_app: Sphinx, env: BuildEnvironment, docname: str) -> None:
    """Drop what was noted of a page that is read again or gone."""
    _entries_of(env).pop(docname, None)


def setup(app: Sphinx) -> dict[str, bool]:
    """Add the directives, and connect to reading, after the checks, and to writing."""
    app.add_node(entries)
    app.add_directive("symptom-box", Box)
    app.add_directive("symptom-entries", Entries)
    app.add_directive("symptom-versions", Versions)
    app.connect("doctree-read", read_page, priority=600)
    app.connect("env-purge-doc", forget)
    app.connect("env-updated", rewrite)
    app.connect("doctree-resolved", resolve)
    app.connect("html-page-context", add_script)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
