"""What a page has to keep to, read from its source: nothing is run, and no page is named here.

Each rule yields findings: the line, what stands there, why that is wrong and how to mend it.
"""

import ast
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import yaml
from claims.cells import kinds_of, name_of, parsed
from markdown_it import MarkdownIt
from myst_nb.core.read import is_myst_markdown_notebook, read_myst_markdown_notebook

from rules.cell_rules import calls, in_cell, is_seeded, names_in

HOLLOW = ("simply", "obviously", "of course", "seamless", "powerful", "blazing", "in vain")
TIME = re.compile(
    r"\d[\d.,]* ?(ns|µs|us|ms|seconds|minutes)\b|\d[\d.,]*( ?×| times) (faster|slower)"
)
EQUAL = re.compile(r"bitwise equal|(equal|same|agree) in every bit|bit for bit|the same bits")
REPEATS = ("remember", "exercise", "solution", "where it matters", "sources", "can now say")
HEADS = ("h1", "h2", "h3")
LONGEST = 15


class Finding(NamedTuple):
    """One thing to mend on a page."""

    line: int
    rule: str
    says: str


class Cell(NamedTuple):
    """A cell of code on a page, and the line of its first word."""

    line: int
    tags: list[str]
    options: dict[str, Any]
    code: str


def head_of(text: str) -> dict[str, Any]:
    """Give the front matter of a page."""
    head = yaml.safe_load(text.split("---\n")[1]) if text.startswith("---\n") else None
    return head or {}


def findings(text: str, *, taught: bool = True) -> list[Finding]:
    """Read a page and give what is to be mended, but what its front matter excuses.

    A page that teaches also has to name a source.
    """
    head = head_of(text)
    excused = head.get("excused", {})
    found = [*_of_head(head, text, taught), *_of_prose(text)]
    if is_myst_markdown_notebook(text):
        cells = list(cells_of(text))
        found += [*_of_cells(cells), *_unproved(text, cells)]
        if head.get("measures") and not any(calls(c.code, {"set_num_threads"}) for c in cells):
            says = "it measures and leaves torch's threads to the machine; set_num_threads(1) first"
            found.append(Finding(1, "threads", says))
    for rule in {*excused} - {each.rule for each in found} - {"slow"}:  # told by the clock
        says = f"{rule!r} is excused, and nothing here breaks such a rule; drop the excuse"
        found.append(Finding(1, "excuse", says))
    return sorted({f for f in found if f.rule not in excused})


def cells_of(text: str) -> Iterator[Cell]:
    """Give the cells of code with their lines."""
    page, lines = read_myst_markdown_notebook(text, add_source_map=True), text.splitlines()
    for cell, line in zip(page.cells, page.metadata["source_map"], strict=True):
        if cell.cell_type == "code" and cell.source:
            begin = lines.index(cell.source.splitlines()[0], line)  # below its options
            yield Cell(begin + 1, cell.metadata.get("tags", []), cell.metadata, cell.source)


def prose_of(text: str) -> Iterator[tuple[int, str, str]]:
    """Give line, kind of block and words of everything that is neither code nor a directive."""
    body = re.sub(r"\A---\n.*?\n---\n", lambda m: "\n" * m[0].count("\n"), text, flags=re.DOTALL)
    kind = ""
    for token in MarkdownIt().enable("table").parse(body):
        kind = token.tag if token.type.endswith("_open") else kind
        if token.type == "inline" and token.map:
            line, words = token.map[0] + 1, ""
            for part in token.children or []:
                if part.type in ("softbreak", "hardbreak"):
                    yield line, kind, words
                    line, words = line + 1, ""
                words += part.content if part.type == "text" else " "
            yield line, kind, words
        elif token.type == "fence" and token.map:
            yield token.map[0] + 1, "fence", token.info


def _of_head(head: dict[str, Any], text: str, taught: bool) -> Iterator[Finding]:
    if not (head.get("myst") or {}).get("html_meta", {}).get("description"):
        yield Finding(
            1,
            "description",
            "no description in the front matter, which search engines "
            "show; add `myst: html_meta: description:` with one sentence",
        )
    if taught and not re.search(r"{cite|https?://|{class}`|{func}`", text):
        yield Finding(
            1,
            "source",
            "no source is named, so nobody can look further; cite one from docs/references.bib",
        )


