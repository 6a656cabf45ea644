"""Words of the entries of the index, as ``find.js`` reads them from a query, in a short code."""

import itertools
import re
from collections import Counter
from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

from sphinx.search import SearchLanguage

from _extensions.search.entries import Entry

# Words of questions that say nothing of their subject, each in its forms: the stems, too.
FILLERS = frozenset(
    """actual actually anybody anymore anyone anyway best bug clarif clarifi clarification clarify
    correct correctly currently done due error errors even exactly explain explained functional
    get gets getting got happen happened happening happens hello help hi importance inside issue
    issues just make makes making need needs nn non ok okay please possible problem problems
    proper properly pytorch question questions really seem seems simply solve still thank thanks
    tho torch tri tried try trying understanding versus vs want way work worked working works
    wrt""".split()  # noqa: SIM905
)
HAN = re.compile("[\u4e00-\u9fff]+")
FACTOR = re.compile(r"\d|[a-z]{2}$")
PARTICLES = re.compile("[的了则这那它们其此及或让把被就都很之在与]")  # no part of a word
NEGATION = re.compile(r"n['’]t\b")
STAR = re.compile(r"(?<=[A-Za-z])\*")  # V* is read as V star
PARTS = re.compile(r"(?<=[a-z])(?=[A-Z][a-z])|(?<=embedding)(?=bag)|(?<=one)(?=hot)")
TYPE = re.compile(r"^\w+: (?=.* .* )")  # of an error, before a message of several words
NUMBER_DIGITS = 5  # vocabulary sizes such as 50257; other numbers differ from error to error
MESSAGE_HEAD = 120  # characters of a message that are compared
MAX_ENTRIES = 7  # with a word in their text: more tell sections apart less than they cost bytes
FIRST_CHARACTER = 40  # above the quotes, which JSON would escape; find.js uses the same number


class EntryWords(NamedTuple):
    """The words of an entry."""

    names: list[list[str]]  # its title, label and index terms, each with its words in order
    errors: list[list[str]]  # its messages, if it is an error
    lead: set[str]  # other terms of its first paragraph
    body: set[str]  # other terms of its text


def read_entry(entry: Entry, language: SearchLanguage) -> EntryWords:
    """Return the words of an entry."""
    errors = [TYPE.sub("", message)[:MESSAGE_HEAD] for message in entry.messages]
    names = [read_words(name, language) for name in (entry.title, *entry.synonyms)]
    lead = read_terms(entry.text.partition("\n")[0], language).difference(*names)
    body = read_terms(entry.text, language).difference(lead, *names)
    return EntryWords(names, [read_words(error, language) for error in errors], lead, body)


def read_words(text: str, language: SearchLanguage) -> list[str]:
    """Return the words of a text: stems, and stop words as they are."""
    text = PARTS.sub(" ", STAR.sub(" star ", NEGATION.sub(" not", text)))
    # Chinese has no spaces between words, so pairs of characters are read.
    text = PARTICLES.sub(" ", text)
    text = HAN.sub(lambda run: f" {' '.join(map(''.join, itertools.pairwise(run[0])))} ", text)
    words = re.findall(r"[^\W_]+", text.lower())
    words = [word for word in words if not word.isdigit() or len(word) == NUMBER_DIGITS]
    return [_stem(word, language) if _is_content(word, language) else word for word in words]


def read_terms(text: str, language: SearchLanguage) -> set[str]:
    """Return the stems of a text, without stop words."""
    return {word for word in read_words(text, language) if _is_content(word, language)}


def encode_entries(entries: list[EntryWords]) -> tuple[str, list[list[str]]]:
    """Return all words, the most frequent first, and the code of each entry's words.

    A character is the number of a word, or in sets, to compress better, the difference to the last.
    """
    entries = _thin_out(entries)
    groups = [words for entry in entries for words in (*entry.names, *entry.errors, *entry[2:])]
    counts = Counter(itertools.chain.from_iterable(groups))
    numbers = {word: i for i, word in enumerate(sorted(counts, key=lambda w: (-counts[w], w)))}

    def encode(words: Iterable[str]) -> str:
        return "".join(chr(FIRST_CHARACTER + numbers[word]) for word in words)

    def encode_set(words: set[str]) -> str:
        steps = itertools.pairwise([-1, *sorted(numbers[word] for word in words)])
        return "".join(chr(FIRST_CHARACTER + end - start - 1) for start, end in steps)

    codes = []
    for entry in entries:
        lists = ["\n".join(map(encode, words)) for words in (entry.names, entry.errors)]
        codes.append([*lists, encode_set(entry.lead), encode_set(entry.body)])
    return " ".join(numbers), codes


def _thin_out(entries: list[EntryWords]) -> list[EntryWords]:
    """Return the entries without words that cost more bytes than they tell sections apart.

    Most pairs of Chinese characters that occur in one or two entries are no words, and neither are
    factors such as 2nd that occur in one.
    """
    counts = Counter(word for entry in entries for word in entry.body)
    leads = Counter(word for entry in entries for word in entry.lead)
    frequent = {word for word, count in counts.items() if count > MAX_ENTRIES and leads[word]}
    rare = {w for w, count in (counts + leads).items() if count == 1 and FACTOR.match(w)}
    rare |= {w for w, count in (counts + leads).items() if count <= 2 and HAN.match(w)}
    rest = frequent | rare
    return [e._replace(lead=e.lead - rare, body=e.body - rest) for e in entries]


def _is_content(word: str, language: SearchLanguage) -> bool:
    return len(word) > 1 and word not in language.stopwords


@cache  # most words occur on many pages
def _stem(word: str, language: SearchLanguage) -> str:
    """Return the same stem for British and American spelling, as ``find.js`` does."""
    return language.stem(re.sub(r"(?<=\w{3})our", "or", re.sub(r"z(?=[aei])", "s", word)))
