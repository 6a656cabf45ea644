"""Write formulas as MathML, which browsers render without a script."""

import re
from html import escape
from typing import Any

from docutils import nodes
from fontTools.ttLib import TTFont
from math_core import LatexError, LatexToMathML
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number
from sphinx.writers.html5 import HTML5Translator

from _extensions.html.fonts import FORMULA_FONT, find_signs

LOG = logging.getLogger(__name__)
FONT_CODES = set(TTFont(FORMULA_FONT).getBestCmap())
CONVERTER = LatexToMathML(fancy_error=False)
# The height of the font's radical above the baseline; over lower content it would hang down.
STRUT = '<mspace height="0.77em"></mspace>'
TALL_ROOT = re.compile(r"<m(sqrt|root)>((?!</m(sqrt|root)>).)*<m(frac|table|under|over|root)")
PUNCTUATION = re.compile("[.,;:!?)’]+")


def to_mathml(latex: str, *, display: bool) -> str:
    r"""Convert a formula; a line break outside of an environment makes it ``aligned``.

    ``LatexError`` is raised for wrong syntax, ``ValueError`` for what browsers render wrongly.

    >>> to_mathml("x^2", display=False)
    '<math><msup><mi>x</mi><mn>2</mn></msup></math>'
    """
    if re.search(r"\\\\\s*\[", latex):
        raise ValueError(r"the height after \\ would be printed; write \\ alone")
    if r"\\" in latex and r"\begin" not in latex:
        latex = rf"\begin{{aligned}}{latex}\end{{aligned}}"
    formula: str = CONVERTER.convert_with_local_state(latex, displaystyle=display)
    if TALL_ROOT.search(formula):
        raise ValueError(r"the root has one size here, so write (...)^{1/2} over what is tall")
    if missing := "".join(map(chr, sorted(find_signs([formula]) - FONT_CODES))):
        raise ValueError(f"{FORMULA_FONT.name} lacks {missing!r}; see docs/_fonts/README")
    return formula.replace("<msqrt>", f"<msqrt>{STRUT}")


def _convert(node: nodes.math | nodes.math_block, *, display: bool) -> str:
    """Return the MathML of a node; a formula that cannot be converted causes a warning."""
    try:
        return to_mathml(node.astext().strip(), display=display)
    except (LatexError, ValueError) as error:
        LOG.warning(f"the formula {node.astext()!r} cannot be set: {error}", location=node)
        return f"<code>{escape(node.astext())}</code>"


def visit_inline(self: HTML5Translator, node: nodes.math) -> None:
    formula = _convert(node, display=False)
    self.body.append(self.starttag(node, "span", "", CLASS="math notranslate nohighlight"))
    self.body.append(f"{formula}</span>")
    raise nodes.SkipNode


def visit_block(self: HTML5Translator, node: nodes.math_block) -> None:
    """Write a displayed formula, with its number if it has one."""
    formula = _convert(node, display=True)
    # A wide formula scrolls, so the tab key stops at it, and then it needs a name.
    label: dict[str, Any] = {"role": "group", "aria-label": "formula"}
    self.body.append(self.starttag(node, "div", CLASS="math notranslate nohighlight", **label))
    if node["number"]:
        self.body.append(f'<span class="eqno">({get_node_equation_number(self, node)})')
        self.add_permalink_ref(node, "Link to this equation")
        self.body.append("</span>")
    self.body.append(f"{formula}</div>\n")
    raise nodes.SkipNode


def keep_punctuation_with_formulas(_app: Sphinx, doctree: nodes.document, _page: str) -> None:
    """Keep a formula on one line with the punctuation after it and a parenthesis before it."""
    for formula in list(doctree.findall(nodes.math)):
        parent = formula.parent
        index = formula.parent.index(formula)
        after = parent[index + 1] if index + 1 < len(parent) else None
        if isinstance(after, nodes.Text) and (stop := PUNCTUATION.match(after)):
            unit = nodes.inline("", "", formula, nodes.Text(stop[0]), classes=["unbroken"])
            parent[index : index + 2] = [unit, nodes.Text(after[stop.end() :])]
            before = parent[index - 1] if index else None
            if isinstance(before, nodes.Text) and before.endswith("("):
                parent[index - 1] = nodes.Text(before[:-1])
                unit.insert(0, nodes.Text("("))
