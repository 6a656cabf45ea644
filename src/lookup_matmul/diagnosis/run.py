"""Run two described layers on one input without changing anything of the caller's."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch.nn import functional as F  # noqa: N812 - its usual name

from lookup_matmul.diagnosis.inputs import Batch, Tolerance
from lookup_matmul.diagnosis.layers import Side


@dataclass(frozen=True)
class Outcome:
    """An output of shape (..., embedding dimension), or a predicate such as "raises KeyError"."""

    output: torch.Tensor | None = None
    failure: str = ""


@dataclass(frozen=True)
class Pair:
    """Two sides, their input, the accepted difference, and the caller's autocast dtype if any."""

    a: Side
    b: Side
    batch: Batch
    tolerance: Tolerance
    autocast: torch.dtype | None = None
    # Holds the input beside each outcome, since the key contains its id().
    call_cache: dict[tuple[str, int, torch.dtype | None], tuple[object, Outcome]] = field(
        default_factory=dict, compare=False
    )

    @property
    def sides(self) -> tuple[Side, Side]:
        return self.a, self.b

    @property
    def with_table(self) -> list[Side]:
        return [side for side in self.sides if side.stored_table is not None]

    @property
    def products(self) -> list[Side]:
        return [side for side in self.sides if side.kind == "Linear"]

    @property
    def callables(self) -> list[Side]:
        return [side for side in self.sides if side.stored_table is None]

    def opposite(self, side: Side) -> Side:
        return self.b if side.name == "a" else self.a

    def change(self, name: str, **options: Any) -> Pair:
        """Return a pair in which the side of this name has other options."""
        return replace(self, **{name: replace(getattr(self, name), **options)})

    def autocast_context(self) -> torch.autocast:
        """Return a context with the caller's autocast, which is off elsewhere."""
        device_type = self.batch.bags.ids.device.type
        return torch.autocast(device_type, self.autocast, enabled=self.autocast is not None)

    def outcome(self, side: Side) -> Outcome:
        """Run a side; a callable runs only once for each input."""
        with self.autocast_context():
            if side.function is None:
                return run_layer(side, self.batch)
            key = (side.name, id(self.batch.original), self.autocast)
            if key not in self.call_cache:
                self.call_cache[key] = (self.batch.original, call_function(side, self.batch))
            return self.call_cache[key][1]


def run_layer(side: Side, batch: Batch) -> Outcome:
    size, ids = len(side.table), batch.bags.ids
    invalid = batch.out_of_range(size)
    if invalid.any() and not (side.kind == "Linear" and batch.width is not None):
        # torch is not asked, since on a GPU an invalid id can end the process.
        failure = f"has no row for id {int(ids[invalid][0])}, its rows are 0 to {size - 1}"
        return Outcome(failure=f"{failure}; {int(invalid.sum())} of {ids.numel()} ids are outside")
    try:
        return Outcome(compute_output(side, batch, renormalize(side, batch)))
    except (IndexError, NotImplementedError, RuntimeError, TypeError, ValueError) as error:
        return Outcome(failure=describe_error(error))


def call_function(side: Side, batch: Batch) -> Outcome:
    assert side.function is not None
    original = batch.original
    try:
        output = side.function(original.clone() if isinstance(original, torch.Tensor) else original)
    except Exception as error:
        return Outcome(failure=describe_error(error))
    if not isinstance(output, torch.Tensor) or not output.is_floating_point():
        kind = output.dtype if isinstance(output, torch.Tensor) else type(output).__name__
        raise TypeError(
            f"{side.name} returned {kind}, expected a tensor of floating-point numbers; "
            "return the output of the layer alone."
        )
    return Outcome(output.detach())


def compute_output(side: Side, batch: Batch, table: torch.Tensor) -> torch.Tensor:
    """Compute the output of this layer with another table of the same shape."""
    if side.kind == "Linear":
        dtype = torch.float64 if side.in_float64 else table.dtype
        rows = batch.encode(len(table), dtype, side.uses_values)
        bias = None if side.bias is None else side.bias.to(dtype)
        product = F.linear(rows, table.to(dtype).T, bias)
        return product.to(table.dtype) if side.in_float64 else product
    ids, offsets, weights = batch.bags
    options: Any = {"scale_grad_by_freq": side.scale_grad_by_freq, "sparse": side.sparse}
    if batch.is_single_ids and side.kind != "EmbeddingBag":
        rows = F.embedding(ids, table, side.padding_idx, **options)
        return rows.reshape(*batch.shape, -1)
    weights = weights.to(table.dtype) if weights is not None and side.uses_values else None
    is_bag = side.kind == "EmbeddingBag"  # other kinds have no mode, offsets or padding
    options |= {"mode": side.mode, "padding_idx": side.padding_idx} if is_bag else {"mode": "sum"}
    options["include_last_offset"] = side.include_last_offset or not (is_bag and batch.by_offsets)
    sums = F.embedding_bag(ids, table, offsets, per_sample_weights=weights, **options)
    return sums if batch.by_offsets else sums.reshape(*batch.shape, -1)


def renormalize(side: Side, batch: Batch) -> torch.Tensor:
    """Return the table with the rows that are read rescaled to ``max_norm``, if there is one."""
    if side.max_norm is None:
        return side.table
    ids = batch.bags.ids[~batch.out_of_range(len(side.table))]  # torch does not check them
    copy = side.table.clone(memory_format=torch.contiguous_format)
    return torch.embedding_renorm_(copy, ids, side.max_norm, side.norm_type)


def describe_error(error: BaseException) -> str:
    return f"raises {type(error).__name__}: {(str(error).splitlines() or [''])[0]}"
