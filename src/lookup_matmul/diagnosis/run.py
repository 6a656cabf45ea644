"""Run one side on the input without a trace: what it gives, or what it raises."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import torch
from torch.nn import functional as F  # noqa: N812 - as everybody calls it

from lookup_matmul.diagnosis.inputs import Input
from lookup_matmul.diagnosis.layers import Side


@dataclass(frozen=True)
class Outcome:
    """An output of shape (..., embedding dimension), or what happened instead, as a predicate."""

    output: torch.Tensor | None = None
    raised: str = ""


@dataclass(frozen=True)
class Pair:
    """Two sides, what they are given, and the caller's autocast, if it is on."""

    a: Side
    b: Side
    given: Input
    autocast: torch.dtype | None = None
    # What callables gave, so that each is called once for each input.
    known: dict[tuple[str, int, torch.dtype | None], tuple[object, Outcome]] = field(
        default_factory=dict, compare=False
    )

    @property
    def sides(self) -> tuple[Side, Side]:
        """Return a and b."""
        return self.a, self.b

    @property
    def tabled(self) -> list[Side]:
        """Return the sides that have a table."""
        return [side for side in self.sides if side.table is not None]

    @property
    def products(self) -> list[Side]:
        """Return the sides that multiply."""
        return [side for side in self.sides if side.kind == "Linear"]

    @property
    def unknown(self) -> list[Side]:
        """Return the callables, which cannot be varied."""
        return [side for side in self.sides if side.table is None]

    def side(self, name: str) -> Side:
        """Return the side of this name."""
        return self.a if name == "a" else self.b

    def other(self, side: Side) -> Side:
        """Return the side that is not this one."""
        return self.b if side.name == "a" else self.a

    def put(self, side: Side) -> Pair:
        """Return the pair with this side in the place of that of its name."""
        return replace(self, a=side) if side.name == "a" else replace(self, b=side)

    def precision(self) -> torch.autocast:
        """Compute as the caller's autocast says, which is off for all else."""
        kind = self.given.bags.ids.device.type
        return torch.autocast(kind, self.autocast, enabled=self.autocast is not None)

    def outcomes(self) -> tuple[Outcome, Outcome]:
        """Run both sides."""
        return self.outcome(self.a), self.outcome(self.b)

    def outcome(self, side: Side) -> Outcome:
        """Run a side, a callable only once for each input."""
        with self.precision():
            if side.function is None:
                return run(side, self.given)
            key = (side.name, id(self.given.passed), self.autocast)
            if key not in self.known:  # the input is kept beside, so that its id stays its own
                self.known[key] = (self.given.passed, call(side, self.given))
            return self.known[key][1]


@contextmanager
def untouched(device: torch.device) -> Iterator[None]:
    """Keep the caller's random numbers, record no gradient, and switch autocast off."""
    devices = [device] if device.type == "cuda" else []
    with (
        torch.random.fork_rng(devices),
        torch.inference_mode(False),
        torch.no_grad(),
        torch.autocast(device.type, enabled=False),
    ):
        yield


def run(side: Side, given: Input) -> Outcome:
    """Run a side that has a table."""
    size, ids = len(side.weight), given.bags.ids
    outside = given.outside(size)
    if outside.any() and not (side.kind == "Linear" and given.width is not None):
        return Outcome(  # on a GPU, running it could end the process
            raised=f"has no row for id {int(ids[outside][0])}, its rows are 0 to {size - 1}; "
            f"{int(outside.sum())} of {ids.numel()} ids are outside"
        )
    try:
        return Outcome(compute(side, given, table_as_read(side, given)))
    except (IndexError, NotImplementedError, RuntimeError, TypeError, ValueError) as error:
        return Outcome(raised=said(error))


def call(side: Side, given: Input) -> Outcome:
    """Run a callable on a copy of the input, or on the input if it is no tensor."""
    assert side.function is not None
    passed = given.passed.clone() if isinstance(given.passed, torch.Tensor) else given.passed
    try:
        output = side.function(passed)
    except Exception as error:
        return Outcome(raised=said(error))
    if not isinstance(output, torch.Tensor) or not output.is_floating_point():
        kind = output.dtype if isinstance(output, torch.Tensor) else type(output).__name__
        raise TypeError(
            f"{side.name} returned {kind}, expected a tensor of floating-point numbers; "
            "return the output of the layer alone."
        )
    return Outcome(output.detach())


def compute(side: Side, given: Input, table: torch.Tensor) -> torch.Tensor:
    """Compute what torch computes for this layer, with ``table`` for its table."""
    if side.kind == "Linear":
        return _product(side, given, table)
    ids, offsets, weights = given.bags
    backward = {"scale_grad_by_freq": side.by_frequency, "sparse": side.sparse}
    if given.of_ids and side.kind != "EmbeddingBag":
        return F.embedding(ids, table, side.padding_idx, **backward).reshape(*given.shape, -1)
    if weights is not None:
        weights = weights.to(table.dtype) if side.weighted else None
    bag = side.kind == "EmbeddingBag"  # any other adds the rows up, whatever the padding
    rows = F.embedding_bag(
        ids,
        table,
        offsets,
        mode=side.mode if bag else "sum",
        per_sample_weights=weights,
        include_last_offset=side.last_offset or not (bag and given.by_offsets),
        padding_idx=side.padding_idx if bag else None,
        **backward,
    )
    return rows if given.by_offsets else rows.reshape(*given.shape, -1)


def table_as_read(side: Side, given: Input) -> torch.Tensor:
    """Return the table, shortened where ``max_norm`` does so while reading, on a copy."""
    if side.max_norm is None:
        return side.weight
    ids = given.bags.ids[~given.outside(len(side.weight))]  # torch does not check them
    copy = side.weight.clone(memory_format=torch.contiguous_format)
    return torch.embedding_renorm_(copy, ids, side.max_norm, side.norm_type)


def said(error: BaseException) -> str:
    """Return type and first line of an error."""
    return f"raises {type(error).__name__}: {(str(error).splitlines() or [''])[0]}"


def _product(side: Side, given: Input, table: torch.Tensor) -> torch.Tensor:
    dtype = torch.float64 if side.whole else table.dtype
    rows = given.encode(len(table), dtype, side.weighted)
    bias = None if side.bias is None else side.bias.to(dtype)
    output = F.linear(rows, table.to(dtype).T, bias)
    return output.to(table.dtype) if side.whole else output
