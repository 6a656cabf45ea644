"""Check that each translation keeps what its message names: roles, links, formulas, code, numbers.

Sphinx compares references only. What is missing or fuzzy is shown in English, and the build names
it; here a message is judged once it has a translation.
"""

import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from babel.messages.pofile import read_po

CATALOGS = Path(__file__).parent.parent / "locale"
PARTS = {  # in this order, each without those before
    "role": re.compile(r"\{([\w:]+)\}`(?:[^`<]*<([^`>]*)>|([^`]*))`"),
    "code": re.compile(r"`([^`]*)`"),
    "formula": re.compile(r"(?<![\\$])\$([^$]+)\$"),
    "link target": re.compile(r"\]\(([^)]*)\)"),
    "mark": re.compile(r"\]\{([^}]*)\}"),
    "value": re.compile(r"(\{\{ *\w+ *\}\}|\{\d+\}|%\(\w+\)s|<[^>]*>)"),
}
NUMBER = re.compile(r"(?<![A-Za-z\d.])[−-]?\d[\d,.]*(?<![,.])")
HAN = r"\u4e00-\u9fff"
WRONG = {
    "a half-width sign beside Chinese": re.compile(
        rf"[{HAN}][,;:!?]|[,;!?](?=[{HAN}])|[{HAN}]\.(?!\w)"
    ),
    "a blank between Chinese and other letters": re.compile(rf"[{HAN}] [\w`$]|[\w`$] (?=[{HAN}])"),
    "a straight quotation mark": re.compile(rf'[{HAN}]"|"(?=[{HAN}])'),
    "emphasis that stays literal: put the sign outside": re.compile(
        rf"[，。；：！？、]\*+(?=[{HAN}])"
    ),
    "a line break": re.compile(r"\n"),
}


def judge(message: str, translation: str) -> Iterator[str]:
    """Say what a translation has lost or added, and what its signs should be."""
    named, kept = _named(message), _named(translation)
    for kind, before in named.items():
        after = kept[kind]
        for part in before - after:
            yield f"the {kind} {part} is lost"
        for part in after - before:
            yield f"the {kind} {part} is not in the message"
    for kind, sign in WRONG.items():
        if found := sign.search(translation):
            yield f"{kind}, in {translation[max(found.start() - 8, 0) : found.end() + 8]!r}"


def _named(text: str) -> dict[str, Counter[str]]:
    """Return what a text names, of each kind; the title of a role may differ."""
    found = {}
    for kind, part in PARTS.items():
        groups = ([group for group in each.groups() if group] for each in part.finditer(text))
        found[kind] = Counter(" ".join(each) or "…" for each in groups)
        text = part.sub(" ", text)
    found["number"] = Counter(NUMBER.findall(text))
    return found


def findings(path: Path) -> Iterator[tuple[int, str]]:
    """Give the line and the fault of each message of a catalog."""
    with path.open("rb") as file:
        for message in read_po(file):
            if message.id and message.string and not message.fuzzy:
                for says in judge(str(message.id), str(message.string)):
                    yield message.lineno or 1, says


def main(*names: str) -> int:
    """Print the findings of these catalogs, or of all."""
    paths = [Path(name) for name in names] or sorted(CATALOGS.rglob("*.po"))
    found = [f"{path}:{line}: {says}" for path in paths for line, says in findings(path)]
    print("\n".join(found), end="\n" * bool(found))
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
