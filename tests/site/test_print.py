"""Pages on A4 paper: the PDF of a browser has the text of the page, and fills its pages."""

import base64
import re

import pypdfium2
import pytest
from served import SOURCES, open_page, wait, wait_for_frames

A4 = {"paperWidth": 8.27, "paperHeight": 11.69}  # inches
A4_PX = 718  # width between the margins
# With the widest tables, a driven figure, an explorer, and the controls of the memory budget.
PRINTED = ["tutorials/which-should-i-use", "tutorials/lookup-is-matmul", "index"]
PRINTED += ["tutorials/where-does-the-memory-go"]
# Figures aside, since a PDF has outlined letters as shapes.
WORDS = """
document.querySelectorAll('article svg').forEach(svg => svg.remove());
return document.querySelector('article').innerText;
"""
CUT = """
const frames = [...document.querySelectorAll('article .pst-scrollable-table-container')];
return frames.filter(frame => frame.scrollWidth > frame.clientWidth + 1)
  .map(frame => frame.getAttribute('aria-label'));
"""
CONTROLS = """
return [...document.querySelectorAll('input[type=range], button, lookup-explorer :is(.parts, .stage)')]
  .filter(node => node.checkVisibility()).map(node => node.outerHTML.slice(0, 80));
"""


def without_space(text):
    """Return a text as one word, since paper breaks lines and words elsewhere."""
    return re.sub(r"[\s\u2060\ufffe-]+", "", text)


def to_pdf(browser):
    """Print the open page."""
    pdf = browser.execute_cdp_cmd("Page.printToPDF", A4)
    return pypdfium2.PdfDocument(base64.b64decode(pdf["data"]))


def lowest_ink(page):
    """Return how far down a page has anything, as a share of its height."""
    image = page.render(scale=0.5).to_pil().convert("L").point(lambda light: 255 * (light < 240))
    box = image.getbbox()
    return box[3] / image.height if box else 0.0


@pytest.mark.parametrize("name", PRINTED)
def test_the_pdf_has_the_text_of_the_page(browser, address, emulate, name):
    """No column is cut, and no page but the last is half blank."""
    emulate("print")
    open_page(browser, address, name, A4_PX)
    wait(browser, "document.fonts.status === 'loaded'")
    pdf = to_pdf(browser)
    printed = without_space("".join(page.get_textpage().get_text_range() for page in pdf))
    words = browser.execute_script(WORDS).split()
    assert len(words) > 200
    assert [word for word in words if without_space(word) not in printed] == []
    for number, page in enumerate([*pdf][:-1], 1):
        assert lowest_ink(page) > 0.5, f"page {number} of {len(pdf)}"


@pytest.mark.parametrize("name", SOURCES)
def test_paper_has_whole_tables_and_no_controls(browser, address, emulate, name):
    """What scrolls on a screen is lost on paper, and nothing can be pressed there."""
    emulate("print")
    open_page(browser, address, name, A4_PX)
    wait_for_frames(browser)
    assert browser.execute_script(CUT) == []
    assert browser.execute_script(CONTROLS) == []


def test_a_figure_is_printed_finished(browser, address):
    """Also where a reader has stopped it halfway."""
    open_page(browser, address, "tutorials/lookup-is-matmul")
    step = "document.querySelector('.frames output').textContent"
    browser.execute_script(
        "const slider = document.querySelector('.frames input');"
        "slider.value = 0; slider.dispatchEvent(new Event('input'))"
    )
    assert browser.execute_script(f"return {step}") == "step 0"
    to_pdf(browser)
    assert browser.execute_script(f"return {step}") == "step 200"
