"""Run one side on the input without a trace: what it gives, or what it raises."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field

import torch
from torch.nn import functional as F  # noqa: N812 - as everybody calls it

from lookup_matmul.diagnosis.inputs import Feed
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
    feed: Feed
    autocast: torch.dtype | None = None
    # What callables gave, so that each is called once for each input.
    known: dict[tuple[str, int, torch.dtype | None], tuple[object, Outcome]] = field(
        default_factory=dict, compare=False
    )

    @property
    def sides(self) -> tuple[Side, Side]:
        """Give a and b."""
        return self.a, self.b

    def outcomes(self) -> tuple[Outcome, Outcome]:
        """Run both sides."""
        with precision(self):
            first, second = (self._outcome(side) for side in self.sides)
        return first, second

    def _outcome(self, side: Side) -> Outcome:
        if side.function is None:
            return run(side, self.feed)
        key = (side.name, id(self.feed.passed), self.autocast)
        if key not in self.known:  # the input is kept beside, so that its id stays its own
            self.known[key] = (self.feed.passed, call(side, self.feed))
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


@contextmanager
def precision(pair: Pair) -> Iterator[None]:
    """Compute as the caller's autocast says, which is off for all else."""
    kind = pair.feed.bags.ids.device.type
    with torch.autocast(kind, pair.autocast) if pair.autocast else nullcontext():
        yield


def run(side: Side, feed: Feed) -> Outcome:
    """Run a side that has a table."""
    if outside := outside_of(side, feed):
        return Outcome(raised=outside)  # on a GPU, running it could end the process
    try:
        return Outcome(compute(side, feed, table_as_read(side, feed)))
    except (IndexError, NotImplementedError, RuntimeError, TypeError, ValueError) as error:
        return Outcome(raised=said(error))


def call(side: Side, feed: Feed) -> Outcome:
    """Run a callable on a copy of the input, or on the input if it is no tensor."""
    assert side.function is not None
    passed = feed.passed.clone() if isinstance(feed.passed, torch.Tensor) else feed.passed
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


def compute(side: Side, feed: Feed, table: torch.Tensor) -> torch.Tensor:
    """Compute what torch computes for this layer, with ``table`` for its table."""
    ids, offsets, weights = feed.bags
    if weights is not None:
        weights = weights.to(table.dtype) if side.weighted else None
    if side.kind == "Linear":
        return _product(side, feed, table)
    if side.kind == "EmbeddingBag":
        matrix = None if feed.by_offsets else ids.reshape(offsets.numel() - 1, -1)
        rows = F.embedding_bag(
            ids if matrix is None else matrix,
            table,
            offsets if matrix is None else None,
            mode=side.mode,
            per_sample_weights=weights,
            include_last_offset=matrix is None and side.last_offset,
            padding_idx=side.padding_idx,
            scale_grad_by_freq=side.by_frequency,
            sparse=side.sparse,
        )
        return rows if matrix is None else rows.reshape(*feed.shape, -1)
    if feed.of_ids:
        rows = F.embedding(
            ids, table, side.padding_idx, scale_grad_by_freq=side.by_frequency, sparse=side.sparse
        )
        return rows.reshape(*feed.shape, -1)
    return F.embedding_bag(
        ids, table, offsets, mode="sum", per_sample_weights=weights, include_last_offset=True,
        scale_grad_by_freq=side.by_frequency, sparse=side.sparse,
    )  # fmt: skip


def table_as_read(side: Side, feed: Feed) -> torch.Tensor:
    """Give the table, shortened where ``max_norm`` does so while reading, on a copy."""
    if side.max_norm is None:
        return side.weight
    copy = side.weight.clone(memory_format=torch.contiguous_format)
    return torch.embedding_renorm_(copy, feed.bags.ids, side.max_norm, side.norm_type)


def outside_of(side: Side, feed: Feed) -> str:
    """Say which id has no row in the table; an empty text if all have one."""
    ids, size = feed.bags.ids, len(side.weight)
    outside = (ids < 0) | (ids >= size)
    if not outside.any() or (side.kind == "Linear" and feed.width is not None):
        return ""
    return (
        f"has no row for id {int(ids[outside][0])}, its rows are 0 to {size - 1}; "
        f"{int(outside.sum())} of {ids.numel()} ids are outside"
    )


def said(error: BaseException) -> str:
    """Give type and first line of an error."""
    return f"raises {type(error).__name__}: {(str(error).splitlines() or [''])[0]}"


def _product(side: Side, feed: Feed, table: torch.Tensor) -> torch.Tensor:
    dtype = torch.float64 if side.whole else table.dtype
    rows = feed.encode(len(table), dtype, side.weighted)
    bias = None if side.bias is None else side.bias.to(dtype)
    output = F.linear(rows, table.to(dtype).T, bias)
    return output.to(table.dtype) if side.whole else output
