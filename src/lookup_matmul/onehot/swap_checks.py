"""Which layers of a model can be swapped without a change of meaning, and the words for others."""

from collections.abc import Iterable, Iterator

import torch
from torch import nn
from torch.nn.parameter import is_lazy

from lookup_matmul.inputs import MULTIPLIED
from lookup_matmul.onehot.layer_checks import check_layer, expect
from lookup_matmul.onehot.layers import shares_storage
from lookup_matmul.onehot.one_hot_linear import OneHotLinear, used_table

REMEDIES = {
    "max_norm": "an Embedding then shortens rows of its table while it reads them, a product does "
    "not; shorten the table once and set max_norm=None",
    "scale_grad_by_freq": "an Embedding then divides gradients by the count of their id, a product "
    "does not; set scale_grad_by_freq=False",
    "sparse": "the gradient of a product is dense, which torch.optim.SparseAdam refuses; "
    "set sparse=False and take another optimizer",
}
STATE_HOOKS = (
    "_state_dict_hooks",
    "_state_dict_pre_hooks",
    "_load_state_dict_pre_hooks",
    "_load_state_dict_post_hooks",
)


def chosen_modules(
    model: nn.Module, names: Iterable[str] | None, kind: type[nn.Module]
) -> dict[nn.Module, list[str]]:
    """Give the modules to swap, each with all of its names in the model."""
    expect("model", model, nn.Module, "pass the model that holds the layers")
    wanted = "torch.nn.Embedding" if kind is nn.Embedding else "lookup_matmul.OneHotLinear"
    modules = dict(model.named_modules(remove_duplicate=False))
    fitting = [name for name, module in modules.items() if isinstance(module, kind)]
    if isinstance(model, kind):
        raise ValueError(
            f"model itself is the {type(model).__name__}, expected one that holds it, since it is "
            "replaced in place; convert a single layer with to_linear or to_embedding."
        )
    if isinstance(names, str):
        raise TypeError(f"names is the str {names!r}, expected several; write [{names!r}].")
    if names is not None and not isinstance(names, Iterable):
        raise TypeError(
            f"names is {names!r} of type {type(names).__name__}, expected several; "
            f"write ['{names}'] if that is one."
        )
    if names is None and kind is nn.Embedding:
        _refuse_lookalikes(modules, fitting)
    asked = fitting if names is None else list(names)
    if not asked:
        raise ValueError(
            f"model, a {type(model).__name__}, holds no {wanted} to swap, expected at least one; "
            "swap before scripting or quantising."
            if names is None
            else f"names is empty, expected some of {fitting}, or None for all."
        )
    for name in asked:
        if name not in modules:
            raise ValueError(f"{name!r} is no module of the model, expected some of {fitting}.")
        if name not in fitting:
            raise TypeError(
                f"{name} is a {_full_name(modules[name])}, expected {wanted}; "
                f"name some of {fitting}."
            )
    chosen = {modules[name] for name in asked}
    return {m: [n for n in fitting if modules[n] is m] for m in modules.values() if m in chosen}


def check_embedding(name: str, layer: nn.Module) -> nn.Parameter:
    """Give the table of an Embedding whose every property a product can keep."""
    weight = check_layer(name, layer, nn.Embedding)
    _check_plain(name, layer, nn.Embedding)
    for option, why in REMEDIES.items():
        if value := getattr(layer, option):
            raise ValueError(f"{name} is an Embedding with {option}={value}: {why}.")
    return _check_table(name, weight)


def check_one_hot_linear(name: str, layer: OneHotLinear) -> nn.Parameter:
    """Give the Parameter behind a OneHotLinear: its Linear's weight, or the table it is made of."""
    _check_plain(name, layer, OneHotLinear, {"linear"})
    linear, table = layer.linear, used_table(layer.linear)
    if table is None:
        table = check_layer(f"{name}.linear", linear, nn.Linear)
        _check_plain(f"{name}.linear", linear, nn.Linear)
    hooked = [kind for kind, hooks in vars(linear).items() if "_hooks" in kind and hooks]
    if hooked:
        raise ValueError(
            f"{name}.linear has hooks ({', '.join(hooked)}), which would be lost with it; "
            "remove them first, by .remove() of what registering them returned."
        )
    return _check_table(f"{name}.linear", table)


