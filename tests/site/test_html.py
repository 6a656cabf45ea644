"""The size of pages, their security policy, formulas, style sheets, and overridden templates."""

import base64
import gzip
import hashlib
import io
import posixpath
import re
from collections import Counter
from itertools import chain
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import unquote, urlsplit

import hypothesis.strategies as st
import pytest
from _extensions.html import site_files
from _extensions.html.fonts import find_signs
from _extensions.html.mathml import to_mathml
from _extensions.html.site_files import find_referenced_files
from _extensions.html.style_sheet import find_names_in_page, find_names_in_script, purge
from bs4 import BeautifulSoup
from fontTools.ttLib import TTFont
from hypothesis import given
from served import ROOT

FIRST_VISIT_KB, NEXT_VISIT_KB = 120, 36
SITE_MB = 13.0  # of the site in all languages
LOADED = "script[src], link[rel=stylesheet], link[rel=icon], link[rel=preload], img[src]"


def _loaded_files(path: Path, page: BeautifulSoup) -> set[Path]:
    """Return the files that a page and its style sheets load, all of which exist on this host."""
    addresses = {(path, node.get("src") or node["href"]) for node in page.select(LOADED)}
    sheets = {path.parent / urlsplit(text).path for _, text in addresses if ".css" in text}
    for sheet in sheets:
        pattern = r"url\(\s*[\"']?([^\"')]+)"
        addresses |= {(sheet, text) for text in re.findall(pattern, sheet.read_text("utf-8"))}
    files = set()
    for source, text in addresses:
        if not text.startswith(("data:", "#")):
            target = urlsplit(text)
            assert not target.netloc, f"{source} loads {text} from another host"
            files.add(Path(posixpath.normpath(source.parent / unquote(target.path))))
            assert all(file.is_file() for file in files), f"{source} loads {text}, which is missing"
    return files


def _compressed_kb(*paths: Path) -> float:
    """Return the size that a host sends."""
    return sum(len(gzip.compress(path.read_bytes(), 6)) for path in paths) / 1000


def test_a_first_visit_is_small_and_the_next_one_smaller(built):
    """With an empty cache a browser loads all files of a page, later those of this page only."""
    assert len(built) > 40
    files = {path: _loaded_files(path, page) for path, page in built.items()}
    uses = Counter(chain.from_iterable(files.values()))
    for path in built:
        # Every sum includes the style sheet and scripts.
        assert 20 < _compressed_kb(path, *files[path]) <= FIRST_VISIT_KB, path
        unshared = [file for file in files[path] if uses[file] == 1]
        if path.name != "search.html":  # only this page loads the search index
            assert _compressed_kb(path, *unshared) <= NEXT_VISIT_KB, path


def test_the_site_is_small_and_has_no_unused_files(site, built):
    """No source maps, and none of the theme's files that no page names."""
    sizes = [path.stat().st_size for path in site.rglob("*") if path.is_file()]
    assert sum(sizes) < SITE_MB * 1e6
    files = {path for path in (site / "_static").rglob("*") if path.is_file()}
    texts = [path.read_text("utf-8") for path in built]
    assert files == find_referenced_files(files, texts)
    assert not [path for path in files if path.suffix == ".map"]


def test_every_page_has_one_title_viewport_and_its_fonts(built):
    """The first page does not repeat the site's title, and text waits for no style sheet."""
    titles = [page.title.get_text() for page in built.values()]
    assert "Lookup ≡ Matmul" in titles
    assert len(set(titles)) == len(titles)
    for path, page in built.items():
        assert len(page.select("meta[name=viewport]")) == 1, path
        fonts = [Path(link["href"]).stem for link in page.select("link[rel=preload][as=font]")]
        italic = [] if path.stem == "search" else ["italic"]  # which has no text in italics
        assert fonts == ["regular", "bold", *italic], path
        assert italic or not page.select("em, cite, dfn, var"), path


