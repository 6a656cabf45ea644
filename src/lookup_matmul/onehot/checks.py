"""Check that a layer holds a table that can be moved, and that a model can be swapped."""

from collections.abc import Iterable
from inspect import isfunction
from typing import Any

import torch
from torch import nn
from torch.nn.parameter import is_lazy

from lookup_matmul.equality import shares_storage
from lookup_matmul.inputs import check_matmul_dtype, check_type, full_name

WRAPPERS = {"DistributedDataParallel", "FullyShardedDataParallel", "FSDPModule"}
ADAPTERS = {"BaseTunerLayer", "AuxiliaryTrainingWrapper"}  # of PEFT, by name: it is not imported
EMBEDDING_OPTIONS = {"max_norm", "norm_type", "scale_grad_by_freq"}  # that OneHotLinear lacks


def check_forward(name: str, layer: nn.Module, kind: type[nn.Module], remedy: str) -> None:
    if type(layer).forward is not kind.forward or "forward" in vars(layer):
        raise TypeError(
            f"{name} is a {type(layer).__name__} with a forward of its own, expected that of "
            f"torch.nn.{kind.__name__}; {remedy}."
        )


def read_table(name: str, layer: nn.Module, kind: type[nn.Module], remedy: str) -> nn.Parameter:
    """Return the table of a layer, or raise unless it computes as its class ``kind`` does."""
    check_type(name, layer, kind, remedy)
    check_forward(name, layer, kind, "make the other layer yourself and copy the table")
    return require_table(name, layer)


def check_no_hooks(name: str, layer: nn.Module, remedy: str) -> None:
    """Raise if a layer or its weight has hooks, which a layer with its table would not have."""
    kinds = ("forward", "forward_pre", "backward", "backward_pre")
    if any(getattr(layer, f"_{kind}_hooks") for kind in kinds):
        problem = f"{name} has hooks, which may change what goes in or out"
    elif has_hooks(require_weight(name, layer)):
        problem = f"{name}.weight has hooks, which may change its gradient"
    else:
        return
    raise ValueError(f"{problem}, expected none; {remedy}.")


def has_hooks(weight: nn.Parameter) -> bool:
    return bool(weight._backward_hooks or getattr(weight, "_post_accumulate_grad_hooks", None))


def require_table(name: str, layer: nn.Module) -> nn.Parameter:
    """Return the weight of a layer, or raise if it is computed or the layer has a bias."""
    if isinstance(layer, nn.Linear) and layer.bias is not None:
        raise ValueError(
            f"{layer} has a bias, expected none: a lookup adds nothing. Make it with bias=False, "
            "or add the bias to every row of the table first."
        )
    return require_weight(name, layer)


def require_weight(name: str, layer: nn.Module) -> nn.Parameter:
    """Return the weight of a layer, or raise if it is computed from others or uninitialized."""
    weight = layer._parameters.get("weight")
    if weight is None:
        raise ValueError(
            f"{name}.weight is computed from other parameters, expected one that is stored; call "
            f"torch.nn.utils.parametrize.remove_parametrizations({name}, 'weight') first."
        )
    if is_lazy(weight):
        raise ValueError(
            f"{name}.weight is not initialized, expected a shape; call the layer once, or make it "
            "with its number of features."
        )
    return weight


def check_plain(name: str, layer: nn.Module, kind: type[nn.Module], member: str) -> None:
    """Raise unless a layer has exactly the class ``kind`` and holds only ``member``."""
    if type(layer) is not kind or "forward" in vars(layer):
        raise TypeError(
            f"{name} is a {full_name(layer)}, expected {kind.__name__} itself, since what a "
            "subclass or a forward of its own adds would be lost; replace it yourself."
        )
    members = (layer.named_parameters(recurse=False), layer.named_buffers(recurse=False))
    names = {name for pairs in (*members, layer.named_children()) for name, _ in pairs}
    if added := names - {member}:
        raise ValueError(
            f"{name} holds {', '.join(sorted(added))} besides its table, which the swap would "
            "lose; register it on the module around the layer."
        )
    check_no_hooks_of_kind(name, layer, "state_dict")


def check_no_hooks_of_kind(name: str, layer: nn.Module, kind: str) -> None:
    """Raise if a layer has hooks of a kind that a swap cannot keep, such as "state_dict"."""
    used = [key for key, hooks in vars(layer).items() if kind in key and hooks]
    if used:
        raise ValueError(
            f"{name} has hooks ({', '.join(used)}), which the layer in its place could not keep, "
            "expected none; remove them first."
        )


