"""Writes formulas as MathML, which every browser sets by itself, with a font that has its signs."""

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

from _extensions.html.fonts import FORMULAS, signs

LOG = logging.getLogger(__name__)
KNOWN = set(TTFont(FORMULAS).getBestCmap())
CONVERTER = LatexToMathML(fancy_error=False)
# As high as the root of the font stands above the line: over less it would hang down.
STRUT = '<mspace height="0.77em"></mspace>'
TALL = re.compile(r"<(?:msqrt|mroot)>(?:(?!</m(?:sqrt|root)>).)*<m(?:frac|table|under|over|root)")

STOPS = re.compile("[.,;:!?)’]+")


def to_mathml(latex: str, *, display: bool) -> str:
    r"""Convert a formula; a line break outside of an environment makes it ``aligned``.

    >>> to_mathml("x^2", display=False)
    '<math><msup><mi>x</mi><mn>2</mn></msup></math>'
    """
    if re.search(r"\\\\\s*\[", latex):
        raise ValueError(r"the height after \\ would be printed; write \\ alone")
    if r"\\" in latex and r"\begin" not in latex:
        latex = rf"\begin{{aligned}}{latex}\end{{aligned}}"
    formula: str = CONVERTER.convert_with_local_state(latex, displaystyle=display)
    if TALL.search(formula):
        raise ValueError(r"the root has one size here, so write (...)^{1/2} over what is tall")
    if missing := "".join(map(chr, sorted(signs([formula]) - KNOWN))):
        raise ValueError(f"{FORMULAS.name} lacks {missing!r}; see docs/_fonts/README")
    return formula.replace("<msqrt>", f"<msqrt>{STRUT}")


def _set(node: nodes.math | nodes.math_block, *, display: bool) -> str:
    """Convert the formula of a node; one that cannot be set is warned of, and the build stops."""
    try:
        return to_mathml(node.astext().strip(), display=display)
    except (LatexError, ValueError) as error:
        LOG.warning(f"the formula {node.astext()!r} cannot be set: {error}", location=node)
        return f"<code>{escape(node.astext())}</code>"


def visit_inline(self: HTML5Translator, node: nodes.math) -> None:
    """Write a formula within a sentence."""
    formula = _set(node, display=False)
    self.body.append(self.starttag(node, "span", "", CLASS="math notranslate nohighlight"))
    self.body.append(f"{formula}</span>")
    raise nodes.SkipNode


def visit_block(self: HTML5Translator, node: nodes.math_block) -> None:
    """Write a formula on lines of its own, with its number where it has one."""
    formula = _set(node, display=True)
    # A wide one scrolls, so it can be reached by the tab key, and then needs a name.
    name: dict[str, Any] = {"role": "group", "aria-label": "formula"}
    self.body.append(self.starttag(node, "div", CLASS="math notranslate nohighlight", **name))
    if node["number"]:
        self.body.append(f'<span class="eqno">({get_node_equation_number(self, node)})')
        self.add_permalink_ref(node, "Link to this equation")
        self.body.append("</span>")
    self.body.append(f"{formula}</div>\n")
    raise nodes.SkipNode


def keep_punctuation_with_formulas(_app: Sphinx, doctree: nodes.document, _page: str) -> None:
    """Keep a formula on one line with the stop behind it, and with a bracket before it.

    A browser takes a formula for a picture, before and after which any line may end.
    """
    for formula in list(doctree.findall(nodes.math)):
        parent, place = formula.parent, formula.parent.index(formula)
        after = parent[place + 1] if place + 1 < len(parent) else None
        if isinstance(after, nodes.Text) and (found := STOPS.match(after)):
            whole = nodes.inline("", "", formula, nodes.Text(found[0]), classes=["whole"])
            parent[place : place + 2] = [whole, nodes.Text(after[found.end() :])]
            before = parent[place - 1] if place else None
            if isinstance(before, nodes.Text) and before.endswith("("):
                parent[place - 1] = nodes.Text(before[:-1])
                whole.insert(0, nodes.Text("("))