def check_memory(name: str, weight: nn.Parameter, model: nn.Module) -> None:
    """Raise if the numbers of a Parameter are also those of another tensor of the model."""
    for other_name, other in _tensors(model):
        if other is not weight and not is_lazy(other) and other.layout == torch.strided:
            if not shares_storage(weight, other):
                continue
            raise ValueError(
                f"the weight of {name} and {other_name} are two tensors on one memory, expected "
                "one Parameter or two memories, since a swap would part them; tie them by "
                "assigning one Parameter to both, or clone one."
            )


def check_parameter_hooks(name: str, weight: nn.Parameter) -> None:
    """Raise if somebody waits for gradients in the shape that the Parameter has now."""
    if weight._backward_hooks or getattr(weight, "_post_accumulate_grad_hooks", None):
        raise ValueError(
            f"the weight of {name} has hooks of its own, which expect gradients of shape "
            f"{tuple(weight.shape)}, and the swap transposes it; remove them first, by .remove() "
            "of what registering them returned."
        )


def _tensors(model: nn.Module) -> Iterator[tuple[str, torch.Tensor]]:
    yield from model.named_parameters(remove_duplicate=False)
    yield from model.named_buffers(remove_duplicate=False)


def _full_name(module: nn.Module) -> str:
    return f"{type(module).__module__}.{type(module).__qualname__}"


def _refuse_lookalikes(modules: dict[str, nn.Module], fitting: list[str]) -> None:
    for name, module in modules.items():
        if type(module).__name__ in ("Embedding", "EmbeddingBag") and name not in fitting:
            others = f"name the others: names={fitting}" if fitting else "there are no others"
            raise TypeError(
                f"{name or 'model'} is a {_full_name(module)}, which cannot be swapped, expected "
                f"torch.nn.Embedding; {others}."
            )


def _check_plain(
    name: str, layer: nn.Module, kind: type[nn.Module], children: Iterable[str] = ()
) -> None:
    """Raise if a layer is or holds more than its kind, which would be lost."""
    if type(layer) is not kind or "forward" in vars(layer):
        raise TypeError(
            f"{name} is a {_full_name(layer)}, expected {kind.__name__} itself, since what a "
            "subclass or a forward of its own adds would be lost; replace it yourself, by setattr "
            "on the module that holds it."
        )
    own = {*layer._parameters, *layer._buffers, *layer._modules} - {"weight", "bias", *children}
    if own:
        raise ValueError(
            f"{name} also holds {sorted(own)}, which would be lost; move it elsewhere first."
        )
    hooked = [kind for kind in STATE_HOOKS if getattr(layer, kind)]
    if hooked:
        raise ValueError(
            f"{name} has hooks on its state dict ({', '.join(hooked)}), which expect the key "
            "'weight', and the swap renames it; remove them first."
        )


def _check_table(name: str, weight: nn.Parameter) -> nn.Parameter:
    if type(weight) is not nn.Parameter or weight.layout != torch.strided or weight.dim() != 2:
        raise TypeError(
            f"{name}.weight is a {type(weight).__qualname__} of layout {weight.layout} with shape "
            f"{tuple(weight.shape)}, expected a dense torch.nn.Parameter with two dimensions; "
            "swap before sharding or wrapping."
        )
    if weight.dtype not in MULTIPLIED:
        remedy = "convert with .bfloat16()"
        if not weight.is_floating_point():
            remedy = "swap the others, by names=[...]"
        raise TypeError(
            f"{name}.weight has dtype {weight.dtype}, expected float16, bfloat16, float32 or "
            f"float64, which torch can multiply; {remedy}."
        )
    if weight.is_meta or not weight.numel():
        remedy = "load the weights first" if weight.numel() else "swap the others, by names=[...]"
        raise ValueError(
            f"{name}.weight is on {weight.device} with shape {tuple(weight.shape)} and has no "
            f"numbers, expected some, since the swap compares the outputs; {remedy}."
        )
    return weight
