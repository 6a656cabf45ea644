"""A site that knows its address and its repository, and one that knows neither."""

import re
from types import SimpleNamespace
from urllib.parse import parse_qs, urlsplit

import pytest
from _extensions.html.published import add_repository_links, check_addresses
from PIL import Image
from served import soup
from sphinx.errors import ConfigError
from two_sites import BASE


@pytest.fixture(scope="module")
def site(both_sites):
    """Return the folder of the site that has an address."""
    return both_sites[BASE]


def test_links_to_a_page_have_one_address_and_a_picture(site):
    """The canonical address, the title, the description, and a picture of the usual size."""
    page = soup(site / "tutorials" / "other.html")
    assert page.select_one("link[rel=canonical]")["href"] == f"{BASE}tutorials/other.html"
    facts = {tag["property"]: tag["content"] for tag in page.select("meta[property^='og:']")}
    assert facts["og:url"] == f"{BASE}tutorials/other.html"
    assert facts["og:title"] == "The other & page"
    assert facts["og:description"] == "A page."
    assert facts["og:image"] == f"{BASE}_static/card.png"
    with Image.open(site / "_static" / "card.png") as card:
        assert card.size == (1200, 630)
    fonts = page.select("link[rel=preload][as=font]")
    assert len(fonts) == 2
    for link in fonts:
        assert (site / "tutorials" / link["href"]).is_file()


def test_the_sitemap_names_each_page(site):
    """Those with a source, by their whole addresses."""
    sitemap = (site / "sitemap.xml").read_text("utf-8")
    names = ["index", "other", "tutorials/before", "tutorials/inner", "tutorials/other"]
    assert re.findall("<loc>(.*?)</loc>", sitemap) == [f"{BASE}{name}.html" for name in names]


def test_the_page_for_wrong_addresses_works_at_any_address(site):
    """Its links start from the site, those within it from itself, and no search engine keeps it."""
    page = soup(site / "404.html")
    assert page.base["href"] == BASE
    assert page.find("meta", {"name": "robots"})["content"] == "noindex"
    assert not page.select("link[rel=canonical], meta[property^='og:']")
    links = [link["href"] for link in page.select("[href]") if link is not page.base]
    assert "404.html#main-content" in links
    inner = [urlsplit(link).path for link in links if not urlsplit(link).netloc]
    assert len(inner) > 5
    for path in inner:
        assert (site / path).is_file(), path


def test_a_reader_can_edit_a_page_and_report_a_sentence(site):
    """The links lead to the page's source, and to the form with the page filled in."""
    page = soup(site / "tutorials" / "other.html")
    edit, report = (link["href"] for link in page.select(".page-links a"))
    assert edit == "https://github.com/owner/name/edit/main/docs/tutorials/other.md"
    form = parse_qs(urlsplit(report).query)
    assert form["template"] == ["false-sentence.yml"]
    assert form["page"] == [f"The other & page ({BASE}tutorials/other.html)"]
    assert not soup(site / "genindex.html").select(".page-links")


def test_wrong_addresses_are_refused():
    """A missing slash, or a whole address for a name, would give links that lead nowhere."""
    for address, repository in (
        ("https://example.org/docs", ""),
        ("example.org/docs/", ""),
        ("", "https://github.com/octocat/hello"),
    ):
        config = SimpleNamespace(html_baseurl=address, html_context={"repository": repository})
        with pytest.raises(ConfigError, match=r"from its scheme to a slash|owner and its name"):
            check_addresses(SimpleNamespace(config=config))


def test_pages_name_the_repository_where_there_is_one():
    """Elsewhere the folder, and the first page has no sentence about the source."""
    said = {}
    for repository in ("owner/name", ""):
        config = SimpleNamespace(html_context={"repository": repository})
        add_repository_links(None, config)
        said[repository] = config.myst_substitutions
    link = "[the repository](https://github.com/owner/name)"
    assert said["owner/name"] == {"repository": link, "source": f"Its source is {link}."}
    assert "pyproject.toml" in said[""]["repository"]
    assert said[""]["source"] == ""


def test_without_an_address_there_is_nothing_of_it(both_sites):
    """No link and no page that would be wrong elsewhere, nor what a build with an address left."""
    plain = both_sites[""]
    for name in ("404.html", "sitemap.xml"):
        assert not (plain / name).exists()
    for path in plain.rglob("*.html"):
        page = soup(path)
        unwanted = "link[rel=canonical], link[as=font], meta[property^='og:'], .page-links, base"
        assert not page.select(unwanted), path.name
        assert not page.select(".bd-footer-article"), path.name


def test_what_opens_a_group_of_pages_has_its_name(site):
    """That of the page whose group it is, and not of the links before it."""
    for name in ("index", "tutorials/inner"):
        (button,) = soup(site / f"{name}.html").select(".bd-sidenav details > summary")
        assert button["aria-label"] == "Pages under A *short* & `plain` title"
