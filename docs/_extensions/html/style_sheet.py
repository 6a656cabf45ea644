"""Merge style sheets into one with only the rules of the site's pages, also for paper."""

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby

import tinycss2
from tinycss2 import ast

NESTING = {"media", "supports", "layer", "container"}
PROPERTY = re.compile(r"--[\w-]+")
WORD = re.compile(r"[\w-]+")
REFERENCE = re.compile(r"var\(\s*--[\w-]+|animation[\w-]*:[^;}]*")
ROOT = r"(?:\bhtml|:is\(html, ?body\))"  # as the theme and MyST-NB select it
LIGHT = re.compile(rf"""{ROOT}\[data-theme=["']?light["']?\]""")
DARK = re.compile(rf"""{ROOT}\[data-theme=["']?dark["']?\]""")
EITHER = re.compile(rf"{ROOT}\[data-theme\]")


def find_names_in_page(html: str) -> set[str]:
    """Return the classes, ids, elements and custom properties that a page uses."""
    attributes = " ".join(re.findall(r'\b(?:class|id)="([^"]*)"', html)).split()
    return {*attributes, *re.findall(r"<([a-zA-Z][\w-]*)", html), *PROPERTY.findall(html)}


def find_names_in_script(script: str) -> set[str]:
    """Return every word of a script, since each may be a name that it adds to a page."""
    return set(WORD.findall(script))


def purge(sheets: Mapping[str, str], used: set[str]) -> str:
    """Return the rules of style sheets, by their names, that apply to the names that are used.

    Custom properties and keyframes are kept if a remaining rule refers to them. A syntax error
    outside of a declaration raises ``ValueError``.
    """
    nodes = [node for name, css in sheets.items() for node in _parse(name, css)]
    text = ""
    remaining = "".join(sheets.values())
    while remaining != text:
        text = remaining
        references = used.union(*map(WORD.findall, REFERENCE.findall(text)))
        remaining = "".join(_write_rules(nodes, used, references))
    return text


def _parse(name: str, css: str) -> list[ast.Node]:
    """Parse a style sheet and raise on errors; a browser would drop the next rules silently."""
    # The parser closes open blocks, so one more brace is an error only if all are closed.
    *tokens, brace = tinycss2.parse_component_value_list(css + "}")
    if not isinstance(brace, ast.ParseError):
        raise ValueError(f"{name} lacks a closing brace")
    parsed: list[ast.Node] = tinycss2.parse_stylesheet(tokens, True, True)
    for node in parsed:
        for part in (node, *(getattr(node, "prelude", None) or ())):
            if isinstance(part, ast.ParseError):
                raise ValueError(f"{name}, line {part.source_line}: {part.message}")
    return parsed


def _write_rules(nodes: Iterable[ast.Node], used: set[str], references: set[str]) -> Iterator[str]:
    """Yield the text of each rule that can apply."""
    for node in nodes:
        if isinstance(node, ast.QualifiedRule):
            lists = groupby(node.prelude, key=lambda token: token == ",")
            selectors = [list(tokens) for is_comma, tokens in lists if not is_comma]
            matching = [_write_tokens(s).strip() for s in selectors if _can_apply(s, used)]
            if matching and (body := _write_declarations(node.content, references)):
                yield from _write_for_both_schemes(matching, body)
        if not isinstance(node, ast.AtRule):
            continue
        keyword = node.lower_at_keyword
        prelude = _write_tokens(node.prelude)
        if node.content is None:
            if keyword != "charset":
                yield f"@{keyword}{prelude};"
        elif keyword in NESTING:
            nested = tinycss2.parse_blocks_contents(node.content, True, True)
            if text := "".join(_write_rules(nested, used, references)):
                yield f"@{keyword}{prelude}{{{text}}}"
        elif not keyword.endswith("keyframes") or prelude.strip() in references:
            yield f"@{keyword}{prelude}{{{_write_tokens(node.content)}}}"


def _can_apply(selector: list[ast.Node], used: set[str]) -> bool:
    """Return whether all names outside of parentheses, brackets and states are used."""
    previous = ""
    for token in selector:
        is_name = isinstance(token, ast.HashToken | ast.IdentToken) and previous != ":"
        if is_name and token.value not in used:
            return False
        previous = token.value if isinstance(token, ast.LiteralToken) else ""
    return True


def _write_for_both_schemes(selectors: list[str], body: str) -> Iterator[str]:
    """Yield the rule with versions for print, which is light, and for pages without scripts."""
    plain = [EITHER.sub("html:is([data-theme],:root)", text) for text in selectors]
    dark = [text for text in plain if DARK.search(text)]
    light = [text for text in plain if LIGHT.search(text)]
    always = [LIGHT.sub("html:not([data-theme=dark])", text) for text in plain if text not in dark]
    if always:
        yield f"{','.join(always)}{{{body}}}"
    if light:
        on_paper = (LIGHT.sub("html[data-theme=dark]", text) for text in light)
        yield f"@media print{{{','.join(on_paper)}{{{body}}}}}"
    if dark:
        without_script = (DARK.sub("html:not([data-theme])", text) for text in dark)
        yield f"@media screen{{{','.join(dark)}{{{body}}}}}"
        system_is_dark = "@media screen and (prefers-color-scheme:dark)"
        yield f"{system_is_dark}{{{','.join(without_script)}{{{body}}}}}"


def _write_declarations(content: list[ast.Node], references: set[str]) -> str:
    """Return the body of a rule without comments, needless space and unused properties."""
    declarations = []
    for part in tinycss2.parse_blocks_contents(content, True, True):
        if isinstance(part, ast.Declaration):
            text = f"{part.name}:{_write_tokens(part.value).strip()}"
            if part.name in references or not PROPERTY.match(part.name):
                declarations.append(f"{text}!important" if part.important else text)
        elif not isinstance(part, ast.ParseError):
            declarations.append(_write_tokens([part]))
    return ";".join(declarations)


def _write_tokens(tokens: list[ast.Node]) -> str:
    """Return the text of tokens with single spaces and no comments."""
    without_comments = [token for token in tokens if not isinstance(token, ast.Comment)]
    return re.sub(r"\s+", " ", tinycss2.serialize(without_comments))
