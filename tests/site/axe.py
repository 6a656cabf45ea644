"""What axe-core finds on the page that the browser shows, by WCAG 2.2 A and AA and best practice.

axe looks at contrast element by element, which takes a minute on a long page. So it is shown one
element of each combination of ink, ground, size and weight; code keeps its colors where they are
first seen on a page, and drawings, whose texts another test looks at, are emptied.
"""

from importlib.util import find_spec
from pathlib import Path

from served import redrawn, resize

SCRIPT = "axe.min.js"  # in the wheel of axe-playwright-python, of which nothing else is used
RULES = """
const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
const told = result => result.violations.flatMap(rule => rule.nodes.map(node => {
  const why = [...node.any, ...node.all, ...node.none].map(check => check.message).join('; ');
  return `${rule.id}: ${node.html.slice(0, 200)}: ${why}`;
}));
const look = (context, rules) => axe.run(context, {preload: false, resultTypes: ['violations'], ...rules});
const done = arguments[arguments.length - 1];
"""
# Elements with text of their own, one for each way in which text is painted.
CONTRAST = """
const grounds = new Map(), seen = new Map();
const ground = element => {
  if (!element) return '';
  if (!grounds.has(element)) {
    const style = getComputedStyle(element), own = style.backgroundColor;
    const under = /, 0\\)$/.test(own) ? ground(element.parentElement) : own;
    grounds.set(element, `${under} ${style.backgroundImage !== 'none'} ${style.opacity}`);
  }
  return grounds.get(element);
};
for (const element of document.body.querySelectorAll(':not(svg *)')) {
  if (![...element.childNodes].some(child => child.nodeType === 3 && child.data.trim())) continue;
  if (!element.checkVisibility()) continue;
  const style = getComputedStyle(element);
  const paint = [style.color, ground(element), style.fontSize, style.fontWeight].join();
  if (!seen.has(paint)) seen.set(paint, element);
}
const only = {runOnly: ['color-contrast', 'link-in-text-block']};
look({include: [...seen.values()]}, only).then(told).then(done, error => done([String(error)]));
"""
STRUCTURE = """
const rules = {
  'color-contrast': {enabled: false}, 'link-in-text-block': {enabled: false},  // looked at before
  'label-content-name-mismatch': {enabled: true}, 'target-size': {enabled: arguments[0]},
};
look(document, {runOnly: {type: 'tag', values: tags}, rules}).then(told).then(done, error => done([String(error)]));
"""
PLAIN = """
const seen = new Set();
for (const code of document.querySelectorAll('pre')) {
  const frame = code.parentElement.parentElement.className.replace(/highlight-\\w+/, '');
  const kinds = [...code.querySelectorAll('span')].map(token => frame + token.className);
  if (kinds.every(kind => seen.has(kind))) code.textContent = code.textContent;
  kinds.forEach(kind => seen.add(kind));
}
document.querySelectorAll('svg.drawing').forEach(drawing => drawing.replaceChildren());
"""
FOLDS = "document.querySelectorAll('details').forEach(fold => { fold.open = arguments[0]; })"


def findings(browser, widths):
    """Return a line for each finding: text in both schemes, all else with folds open and closed.

    Text is looked at with all folds open, since it is painted alike when some are closed. The page
    in the browser has lost its drawings afterwards.
    """
    package = find_spec("axe_playwright_python")
    assert package, "axe-playwright-python is missing: `nox -s tests` installs it"
    folder = Path(package.submodule_search_locations[0])
    browser.execute_script((folder / SCRIPT).read_text("utf-8"))
    browser.execute_script(PLAIN)
    found = []
    for width in widths:
        resize(browser, width)
        browser.execute_script(FOLDS, True)
        redrawn(browser)
        for scheme in ("light", "dark"):
            browser.execute_script("document.documentElement.dataset.theme = arguments[0]", scheme)
            lines = browser.execute_async_script(RULES + CONTRAST)
            found += [f"{width} px, {scheme}: {line}" for line in lines]
        for opened in (True, False):
            browser.execute_script(FOLDS, opened)
            redrawn(browser)
            # The size of targets is half of the time; closed folds stand closest on a phone.
            sized = width == 320 or (opened and width == 1440)
            lines = browser.execute_async_script(RULES + STRUCTURE, sized)
            found += [f"{width} px, folds {opened}: {line}" for line in lines]
    return found