def _of_prose(text: str) -> Iterator[Finding]:
    for line, kind, words, title in _titled(list(prose_of(text))):
        code = kind == "fence" and words.split()[:1] in (["python"], ["py"], ["ipython3"])
        if code and not _repeats(title):
            yield Finding(
                line,
                "never-run",
                "this code is never run, so it may be wrong; make it a {code-cell}",
            )
        if kind == "fence" or words.lstrip().startswith(":"):
            continue
        if time := TIME.search(words):
            yield Finding(
                line,
                "typed-time",
                f"the time {time[0]!r} is typed, and true nowhere "
                "else; measure it in a cell and glue it",
            )
        for word in HOLLOW:
            if re.search(rf"\b{word}\b", words, re.IGNORECASE):
                yield Finding(line, "hollow", f"{word!r} tells a reader nothing; leave it out")


def _of_cells(cells: list[Cell]) -> Iterator[Finding]:
    seeded = False
    for index, cell in enumerate(cells):
        proofs = (near.code for near in cells[index : index + 3] if kinds_of(near.code))
        asserted = set().union(*(names_in(parsed(code)) for code in proofs))
        for offset, rule, says in in_cell(cell.code, seeded=seeded, asserted=asserted):
            yield Finding(cell.line + offset, rule, says)
        seeded = seeded or is_seeded(cell.code)
        hidden = {"check", "setup", "hide-cell", "hide-input", "remove-input", "remove-cell"}
        figure = cell.options.get("mystnb", {}).get("figure", {})
        if not hidden & set(cell.tags) and not figure:
            count = sum(bool(line.strip()) for line in cell.code.splitlines())
            if count > LONGEST:
                yield Finding(
                    cell.line,
                    "long",
                    f"{count} lines of open code, of which readers "
                    f"follow {LONGEST}; move part into the package or a setup cell",
                )
        if "skip-execution" in cell.tags and "recorded" not in cell.tags:
            yield Finding(
                cell.line,
                "never-run",
                "this cell is never run, so it may be wrong; drop the tag skip-execution",
            )
        if _draws(cell.code) and not figure.get("caption"):
            yield Finding(
                cell.line,
                "caption",
                "this figure has no caption, which is read alone; "
                "add `mystnb: figure: caption:` and a name",
            )


def _draws(code: str) -> bool:
    """Tell whether the last line of a cell shows a figure of the package."""
    body = parsed(code).body
    last = body[-1] if body else None
    call = last.value if isinstance(last, ast.Expr) else None
    return isinstance(call, ast.Call) and name_of(call).startswith("draw_")


def _unproved(text: str, cells: list[Cell]) -> Iterator[Finding]:
    """Find equalities in a section without a check; what opens a page is proved below it."""
    proofs = [c.line for c in cells if kinds_of(c.code) or "raises-exception" in c.tags]
    words = list(prose_of(text))
    heads = [line for line, kind, _ in words if kind in HEADS]
    for line, kind, said, title in _titled(words):
        if kind in (*HEADS, "fence") or not EQUAL.search(said) or _repeats(title):
            continue
        begin = max((at for at in heads if at <= line), default=0)
        opens = begin == min(heads, default=0)
        end = next((at for at in heads if at > line and not opens), float("inf"))
        if not any(begin < proof < end for proof in proofs):
            yield Finding(
                line,
                "unproved",
                "an equality of bits is claimed and no check stands "
                "in this section; add a cell tagged check below it",
            )


def _titled(words: list[tuple[int, str, str]]) -> Iterator[tuple[int, str, str, str]]:
    """Add to each line of prose the title of its section."""
    title = ""
    for line, kind, said in words:
        title = said if kind in HEADS else title
        yield line, kind, said, title


def _repeats(title: str) -> bool:
    """Tell whether a section only repeats or asks what others show."""
    return any(word in title.lower() for word in REPEATS)
