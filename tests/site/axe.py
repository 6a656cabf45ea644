"""Findings of axe-core on the page in the browser, for WCAG 2.2 A and AA and best practice.

axe takes a minute to check the contrast of a long page. So it gets one element for each combination
of color, background, size and weight; code keeps the colors that it is the first on the page to
have, and drawings, whose texts another test checks, are emptied.
"""

from importlib.util import find_spec
from pathlib import Path

from served import resize, wait_for_frames

SCRIPT = "axe.min.js"  # all that is used of the wheel of axe-playwright-python
RULES = """
const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
const messages = result => result.violations.flatMap(rule => rule.nodes.map(node => {
  const why = [...node.any, ...node.all, ...node.none].map(check => check.message).join('; ');
  return `${rule.id}: ${node.html.slice(0, 200)}: ${why}`;
}));
const run = (context, rules) => axe.run(context, {preload: false, resultTypes: ['violations'], ...rules});
const done = arguments[arguments.length - 1];
"""
# One element with text for each combination of styles.
CONTRAST = """
const backgrounds = new Map(), examples = new Map();
const background = element => {
  if (!element) return '';
  if (!backgrounds.has(element)) {
    const style = getComputedStyle(element), color = style.backgroundColor;
    const opaque = /, 0\\)$/.test(color) ? background(element.parentElement) : color;
    backgrounds.set(element, `${opaque} ${style.backgroundImage !== 'none'} ${style.opacity}`);
  }
  return backgrounds.get(element);
};
for (const element of document.body.querySelectorAll(':not(svg *)')) {
  if (![...element.childNodes].some(child => child.nodeType === 3 && child.data.trim())) continue;
  if (!element.checkVisibility()) continue;
  const style = getComputedStyle(element);
  const key = [style.color, background(element), style.fontSize, style.fontWeight].join();
  if (!examples.has(key)) examples.set(key, element);
}
const only = {runOnly: ['color-contrast', 'link-in-text-block']};
run({include: [...examples.values()]}, only).then(messages).then(done, error => done([String(error)]));
"""
STRUCTURE = """
const rules = {
  'color-contrast': {enabled: false}, 'link-in-text-block': {enabled: false},  // checked before
  'label-content-name-mismatch': {enabled: true}, 'target-size': {enabled: arguments[0]},
};
run(document, {runOnly: {type: 'tag', values: tags}, rules}).then(messages).then(done, error => done([String(error)]));
"""
SIMPLIFY = """
const seen = new Set();
for (const code of document.querySelectorAll('pre')) {
  const frame = code.parentElement.parentElement.className.replace(/highlight-\\w+/, '');
  const kinds = [...code.querySelectorAll('span')].map(token => frame + token.className);
  if (kinds.every(kind => seen.has(kind))) code.textContent = code.textContent;
  kinds.forEach(kind => seen.add(kind));
}
document.querySelectorAll('svg.drawing').forEach(drawing => drawing.replaceChildren());
"""
SET_FOLDS = "document.querySelectorAll('details').forEach(fold => { fold.open = arguments[0]; })"


def findings(browser, widths):
    """Return a line for each finding: contrast in both schemes, all else with folds open and closed.

    Contrast is checked with all folds open, since closed folds have the same styles. The page in the
    browser loses its drawings.
    """
    package = find_spec("axe_playwright_python")
    assert package, "axe-playwright-python is missing: `nox -s tests` installs it"
    folder = Path(package.submodule_search_locations[0])
    browser.execute_script((folder / SCRIPT).read_text("utf-8"))
    browser.execute_script(SIMPLIFY)
    results = []
    for width in widths:
        resize(browser, width)
        browser.execute_script(SET_FOLDS, True)
        wait_for_frames(browser)
        for scheme in ("light", "dark"):
            browser.execute_script("document.documentElement.dataset.theme = arguments[0]", scheme)
            lines = browser.execute_async_script(RULES + CONTRAST)
            results += [f"{width} px, {scheme}: {line}" for line in lines]
        for is_open in (True, False):
            browser.execute_script(SET_FOLDS, is_open)
            wait_for_frames(browser)
            # The size of targets takes half of the time; closed folds are closest on a phone.
            checks_size = width == 320 or (is_open and width == 1440)
            lines = browser.execute_async_script(RULES + STRUCTURE, checks_size)
            results += [f"{width} px, folds {is_open}: {line}" for line in lines]
    return results
