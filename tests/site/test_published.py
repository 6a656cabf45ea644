"""A site with an address and a repository, and one without."""

import re
from types import SimpleNamespace
from urllib.parse import parse_qs, urlsplit

import pytest
from _extensions.html.published import add_repository_links, check_addresses
from PIL import Image
from served import DOCS, soup
from sphinx.errors import ConfigError
from two_sites import BASE


@pytest.fixture(scope="module")
def site(both_sites):
    """Return the folder of the site that has an address."""
    return both_sites[BASE]


def test_a_page_has_metadata_for_previews(site):
    """Canonical address, title, description, and a card of the usual size."""
    page = soup(site / "tutorials" / "other.html")
    assert page.select_one("link[rel=canonical]")["href"] == f"{BASE}tutorials/other.html"
    facts = {tag["property"]: tag["content"] for tag in page.select("meta[property^='og:']")}
    assert facts["og:url"] == f"{BASE}tutorials/other.html"
    assert facts["og:title"] == "The other & page"
    assert facts["og:description"] == "A page."
    assert facts["og:image"] == f"{BASE}_static/card.png"
    with Image.open(site / "_static" / "card.png") as card:
        assert card.size == (1200, 630)


def test_the_lists_of_pages_name_each_page(both_sites):
    """``llms.txt`` its Markdown; the sitemap, which needs an address, the page in each language."""
    for base, site in both_sites.items():
        text = (site / "llms.txt").read_text("utf-8")
        listed = re.findall(r"^- \[[^\]]+\]\((\S+)\.md\): ", text, re.MULTILINE)
        files = {path.relative_to(site).with_suffix("").as_posix() for path in site.rglob("*.md")}
        assert len(listed) == len(files)
        assert {name.removeprefix(base) for name in listed} == files
        assert (site / "robots.txt").exists() == (site / "sitemap.xml").exists() == bool(base)
    pages = re.findall(r"<loc>(.*?)\.html</loc>", (both_sites[BASE] / "sitemap.xml").read_text())
    assert {name.removeprefix(BASE) for name in pages} == files
    assert f"Sitemap: {BASE}sitemap.xml" in (both_sites[BASE] / "robots.txt").read_text()


def test_the_404_page_works_at_any_address(site):
    """Its links are relative to the site, and search engines do not list it."""
    page = soup(site / "404.html")
    assert page.base["href"] == BASE
    assert page.find("meta", {"name": "robots"})["content"] == "noindex"
    assert not page.select("link[rel=canonical], meta[property^='og:']")
    links = [link["href"] for link in page.select("[href]") if link is not page.base]
    assert "404.html#main-content" in links
    inner = [urlsplit(link).path for link in links if not urlsplit(link).netloc]
    assert len(inner) > 5
    for path in inner:
        # The frame links pages that the site of this test lacks.
        assert (site / path).is_file() or (DOCS / path).with_suffix(".md").is_file(), path


def test_a_reader_can_edit_a_page_and_report_a_sentence(site):
    """Links lead to the source of the page, and to a form with the page filled in."""
    page = soup(site / "tutorials" / "other.html")
    edit, report = (link["href"] for link in page.select(".page-links a"))
    assert edit == "https://github.com/owner/name/edit/main/docs/tutorials/other.md"
    form = parse_qs(urlsplit(report).query)
    assert form["template"] == ["false-sentence.yml"]
    assert form["page"] == [f"The other & page ({BASE}tutorials/other.html)"]
    assert not soup(site / "search.html").select(".page-links")


def test_wrong_addresses_are_refused():
    """A missing slash or scheme, or an address instead of a name, would give broken links."""
    for address, repository in (
        ("https://example.org/docs", ""),
        ("example.org/docs/", ""),
        ("", "https://github.com/octocat/hello"),
    ):
        config = SimpleNamespace(html_baseurl=address, html_context={"repository": repository})
        with pytest.raises(ConfigError, match=r"from its scheme to a slash|owner and its name"):
            check_addresses(SimpleNamespace(config=config))


def test_pages_name_the_repository_or_else_the_folder():
    """Without a repository, the first page has no sentence about the source."""
    substitutions = {}
    for repository in ("owner/name", ""):
        config = SimpleNamespace(html_context={"repository": repository})
        add_repository_links(None, config)
        substitutions[repository] = config.myst_substitutions
    link = "[the repository](https://github.com/owner/name)"
    assert substitutions["owner/name"] == {"repository": link, "source": f"Its source is {link}."}
    assert "pyproject.toml" in substitutions[""]["repository"]
    assert substitutions[""]["source"] == ""


def test_without_an_address_a_site_has_no_absolute_links(both_sites):
    """Nor a 404 page."""
    plain = both_sites[""]
    assert not (plain / "404.html").exists()
    for path in plain.rglob("*.html"):
        parts = "link[rel=canonical], meta[property^='og:'], .page-links, base, .bd-footer-article"
        assert not soup(path).select(parts), path


def test_the_button_of_a_group_of_pages_is_named_by_its_page(site):
    """The name is not that of the links before it."""
    (button,) = soup(site / "tutorials/inner.html").select(".bd-sidenav details > summary")
    assert button["aria-label"] == "Pages under A *short* & `plain` title"
