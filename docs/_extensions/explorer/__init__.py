"""The ``{explorer}`` directive, which wraps the figure that ``_static/explorer.js`` replaces."""

import json
from collections.abc import Callable
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from jinja2 import Environment, FileSystemLoader
from sphinx.application import Sphinx
from sphinx.locale import _
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective
from sphinx.writers.html5 import HTML5Translator

from _extensions.run.pages import package_folder

LOG = logging.getLogger(__name__)
TEMPLATE = Environment(
    loader=FileSystemLoader(Path(__file__).parent), autoescape=True, trim_blocks=True
).get_template("explorer.html")
MAX_IDS = 6  # the same as in explorer.js
WORDS = ["snows", "today", "it", "rains"]
SWITCHES = {
    "mode": ["forward", "backward", "bag"],
    "condition": ["", "nan", "inf", "zero", "bfloat16", "tf32", "second", "counts"],
}
SWITCH_OF = {value: name for name, values in SWITCHES.items() for value in values}
QUANTITIES = ("lookup", "zeros", "nan", "total")  # that readers guess


class explorer(nodes.General, nodes.Element):  # noqa: N801  # docutils names its nodes so
    """The ``<lookup-explorer>`` element around a figure, whose drawing is for paper only."""


def _parse_rows(argument: str) -> list[list[float]]:
    return [[float(number) for number in row.split()] for row in argument.split(",")]


def _parse_guess(argument: str) -> list[str]:
    quantity, *choices = (part.strip() for part in argument.split(";"))
    return [directives.choice(quantity, QUANTITIES), *choices]


class Explorer(SphinxDirective):
    """``{explorer}``: makes the figure below interactive.

    ``:small:`` hides the switches.
    ``:open: backward`` sets the initial value of a switch, and ``:offer: nan bfloat16`` shows these
    values of a switch, also with ``:small:``. ``:ids: 2 3`` and ``:weights: 3 0.5`` set the initial
    ids and weights. ``:words:``, ``:title:``, ``:table: 1 0.2, 3 0.5, …`` and ``:arriving:``
    replace the words, the title of the table, its rows and the rows of the upstream gradient;
    ``:units: $ kg`` names the units of the columns. ``:guess: zeros; 15; 30; 45`` asks for one of
    ``QUANTITIES`` and offers these answers. The texts are in ``explorer.html``.
    """

    option_spec: ClassVar[dict[str, Any]] = {
        "small": directives.flag,
        "open": lambda argument: directives.choice(argument, tuple(SWITCH_OF)),
        "offer": lambda argument: [
            directives.choice(value, tuple(SWITCH_OF)) for value in argument.split()
        ],
        "ids": lambda argument: [int(word) for word in argument.split()],
        "weights": lambda argument: [float(word) for word in argument.split()],
        "words": str.split,
        "title": directives.unchanged_required,
        "units": str.split,
        "guess": _parse_guess,
        "table": _parse_rows,
        "arriving": _parse_rows,
    }

    def run(self) -> list[nodes.Node]:
        """Return the element with its initial state."""
        self.env.note_dependency(str(package_folder() / "equality.py"))  # which has the bounds
        data = deepcopy(compute_example())
        state = data["state"]
        for name in {"ids", "weights", "table", "arriving"} & {*self.options}:
            state[name] = self.options[name]
        state["arriving"] = [row[: len(state["table"][0])] for row in state["arriving"]]
        data["words"] = self.options.get("words", WORDS)
        data["units"] = self.options.get("units", [])
        data["asks"], *guesses = self.options.get("guess", [""])
        data["small"] = "small" in self.options
        data["titles"] = {  # of the input, the result of the lookup and the result of the product
            "forward": [_("table W"), _("look up: copy rows"), _("multiply: X W")],
            "backward": [_("upstream gradient G"), _("look up: add rows in"), _("multiply: Xᵀ G")],
            "bag": [_("table W"), _("bag: add rows"), _("multiply: x W")],
        }
        if data["asks"] == "lookup":
            data["titles"]["forward"][1] = _("look up")  # "copy" would give the answer away
        every = SWITCH_OF.keys() - {"second", "counts"}  # each belongs to one mode
        offered = self.options.get("offer", [] if data["small"] else every)
        switches = {
            name: [value for value in values if value in ["", *offered]]
            for name, values in SWITCHES.items()
            if {*values} & {*offered}
        }
        if initial := self.options.get("open"):
            state[SWITCH_OF[initial]] = initial
        if title := self.options.get("title"):
            data["titles"][state["mode"]][0] = _(title)
        node = explorer(switches=switches, guesses=guesses, data=data)
        self.set_source_info(node)
        return [node]


