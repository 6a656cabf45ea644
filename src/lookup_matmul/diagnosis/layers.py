"""Describe a layer as data: its table and its options, which a remedy can change."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

import torch
from torch import nn

from lookup_matmul.inputs import check_matmul_dtype, check_weight, full_name
from lookup_matmul.onehot.checks import check_forward, check_no_hooks, require_weight

# An Embedding, an EmbeddingBag or a Linear; a table; or a function of the input.
Layer: TypeAlias = nn.Module | torch.Tensor | Callable[[Any], torch.Tensor]


@dataclass(frozen=True)
class Side:
    """One of the two layers; its table shares the caller's memory and is never written to."""

    name: str  # "a" or "b"
    kind: str  # Embedding, EmbeddingBag, Linear, table or callable
    stored_table: torch.Tensor | None = None  # None for a callable
    function: Callable[[Any], Any] | None = None
    bias: torch.Tensor | None = None
    padding_idx: int | None = None
    max_norm: float | None = None
    norm_type: float = 2.0
    mode: str = "sum"
    include_last_offset: bool = True
    uses_values: bool = True  # an Embedding has no argument for the values of sparse rows
    in_float64: bool = False  # computed in float64 and rounded once
    relative_error: float = 0.0  # of the table's numbers, where a remedy computed them
    requires_grad: bool = False
    scale_grad_by_freq: bool = False
    sparse: bool = False

    @property
    def table(self) -> torch.Tensor:
        """Return the table, shape (vocabulary size, embedding dimension)."""
        assert self.stored_table is not None, f"{self.name} is a callable"
        return self.stored_table

    @property
    def label(self) -> str:
        return f"{self.name} ({self.kind})"

    @property
    def table_code(self) -> str:
        """Return the caller's expression for the table."""
        expressions = {"table": self.name, "Linear": f"{self.name}.weight.T"}
        return expressions.get(self.kind, f"{self.name}.weight")


def format_rows(rows: Iterable[int]) -> str:
    """Return "row 2" or "rows 2, 3, …", with at most six numbers."""
    numbers = list(rows)
    listing = ", ".join(map(str, numbers[:6])) + (", …" if len(numbers) > 6 else "")
    return f"row{'s' if len(numbers) != 1 else ''} {listing}"


def read_side(name: str, layer: Layer) -> Side:
    if isinstance(layer, torch.Tensor):
        return Side(name, "table", _detach_table(name, layer), requires_grad=layer.requires_grad)
    if not isinstance(layer, nn.Module):
        if callable(layer):
            return Side(name, "callable", function=layer)
        raise TypeError(
            f"{name} is a {type(layer).__name__}, expected an Embedding, EmbeddingBag or Linear, "
            "a table as a tensor, or a callable; wrap numbers in torch.tensor(...)."
        )
    supported = (nn.Embedding, nn.EmbeddingBag, nn.Linear)
    kind = next((kind for kind in supported if isinstance(layer, kind)), None)
    as_function = f"pass lambda x: layer(x) in place of the layer {name}"
    if kind is None:
        raise TypeError(
            f"{name} has type {full_name(layer)}, expected torch.nn.Embedding, EmbeddingBag or "
            f"Linear, which hold a table; pass the submodule that you mean, or {as_function}."
        )
    check_forward(name, layer, kind, as_function)
    weight = require_weight(name, layer)
    check_no_hooks(name, layer, f"{as_function}, or remove them")
    table, requires_grad = _detach_table(f"{name}.weight", weight), weight.requires_grad
    if isinstance(layer, nn.Linear):
        bias = None if layer.bias is None else layer.bias.detach()
        return Side(name, "Linear", table.T, bias=bias, requires_grad=requires_grad)
    options = ["padding_idx", "max_norm", "norm_type", "scale_grad_by_freq", "sparse"]
    if is_bag := isinstance(layer, nn.EmbeddingBag):
        options += ["mode", "include_last_offset"]
    values: Any = {option: getattr(layer, option) for option in options}
    values |= {"uses_values": is_bag, "requires_grad": requires_grad}
    return Side(name, kind.__name__, table, **values)


def _detach_table(name: str, weight: torch.Tensor) -> torch.Tensor:
    check_weight(weight, name)
    check_matmul_dtype(weight)
    return weight.detach()
