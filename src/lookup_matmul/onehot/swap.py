"""Replace each Embedding of a model by a OneHotLinear, and back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import torch
from torch import nn

from lookup_matmul.equality import bits_differ
from lookup_matmul.onehot.checks import (
    check_comparable,
    check_memory,
    check_parameter_hooks,
    check_plain,
    modules_to_swap,
    require_table,
)
from lookup_matmul.onehot.layers import transpose_parameter
from lookup_matmul.onehot.one_hot_linear import OneHotLinear, use_table, used_table

ROWS_TRIED = 128
REMEDIES = {
    "max_norm": "an Embedding then shortens rows of its table while it reads them, a product does "
    "not; shorten the table once and set max_norm=None",
    "scale_grad_by_freq": "an Embedding then divides gradients by the count of their id, a product "
    "does not; set scale_grad_by_freq=False",
    "sparse": "the gradient of a product is dense, which torch.optim.SparseAdam refuses; "
    "set sparse=False and take another optimizer",
}


def swap_embeddings(model: nn.Module, names: Iterable[str] | None = None) -> dict[str, str]:
    """Replace Embeddings of a model by layers that compute the same rows as a product.

    Each becomes a :class:`OneHotLinear` under the same name, in place.
    Dtype, device, ``requires_grad``, the gradient collected so far, ``padding_idx``, the training
    mode and the hooks of the module stay. If a layer is refused, the model is left as it was.

    ``names`` are those of the modules to replace, as in ``model.named_modules()``, or the name of
    one; by default every :class:`torch.nn.Embedding`. A module with several names is replaced under
    all of them. Return for each name that was replaced how the rows of the product compare with the
    table's: ``'equal in every bit'``, or what is different. At most 128 rows spread over each table
    are compared, and as many with a negative zero or a subnormal number.

    Raise TypeError for a name of no Embedding, or for ``names=None`` an ``EmbeddingBag`` that was
    found; for a subclass or a ``forward`` of its own; for a table that is not float16, bfloat16,
    float32 or float64; and for a layer inside ``DistributedDataParallel`` or FSDP, which would not
    know the new Parameter.
    Raise ValueError if there is nothing to swap; if a layer uses ``max_norm``,
    ``scale_grad_by_freq`` or ``sparse``, holds more than its table, or has hooks on its state dict;
    if its weight is computed from others, has no columns or no numbers, shares memory with another
    tensor, or has hooks that expect its shape; and if the product differs, as it does for NaN,
    infinity and reduced precision.

    Notes
    -----
    A table that no other layer uses is transposed into the weight of the :class:`torch.nn.Linear`,
    a new Parameter, so create the optimizer afterwards. Embeddings that share a Parameter share the
    new one.

    A table that another layer uses too, such as a tied head, stays the Parameter that it is.
    The Linear then computes its weight from it, by
    :func:`torch.nn.utils.parametrize.register_parametrization`. It is still an instance of
    :class:`torch.nn.Linear`, but no longer of exactly that type, nor without children.

    Swap first, wrap the model for several devices after; and load first, swap after: the state
    dict has other names, and those of the model come back with :func:`swap_one_hot_linears`.

    Examples
    --------
    >>> model = torch.nn.Sequential(torch.nn.Embedding(4, 5), torch.nn.Linear(5, 2))
    >>> swap_embeddings(model)
    {'0': 'equal in every bit'}
    >>> list(model.state_dict())
    ['0.linear.weight', '1.weight', '1.bias']
    >>> swap_one_hot_linears(model)
    {'0': 'equal in every bit'}
    >>> list(model.state_dict())
    ['0.weight', '1.weight', '1.bias']
    """
    layer_names = modules_to_swap(model, names, nn.Embedding)
    shared = _parameters_outside(model, {name for paths in layer_names.values() for name in paths})
    transposed_weights: dict[nn.Parameter, nn.Parameter] = {}
    replacements: list[tuple[nn.Module, nn.Module, list[str]]] = []
    outcomes: dict[str, str] = {}
    for layer, paths in layer_names.items():
        assert isinstance(layer, nn.Embedding)
        weight = _table_of_embedding(paths[0], layer)
        check_memory(paths[0], weight, model)
        rows, dim = weight.shape
        linear = nn.Linear(rows, dim, bias=False, device="meta")  # the weight is assigned below
        if weight in shared:
            linear.weight = transpose_parameter(weight, share=True)
        else:
            check_parameter_hooks(paths[0], weight)
            linear.weight = transposed_weights.setdefault(weight, _transpose_with_state(weight))
        new = OneHotLinear(linear, layer.padding_idx)
        if weight in shared:
            use_table(linear, weight)
        outcomes |= dict.fromkeys(paths, _compare_rows(paths[0], new, weight))
        replacements.append((layer, new, paths))
    _replace(model, replacements)
    return outcomes


def swap_one_hot_linears(model: nn.Module, names: Iterable[str] | None = None) -> dict[str, str]:
    """Replace each :class:`OneHotLinear` of a model by an Embedding with the same table.

    The inverse of :func:`swap_embeddings`, with the same arguments, result and errors; the same
    attributes are kept. Also raise if the Linear has a bias or hooks, was replaced by a tool, or
    has a weight that another layer uses too in the shape of the Linear's.

    Notes
    -----
    A weight of its own becomes a new Parameter of shape (vocabulary size, embedding dimension);
    a table that another layer uses too stays the Parameter that it is.

    Examples
    --------
    >>> linear = torch.nn.Linear(4, 5, bias=False)
    >>> model = torch.nn.Sequential(OneHotLinear(linear, padding_idx=0))
    >>> swap_one_hot_linears(model)
    {'0': 'equal in every bit'}
    >>> model
    Sequential(
      (0): Embedding(4, 5, padding_idx=0)
    )
    """
    layer_names = modules_to_swap(model, names, OneHotLinear)
    shared = _parameters_outside(
        model, {f"{name}.linear" for paths in layer_names.values() for name in paths}
    )
    transposed_weights: dict[nn.Parameter, nn.Parameter] = {}
    replacements: list[tuple[nn.Module, nn.Module, list[str]]] = []
    outcomes: dict[str, str] = {}
    for layer, paths in layer_names.items():
        assert isinstance(layer, OneHotLinear)
        weight = _table_of_one_hot_linear(paths[0], layer)
        check_memory(paths[0], weight, model)
        new = nn.Embedding(layer.num_embeddings, layer.embedding_dim, device="meta")
        if used_table(layer.linear) is weight:
            new.weight = weight
        elif weight in shared:
            raise ValueError(
                f"the weight of {paths[0]}.linear is that of another layer too, in the shape "
                f"{tuple(weight.shape)}, which an Embedding cannot hold; give one of them a "
                "Parameter of its own first."
            )
        else:
            check_parameter_hooks(paths[0], weight)
            new.weight = transposed_weights.setdefault(weight, _transpose_with_state(weight))
        new.padding_idx = layer.padding_idx
        outcomes |= dict.fromkeys(paths, _compare_rows(paths[0], layer, new.weight))
        replacements.append((layer, new, paths))
    _replace(model, replacements)
    return outcomes


def _table_of_embedding(name: str, layer: nn.Embedding) -> nn.Parameter:
    """Return the table of an Embedding, or raise if it has an option that a product lacks."""
    weight = require_table(name, layer)
    check_plain(name, layer, nn.Embedding)
    check_comparable(name, weight, layer.embedding_dim)
    for option, reason in REMEDIES.items():
        if (value := getattr(layer, option)) is not None and value is not False:
            raise ValueError(f"{name} is an Embedding with {option}={value}: {reason}.")
    return weight


def _table_of_one_hot_linear(name: str, layer: OneHotLinear) -> nn.Parameter:
    """Return the Linear's weight, or the table that it is computed from, or raise."""
    check_plain(name, layer, OneHotLinear)
    linear, inner = layer.linear, f"{name}.linear"
    weight = used_table(linear)
    if weight is None:
        weight = require_table(inner, linear)
        check_plain(inner, linear, nn.Linear)
    check_comparable(inner, weight, layer.embedding_dim)
    hook_kinds = [kind for kind, hooks in vars(linear).items() if "_hooks" in kind and hooks]
    if hook_kinds:
        raise ValueError(
            f"{inner} has hooks ({', '.join(hook_kinds)}), which would be lost with it; "
            "remove them first, by .remove() of what registering them returned."
        )
    return weight


