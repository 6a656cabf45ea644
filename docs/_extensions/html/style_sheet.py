"""One small style sheet of many: without what no page uses, right on paper and without scripts.

Only text goes in and comes out; ``site_files.py`` reads and writes the files.
"""

import re
from collections.abc import Iterable, Iterator

import tinycss2
from tinycss2 import ast

NESTING = {"media", "supports", "layer", "container"}
PROPERTY = re.compile(r"--[\w-]+")
ROOT = r"(?:\bhtml|:is\(html, ?body\))"  # as the theme and MyST-NB name it
LIGHT = re.compile(rf"""{ROOT}\[data-theme=["']?light["']?\]""")
DARK = re.compile(rf"""{ROOT}\[data-theme=["']?dark["']?\]""")
CHOSEN = re.compile(rf"{ROOT}\[data-theme\]")


def names_in(html: str) -> set[str]:
    """Return the classes, ids, elements and custom properties that a page names."""
    attributes = " ".join(re.findall(r'\b(?:class|id)="([^"]*)"', html)).split()
    return {*attributes, *re.findall(r"<([a-zA-Z][\w-]*)", html), *PROPERTY.findall(html)}


def words_in(script: str) -> set[str]:
    """Return every word of a script, since any may be a name that it adds."""
    return set(re.findall(r"[\w-]+", script))


def purge(css: str, used: set[str]) -> str:
    """Keep the rules that can apply, then the custom properties and keyframes that they name."""
    rules = list(_rules(tinycss2.parse_stylesheet(css, True, True), used))
    while True:
        text = "".join(rules)
        named = used | set(re.findall(r"var\(\s*(--[\w-]+)", text))
        kept = [_without_unnamed(rule, named, text) for rule in rules]
        if kept == rules:
            return text
        rules = kept


def _rules(parsed: Iterable[ast.Node], used: set[str]) -> Iterator[str]:
    """Give the text of each rule that can apply."""
    for rule in parsed:
        if isinstance(rule, ast.QualifiedRule):
            matching = [text for text, parts in _selectors(rule.prelude) if _applies(parts, used)]
            body = _declarations(rule.content)
            if matching and body:
                yield from _in_both_schemes(matching, body)
        elif isinstance(rule, ast.AtRule) and rule.content is None:
            if rule.lower_at_keyword != "charset":
                yield f"@{rule.at_keyword}{_text(rule.prelude)};"
        elif isinstance(rule, ast.AtRule) and rule.lower_at_keyword in NESTING:
            inner = tinycss2.parse_blocks_contents(rule.content, True, True)
            if text := "".join(_rules(inner, used)):
                yield f"@{rule.lower_at_keyword}{_text(rule.prelude)}{{{text}}}"
        elif isinstance(rule, ast.AtRule):
            yield f"@{rule.at_keyword}{_text(rule.prelude)}{{{_text(rule.content)}}}"
        elif isinstance(rule, ast.ParseError):
            raise ValueError(
                f"line {rule.source_line} of a style sheet cannot be read: {rule.message}; "
                "expected rules of CSS, see the style sheets in docs/_static."
            )


def _selectors(prelude: list[ast.Node]) -> Iterator[tuple[str, list[ast.Node]]]:
    """Split a list of selectors at its commas."""
    parts: list[ast.Node] = []
    for token in [*prelude, None]:
        if token is None or token == ",":
            yield _text(parts).strip(), parts
            parts = []
        else:
            parts.append(token)


def _applies(selector: list[ast.Node], used: set[str]) -> bool:
    """Say whether all names outside of parentheses and brackets are used; states always are."""
    before = ""
    for token in selector:
        named = isinstance(token, ast.HashToken | ast.IdentToken) and before != ":"
        if named and token.value not in used:
            return False
        before = token.value if isinstance(token, ast.LiteralToken) else ""
    return True


def _in_both_schemes(selectors: list[str], body: str) -> Iterator[str]:
    """Let the light rules hold on paper too, and the dark ones without scripts where asked for."""
    plain = [CHOSEN.sub("html:is([data-theme],:root)", text) for text in selectors]
    dark = [text for text in plain if DARK.search(text)]
    light = [text for text in plain if LIGHT.search(text)]
    rest = [LIGHT.sub("html:not([data-theme=dark])", text) for text in plain if text not in dark]
    if rest:
        yield f"{','.join(rest)}{{{body}}}"
    if light:
        on_paper = (LIGHT.sub("html[data-theme=dark]", text) for text in light)
        yield f"@media print{{{','.join(on_paper)}{{{body}}}}}"
    if dark:
        unset = (DARK.sub("html:not([data-theme])", text) for text in dark)
        yield f"@media screen{{{','.join(dark)}{{{body}}}}}"
        asked = "@media screen and (prefers-color-scheme:dark)"
        yield f"{asked}{{{','.join(unset)}{{{body}}}}}"


def _declarations(content: list[ast.Node]) -> str:
    """Write a rule's body without comments and needless space."""
    found = []
    for part in tinycss2.parse_blocks_contents(content, True, True):
        if isinstance(part, ast.Declaration):
            value = f"{part.name}:{_text(part.value).strip()}"
            found.append(f"{value}!important" if part.important else value)
        elif not isinstance(part, ast.ParseError):
            found.append(_text([part]))
    return ";".join(found)


def _without_unnamed(rule: str, named: set[str], text: str) -> str:
    """Drop custom properties that nothing reads, and fonts and keyframes that nothing names."""
    if found := re.match(r"@(?:-webkit-)?keyframes\s+([\w-]+)", rule):
        return rule if re.search(rf"animation[\w-]*:[^;}}]*\b{found[1]}\b", text) else ""
    if rule.startswith("@font-face"):
        return rule

    def keep(found: re.Match[str]) -> str:
        return found.group() if found[2] in named else found[1]

    rule = re.sub(r"([{;])(--[\w-]+):(?:[^;{}\"']|\"[^\"]*\"|'[^']*')*(?=[;}])", keep, rule)
    rule = re.sub(r"([{;]);+", r"\1", rule).replace(";}", "}")
    while re.search(r"[^{}]*\{\}", rule):
        rule = re.sub(r"[^{}]*\{\}", "", rule)
    return rule


def _text(tokens: list[ast.Node]) -> str:
    """Write tokens with single spaces and no comments."""
    plain = [token for token in tokens if not isinstance(token, ast.Comment)]
    return re.sub(r"\s+", " ", tinycss2.serialize(plain))
