"""What a visit costs, what may run on a page, and what the templates of the theme rest on."""

import base64
import gzip
import hashlib
import io
import posixpath
import re
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import unquote, urlsplit

import pytest
from _extensions.html import site_files
from _extensions.html.fonts import signs
from _extensions.html.mathml import to_mathml
from _extensions.html.site_files import named
from _extensions.html.style_sheet import names_in, purge, words_in
from _extensions.paths import SECOND_LANGUAGE
from bs4 import BeautifulSoup
from fontTools.ttLib import TTFont
from served import ROOT

FIRST_KB, NEXT_KB, SITE_MB = 150, 40, 10
LOADED = "script[src], link[rel=stylesheet], link[rel=icon], link[rel=preload], img[src]"


@pytest.fixture(scope="module")
def files(site, built):
    """Give for every page the files that it loads, those that style sheets name among them."""
    return {path: _files_of(site, path, page) for path, page in built.items()}


def _files_of(site: Path, path: Path, page: BeautifulSoup) -> set[Path]:
    found = set()
    for node in page.select(LOADED):
        target = urlsplit(node.get("src") or node["href"])
        assert not target.netloc, f"{path} loads {target.geturl()} from another host"
        if target.scheme != "data":
            found.add(_existing(site, path.parent / unquote(target.path), path))
    for sheet in [file for file in found if file.suffix == ".css"]:
        for address in re.findall(r"url\(\s*[\"']?([^\"')]+)", sheet.read_text("utf-8")):
            if not address.startswith(("data:", "#")):
                assert not urlsplit(address).netloc, f"{sheet} loads {address} from another host"
                found.add(_existing(site, sheet.parent / urlsplit(address).path, sheet))
    return found


def _existing(site: Path, file: Path, where: Path) -> Path:
    file = Path(posixpath.normpath(file))
    assert file.is_file(), f"{where.relative_to(site)} loads {file}, which is not there"
    return file


def _packed_kb(*paths: Path) -> float:
    """Give the size as a host sends it, text compressed."""
    return sum(len(gzip.compress(path.read_bytes(), 6)) for path in paths) / 1000


def test_a_first_visit_is_light(built, files):
    """With a cold cache: the page and all that it loads."""
    weights = {str(path): _packed_kb(path, *files[path]) for path in built}
    assert len(weights) > 40
    assert {path: kb for path, kb in weights.items() if kb > FIRST_KB} == {}
    assert min(weights.values()) > 20  # nothing was left out of the sum


def test_a_next_visit_is_lighter(built, files):
    """With the files at hand that other pages load too: the page, and what it alone loads."""
    shared = [file for path in built for file in files[path]]
    for path in built:
        alone = [file for file in files[path] if shared.count(file) == 1]
        if path.name != "search.html":  # it alone has the index of all pages
            assert _packed_kb(path, *alone) <= NEXT_KB, path


def test_the_site_is_small_and_holds_nothing_unused(site, built):
    """No source maps, no fonts or scripts of the theme that no page names."""
    chinese = [path for path in (site / SECOND_LANGUAGE).rglob("*") if path.is_file()]
    english = [path for path in site.rglob("*") if path.is_file() and path not in chinese]
    for files in (english, chinese):
        assert sum(path.stat().st_size for path in files) < SITE_MB * 1e6
    there = {path for path in (site / "_static").rglob("*") if path.is_file()}
    texts = [path.read_text("utf-8") for path in built]
    assert there == named(there, texts)
    assert not [path for path in there if path.suffix == ".map"]


def test_pages_run_their_own_scripts_only(built):
    """A policy comes before all that it rules; inline are the scripts that it names, and data."""
    for path, page in built.items():
        (rule,) = page.select('meta[http-equiv="Content-Security-Policy"]')
        policy = dict(part.split(maxsplit=1) for part in rule["content"].split("; "))
        assert policy["default-src"] == "'none'", path
        assert "unsafe" not in policy["script-src"] + policy["style-src"], path
        assert not re.search(r"https?:|\*", rule["content"]), path
        assert not rule.find_all_previous(["script", "link", "style"]), path
        inline = page.select('script:not([src], [type="application/json"])')
        inline = [node.string for node in inline]
        digests = [base64.b64encode(hashlib.sha256(s.encode()).digest()).decode() for s in inline]
        assert [f"'sha256-{digest}'" for digest in digests] == policy["script-src"].split()[1:]
        assert all(node.has_attr("defer") for node in page.select("script[src]")), path
        assert not page.select("style, iframe, object, embed"), path
        assert path.name == "404.html" or not page.base, path  # which is served for any address
        assert page.select_one('meta[name="description"]')["content"], path
        handlers = [name for node in page.find_all(True) for name in node.attrs if name[:2] == "on"]
        assert not handlers, path
        assert not page.select('[href^="javascript:"]'), path
        assert not page.select("link[rel=next], link[rel=prefetch]"), path  # refused by the policy


