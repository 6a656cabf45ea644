"""A site that knows its address and its repository, and one that knows neither."""

import re
import shutil
import sys
from types import SimpleNamespace
from urllib.parse import parse_qs, urlsplit

import pytest
from bs4 import BeautifulSoup
from PIL import Image
from scratch import PROSE, SPHINX, Copy
from served import ROOT
from sphinx.errors import ConfigError

sys.path.append(str(ROOT / "docs" / "_extensions"))
from light.published import refuse_wrong_address

ADDRESS = "https://example.org/docs/"
NAMES = ["-D", f"html_baseurl={ADDRESS}", "-A", "repository=octocat/hello"]
FIRST = """# First ≡ page

```{toctree}
Before <tutorials/before>
A *short* & `plain` title <tutorials/other>
```
"""
OTHER = """# The *other* & page

```{toctree}
inner
```
"""


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    """Return a copy with four pages without code, three in a folder, built with its addresses."""
    copy = Copy(tmp_path_factory.mktemp("published"))
    copy.clear_pages()
    (copy.root / "docs" / "tutorials").mkdir(exist_ok=True)
    copy.write("index", FIRST, head=PROSE)
    excused = PROSE.replace("---\n", '---\nexcused: {source: "it has none"}\n', 1)
    copy.write("tutorials/other", OTHER, head=excused)
    for name in ("before", "inner"):
        copy.write(f"tutorials/{name}", f"# {name.title()}\n", head=excused)
    built = copy.run(*SPHINX, *NAMES)
    assert built.returncode == 0, built.stderr
    return copy


def soup(copy: Copy, name: str) -> BeautifulSoup:
    """Return a built page, parsed."""
    return BeautifulSoup(copy.html(name), "html.parser")


def test_links_to_a_page_have_one_address_and_a_picture(copy: Copy) -> None:
    """The canonical address, the title, the description, and a picture of the usual size."""
    page = soup(copy, "tutorials/other")
    assert page.select_one("link[rel=canonical]")["href"] == f"{ADDRESS}tutorials/other.html"
    facts = {tag["property"]: tag["content"] for tag in page.select("meta[property^='og:']")}
    assert facts["og:url"] == f"{ADDRESS}tutorials/other.html"
    assert facts["og:title"] == "The other & page"
    assert facts["og:description"] == "A page."
    assert facts["og:image"] == f"{ADDRESS}_static/card.png"
    with Image.open(copy.root / "build" / "html" / "_static" / "card.png") as card:
        assert card.size == (1200, 630)
    fonts = page.select("link[rel=preload][as=font]")
    assert len(fonts) == 2
    for link in fonts:
        assert (copy.root / "build" / "html" / "tutorials" / link["href"]).is_file()


def test_the_sitemap_names_each_page(copy: Copy) -> None:
    """Those with a source, by their whole addresses."""
    sitemap = (copy.root / "build" / "html" / "sitemap.xml").read_text("utf-8")
    names = ["index", "tutorials/before", "tutorials/inner", "tutorials/other"]
    assert re.findall("<loc>(.*?)</loc>", sitemap) == [f"{ADDRESS}{name}.html" for name in names]


def test_the_page_for_wrong_addresses_works_at_any_address(copy: Copy) -> None:
    """Its links start from the site, those within it from itself, and no search engine keeps it."""
    page = soup(copy, "404")
    assert page.base["href"] == ADDRESS
    assert page.find("meta", {"name": "robots"})["content"] == "noindex"
    assert not page.select("link[rel=canonical], meta[property^='og:']")
    built = copy.root / "build" / "html"
    links = [link["href"] for link in page.select("[href]") if link is not page.base]
    assert "404.html#main-content" in links
    inner = [urlsplit(link).path for link in links if not urlsplit(link).netloc]
    assert len(inner) > 5
    for path in inner:
        assert (built / path).is_file(), path


def test_a_reader_can_edit_a_page_and_report_a_sentence(copy: Copy) -> None:
    """The links lead to the page's source, and to the form with the page filled in."""
    page = soup(copy, "tutorials/other")
    edit, report = (link["href"] for link in page.select(".page-links a"))
    assert edit == "https://github.com/octocat/hello/edit/main/docs/tutorials/other.md"
    form = parse_qs(urlsplit(report).query)
    assert form["template"] == ["false-sentence.yml"]
    assert form["page"] == [f"The other & page ({ADDRESS}tutorials/other.html)"]
    assert not soup(copy, "genindex").select(".page-links")


def test_wrong_addresses_are_refused() -> None:
    """A missing slash, or a whole address for a name, would give links that lead nowhere."""
    for address, repository in (
        ("https://example.org/docs", ""),
        ("example.org/docs/", ""),
        ("", "https://github.com/octocat/hello"),
    ):
        config = SimpleNamespace(html_baseurl=address, html_context={"repository": repository})
        with pytest.raises(ConfigError, match=r"from its scheme to a slash|owner and its name"):
            refuse_wrong_address(SimpleNamespace(config=config))


def test_without_an_address_there_is_nothing_of_it(copy: Copy) -> None:
    """No link and no page that would be wrong elsewhere, nor what a build with an address left."""
    plain = copy.root / "build" / "plain"
    shutil.copytree(copy.root / "build" / "html", plain)
    built = copy.run(*SPHINX[:-1], "build/plain")
    assert built.returncode == 0, built.stderr
    for name in ("404.html", "sitemap.xml"):
        assert not (plain / name).exists()
    for path in plain.rglob("*.html"):
        page = BeautifulSoup(path.read_text("utf-8"), "html.parser")
        unwanted = "link[rel=canonical], link[as=font], meta[property^='og:'], .page-links, base"
        assert not page.select(unwanted), path.name
        assert not page.select(".bd-footer-article"), path.name


def test_what_opens_a_group_of_pages_has_its_name(copy: Copy) -> None:
    """That of the page whose group it is, and not of the links before it."""
    for name in ("index", "tutorials/inner"):
        (button,) = soup(copy, name).select(".bd-sidenav details > summary")
        assert button["aria-label"] == "Pages under A *short* & `plain` title"
