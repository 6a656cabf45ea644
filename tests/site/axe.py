"""Findings of axe-core on the page in the browser, for WCAG 2.2 A and AA and best practice.

axe takes a minute to check the contrast of a long page. So it gets one element for each combination
of color, background, size and weight that no page before had; code keeps the colors that it is the
first on the page to have, and drawings, whose texts another test checks, are emptied.
"""

from importlib.util import find_spec
from pathlib import Path

from served import wait_for_frames

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
STYLES = set()  # whose contrast was checked
# One element with text for each combination of styles without those that are known.
CONTRAST = """
const backgrounds = new Map(), examples = new Map(), known = new Set(arguments[0]);
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
  if (!known.has(key) && !examples.has(key)) examples.set(key, element);
}
const only = {runOnly: ['color-contrast', 'link-in-text-block']}, styles = [...examples.keys()];
if (!styles.length) done([styles, []]);
else run({include: [...examples.values()]}, only).then(messages)
  .then(lines => done([styles, lines]), error => done([styles, [String(error)]]));
"""
STRUCTURE = """
const [checksSize, onlySize] = arguments;
const rules = onlySize ? {runOnly: ['target-size']} : {runOnly: {type: 'tag', values: tags}, rules: {
  'color-contrast': {enabled: false}, 'link-in-text-block': {enabled: false},  // see CONTRAST
  'label-content-name-mismatch': {enabled: true}, 'target-size': {enabled: checksSize},
}};
run(document, rules).then(messages).then(done, error => done([String(error)]));
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
SET_SCHEME = "document.documentElement.dataset.theme = arguments[0]"


def load(browser):
    """Load axe into the page in the browser, which loses its drawings."""
    package = find_spec("axe_playwright_python")
    assert package, "axe-playwright-python is missing: `nox -s tests` installs it"
    folder = Path(package.submodule_search_locations[0])
    browser.execute_script((folder / SCRIPT).read_text("utf-8"))
    browser.execute_script(SIMPLIFY)


def contrast(browser):
    """Return a line for each finding about contrast in each scheme, with all folds open."""
    browser.execute_script(SET_FOLDS, True)
    results = []
    for scheme in ("light", "dark"):
        browser.execute_script(SET_SCHEME, scheme)
        wait_for_frames(browser)
        styles, lines = browser.execute_async_script(RULES + CONTRAST, [*STYLES])
        STYLES.update(styles)
        results += [f"{scheme}: {line}" for line in lines]
    return results


def structure(browser, is_open=True, checks_size=False, only_size=False):
    """Return a line for each other finding; the size of targets takes half of the time."""
    browser.execute_script(SET_FOLDS, is_open)
    wait_for_frames(browser)
    lines = browser.execute_async_script(RULES + STRUCTURE, checks_size, only_size)
    width = browser.execute_script("return innerWidth")
    return [f"{width} px, folds {is_open}: {line}" for line in lines]
