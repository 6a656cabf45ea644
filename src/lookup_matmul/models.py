"""Run a model on copies of what it may write to, and read the tensors in what it returns."""

from collections import Counter
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import fields, is_dataclass
from itertools import chain
from typing import Any, NamedTuple

import torch
from torch import nn
from torch.func import functional_call
from torch.utils._pytree import tree_map


class Leaves(NamedTuple):
    """What a nested value holds: tensors by their place, such as "['logits']", and other types."""

    kind: type
    tensors: dict[str, torch.Tensor]
    others: Counter[str]


def run_on_copies(model: nn.Module, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """Return the output of a model, without gradients.

    A forward may write to its inputs, parameters and buffers, as with BatchNorm and max_norm, so it
    gets copies of them, and the random state is restored.
    """
    state = dict(chain(model.named_parameters(), model.named_buffers()))
    devices = {tensor.device for tensor in state.values() if tensor.is_cuda}
    with torch.random.fork_rng(devices), torch.no_grad():
        return functional_call(model, *tree_map(_copy, (state, args, dict(kwargs))))


def _copy(leaf: Any) -> Any:
    return leaf.clone() if isinstance(leaf, torch.Tensor) else deepcopy(leaf)


def read_leaves(value: Any, *, in_objects: bool = True) -> Leaves:
    """Return copies on the CPU of all tensors and numbers in a value, as dense real tensors.

    They are found in dicts, lists, tuples and dataclasses, and tensors also in the attributes of
    other objects, such as caches, unless ``in_objects`` is False; None is nothing, and everything
    else is counted by its type.
    """
    tensors: dict[str, torch.Tensor] = {}
    others: Counter[str] = Counter()
    for place, leaf in _walk(value, "", (), in_objects):
        if isinstance(leaf, torch.Tensor) and not (leaf.is_meta or leaf.is_nested):
            tensors[place] = _to_dense_real(leaf).to("cpu", copy=True)  # others may write to it
        elif isinstance(leaf, bool | int | float):
            tensors[place] = torch.tensor(leaf, device="cpu")
        elif leaf is not None:
            others[type(leaf).__name__] += 1
    return Leaves(type(value), tensors, others)


def _walk(
    value: Any, place: str, around: tuple[Any, ...], in_objects: bool
) -> Iterator[tuple[str, Any]]:
    """Yield the leaves of a value with their places; an object without tensors is a leaf."""
    is_container = isinstance(value, Mapping | list | tuple) or is_dataclass(value)
    is_open = (is_container or in_objects) and not any(value is other for other in around)
    leaves = [
        leaf
        for key, item in (_list_items(value) if is_open else {}).items()
        for leaf in _walk(item, place + key, (*around, value), in_objects)
    ]
    if is_container and is_open:
        yield from leaves
    else:
        yield from [leaf for leaf in leaves if isinstance(leaf[1], torch.Tensor)] or [
            (place, value)
        ]


def _list_items(value: Any) -> dict[str, Any]:
    """Return what a container or an object holds, by the end of the expression that reads it."""
    if isinstance(value, Mapping):
        return {f"[{key!r}]": item for key, item in value.items()}
    if isinstance(value, list | tuple):
        return {f"[{index}]": item for index, item in enumerate(value)}
    if is_dataclass(value):
        return {f".{field.name}": getattr(value, field.name) for field in fields(value)}
    if isinstance(value, torch.Tensor) or callable(value) or not hasattr(value, "__dict__"):
        return {}
    return {f".{name}": item for name, item in vars(value).items()}


def _to_dense_real(tensor: torch.Tensor) -> torch.Tensor:
    if tensor.is_quantized:
        tensor = tensor.dequantize()
    if tensor.layout != torch.strided:
        tensor = tensor.to_dense()
    return torch.view_as_real(tensor.resolve_conj()) if tensor.is_complex() else tensor
