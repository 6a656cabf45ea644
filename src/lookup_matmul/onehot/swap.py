"""Replace each Embedding of a model by a OneHotLinear, and back."""

from __future__ import annotations  # keeps ``nn.Module``, which the reference links

from collections.abc import Iterable
from typing import Any

import torch
from torch import nn

from lookup_matmul.onehot import checks
from lookup_matmul.onehot.layers import make_embedding, make_linear, transpose_parameter
from lookup_matmul.onehot.one_hot_linear import OneHotLinear, get_tied_table, tie_to_table
from lookup_matmul.onehot.outcomes import compare_rows, compare_runs, run_example

UNSUPPORTED_OPTIONS = {
    "max_norm": "an Embedding then shortens rows of its table while it reads them, a product does "
    "not; shorten the table once and set max_norm=None",
    "scale_grad_by_freq": "a product does not divide gradients; set scale_grad_by_freq=False",
    "sparse": "the gradient of a product is dense; set sparse=False and take another optimizer",
}


def swap_embeddings(
    model: nn.Module, names: Iterable[str] | None = None, example: Any = None
) -> dict[str, str]:
    """Replace Embeddings of a model by layers that compute the same rows as a product.

    Each becomes a :class:`OneHotLinear` under the same name, in place. ``names`` are those of
    ``model.named_modules()``, or one of them; by default of every :class:`torch.nn.Embedding`.
    Return for each name how the rows of the product compare with those of the table, for at most
    128 rows spread over it, and as many with a negative zero or a subnormal number, in the matmul
    precision that is set now. With an ``example``, which is the argument of the model, a tuple of
    them or a dict of keyword arguments, the whole model runs before and after the swap, and ``""``
    is how its outputs compare; if they differ by more than ``torch.testing.assert_close``
    allows, or the model raises, it gets its old layers back, and ValueError is raised.

    Load weights before, since the state dict gets other names; wrap the model for several devices
    and create the optimizer after, since tables become new Parameters. But a table that another
    layer uses too stays, and the Linear computes its weight from it by
    :func:`torch.nn.utils.parametrize.register_parametrization`: save the state dict of such a
    model, not the model. ``save_pretrained`` would write names that ``from_pretrained`` does not
    find, and load random rows instead: swap a copy back before.

    If a layer is refused, the model does not change. Raise TypeError for a name of another module,
    and with ``names=None`` for an ``EmbeddingBag``; for a subclass or a ``forward`` of its own; for
    a table that is a ``DTensor`` or not float16, bfloat16, float32 or float64; and inside
    ``DistributedDataParallel`` or FSDP (``ddp.module`` alone does not show it), an adapter of PEFT,
    or a module that reads options of the Embedding. Raise ValueError if there is nothing to swap;
    if a layer uses ``max_norm``, ``scale_grad_by_freq`` or ``sparse``, holds more than its table,
    or has hooks on its state dict; if its weight is computed from others, has no columns, is on
    ``meta``, shares memory with another tensor, or has hooks; and if the product differs.

    >>> model = torch.nn.Sequential(torch.nn.Embedding(4, 5), torch.nn.Linear(5, 2))
    >>> swap_embeddings(model), list(model.state_dict())
    ({'0': 'equal in every bit'}, ['0.linear.weight', '1.weight', '1.bias'])
    """
    return _swap_layers(model, names, example, nn.Embedding)


def swap_one_hot_linears(
    model: nn.Module, names: Iterable[str] | None = None, example: Any = None
) -> dict[str, str]:
    """Replace each :class:`OneHotLinear` of a model by an Embedding with the same table.

    The inverse of :func:`swap_embeddings`, with the same arguments, result and errors. To save a
    model in the middle of training, swap a copy: an existing optimizer would not train the new
    Parameters. Also raise TypeError if a tool replaced the Linear, and ValueError if it has a bias
    or hooks, or shares its weight with another layer.

    >>> linear = torch.nn.Linear(4, 5, bias=False)
    >>> model = torch.nn.Sequential(OneHotLinear(linear, padding_idx=0))
    >>> swap_one_hot_linears(model), model[0]
    ({'0': 'equal in every bit'}, Embedding(4, 5, padding_idx=0))
    """
    return _swap_layers(model, names, example, OneHotLinear)


