"""What Getting started promises: its extras exist, and so does the menu that it names."""

import re

from served import ROOT

PAGE = (ROOT / "docs" / "getting-started.md").read_text("utf-8")


def test_the_extras_exist():
    """A command with a wrong name would be the first thing that fails for a newcomer."""
    (extras,) = re.findall(r'"\.\[(.*?)\]"', PAGE)
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    assert all(re.search(rf"^{extra} = \[", project, re.MULTILINE) for extra in extras.split(","))


def test_the_menu_is_called_what_the_page_calls_it(pages):
    """And has the notebook and the source, on that very page."""
    (name,) = re.findall(r"^\*(\w+)\*, at the top of each page", PAGE, re.MULTILINE)
    page = pages["getting-started"]
    assert page.select_one("button.take-away").get_text(strip=True) == name
    menu = page.select_one("#take-away")
    assert {"Notebook", "Markdown source"} <= {link.get_text() for link in menu.select("a")}
