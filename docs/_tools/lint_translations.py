"""Check that each translation keeps the roles, links, formulas, code and numbers of its message."""

import re
import sys
from collections import Counter
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

from babel.messages.pofile import PoFileError, read_po

CATALOGS = Path(__file__).parents[1] / "locale"
# Decoding replaces what is not UTF-8 with U+FFFD.
LINE = re.compile(r'\s*(#[^\ufffd]*|((msg\w+)(\[\d+\])? )?"([^"\\\ufffd]|\\.)*")?\s*')
MARKUP = {  # in this order, each matched in the text without those before
    "role": re.compile(r"\{([\w:]+)\}`(?:[^`<]*<([^`>]*)>|([^`]*))`"),
    "code": re.compile(r"`([^`]*)`"),
    "formula": re.compile(r"(?<![\\$])\$([^$]+)\$"),
    "link target": re.compile(r"\]\(([^)]*)\)"),
    "attribute": re.compile(r"\]\{([^}]*)\}"),
    "placeholder": re.compile(r"(\{\{ *\w+ *\}\}|\{\w*\}|%\(\w+\)s|<[^>]*>)"),
}
NUMBER = re.compile(r"(?<![A-Za-z\d.])[−-]?\d[\d,.]*(?<![,.])")
# English writes these values as words, Chinese as digits.
WORDS = {"0": re.compile(r"\bzeros?\b", re.I), "1": re.compile(r"\bones?\b", re.I)}
HAN = r"\u4e00-\u9fff"
TYPOGRAPHY = {
    "half-width punctuation beside Chinese": rf"[{HAN}][,;:!?]|[,;!?](?=[{HAN}])|[{HAN}]\.(?!\w)",
    "a space between Chinese and other letters": rf"[{HAN}] [\w`$]|[\w`$] (?=[{HAN}])",
    "a straight quotation mark": rf'[{HAN}]"|"(?=[{HAN}])',
    "emphasis that does not close; move the punctuation out": rf"[，。；：！？、…]\*+(?=[{HAN}])",
    "a line break": r"\n",
}


def compare(message: str, translation: str) -> Iterator[str]:
    """Yield the markup that a translation lost or added, and its faults of typography."""
    expected = _count_markup(message)
    actual = _count_markup(translation)
    for kind in expected:
        for part in expected[kind] - actual[kind]:
            yield f"the {kind} {part} is missing from the translation"
        for part in actual[kind] - expected[kind]:
            if kind == "number" and part in WORDS and WORDS[part].search(message):
                continue
            yield f"the {kind} {part} is not in the message"
    for fault, pattern in TYPOGRAPHY.items():
        if match := re.search(pattern, translation):
            yield f"{fault}, in {translation[max(match.start() - 8, 0) : match.end() + 8]!r}"


def _count_markup(text: str) -> dict[str, Counter[str]]:
    """Return the markup of a text by its kind; a role counts by its target, not its title."""
    counts = {}
    for kind, pattern in MARKUP.items():
        groups = (filter(None, match.groups()) for match in pattern.finditer(text))
        counts[kind] = Counter(" ".join(parts) or "…" for parts in groups)
        text = pattern.sub(" ", text)
    return counts | {"number": Counter(NUMBER.findall(text))}


def lint_catalog(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the line and the message of each finding in a catalog."""
    text = path.read_text("utf-8", errors="replace")
    malformed = [n for n, line in enumerate(text.split("\n"), 1) if not LINE.fullmatch(line)]
    for number in malformed:
        yield number, "this is no line of a catalog in UTF-8; quote the text or delete the line"
    if malformed:
        return
    try:
        catalog = read_po(StringIO(text), abort_invalid=True)
    except PoFileError as error:
        yield error.lineno + 1, str(error).rpartition(" on ")[0]
        return
    for message in catalog:
        if message.id and message.string and not message.fuzzy:
            for finding in compare(str(message.id), str(message.string)):
                yield message.lineno or 1, finding


def main(*names: str) -> int:
    """Print the findings in these catalogs, all by default, and return 1 if there are any."""
    paths = [Path(name) for name in names] or sorted(CATALOGS.rglob("*.po"))
    lines = [f"{path}:{line}: {message}" for path in paths for line, message in lint_catalog(path)]
    for line in lines:
        print(line)
    return int(bool(lines))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
