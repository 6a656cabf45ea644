"""Write an index of sections, glossary terms and functions, which replaces Sphinx's index of pages.

The search page and the page of symptoms load this index when their field is used. It is written as
scripts, because browsers do not let a page that is opened from a file fetch data.
"""

import itertools
import json
import re
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.search import IndexBuilder, SearchLanguage

from _extensions.search.entries import Entry, read_entries
from _extensions.symptoms.entries import get_entries

# They repeat text of other pages.
EXCLUDED_PAGES = {"bibliography", "build", "checked", "checked/other-pages", "checked/path"}
FINDER = "<!-- finder -->"  # the mark of a page that contains the field
SYNONYMS = Path(__file__).with_name("synonyms.txt")
HAN = re.compile("[\u4e00-\u9fff]{2,}")
NEGATION = re.compile(r"n['’]t\b")
STAR = re.compile(r"(?<=[A-Za-z])\*")  # V* is read as V star
PARTS = re.compile(r"(?<=[a-z])(?=[A-Z][a-z])|(?<=embedding)(?=bag)|(?<=one)(?=hot)")
SENTENCE = re.compile(r".+?[.?!。？！](?=\s|$)|.+")
TYPE = re.compile(r"^\w+: (?=.* .* )")  # of an error, before a message of several words
MESSAGE_HEAD = 120  # characters of a message that are compared
FIRST_CHARACTER = 40  # above the quotes, which JSON would escape; find.js uses the same number