def _swap_layers(
    model: nn.Module, names: Iterable[str] | None, example: Any, kind: type[nn.Module]
) -> dict[str, str]:
    """Make all new layers, then replace the old ones, so that a refusal changes nothing."""
    layer_names = checks.select_modules(model, names, kind)
    before = None if example is None else run_example(model, example)
    names_to_swap = {path for paths in layer_names.values() for path in paths}
    weights_elsewhere = {
        parameter
        for name, module in model.named_modules(remove_duplicate=False)
        if not {name, name.removesuffix(".linear")} & names_to_swap
        for parameter in module.parameters(recurse=False)
    }
    transposed: dict[nn.Parameter, nn.Parameter] = {}
    new_layers: dict[nn.Module, nn.Module] = {}
    outcomes: dict[str, str] = {}
    for layer, paths in layer_names.items():
        name = paths[0]
        weight = _require_table(name, layer)
        checks.check_unshared(name, weight, model)
        is_tied = weight in weights_elsewhere
        if not is_tied:
            transposed.setdefault(weight, _transpose_with_state(name, weight))
        if isinstance(layer, OneHotLinear):
            if is_tied and get_tied_table(layer.linear) is None:
                raise ValueError(
                    f"the weight of {name}.linear is that of another layer too, with a column for "
                    "each row of the table; give one of them a Parameter of its own first."
                )
            one_hot_linear = layer
            table = transposed.get(weight, weight)
            new_layers[layer] = make_embedding(table, layer.padding_idx)
        else:
            linear = make_linear(transposed.get(weight, transpose_parameter(weight, share=True)))
            one_hot_linear = OneHotLinear(linear, layer.padding_idx)
            table = weight
            if is_tied:
                tie_to_table(linear, weight)
            new_layers[layer] = one_hot_linear
        outcomes |= dict.fromkeys(paths, compare_rows(name, one_hot_linear, table))
    for layer, paths in layer_names.items():
        _copy_attributes(layer, new_layers[layer])
        for path in paths:
            model.set_submodule(path, new_layers[layer])
    if before is not None:
        try:
            outcomes[""] = compare_runs(model, example, before)
        except ValueError:
            for layer, paths in layer_names.items():
                for path in paths:
                    model.set_submodule(path, layer)
            raise
    return outcomes


def _require_table(name: str, layer: OneHotLinear | nn.Embedding) -> nn.Parameter:
    """Return the Parameter with the table of a layer, or raise if a swap would lose anything."""
    if isinstance(layer, OneHotLinear):
        checks.check_plain(name, layer, OneHotLinear, "linear")
        linear = layer.linear
        linear_name = f"{name}.linear"
        weight = get_tied_table(linear)
        if weight is None:
            weight = checks.require_table(linear_name, linear)
            checks.check_plain(linear_name, linear, nn.Linear, "weight")
        checks.check_multipliable(linear_name, weight, layer.embedding_dim)
        checks.check_no_hooks_of_kind(linear_name, linear, "_hooks")
        return weight
    weight = checks.require_table(name, layer)
    checks.check_plain(name, layer, nn.Embedding, "weight")
    checks.check_multipliable(name, weight, layer.embedding_dim)
    for option, reason in UNSUPPORTED_OPTIONS.items():
        if (value := getattr(layer, option)) is not None and value is not False:
            raise ValueError(f"{name} is an Embedding with {option}={value}: {reason}.")
    return weight


def _transpose_with_state(name: str, weight: nn.Parameter) -> nn.Parameter:
    """Return the transpose of a Parameter, with its gradient and its attributes."""
    if checks.has_hooks(weight):
        raise ValueError(
            f"the weight of {name} has hooks of its own, which expect gradients of shape "
            f"{tuple(weight.shape)}, and the swap transposes it; remove them first."
        )
    with torch.inference_mode(False):  # else the copy could not be trained later
        new = transpose_parameter(weight, share=False)
        vars(new).update(vars(weight))
        if weight.grad is not None:
            new.grad = transpose_parameter(weight.grad.to_dense(), share=False).data
    return new


def _copy_attributes(layer: nn.Module, new: nn.Module) -> None:
    """Give a new layer the mode, the hooks and the attributes of the old one."""
    new.train(layer.training)
    attributes = vars(layer).keys() - vars(new).keys() - {*nn.Embedding.__constants__}
    # The same dictionaries of hooks, so that their handles still remove them.
    for name in attributes | {name for name in vars(layer) if "hook" in name}:
        setattr(new, name, getattr(layer, name))