def wrap_figures(_app: Sphinx, doctree: nodes.document) -> None:
    """Move the next figure into each explorer, and what a reader drives beside its drawing."""
    for node in list(doctree.findall(explorer)):
        figure = next(iter(node.findall(nodes.figure, siblings=True, ascend=True)), None)
        if figure is None:
            LOG.warning("no figure follows the explorer; write one below it", location=node)
            continue
        node.parent.remove(node)
        figure.replace_self(node)
        node += figure
        choices = {name: node[name] for name in ("switches", "guesses")}
        controls = TEMPLATE.render(node["data"], part="controls", **choices, _=_)
        before, after = '<div class="shown"><div class="picture">', f"</div>{controls}</div>"
        figure.insert(1, nodes.raw("", after, format="html"))
        figure.insert(0, nodes.raw("", before, format="html"))


@cache
def compute_example() -> dict[str, Any]:
    """Return the initial state, torch's error messages and the rounding bounds."""
    # Imported here, so that a build that reads no explorer does not import torch.
    import torch
    from torch.nn.functional import embedding, embedding_bag, one_hot

    from lookup_matmul import rounding_bound

    torch.manual_seed(123)
    table = torch.nn.Embedding(len(WORDS), 5).weight.detach()
    gradient = (10 * torch.randn(MAX_IDS, 5)).round() / 10 + 0.0  # one decimal, easy to add
    out_of_range = torch.tensor([len(WORDS)])
    bags = [torch.cat([torch.zeros(n, dtype=torch.int64), out_of_range]) for n in range(MAX_IDS)]
    return {
        "words": WORDS,
        "state": {
            "mode": "forward",
            "condition": "",
            "at": [0, 0],
            "ids": [2, 3, 1],
            "weights": [0.5, 1.3, -0.7],
            "table": [[float(f"{x:.9g}") for x in row] for row in table.tolist()],
            "arriving": [[float(f"{x:.1f}") for x in row] for row in gradient.tolist()],
        },
        "says": {
            "lookup": _catch_message(embedding, out_of_range, table),
            "product": _catch_message(one_hot, out_of_range, len(WORDS)),
            "bag": [_catch_message(embedding_bag, ids[None], table) for ids in bags],
        },
        # In a bag of n ids, the n products and each of their partial sums are rounded.
        "bounds": [rounding_bound(n + 1, torch.float32) for n in range(MAX_IDS + 1)],
    }


def _catch_message(function: Callable[..., Any], *args: Any) -> str:
    """Return the type and message of the error that a call must raise."""
    try:
        function(*args)
    except (IndexError, RuntimeError) as error:
        return f"{type(error).__name__}: {error}"
    raise AssertionError("an id without a row was accepted, expected an error")


def visit(self: HTML5Translator, node: nodes.Element) -> None:
    """Write the start tag; the figure follows."""
    data = node["data"]
    state = node["data"]["state"]
    classes = f"{'small' if data['small'] else 'full'} {state['mode']}"
    classes += " apart" if state["condition"] else ""
    self.body.append(f'<lookup-explorer class="{classes}">')


def depart(self: HTML5Translator, node: nodes.Element) -> None:
    """Write what is below the figure, the data, and the end tag."""
    builder: Any = self.builder
    docname = builder.current_docname
    labels = builder.env.domains.standard_domain.anonlabels

    def address(label: str) -> str:
        # A build of a single page lacks some labels; a test checks each link of the full site.
        page, anchor = labels.get(label, (docname, ""))
        return f"{builder.get_relative_uri(docname, page)}#{anchor}"

    more = builder.get_relative_uri(docname, "explorer")
    data = node["data"]
    links = {"address": address, "more": more}
    below = TEMPLATE.render(data, part="below", switches=node["switches"], _=_, **links)
    literal = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    script = f'<script type="application/json">{literal}</script>'
    self.body.append(f"{below}{script}</lookup-explorer>\n")
