"""Lays ``<lookup-explorer>`` around the figure below the directive, with its data from the package.

The figure is what readers without JavaScript see; ``_static/explorer.js`` puts itself in its place.
"""

import json
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from jinja2 import Environment, FileSystemLoader
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.locale import _
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective
from sphinx.writers.html5 import HTML5Translator

from _extensions.explorer.texts import SWITCHES, TITLES, WHY, WORDS
from _extensions.run.cache import package_folder
from _extensions.run.observer.sitecustomize import digest

LOG = logging.getLogger(__name__)
PARTS = Environment(
    loader=FileSystemLoader(Path(__file__).parent), autoescape=True, trim_blocks=True
).get_template("explorer.html")
MOST = 6


class explorer(nodes.General, nodes.Element):  # noqa: N801  # docutils names its nodes so
    """The element, around the static figure."""


def _switched(argument: str) -> str:
    """Read one of the values of the switches."""
    return directives.choice(argument, [value for _, many in SWITCHES.values() for value in many])


def _rows(argument: str) -> list[list[float]]:
    return [[float(number) for number in row.split()] for row in argument.split(",")]


class Explorer(SphinxDirective):
    """``{explorer}``: lets readers drive the figure below; ``:small:`` leaves switches out.

    ``:open: backward`` begins there, and keeps the switch that has this value; ``:ids: 2 3`` and
    ``:weights: 3 0.5`` begin with these; ``:words:`` and ``:table: 1 0.2, 3 0.5, …``, one for each
    row, take the place of the first page's, and ``:arriving:`` of the gradient's rows.
    """

    option_spec: ClassVar[dict[str, Any]] = {
        "small": directives.flag,
        "open": _switched,
        "ids": lambda argument: [int(word) for word in argument.split()],
        "weights": lambda argument: [float(word) for word in argument.split()],
        "words": str.split,
        "table": _rows,
        "arriving": _rows,
    }

    def run(self) -> list[nodes.Node]:
        """Leave a place with what the explorer begins with."""
        data, opened = kept_example(self.env), self.options.get("open")
        state = data["state"]
        state |= {
            name: self.options[name]
            for name in {"ids", "weights", "table", "arriving"} & {*self.options}
        }
        state["arriving"] = [row[: len(state["table"][0])] for row in state["arriving"]]
        data["words"] = self.options.get("words", WORDS)
        data["titles"] = {mode: [_(title) for title in titles] for mode, titles in TITLES.items()}
        shown = {} if "small" in self.options else SWITCHES
        if opened:
            name = next(name for name, (_, choices) in SWITCHES.items() if opened in choices)
            data["state"][name] = opened
            shown = shown or {name: SWITCHES[name]}
        place = explorer(small="small" in self.options, switches=shown, data=data)
        self.set_source_info(place)
        return [place]


def wrap_figures(_app: Sphinx, doctree: nodes.document) -> None:
    """Move each place from before a figure to around its drawing."""
    for place in list(doctree.findall(explorer)):
        figure = next(iter(place.findall(nodes.figure, siblings=True, ascend=True)), None)
        if figure is None:
            LOG.warning("no figure follows the explorer; write one below it", location=place)
            continue
        drawing = figure[0]
        place.parent.remove(place)
        figure.replace(drawing, place)
        place += drawing


def resolve_links(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Give each element its links, which start from its page."""
    for place in doctree.findall(explorer):
        place["more"] = app.builder.get_relative_uri(docname, "explorer")
        place["why"] = {
            key: (_(said), _(link), _uri(app, docname, label))
            for key, (said, link, label) in WHY.items()
        }


def kept_example(env: BuildEnvironment) -> dict[str, Any]:
    """Return the example, which is made again where the bounds or torch have changed."""
    bounds = package_folder() / "equality" / "rounding.py"
    env.note_dependency(str(bounds))
    made_with = f"{env.config.nb_execution_cache_path} {digest(bounds)}"  # named after torch
    kept: tuple[str, dict[str, Any]] = getattr(env, "lookup_example", ("", {}))
    if kept[0] != made_with:
        env.lookup_example = kept = made_with, example()  # type: ignore[attr-defined]
    return deepcopy(kept[1])


def example() -> dict[str, Any]:
    """Return the first page's table, what arrives, the words of torch and the bounds of sums."""
    # Only where a page with an explorer is read: a build of other pages does not wait for torch.
    import torch
    from torch.nn.functional import embedding, embedding_bag, one_hot

    from lookup_matmul import rounding_bound

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
        "says": {
            "lookup": _said(lambda: embedding(outside, table)),
            "product": _said(lambda: one_hot(outside, len(WORDS))),
            "bag": [_said(lambda ids=ids: embedding_bag(ids[None], table)) for ids in bags],
        },
        # A bag of n ids: each of n products is rounded, and so is each of their sums.
        "bounds": [rounding_bound(n + 1, torch.float32) for n in range(MOST + 1)],
    }


def _said(call: Callable[..., Any]) -> str:
    """Return type and words of the error that a call has to raise."""
    try:
        call()
    except (IndexError, RuntimeError) as error:
        return f"{type(error).__name__}: {error}"
    raise AssertionError("an id without a row was accepted, expected an error")


def _uri(app: Sphinx, docname: str, label: str) -> str:
    found = app.env.domains.standard_domain.anonlabels.get(label)
    # A build of one page alone has not all; a test follows each in the whole site.
    return f"{app.builder.get_relative_uri(docname, found[0])}#{found[1]}" if found else "#"


def visit(self: HTML5Translator, node: nodes.Element) -> None:
    """Begin the element; the static figure follows."""
    state = node["data"]["state"]
    kinds = [
        "small" if node["small"] else "full",
        state["mode"],
        *["apart"] * bool(state["condition"]),
    ]
    self.body.append(f'<lookup-explorer class="{" ".join(kinds)}"><div class="picture">')


def depart(self: HTML5Translator, node: nodes.Element) -> None:
    """Write the parts, which are seen once the script runs, and the data, and end the element."""
    data = node["data"]
    told = {name: node[name] for name in ("small", "switches", "why", "more")}
    parts = PARTS.render(data, _=_, **told)
    literal = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    script = f'<script type="application/json">{literal}</script>'
    self.body.append(f"</div>{parts}{script}</lookup-explorer>\n")
