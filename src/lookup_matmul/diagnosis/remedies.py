"""What can be tried on a pair: its words, and the ways to make the change."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import torch

from lookup_matmul.diagnosis.layers import Side
from lookup_matmul.diagnosis.run import Pair

Change: TypeAlias = Callable[[Pair], Pair]


@dataclass(frozen=True)
class Remedy:
    """Something to try: a change of the pair, the cause that it stands for, and its words.

    Attributes
    ----------
    name : str
        The cause.
    advice : str
        The remedy in one line, for somebody who holds the two layers.
    apply : Change
        Gives the pair with the remedy; the order of several does not matter.
    evidence : collections.abc.Callable
        Says what was seen, of a pair with all other remedies.
    """

    name: str
    advice: str
    apply: Change
    evidence: Callable[[Pair], str]


def both(change: Callable[[Side], Side]) -> Change:
    """Make a change of a pair from one of a side."""
    return lambda pair: replace(pair, a=change(pair.a), b=change(pair.b))


def setting(**options: Any) -> Change:
    """Make a change of a pair that gives both sides these options."""
    return both(lambda side: replace(side, **options))


def always(text: str) -> Callable[[Pair], str]:
    """Make evidence of what is so whatever else is mended."""
    return lambda _: text


def called(sides: Sequence[Side]) -> str:
    """Name sides with their kinds."""
    return " and ".join(side.called for side in sides)


def named(rows: torch.Tensor) -> str:
    """Name the rows of a table for which a Boolean is true, at most six of them."""
    numbers = rows.nonzero().flatten().tolist()
    listed = ", ".join(map(str, numbers[:6])) + (", …" if len(numbers) > 6 else "")
    return f"row{'s' if len(numbers) != 1 else ''} {listed}"


def in_code(side: Side) -> str:
    """Write the table of a side, (vocabulary size, embedding dimension), as the caller would."""
    codes = {"table": side.name, "Linear": f"{side.name}.weight.T"}
    return codes.get(side.kind, f"{side.name}.weight")
