"""Putting a OneHotLinear in the place of every Embedding of a model, and back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import torch
from torch import nn

from lookup_matmul.equality.assertions import bits_differ
from lookup_matmul.onehot.checks import (
    check_comparable,
    check_memory,
    check_parameter_hooks,
    check_plain,
    modules_to_swap,
    table_of,
)
from lookup_matmul.onehot.layers import transposed
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
    if its weight is computed from others, has no columns or no numbers, shares memory with another tensor, or has
    hooks that expect its shape; and if the product differs, as it does for NaN, infinity and
    reduced precision.

    Notes
    -----
    A table of its own becomes the weight of the :class:`torch.nn.Linear`, transposed: a new
    Parameter, so make the optimizer afterwards. Embeddings with one Parameter get one again.

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
    chosen = modules_to_swap(model, names, nn.Embedding)
    used = _used_elsewhere(model, {name for at in chosen.values() for name in at})
    made: dict[nn.Parameter, nn.Parameter] = {}
    swapped: list[tuple[nn.Module, nn.Module, list[str]]] = []
    outcomes: dict[str, str] = {}
    for layer, at in chosen.items():
        assert isinstance(layer, nn.Embedding)
        weight = _table_of_embedding(at[0], layer)
        check_memory(at[0], weight, model)
        rows, dim = weight.shape
        linear = nn.Linear(rows, dim, bias=False, device="meta")  # its weight comes from elsewhere
        if weight in used:
            linear.weight = transposed(weight, share=True)
        else:
            check_parameter_hooks(at[0], weight)
            linear.weight = made.setdefault(weight, _moved(weight))
        new = OneHotLinear(linear, layer.padding_idx)
        if weight in used:
            use_table(linear, weight)
        outcomes |= dict.fromkeys(at, _compare_rows(at[0], new, weight))
        swapped.append((layer, new, at))
    _replace(model, swapped)
    return outcomes


def swap_one_hot_linears(model: nn.Module, names: Iterable[str] | None = None) -> dict[str, str]:
    """Replace each :class:`OneHotLinear` of a model by an Embedding with the same table.

    The way back from :func:`swap_embeddings`, with its arguments, result and errors; what is kept
    there is kept here. Refused is also a Linear that has a bias or hooks, that a tool has replaced,
    or whose weight another layer uses too in its own shape.

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
    chosen = modules_to_swap(model, names, OneHotLinear)
    used = _used_elsewhere(model, {f"{name}.linear" for at in chosen.values() for name in at})
    made: dict[nn.Parameter, nn.Parameter] = {}
    swapped: list[tuple[nn.Module, nn.Module, list[str]]] = []
    outcomes: dict[str, str] = {}
    for layer, at in chosen.items():
        assert isinstance(layer, OneHotLinear)
        weight = _table_of_one_hot_linear(at[0], layer)
        check_memory(at[0], weight, model)
        new = nn.Embedding(layer.num_embeddings, layer.embedding_dim, device="meta")
        if used_table(layer.linear) is weight:
            new.weight = weight
        elif weight in used:
            raise ValueError(
                f"the weight of {at[0]}.linear is that of another layer too, in the shape "
                f"{tuple(weight.shape)}, which an Embedding cannot hold; give one of them a "
                "Parameter of its own first."
            )
        else:
            check_parameter_hooks(at[0], weight)
            new.weight = made.setdefault(weight, _moved(weight))
        new.padding_idx = layer.padding_idx
        outcomes |= dict.fromkeys(at, _compare_rows(at[0], layer, new.weight))
        swapped.append((layer, new, at))
    _replace(model, swapped)
    return outcomes


def _table_of_embedding(name: str, layer: nn.Embedding) -> nn.Parameter:
    """Return the table of an Embedding whose every property a product can keep, or raise."""
    weight = table_of(name, layer)
    check_plain(name, layer, nn.Embedding)
    check_comparable(name, weight, layer.embedding_dim)
    for option, why in REMEDIES.items():
        if (value := getattr(layer, option)) is not None and value is not False:
            raise ValueError(f"{name} is an Embedding with {option}={value}: {why}.")
    return weight


def _table_of_one_hot_linear(name: str, layer: OneHotLinear) -> nn.Parameter:
    """Return the Linear's weight, or the table that it is computed from, or raise."""
    check_plain(name, layer, OneHotLinear)
    linear, inner = layer.linear, f"{name}.linear"
    weight = used_table(linear)
    if weight is None:
        weight = table_of(inner, linear)
        check_plain(inner, linear, nn.Linear)
    check_comparable(inner, weight, layer.embedding_dim)
    hooked = [kind for kind, hooks in vars(linear).items() if "_hooks" in kind and hooks]
    if hooked:
        raise ValueError(
            f"{inner} has hooks ({', '.join(hooked)}), which would be lost with it; "
            "remove them first, by .remove() of what registering them returned."
        )
    return weight


@torch.no_grad()
def _compare_rows(name: str, layer: OneHotLinear, table: torch.Tensor) -> str:
    """Say how the product's rows compare with the table's, or raise if they differ."""
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
    # By the bits: where the machine takes subnormal numbers for zeros, comparisons do so too.
    odd = (table > -tiny) & (table < tiny) & bits_differ(table, zero)
    count = min(len(table), ROWS_TRIED)
    spread = torch.linspace(0, len(table) - 1, count, dtype=torch.float64, device=table.device)
    tried = torch.cat([spread.long(), odd.any(dim=1).nonzero().flatten()[:ROWS_TRIED]])
    product, expected = layer.forward(tried), table[tried]  # without the hooks of the module
    differs = bits_differ(product, expected)
    if not differs.any():
        return "equal in every bit"
    sign_lost = ~(bits_differ(expected, -zero) | bits_differ(product, zero))
    if not (differs & ~sign_lost).any():
        return "equal, with -0 as +0"
    off = (product.double() - expected.double()).abs()
    if (off <= tiny).all():
        return f"within {tiny:.2g}, with subnormal numbers as 0"
    worst = int(off.amax(dim=1).argmax())
    raise ValueError(
        f"the product of {name} is off by {float(off[worst].max()):.2g} in row "
        f"{int(tried[worst])}, expected the row itself: matrix products run with reduced "
        "precision here; call torch.set_float32_matmul_precision('highest') first."
    )


def _used_elsewhere(model: nn.Module, swapped: set[str]) -> set[nn.Parameter]:
    """Return the Parameters that a module other than those of these names holds."""
    modules = model.named_modules(remove_duplicate=False)
    others = [module for name, module in modules if name not in swapped]
    return {p for module in others for p in module._parameters.values() if p is not None}


def _moved(old: nn.Parameter) -> nn.Parameter:
    """Return the transpose of a Parameter with all that belongs to it: its gradient, its marks."""
    with torch.inference_mode(False):  # or the copy could not be trained later
        new = transposed(old, share=False)
        vars(new).update(vars(old))
        if old.grad is not None:
            new.grad = transposed(old.grad.to_dense(), share=False).data
    return new


def _replace(model: nn.Module, swapped: Sequence[tuple[nn.Module, nn.Module, list[str]]]) -> None:
    for old, new, at in swapped:
        new.train(old.training)
        marks = vars(old).keys() - vars(new).keys() - {*nn.Embedding.__constants__}
        # Hooks in the same dictionaries, so that handles still remove them.
        for name in marks | {name for name in vars(old) if "hook" in name}:
            setattr(new, name, getattr(old, name))
        for name in at:
            parent, _, leaf = name.rpartition(".")
            setattr(model.get_submodule(parent), leaf, new)
