"""How pages look: distances, edges and colors, measured in a browser."""

import pytest
from served import find, open_page, wait, wait_for_frames

HELPERS = """
const all = selector => [...document.querySelectorAll(`article ${selector}`)];
const box = node => node.getBoundingClientRect();
const style = node => getComputedStyle(node);
const lines = node => {
  const range = document.createRange();
  range.selectNodeContents(node);
  return [...range.getClientRects()].filter(({width}) => width);
};
const bottom = node => Math.max(...lines(node).map(line => line.bottom));
const differ = numbers => Math.max(...numbers) - Math.min(...numbers) > 1;
const middle = boxes => (boxes[0].left + boxes.at(-1).right) / 2;
const ticks = all('p + details.check > summary');
const above = node => node.parentNode.previousElementSibling;
const [text] = all('section > p');
"""
FIRST = "tutorials/lookup-is-matmul"
# A fault; the page, the width of the window, and a script that returns whether the page has it.
FAULTS = {
    "a tick alone on a line": (
        FIRST,
        390,
        "return ticks.some(tick => box(tick).top > bottom(above(tick)) - 4)",
    ),
    "a tick's label on text": (
        FIRST,
        1300,
        """
        return ticks.some(tick => {
          tick.focus();
          const label = box(tick.lastChild), next = tick.parentNode.nextElementSibling;
          return label.top < bottom(above(tick)) || (next && label.bottom > box(next).top + 1);
        });
        """,
    ),
    "a caption like prose": (
        FIRST,
        1300,
        """
        const [caption, prose] = [all('figcaption p')[0], text].map(style);
        return parseFloat(caption.fontSize) >= parseFloat(prose.fontSize)
          || caption.color === prose.color;
        """,
    ),
    "uneven gaps before headings": (
        FIRST,
        1300,
        """
        return differ(all('section section:not(:first-of-type) > h2').map(heading =>
          box(heading).top - box(above(heading)).bottom));
        """,
    ),
    "text, code and footer with other edges": (
        FIRST,
        1300,
        """
        const footer = document.querySelector('footer.bd-footer-content p');
        const rights = [all('.cell_input')[0], document.querySelector('a.right-next')];
        return differ([text, footer].map(node => lines(node)[0].left))
          || differ(rights.map(node => box(node).right));
        """,
    ),
    "an arrow of a signature without its type": (
        "reference/forms",
        390,
        """
        const types = all('.sig-return');
        return !types[0] || types.some(node => differ(lines(node).map(line => line.bottom)));
        """,
    ),
    "a caption beside its numbers": (
        "explorer",
        390,
        """
        return all('.stage table').some(table => {
          const numbers = [...table.querySelectorAll('caption + tr td:not(.factor)')].map(box);
          return differ([lines(table.caption), numbers].map(middle));
        });
        """,
    ),
    "an equals sign beside the middle of the rows": (
        "explorer",
        1300,
        """
        const [stage] = all('.stage'), table = box(stage.querySelector('.copied'));
        const rows = [...stage.querySelectorAll('.copied tr')].map(box);
        const {alignSelf, marginTop} = getComputedStyle(stage, '::after');
        const center = table.top + (table.height + parseFloat(marginTop)) / 2;
        return alignSelf !== 'center' || differ([center, (rows[0].top + rows.at(-1).bottom) / 2]);
        """,
    ),
    "bits without a legend, or without space": (
        "explorer",
        390,
        """
        const bits = all('.bits [role=img]:nth-child(3) i').map(box);
        const [sign, exponent, mantissa] = all('.bits small').map(node => lines(node)[0]);
        return sign.top < bits[0].bottom || box(all('.count')[0]).top < sign.bottom + 4
          || sign.left > bits[0].right
          || differ([[exponent], bits.slice(1, 9)].map(middle))
          || differ([[mantissa], bits.slice(9)].map(middle));
        """,
    ),
    "a Chinese title with one character in a line": (
        "zh/explorer",
        390,
        """
        const [title] = all('h1');
        return lines(title.firstChild).at(-1).width < 2 * parseFloat(style(title).fontSize);
        """,
    ),
    "a Chinese sidebar with points after numbers": (
        "zh/index",
        1300,
        """
        const {textContent} = document.querySelector('#pst-primary-sidebar');
        return /^\\s*\\d\\./m.test(textContent) || !/^1\u3000/m.test(textContent);
        """,
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_page_does_not_have(browser, address, fault):
    """Each script finds its fault if the rule that mends it is removed."""
    page, width, script = FAULTS[fault]
    open_page(browser, address, page, width)
    wait_for_frames(browser)
    assert browser.execute_script(HELPERS + script) is False


def test_a_selected_switch_and_a_one_differ_in_forced_colors(browser, address, emulate):
    """A system's palette would make them look like all others."""
    emulate(forced_colors="active")
    open_page(browser, address, "explorer")
    for pair in ((":checked + span", ":not(:checked) + span"), (".on", "i:not(.on)")):
        styles = [find(browser, f"lookup-explorer {selector}") for selector in pair]
        names = ("border-color", "background-color")
        borders, grounds = ({s.value_of_css_property(name) for s in styles} for name in names)
        assert len(borders) == 2 or len(grounds) == 2


def test_a_section_that_a_link_leads_to_has_room_around_its_heading(browser, address):
    """Its background is wider than the text."""
    open_page(browser, address, FIRST)
    find(browser, "#pst-page-toc-nav li:nth-child(3) a").click()
    heading = wait(browser, "document.querySelector(':target h2')")
    assert heading.value_of_css_property("padding") != "0px"
    assert heading.value_of_css_property("background-color") != "rgba(0, 0, 0, 0)"


def test_contents_mark_one_entry_at_the_end_of_a_page(browser, address):
    """It is the last section that begins in the window, not its parent, too."""
    open_page(browser, address, "tutorials/text-both-ways")
    browser.execute_script("scrollTo(0, document.documentElement.scrollHeight)")
    marked = "document.querySelectorAll('#pst-page-toc-nav a.active')"
    wait(browser, f"{marked}[0]?.hash === '#sources' || {marked}[0]?.hash === '#exercise'")
    assert browser.execute_script(f"return {marked}.length") == 1


def test_the_button_for_more_results_is_far_from_the_footer(browser, address):
    """A reader does not take it for a part of the footer."""
    open_page(browser, address, "search")
    browser.get(f"{address}/search.html#q=embedding")
    button = wait(browser, "document.querySelector('.search-more')")
    footer = find(browser, "footer.bd-footer-content")
    assert footer.location["y"] > button.location["y"] + button.size["height"] + 30