@torch.no_grad()
def _compare_rows(name: str, layer: OneHotLinear, table: torch.Tensor) -> str:
    """Describe how the rows of the product compare with the table's; raise if they differ."""
    if table.is_meta:
        raise ValueError(
            f"{name}.weight is on meta, which has no numbers, expected some, since the swap "
            "compares the outputs; load the weights first."
        )
    lowest, highest = table.aminmax(dim=1)  # both NaN for a row with a NaN
    finite = lowest.isfinite() & highest.isfinite()
    if not finite.all():
        raise ValueError(
            f"the table of {name} has NaN or infinity in {int((~finite).sum())} of {len(table)} "
            f"rows, the first in row {int(finite.long().argmin())}, expected finite numbers: zero "
            "times NaN or infinity is NaN, so a product carries it into every row; repair these "
            "rows."
        )
    tiny, zero = torch.finfo(table.dtype).tiny, table.new_zeros(())
    # Compare bits: where the processor flushes subnormal numbers to zero, == does so too.
    has_special = (table > -tiny) & (table < tiny) & bits_differ(table, zero)
    count = min(len(table), ROWS_TRIED)
    spread = torch.linspace(0, len(table) - 1, count, dtype=torch.float64, device=table.device)
    ids = torch.cat([spread.long(), has_special.any(dim=1).nonzero().flatten()[:ROWS_TRIED]])
    product, expected = layer.forward(ids), table[ids]  # without the hooks of the module
    differs = bits_differ(product, expected)
    if not differs.any():
        return "equal in every bit"
    sign_lost = ~(bits_differ(expected, -zero) | bits_differ(product, zero))
    if not (differs & ~sign_lost).any():
        return "equal, with -0 as +0"
    error = (product.double() - expected.double()).abs()
    if (error <= tiny).all():
        return f"within {tiny:.2g}, with subnormal numbers as 0"
    worst_index = int(error.amax(dim=1).argmax())
    raise ValueError(
        f"the product of {name} is off by {float(error[worst_index].max()):.2g} in row "
        f"{int(ids[worst_index])}, expected the row itself: matrix products run with reduced "
        "precision here; call torch.set_float32_matmul_precision('highest') first."
    )