def test_formulas_are_mathml_in_a_font_that_has_their_signs(site, built):
    """Each is one element, none an error or LaTeX; Greek, sums and brackets are in the font."""
    formulas = [node for page in built.values() for node in page.select(".math")]
    assert len(formulas) > 200
    for formula in formulas:
        assert len(formula.select("math")) == 1, formula
        assert not formula.select("merror"), formula
        assert not re.search(r"[\\$]|\^\{|_\{", formula.get_text()), formula
    sheet = (site / "_static" / "formulas.css").read_text("utf-8")
    data = base64.b64decode(re.search(r"base64,([^)]+)\)", sheet)[1])
    font = TTFont(io.BytesIO(data))
    assert signs(str(f.math) for f in formulas) <= set(font.getBestCmap())
    assert any(formula.msqrt for formula in formulas)
    assert ord("√") in font.getBestCmap()  # which a root is drawn with, and no text holds
    assert "MATH" in font  # without it brackets do not grow


def test_a_formula_that_cannot_be_set_is_refused():
    """In an unknown command, with a height that would be printed, or with a sign of no font."""
    for latex in (r"\nothing{x}", r"a\\[1ex] b", r"\text{字}", r"\sqrt{\frac{a}{b}}"):
        with pytest.raises(Exception, match=r".+"):
            to_mathml(latex, display=True)
    assert to_mathml("x^2", display=False).startswith("<math><msup>")
    assert "mtable" in to_mathml(r"a &= b\\ &= c", display=True)


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
    """Names within parentheses do not count, and the schemes hold on paper and without scripts."""
    page = names_in('<html><p class="a" style="top: var(--of-page)"></p></html>')
    assert purge(css, page | words_in('p.classList.add("by-script")')) == expected


def test_a_style_sheet_that_cannot_be_read_is_refused():
    """Instead of being cut where it breaks."""
    with pytest.raises(ValueError, match="cannot be read"):
        purge("p{color:red} }", set())


def test_a_rule_comes_with_the_first_page_that_needs_it(tmp_path, monkeypatch):
    """Style sheets are made again for a new class or sign, and for nothing else."""
    builder = SimpleNamespace(outdir=tmp_path, builder=SimpleNamespace(name="html"))
    (sheet := tmp_path / "_static" / "own.css").parent.mkdir()
    made = []
    monkeypatch.setattr(site_files, "purge", lambda *given: made.append(1) or purge(*given))

    def build(body: str, rules: str = ".a{top:1px}.b{top:2px}") -> str:
        sheet.write_text(rules, "utf-8")  # as Sphinx copies it each time
        page = f'<link href="_static/own.css" /><p class="{body}'
        (tmp_path / "page.html").write_text(page, "utf-8")
        site_files.write_style_sheets(builder, None)
        return (tmp_path / "_static" / "style.css").read_text("utf-8")

    assert ".b{" not in build('a">')
    assert ".b{" not in build('a">More words.')
    assert len(made) == 1
    assert ".b{top:2px}" in build('b">')
    assert ".b{top:3px}" in build('b">', ".b{top:3px}")
    fonts = set()
    for sign in "αζ":
        build(f'b"><math>{sign}</math>')
        fonts.add((tmp_path / "_static" / "formulas.css").read_text("utf-8"))
    assert len(fonts) == 2
    (tmp_path / "_static" / "style.css").write_text("", "utf-8")  # as a killed build may leave it
    assert ".b{" in build('b">')


def test_the_templates_are_of_the_pinned_themes():
    """They replace parts of these versions: after an update look at each, and write the new ones."""
    pins = (ROOT / "constraints.txt").read_text("utf-8")
    layout = (ROOT / "docs" / "_templates" / "layout.html").read_text("utf-8")
    for name in ("sphinx", "pydata-sphinx-theme", "sphinx-book-theme"):
        (version,) = re.findall(rf"^{name}==(.+)$", pins, re.MULTILINE)
        assert f"{name} {version}" in layout