def test_pages_run_no_scripts_but_their_own(built):
    """The policy precedes everything that it governs, and names the digest of each inline script."""
    for path, page in built.items():
        (tag,) = page.select('meta[http-equiv="Content-Security-Policy"]')
        policy = dict(part.split(maxsplit=1) for part in tag["content"].split("; "))
        assert policy["default-src"] == "'none'", path
        assert "unsafe" not in policy["script-src"] + policy["style-src"], path
        assert not re.search(r"https?:|\*", tag["content"]), path
        assert not tag.find_all_previous(["script", "link", "style"]), path
        scripts = page.select('script:not([src], [type="application/json"])')
        data = [node.string.encode() for node in scripts]
        digests = [base64.b64encode(hashlib.sha256(text).digest()).decode() for text in data]
        assert [f"'sha256-{digest}'" for digest in digests] == policy["script-src"].split()[1:]
        assert all(node.has_attr("defer") for node in page.select("script[src]")), path
        assert not page.select("style, iframe, object, embed"), path
        assert path.name == "404.html" or not page.base, path
        assert page.select_one('meta[name="description"]')["content"], path
        handlers = [name for node in page.find_all(True) for name in node.attrs if name[:2] == "on"]
        assert not handlers, path
        assert not page.select('[href^="javascript:"]'), path
        assert not page.select("link[rel=next], link[rel=prefetch]"), path  # the policy blocks them


def test_formulas_are_mathml_in_a_font_with_their_signs(site, built):
    """Each is one element without errors or LaTeX; Greek, sums and brackets are in the font."""
    formulas = [node for page in built.values() for node in page.select(".math")]
    assert len(formulas) > 200
    for formula in formulas:
        assert len(formula.select("math")) == 1, formula
        assert not formula.select("merror"), formula
        assert not re.search(r"[\\$]|\^\{|_\{", formula.get_text()), formula
    sheet = (site / "_static" / "formulas.css").read_text("utf-8")
    data = base64.b64decode(re.search(r"base64,([^)]+)\)", sheet)[1])
    font = TTFont(io.BytesIO(data))
    assert find_signs(str(f.math) for f in formulas) <= set(font.getBestCmap())
    assert any(formula.msqrt for formula in formulas)
    assert ord("√") in font.getBestCmap()  # the text of <msqrt> lacks it
    assert "MATH" in font  # without this table brackets do not grow


def test_a_formula_that_cannot_be_converted_is_refused():
    """An unknown command, a printed height, a sign outside of the font, a root of the wrong size."""
    for latex in (r"\nothing{x}", r"a\\[1ex] b", r"\text{字}", r"\sqrt{\frac{a}{b}}"):
        with pytest.raises(Exception, match=r".+"):
            to_mathml(latex, display=True)


PURGED = [
    ("p{color:red}", "p{color:red}"),
    (".a, .gone{color:red}", ".a{color:red}"),
    (".gone p, #gone, video{color:red}", ""),
    (".by-script{color:red}", ".by-script{color:red}"),
    ("@media print{.gone{color:red}.a{top:0}}", "@media print{.a{top:0}}"),
    ("p{--x:1;--y:2;color:var(--y)}", "p{--y:2;color:var(--y)}"),
    ("p{--of-page:1}", "p{--of-page:1}"),
    ("@keyframes turn{to{top:0}}", ""),
    (
        "html[data-theme=light] p{color:red}",
        "html:not([data-theme=dark]) p{color:red}@media print{html[data-theme=dark] p{color:red}}",
    ),
    (
        'html[data-theme="dark"] p{color:red}',
        '@media screen{html[data-theme="dark"] p{color:red}}'
        "@media screen and (prefers-color-scheme:dark){html:not([data-theme]) p{color:red}}",
    ),
    ("html[data-theme] p{color:red}", "html:is([data-theme],:root) p{color:red}"),
]


@pytest.mark.parametrize(("css", "expected"), PURGED)
def test_rules_that_cannot_apply_are_dropped(css, expected):
    """Names in parentheses do not count, and both schemes apply in print and without scripts."""
    page = find_names_in_page('<html><p class="a" style="top: var(--of-page)"></p></html>')
    script = find_names_in_script('p.classList.add("by-script")')
    assert purge({"a.css": css}, page | script) == expected