def _parameters_outside(model: nn.Module, excluded_names: set[str]) -> set[nn.Parameter]:
    """Return the Parameters of all modules but those with these names."""
    modules = model.named_modules(remove_duplicate=False)
    remaining = [module for name, module in modules if name not in excluded_names]
    return {p for module in remaining for p in module._parameters.values() if p is not None}


def _transpose_with_state(old: nn.Parameter) -> nn.Parameter:
    """Return the transpose of a Parameter, with its gradient and its attributes."""
    with torch.inference_mode(False):  # else the copy could not be trained later
        new = transpose_parameter(old, share=False)
        vars(new).update(vars(old))
        if old.grad is not None:
            new.grad = transpose_parameter(old.grad.to_dense(), share=False).data
    return new


def _replace(
    model: nn.Module, replacements: Sequence[tuple[nn.Module, nn.Module, list[str]]]
) -> None:
    """Put each new layer in the place of the old one under all of its names, with its hooks."""
    for old, new, paths in replacements:
        new.train(old.training)
        attributes = vars(old).keys() - vars(new).keys() - {*nn.Embedding.__constants__}
        # The same dictionaries of hooks, so that their handles still remove them.
        for name in attributes | {name for name in vars(old) if "hook" in name}:
            setattr(new, name, getattr(old, name))
        for name in paths:
            parent, _, leaf = name.rpartition(".")
            setattr(model.get_submodule(parent), leaf, new)
