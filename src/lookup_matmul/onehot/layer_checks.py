"""Which layers hold a table that can be moved, and the words for the others."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn.parameter import UninitializedParameter


def expect(name: str, value: object, kind: type, remedy: str) -> None:
    """Raise unless ``value`` is of a kind; quantized layers share the names of the others."""
    if not isinstance(value, kind):
        arrived = f"{type(value).__module__}.{type(value).__qualname__}"
        wanted = "torch.Tensor" if kind is torch.Tensor else f"torch.nn.{kind.__name__}"
        raise TypeError(f"{name} has type {arrived}, expected {wanted}; {remedy}.")


def check_layer(name: str, layer: nn.Module, kind: type[nn.Module]) -> nn.Parameter:
    """Give the table of a layer that does what its kind does, without a bias."""
    if type(layer).forward is not kind.forward or "forward" in vars(layer):
        raise TypeError(
            f"{name} is a {type(layer).__name__} with a forward of its own, expected that of "
            f"torch.nn.{kind.__name__}, or the outputs would differ; make the other layer "
            "yourself and bring the table over with copy_weight."
        )
    return table_of(name, layer)


def check_unhooked(name: str, layer: nn.Module, remedy: str) -> None:
    """Raise if a layer has hooks, which another layer with its table would not have."""
    if layer._forward_hooks or layer._forward_pre_hooks:
        raise ValueError(
            f"{name} has hooks, which may change what goes in or out, expected none; {remedy}."
        )


def check_filled(name: str, weight: torch.Tensor) -> None:
    """Raise if the weight of a layer has a shape and no numbers."""
    if weight.is_meta:
        raise ValueError(
            f"{name}.weight lies on the device meta, which stores no numbers, expected a table "
            "with numbers; load it, or move it with to_empty(device=...) and initialise it."
        )


def table_of(name: str, layer: nn.Module) -> nn.Parameter:
    """Give the weight of a layer, or raise unless it is one that can be written and trained."""
    if isinstance(layer, nn.Linear) and layer.bias is not None:
        raise ValueError(
            f"{layer} has a bias, expected none: a lookup adds nothing. Make it with bias=False, "
            "or fold the bias into every row first: with one-hot rows it adds the same to each."
        )
    return stored_weight(name, layer)


def stored_weight(name: str, layer: nn.Module) -> nn.Parameter:
    """Give the weight of a layer, or raise if it is computed from others or not there yet."""
    weight = layer._parameters.get("weight")
    if weight is None:
        raise ValueError(
            f"{name}.weight is computed from other parameters, expected one that is stored, since "
            "only that can be written and trained; undo it first, for instance with "
            f"torch.nn.utils.parametrize.remove_parametrizations({name}, 'weight'), "
            f"torch.nn.utils.remove_weight_norm({name}) or "
            f"torch.nn.utils.prune.remove({name}, 'weight')."
        )
    if isinstance(weight, UninitializedParameter):
        raise ValueError(
            f"{name} is a {type(layer).__name__} without a weight so far, expected a table; "
            "call it with a batch first, which tells it the number of columns."
        )
    return weight
