"""Formulas as text, for the index and for the sentences of results."""

import re

from docutils.utils.math import tex2unichar

KINDS = ("alpha", "bin", "fence", "op", "ord", "rel", "open", "close")
TABLES: list[dict[str, str]] = [getattr(tex2unichar, f"math{kind}") for kind in KINDS]
SIGNS = dict(item for table in TABLES for item in table.items())
SIGNS |= {"dots": "…", "lVert": "‖", "lvert": "|", "rVert": "‖", "rvert": "|"}
SIGNS |= {"qquad": " ", "top": "T"}
FUNCTIONS = {"ln", "log", "max"}  # are written with their names
GROUP = r"(?:\{((?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*)\}|(\\[A-Za-z]+|[^\s{}]))"  # or a single sign
FRACTION = re.compile(rf"\\t?frac{GROUP}{GROUP}")
ROOT = re.compile(rf"\\sqrt{GROUP}")
RAISED = re.compile(rf"\^{GROUP}")
COMMAND = re.compile(r"\\([A-Za-z]+)|\\(.)|[{}&]")
SUPERSCRIPTS = str.maketrans("0123456789-+nT", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺ⁿᵀ")


def write_formula(latex: str) -> str:
    r"""Return a formula as text.

    >>> write_formula(r"V^{*} = \frac{s \cdot f}{b}"), write_formula(r"-1/\sqrt{n}")
    ('V* = (s · f)/b', '−1/√n')
    >>> write_formula(r"0, \dots, V-1"), write_formula(r"X^\top G"), write_formula("10^{-5}")
    ('0, …, V−1', 'Xᵀ G', '10⁻⁵')
    """
    while FRACTION.search(latex):
        latex = FRACTION.sub(lambda m: f"{_wrap(m[1] or m[2])}/{_wrap(m[3] or m[4])}", latex)
    latex = ROOT.sub(lambda match: f"√{_wrap(match[1] or match[2])}", latex)
    latex = RAISED.sub(_write_exponent, latex)
    text = COMMAND.sub(_replace_command, latex).replace("-", "−").replace("⋅", "·")
    return " ".join(text.split())


def _wrap(latex: str) -> str:
    """Return a part of a fraction or a root, in parentheses if it has several terms."""
    return f"({latex.strip()})" if re.search(r"[-+ ]", latex.strip()) else latex


def _write_exponent(match: re.Match[str]) -> str:
    """Return an exponent as small digits, or after ``^`` if it has other signs."""
    text: str = COMMAND.sub(_replace_command, match[1] or match[2])
    if text in "*'":
        return text
    return text.translate(SUPERSCRIPTS) if re.fullmatch(r"[-+\dnT]+", text) else f"^{_wrap(text)}"


def _replace_command(match: re.Match[str]) -> str:
    name, escaped = match.groups()
    if name:  # a sign, or a font such as \mathrm or the size of a bracket, which have none
        return str(name) if name in FUNCTIONS else SIGNS.get(name, "")
    return "%" if escaped == "%" else " " if escaped else ""
