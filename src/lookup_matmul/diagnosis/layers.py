"""A layer described as plain data, so that it can be varied: its table and its options."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import torch
from torch import nn

from lookup_matmul.inputs import check_multiplied, check_weight
from lookup_matmul.onehot.checks import check_unhooked, stored_weight

# An Embedding, an EmbeddingBag or a Linear; a table; or a function of the input.
Layer: TypeAlias = nn.Module | torch.Tensor | Callable[[Any], torch.Tensor]


@dataclass(frozen=True)
class Side:
    """One of the two that are compared; its table is a view of the caller's, never written to."""

    name: str  # "a" or "b"
    kind: str  # Embedding, EmbeddingBag, Linear, table or callable
    table: torch.Tensor | None = None  # (vocabulary size, embedding dimension); a callable's: None
    function: Callable[[Any], Any] | None = None
    bias: torch.Tensor | None = None
    padding_idx: int | None = None
    max_norm: float | None = None
    norm_type: float = 2.0
    mode: str = "sum"
    last_offset: bool = True
    weighted: bool = True  # by the values of the rows, for which an Embedding has no place
    whole: bool = False  # computed in float64 and rounded once
    error: float = 0.0  # of each number of the table, relative to it, beyond the caller's
    trained: bool = False
    by_frequency: bool = False
    sparse: bool = False

    @property
    def weight(self) -> torch.Tensor:
        """Return the table, of a side that has one."""
        assert self.table is not None, f"{self.name} is a callable"
        return self.table

    @property
    def called(self) -> str:
        """Name the side with its kind, for sentences."""
        return f"{self.name} ({self.kind})"

    @property
    def code(self) -> str:
        """Write the table, (vocabulary size, embedding dimension), as the caller would."""
        codes = {"table": self.name, "Linear": f"{self.name}.weight.T"}
        return codes.get(self.kind, f"{self.name}.weight")


def called(sides: Sequence[Side]) -> str:
    """Name sides with their kinds."""
    return " and ".join(side.called for side in sides)


def named(rows: Iterable[int]) -> str:
    """Name rows of a table by their numbers, at most six of them."""
    numbers = list(rows)
    listed = ", ".join(map(str, numbers[:6])) + (", …" if len(numbers) > 6 else "")
    return f"row{'s' if len(numbers) != 1 else ''} {listed}"


def read_side(name: str, layer: Layer) -> Side:
    """Read a layer, a table or a callable, or raise with its name and what to do."""
    if isinstance(layer, torch.Tensor):
        return Side(name, "table", _table(name, layer), trained=layer.requires_grad)
    if not isinstance(layer, nn.Module):
        if callable(layer):
            return Side(name, "callable", function=layer)
        raise TypeError(
            f"{name} is a {type(layer).__name__}, expected an Embedding, EmbeddingBag or Linear, "
            "a table as a tensor, or a callable; wrap numbers in torch.tensor(...)."
        )
    readable = (nn.Embedding, nn.EmbeddingBag, nn.Linear)
    kind = next((kind for kind in readable if isinstance(layer, kind)), None)
    full = f"{type(layer).__module__}.{type(layer).__qualname__}"
    as_function = f"pass lambda given: layer(given) in place of the layer {name}"
    if kind is None:
        raise TypeError(
            f"{name} has type {full}, expected torch.nn.Embedding, EmbeddingBag or Linear, which "
            f"hold a table; pass the one inside of it that you mean, or {as_function}."
        )
    if type(layer).forward is not kind.forward or "forward" in vars(layer):
        raise TypeError(
            f"{name} is a {full} with a forward of its own, expected that of "
            f"torch.nn.{kind.__name__}; {as_function}."
        )
    weight = stored_weight(name, layer)
    check_unhooked(name, layer, f"{as_function}, or remove them")
    table = _table(f"{name}.weight", weight)
    options: dict[str, Any] = {"trained": weight.requires_grad}
    if isinstance(layer, nn.Linear):
        bias = None if layer.bias is None else layer.bias.detach()
        return Side(name, "Linear", table.T, bias=bias, **options)
    options |= {key: getattr(layer, key) for key in ("padding_idx", "max_norm", "norm_type")}
    options |= {"by_frequency": layer.scale_grad_by_freq, "sparse": layer.sparse}
    if isinstance(layer, nn.EmbeddingBag):
        options |= {"mode": layer.mode, "last_offset": layer.include_last_offset}
        return Side(name, "EmbeddingBag", table, **options)
    return Side(name, "Embedding", table, weighted=False, **options)


def _table(name: str, weight: torch.Tensor) -> torch.Tensor:
    check_weight(weight, name)
    check_multiplied(weight)
    return weight.detach()
