"""What Getting started promises: the file that it installs, and the menu that it names."""

import re
import zipfile

from served import ROOT

PAGE = (ROOT / "docs" / "getting-started.md").read_text("utf-8")


def test_the_named_wheel_is_there(pages, site):
    """A command with a wrong name would be the first thing that fails for a newcomer."""
    (command,) = pages["getting-started"].select(".highlight-sh pre")
    name = command.get_text().removeprefix("python -m pip install ").strip()
    assert zipfile.is_zipfile(site / name)


def test_the_menu_is_called_what_the_page_calls_it(pages):
    """And has the notebook and the source, on that very page."""
    (name,) = re.findall(r"^\*(\w+)\*, at the top of each page", PAGE, re.MULTILINE)
    page = pages["getting-started"]
    assert page.select_one("button.take-away").get_text(strip=True) == name
    menu = page.select_one("#take-away")
    assert {"Notebook", "Markdown source"} <= {link.get_text() for link in menu.select("a")}
