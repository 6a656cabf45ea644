"""Translations keep the markup of their messages, and faults of catalogs are findings."""

from io import BytesIO

import pytest
from _tools import lint_translations, translate

HEADER = 'msgid ""\nmsgstr "Content-Type: text/plain; charset=utf-8\\n"\n\n'


@pytest.mark.parametrize(
    ("message", "translation", "finding"),
    [
        ("a {term}`token`", "一个词元", "the role term token is missing"),
        ("a {term}`token`", "一个{term}`词元`", "the role term token is missing"),
        ("{glue:text}`n:.0f` rows", "若干行", "the role glue:text n:.0f is missing"),
        ("take $x_k$", "取$x_j$", "the formula x_k is missing"),
        ("[there](a.md)", "[那里](b.md)", "the link target b.md is not in the message"),
        ("120 phrases", "102个短语", "the number 120 is missing"),
        ("each row", "1行", "the number 1 is not in the message"),
        ("call it", "调用`F.one_hot`", "the code F.one_hot is not in the message"),
        ("[said {cite}`a`]{.cited}", "据说{cite}`a`", "the attribute .cited is missing"),
        ("row {0}", "行", "the placeholder {0} is missing"),
        ("row {0}", "{1}行", "the placeholder {1} is not in the message"),
        ("row {0}", "{0}{rows}行", "the placeholder {rows} is not in the message"),
        ("first, then", "先,后", "half-width punctuation"),
        ("the id", "这个 id", "a space between"),
        ("**So.** Then", "**于是。**然后", "emphasis that does not close"),
        ("one line", "一行\\n又一行", "a line break"),
    ],
)
def test_a_fault_of_a_translation_is_a_finding(tmp_path, message, translation, finding, capsys):
    """The finding names the line of the message."""
    catalog = tmp_path / "page.po"
    catalog.write_text(f'{HEADER}msgid "{message}"\nmsgstr "{translation}"\n', "utf-8")
    assert lint_translations.main(str(catalog)) == 1
    assert f"{catalog}:4: {finding}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("catalog", "line", "finding"),
    [
        (b'msgid "a"\nmsgstr "b"\n\nstray text\n', 7, "is no line of a catalog"),
        (b'msgid "a"\n<<<<<<< HEAD\nmsgstr "b"\n', 5, "is no line of a catalog"),
        (b'msgid "a"\nmsgstr b\n', 5, "is no line of a catalog"),
        (b'msgid "a\nmsgstr "b"\n', 4, "is no line of a catalog"),
        (b'msgid "a"\nmsgstr "\xff"\n', 5, "is no line of a catalog"),
        (b'msgid "a"\n\nmsgid "b"\nmsgstr "c"\n', 4, "missing msgstr"),
    ],
)
def test_a_broken_catalog_is_a_finding(tmp_path, catalog, line, finding, capsys):
    """Babel would skip such a line with a warning, or raise an error without the file."""
    path = tmp_path / "page.po"
    path.write_bytes(HEADER.encode() + catalog)
    assert lint_translations.main(str(path)) == 1
    (output,) = capsys.readouterr().out.splitlines()
    assert output.startswith(f"{path}:{line}: ")
    assert finding in output


def test_index_terms_without_a_translation_leave_a_catalog(tmp_path, monkeypatch):
    """Sentences stay, to be translated, and so do terms that have a translation."""
    monkeypatch.setattr(translate, "TEMPLATES", tmp_path)
    (tmp_path / "page.md").write_text("```{index} some term, a term\n```\nA sentence.\n", "utf-8")
    catalog = tmp_path / "page.po"
    messages = [("some term", "", 1), ("a term", "一个词", 1), ("A sentence.", "", 3)]
    parts = (f'#: page.md:{n}\nmsgid "{text}"\nmsgstr "{other}"\n' for text, other, n in messages)
    catalog.write_text(HEADER + "\n".join(parts), "utf-8")
    translate.drop_index_terms(catalog)
    left = {
        message.id for message in translate.read_po(BytesIO(catalog.read_bytes())) if message.id
    }
    assert left == {"a term", "A sentence."}