def check_multipliable(name: str, weight: nn.Parameter, dim: int) -> None:
    """Raise unless this process has rows of ``dim`` numbers that a product can compute with."""
    if hasattr(weight, "to_local"):
        raise TypeError(
            f"{name}.weight is a {type(weight).__name__}, expected a Parameter with all rows in "
            "this process; swap first, then shard the model."
        )
    check_matmul_dtype(weight, f"{name}.weight", "convert the layer with .to(dtype) first")
    if dim == 0:
        raise ValueError(
            f"{name}.weight has shape {tuple(weight.shape)}, expected at least one column; leave "
            "this layer out of names."
        )
    if weight.is_meta:
        raise ValueError(
            f"{name}.weight is on meta, which has no numbers, expected some; load weights first."
        )


def check_unshared(name: str, weight: nn.Parameter, model: nn.Module) -> None:
    parameters = model.named_parameters(remove_duplicate=False)
    for tensor_name, tensor in [*parameters, *model.named_buffers(remove_duplicate=False)]:
        if tensor is weight or is_lazy(tensor) or tensor.layout != torch.strided:
            continue
        # A DTensor, as FSDP2 makes of a Parameter, has no memory of its own.
        if shares_storage(weight, tensor.to_local() if hasattr(tensor, "to_local") else tensor):
            raise ValueError(
                f"the weight of {name} and {tensor_name} are two tensors on one memory, which a "
                "swap would separate; assign one Parameter to both, or clone one."
            )


def check_owner(name: str, owner: nn.Module) -> None:
    """Raise if the module that holds a layer is an adapter, or reads options of an Embedding."""
    kinds = type(owner).__mro__
    forward_kind = next(kind for kind in kinds if "forward" in vars(kind))
    methods = filter(isfunction, vars(forward_kind).values())
    reads = EMBEDDING_OPTIONS & {word for method in methods for word in method.__code__.co_names}
    if reads and forward_kind is not nn.Embedding:
        problem = f"which reads its {', '.join(sorted(reads))}"
    elif adapters := ADAPTERS & {kind.__name__ for kind in kinds}:
        problem = f"a {min(adapters)}, which changes its weight"
    elif isinstance(owner, nn.Embedding):
        problem = "itself an Embedding"
    else:
        return
    raise TypeError(
        f"{name} is in a {full_name(owner)}, {problem}, expected a module that only calls it; swap "
        "before you add adapters, or leave this layer out of names."
    )


def check_unwrapped(model: nn.Module, names: list[str]) -> None:
    for outer, module in model.named_modules(remove_duplicate=False):
        # Compared by name: importing the classes is slow, and older versions of torch lack some.
        kinds = {kind.__name__ for kind in type(module).__mro__ if kind.__module__[:6] == "torch."}
        inside = [name for name in names if not outer or f"{name}.".startswith(f"{outer}.")]
        if inside and (wrapped := kinds & WRAPPERS):
            raise TypeError(
                f"{inside[0]} is in {outer or 'the model'}, a {min(wrapped)}, which would not know "
                "the new Parameter; swap first, wrap after."
            )


def select_modules(
    model: nn.Module, names: Iterable[str] | None, kind: type[nn.Module]
) -> dict[Any, list[str]]:
    """Return the modules to swap, each with all of its names in the model."""
    check_type("model", model, nn.Module, "pass the model that holds the layers")
    modules = dict(model.named_modules(remove_duplicate=False))
    del modules[""]  # the model itself: a layer is replaced in the module that holds it
    candidates = [name for name, module in modules.items() if isinstance(module, kind)]
    if candidates:
        remedy = f"name some of {candidates}"
    elif any(type(module).__name__ == "OneHotLinear" for module in modules.values()):
        remedy = "the model is swapped already; swap_one_hot_linears swaps it back"
    elif any(isinstance(module, nn.Embedding) for module in modules.values()):
        remedy = "call swap_embeddings first"
    else:
        remedy = "the model holds none; convert a single layer with to_linear or to_embedding"
    if names is None:
        bags = [name for name, module in modules.items() if isinstance(module, nn.EmbeddingBag)]
        names = candidates + bags if kind is nn.Embedding else candidates
    requested = [names] if isinstance(names, str) else list(names)
    for name in requested:
        if name not in candidates:
            noun = f"a {full_name(modules[name])}" if name in modules else "no module of the model"
            raise TypeError(
                f"{name} is {noun}, which cannot be swapped, expected {kind.__name__}; {remedy}."
            )
    if not requested:
        raise ValueError(
            f"names has no {kind.__name__} of this {type(model).__name__}, expected at least one; "
            f"{remedy}."
        )
    check_unwrapped(model, requested)
    for name in requested:
        check_owner(name, model.get_submodule(name.rpartition(".")[0]))
    selected = {modules[name] for name in requested}
    return {
        module: [name for name in candidates if modules[name] is module]
        for module in modules.values()
        if module in selected
    }
