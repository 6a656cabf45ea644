"""Lays ``<lookup-explorer>`` around the figure below the directive, with its data from the package.

The figure is what readers without JavaScript see; ``_static/explorer.js`` puts itself in its place.
"""

import json
from pathlib import Path
from typing import Any, ClassVar

import torch
from docutils import nodes
from docutils.parsers.rst import directives
from explorer_costs import costs
from jinja2 import Environment, FileSystemLoader
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective
from sphinx.writers.html5 import HTML5Translator
from torch.nn import functional as F

from lookup_matmul import rounding_bound

LOG = logging.getLogger(__name__)
PARTS = Environment(
    loader=FileSystemLoader(Path(__file__).parent), autoescape=True, trim_blocks=True
).get_template("explorer.html")
WORDS, MOST = ["snows", "today", "it", "rains"], 6
SWITCHES = {
    "mode": ("compute", {"forward": "forward", "backward": "backward", "bag": "a weighted bag"}),
    "condition": (
        "disturb",
        {
            "": "nothing",
            "nan": "plant NaN",
            "inf": "plant ∞",
            "zero": "plant −0",
            "bfloat16": "round to bfloat16",
            "tf32": "cut to TF32",
        },
    ),
}
TITLES = {  # what is read, what the lookup gives, what the product gives
    "forward": ["table W", "look up: copy rows", "multiply: X W"],
    "backward": ["arriving gradient G", "look up: add rows in", "multiply: Xᵀ G"],
    "bag": ["table W", "embedding bag: add rows", "multiply: x W"],
}
# Under each switch a sentence, and the section that explains it, by its label.
WHY = {
    "forward": (
        "One times a row is the row, and adding zeros changes nothing.",
        "The proof, and its four conditions",
        "stops-theorem",
    ),
    "backward": (
        "What arrives for an id is added into its row, and an id that occurs twice adds up.",
        "Why a backward pass adds rows",
        "backward-derivation",
    ),
    "bag": (
        "A row with several entries is a weighted sum of rows, and each sum is rounded in its order.",
        "How far two sums can be apart",
        "bags-bound",
    ),
    "nan": (
        "Zero times NaN is NaN, so the product has it in a whole column; the lookup only where it "
        "was read. Choose a number, and the NaN goes there.",
        "NaN runs down its column",
        "stops-nonfinite",
    ),
    "inf": (
        "Zero times infinity is NaN, so the product has it in a whole column; the lookup never "
        "multiplies by zero. Choose a number, and the infinity goes there.",
        "Why weights have to be finite",
        "stops-nonfinite",
    ),
    "zero": (
        "−0 is copied with its sign, but −0 + 0 is +0. Choose a number, and the −0 goes there.",
        "A zero can lose its sign",
        "stops-signed-zero",
    ),
    "bfloat16": (
        "Under autocast the product gets its numbers rounded to bfloat16, "
        "to 16 bits; the lookup keeps all 32.",
        "What autocast shortens",
        "stops-precision",
    ),
    "tf32": (
        "The product gets its numbers without their last 13 bits; the lookup keeps all 32.",
        "What TF32 shortens",
        "stops-precision",
    ),
    "range": (
        "Written as a comparison, the product would give zeros instead and say nothing.",
        "An id without a row",
        "stops-range",
    ),
}


class explorer(nodes.General, nodes.Element):  # noqa: N801  # docutils names its nodes so
    """The element, around the static figure."""


class Explorer(SphinxDirective):
    """``{explorer}``: the figure of the cell below can be driven; ``:small:`` leaves switches out."""

    option_spec: ClassVar[dict[str, Any]] = {"small": directives.flag}

    def run(self) -> list[nodes.Node]:
        """Leave a place, and note that this page wants script and style."""
        self.env.metadata[self.env.current_document.docname]["explorer"] = True
        place = explorer(small="small" in self.options)
        self.set_source_info(place)
        return [place]