RULE = st.builds(
    "{}{{{}}}".format,
    st.sampled_from([".a", ".a:hover p", "#b", ".gone", ".gone, .a", "p::before"]),
    st.sampled_from(["top:1px", "top:1px;left:2px", 'content:"}"', "background:url(data:a)"]),
)
RULES = st.lists(RULE | RULE.map("@media print{{{}}}".format), min_size=1, max_size=6)


@given(RULES)
def test_purging_keeps_each_rule_by_itself(rules):
    """Whatever rules precede or follow one, it is kept or dropped alike, and purging is stable."""
    used = {"a", "b", "p"}
    text = purge({"a.css": "\n".join(rules)}, used)
    assert text == "".join(purge({"a.css": rule}, used) for rule in rules)
    assert purge({"a.css": text}, used) == text


@given(RULES, st.data())
def test_an_unbalanced_brace_is_refused(rules, data):
    """A browser would drop the next rule, so the error names the sheet and the line."""
    line = data.draw(st.integers(1, len(rules)))
    rules = [*rules, ".a{top:1px}"]
    stray = [rule + " }" * (number == line) for number, rule in enumerate(rules, 1)]
    with pytest.raises(ValueError, match=rf"a\.css, line {line}: "):
        purge({"b.css": "p{top:1px}", "a.css": "\n".join(stray)}, {"a"})
    unclosed = [rule[: len(rule) - (number == line)] for number, rule in enumerate(rules, 1)]
    with pytest.raises(ValueError, match=r"a\.css lacks a closing brace"):
        purge({"a.css": "\n".join(unclosed)}, {"a"})


def test_style_sheets_are_requested_before_scripts_and_fonts(built):
    """Otherwise these can hold all connections of a browser, and the page is painted later."""
    for page in built.values():
        expected = ["style.css", "formulas.css"] if page.math else ["style.css"]
        requests = page.head.select("link[rel=stylesheet], link[rel=preload], script[src]")
        for request, name in zip(requests, expected, strict=False):
            assert f"_static/{name}?" in str(request)
        assert not page.body.select("link[rel=stylesheet]")


def test_style_sheets_follow_the_names_on_pages(tmp_path):
    """That is, a class, a sign of a formula or a rule that no earlier page had."""
    config = SimpleNamespace(language="en")
    app = SimpleNamespace(outdir=tmp_path, builder=SimpleNamespace(name="html"), config=config)
    (sheet := tmp_path / "_static" / "own.css").parent.mkdir()

    def build(body: str, rules: str = ".a{top:1px}.b{top:2px}") -> str:
        sheet.write_text(rules, "utf-8")  # Sphinx copies it in each build
        page = f'<link href="_static/own.css" /><p class="{body}'
        (tmp_path / "page.html").write_text(page, "utf-8")
        site_files.write_style_sheets(app, None)
        return (tmp_path / "_static" / "style.css").read_text("utf-8")

    assert ".b{" not in build('a">')
    assert ".b{top:2px}" in build('b">')
    assert ".b{top:3px}" in build('b">', ".b{top:3px}")
    fonts = set()
    for sign in "αζ":
        build(f'b"><math>{sign}</math>')
        fonts.add((tmp_path / "_static" / "formulas.css").read_text("utf-8"))
    assert len(fonts) == 2
    (tmp_path / "_static" / "style.css").write_text("", "utf-8")  # an interrupted build
    assert ".b{" in build('b">')


def test_the_templates_fit_the_pinned_themes():
    """They override parts of these versions; after an update, review each and name the new ones."""
    pins = (ROOT / "constraints.txt").read_text("utf-8")
    layout = (ROOT / "docs" / "_templates" / "layout.html").read_text("utf-8")
    for name in ("sphinx", "pydata-sphinx-theme", "sphinx-book-theme"):
        (version,) = re.findall(rf"^{name}==(.+)$", pins, re.MULTILINE)
        assert f"{name} {version}" in layout