def store_entries(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Store a page's entries next to its doctree, for builds that do not write the page again.

    This runs before the lists of symptoms and checks, which repeat other pages, are filled in.
    """
    if app.builder.format == "html" and docname not in EXCLUDED_PAGES:
        meta = doctree.findall(nodes.meta)
        description = " ".join(m["content"] for m in meta if m["name"] == "description")
        messages = {entry.anchor: entry.messages for entry in get_entries(app.env, docname)}
        entries = list(read_entries(doctree, messages))
        path = _entries_path(app, docname)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps([description, entries]), "utf-8")


def write_index(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Write the index and the pages' texts as scripts, and return the search page."""
    search = IndexBuilder(app.env, "en", {}, "")  # for Sphinx's stop words and stemmer
    search.lang.stopwords = search.lang.stopwords | {"versus", "vs"}
    labels = _labels(app.env)
    pages, texts = [], {}
    for docname in sorted(app.env.found_docs - EXCLUDED_PAGES):
        description, rows = json.loads(_entries_path(app, docname).read_text("utf-8"))
        entries = [Entry(*row) for row in rows]
        script = docname.replace("/", "-") + ".js"
        texts[script] = [entry.text for entry in entries]
        uri = app.builder.get_relative_uri("search", docname)
        label = [labels[docname]] if docname in labels else []
        rows = [
            [entry.anchor, entry.title, entry.parent]
            + _read_entry(entry, [] if i else label, "" if i else description, search.lang)
            for i, entry in enumerate(entries)
        ]
        pages.append([uri, script, rows])

    all_rows = [row for page in pages for row in page[2]]
    counts = Counter(
        word for row in all_rows for part in row[3:] for words in part for word in words
    )
    numbers = {word: i for i, word in enumerate(sorted(counts, key=lambda w: (-counts[w], w)))}
    for row in all_rows:
        names, errors, sets = row[3:]
        row[3:] = [
            "\n".join(_encode(numbers[word] for word in words) for words in part)
            for part in (names, errors)
        ]
        row += [_encode_steps(numbers[word] for word in words) for words in sets]
    titles = Counter(row[1] for row in all_rows)
    data = {
        "common": [title for title, count in titles.items() if count > 3],  # weigh less
        "pages": pages,
        "stopWords": sorted(search.lang.stopwords),
        "synonyms": SYNONYMS.read_text("utf-8"),
        "words": " ".join(numbers),
    }
    stemmer = search.get_js_stemmer_code()
    scripts = {
        "search-sections.js": f"{stemmer}\nsiteTexts = {{}};\nsiteSections = {_to_json(data)};"
    }
    for script, page_texts in texts.items():
        scripts[f"sections/{script}"] = f'siteTexts["{script}"] = {_to_json(page_texts)};'

    static = Path(app.outdir, "_static")
    shutil.rmtree(static / "sections", ignore_errors=True)
    (static / "sections").mkdir(parents=True)
    for name, script in scripts.items():
        (static / name).write_text(f"{script}\n", "utf-8")
    engine = Path(app.confdir, "_static", "find.js").read_text("utf-8")
    digest = sha256("\n".join([engine, *scripts.values()]).encode()).hexdigest()
    yield "search", {"title": "Search", "digest": digest[:8]}, "search.html"


def insert_finder(
    app: Sphinx, page: str, _template: str, context: dict[str, Any], _tree: nodes.document | None
) -> None:
    """Replace the mark of a page by the field of the search page, and load its script.

    It is not loaded as a module, which browsers do not load from a file.
    """
    if FINDER in context.get("body", ""):
        finder = app.builder.templates.render("finder.html", context | {"rows": 5})
        context["body"] = context["body"].replace(FINDER, finder)
    elif page != "search":
        return
    app.add_js_file("search.js", loading_method="defer")


def _labels(env: BuildEnvironment) -> dict[str, str]:
    """Return the short titles of pages in tables of contents."""
    trees = (tree for toc in env.tocs.values() for tree in toc.findall(addnodes.toctree))
    entries = (entry for tree in trees for entry in tree["entries"])
    return {docname: label for label, docname in entries if label}


def _to_json(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def _read_entry(
    entry: Entry, labels: list[str], description: str, language: SearchLanguage
) -> list[list[Iterable[str]]]:
    """Return the words of an entry's names, of its errors, and of its first sentence and other text."""
    names = [entry.title, *labels, *entry.synonyms]
    messages = [entry.title, *entry.messages] if entry.messages else []
    errors = [TYPE.sub("", message)[:MESSAGE_HEAD] for message in messages]
    sentence = SENTENCE.match(entry.text)
    lead = _terms(f"{sentence[0] if sentence else ''} {description}", language)
    body = _terms(f"{entry.text} {' '.join(entry.code)}", language) - lead
    return [
        [_read_words(name, language) for name in names],
        [_read_words(error, language) for error in errors],
        [lead, body],
    ]


def _read_words(text: str, language: SearchLanguage) -> list[str]:
    """Return the words of a text as ``find.js`` reads them: stems, and stop words as they are."""
    text = HAN.sub(_bigrams, PARTS.sub(" ", STAR.sub(" star ", NEGATION.sub(" not", text))))
    words = (word for word in re.findall(r"[^\W_]+", text.lower()) if not word.isdigit())
    return [_stem(word, language) if _is_content(word, language) else word for word in words]


def _terms(text: str, language: SearchLanguage) -> set[str]:
    """Return the stems of a text, and the pairs of words in its compound names."""
    terms = set()
    for name in re.findall(r"\w[\w*-]*", HAN.sub(_bigrams, text)):
        words = _read_words(name, language)
        terms |= {word for word in words if _is_content(word, language)}
        terms |= {f"+{a}{b}" for a, b in itertools.pairwise(words)}
    return terms


def _is_content(word: str, language: SearchLanguage) -> bool:
    return len(word) > 1 and word not in language.stopwords


def _bigrams(match: re.Match[str]) -> str:
    """Return the bigrams of Chinese characters, which are written without spaces between words."""
    return f" {' '.join(a + b for a, b in itertools.pairwise(match.group()))} "


@cache  # most words occur on many pages
def _stem(word: str, language: SearchLanguage) -> str:
    """Return the same stem for British and American spelling, as ``find.js`` does."""
    return language.stem(re.sub(r"(?<=\w{3})our", "or", re.sub(r"z(?=[aei])", "s", word)))


def _encode(numbers: Iterable[int]) -> str:
    """Return one character for each number."""
    return "".join(chr(FIRST_CHARACTER + number) for number in numbers)


def _encode_steps(numbers: Iterable[int]) -> str:
    """Return one character for each difference between sorted numbers, which compresses better."""
    return _encode(end - start - 1 for start, end in itertools.pairwise([-1, *sorted(numbers)]))


def _entries_path(app: Sphinx, docname: str) -> Path:
    return Path(app.doctreedir, f"{docname}.sections.json")


def pages_without_entries(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Return the pages without stored entries, as after a link check, which stores none."""
    docnames = env.found_docs - EXCLUDED_PAGES if app.builder.format == "html" else set()
    return sorted(name for name in docnames if not _entries_path(app, name).exists())


def disable_builtin_search(app: Sphinx) -> None:
    """Disable Sphinx's search index and search page."""
    if app.builder.format == "html":
        app.builder.search = False  # type: ignore[attr-defined]