def surround(_app: Sphinx, doctree: nodes.document) -> None:
    """Move each place from before a figure to around its drawing."""
    for place in list(doctree.findall(explorer)):
        figure = next((n for n in place.findall(nodes.figure, siblings=True, ascend=True)), None)
        if figure is None:
            LOG.warning("no figure follows the explorer, which needs one to begin with", location=place)
            continue
        drawing = figure[0]
        place.parent.remove(place)
        figure.replace(drawing, place)
        place += drawing


def resolve(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Give each element its data, with links that start from its page."""
    for place in doctree.findall(explorer):
        place["more"] = app.builder.get_relative_uri(docname, "explorer")
        place["why"] = {
            key: (said, link, _uri(app, docname, label)) for key, (said, link, label) in WHY.items()
        }
        place["data"] = example() | ({} if place["small"] else {"costs": costs(app)})


def example() -> dict[str, Any]:
    """Make the table of the first page, what arrives, the words of torch and the bounds of sums."""
    torch.manual_seed(123)
    table = torch.nn.Embedding(len(WORDS), 5).weight.detach()
    arriving = (10 * torch.randn(MOST, 5)).round() / 10 + 0.0  # one decimal, to be added up by eye
    outside = torch.tensor([len(WORDS)])
    bags = [torch.cat([torch.zeros(n, dtype=torch.int64), outside]) for n in range(MOST)]
    return {
        "words": WORDS,
        "state": {
            "mode": "forward",
            "condition": "",
            "at": [0, 0],
            "ids": [2, 3, 1],
            "weights": [0.5, 1.3, -0.7],
            "table": [[float(f"{x:.9g}") for x in row] for row in table.tolist()],
            "arriving": [[float(f"{x:.1f}") for x in row] for row in arriving.tolist()],
        },
        "titles": TITLES,
        "says": {
            "lookup": _said(lambda: F.embedding(outside, table)),
            "product": _said(lambda: F.one_hot(outside, len(WORDS))),
            "bag": [_said(lambda ids=ids: F.embedding_bag(ids[None], table)) for ids in bags],
        },
        # A bag of n ids: each of n products is rounded, and so is each of their sums.
        "bounds": [rounding_bound(n + 1, torch.float32) for n in range(MOST + 1)],
    }


def _said(call: Any) -> str:
    """Give type and words of the error that a call has to raise."""
    try:
        call()
    except (IndexError, RuntimeError) as error:
        return f"{type(error).__name__}: {error}"
    raise AssertionError("an id without a row was accepted, expected an error")


def _uri(app: Sphinx, docname: str, label: str) -> str:
    found = app.env.domains.standard_domain.anonlabels.get(label)
    if found is None:
        LOG.warning(f"the explorer links to {label!r}, which no page has", location=docname)
        return "#"
    return f"{app.builder.get_relative_uri(docname, found[0])}#{found[1]}"


def visit(self: HTML5Translator, node: nodes.Element) -> None:
    """Begin the element; the static figure follows."""
    self.body.append(f'<lookup-explorer class="{"small" if node["small"] else "full"}">')


def depart(self: HTML5Translator, node: nodes.Element) -> None:
    """Write parts and data, of which a browser shows and runs nothing, and end the element."""
    data = json.dumps(node["data"], ensure_ascii=False, separators=(",", ":"))
    parts = PARTS.render(node["data"], small=node["small"], switches=SWITCHES, why=node["why"], more=node["more"])
    safe = data.replace("<", "\\u003c")
    self.body.append(f'{parts}<script type="application/json">{safe}</script></lookup-explorer>\n')


def add_files(
    app: Sphinx, page: str, _template: str, _context: dict[str, Any], _tree: nodes.document | None
) -> None:
    """Load script and style where they are wanted; no module, since browsers load none from a file."""
    if app.env.metadata.get(page, {}).get("explorer"):
        app.add_css_file("explorer.css")
        app.add_js_file("explorer.js", loading_method="defer")


def setup(app: Sphinx) -> dict[str, bool]:
    """Add the directive, and connect to reading, after the checks, and to writing."""
    app.add_node(explorer, html=(visit, depart))
    app.add_directive("explorer", Explorer)
    app.connect("doctree-read", surround, priority=600)
    app.connect("doctree-resolved", resolve)
    app.connect("html-page-context", add_files)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
