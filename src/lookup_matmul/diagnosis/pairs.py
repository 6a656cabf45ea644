"""Pair the modules of two models by name, and find the ties that only one of them has."""

from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from typing import TypeAlias

from torch import nn

from lookup_matmul.inputs import full_name

# Names of modules of model_a and those in model_b, or a function from one to the other.
Names: TypeAlias = Mapping[str, str] | Callable[[str], str | None]


def is_compiled(module: nn.Module) -> bool:
    """Return whether a call of a module runs compiled code, in which no hook can be."""
    in_place = getattr(module, "_compiled_call_impl", None) is not None
    return in_place or hasattr(module.forward, "_torchdynamo_orig_callable")


def pair_modules(
    model_a: nn.Module, model_b: nn.Module, names: Names
) -> dict[str, tuple[nn.Module, nn.Module]]:
    """Return the modules that correspond, by the name in model_a, or raise if none do."""
    modules_a, modules_b = (_list_modules(model) for model in (model_a, model_b))
    _check_names(names, modules_a, modules_b)
    targets: dict[str, str] = {}
    for name in sorted(modules_a, key=lambda name: map_name(name, names) == name):  # mapped first
        target = map_name(name, names)
        if target in modules_b and target not in targets.values():
            targets[name] = target
    if targets.keys() <= {""} and min(len(modules_a), len(modules_b)) > 1:
        raise ValueError(
            "no submodule of model_a has the name of one of model_b, expected models with the same "
            'names; pass names={"NAME IN A": "NAME IN B"}, or the submodules that correspond.'
        )
    return {name: (modules_a[name], modules_b[target]) for name, target in targets.items()}


def _check_names(
    names: Names, modules_a: Mapping[str, nn.Module], modules_b: Mapping[str, nn.Module]
) -> None:
    if callable(names):
        return
    if not isinstance(names, Mapping):
        raise TypeError(
            f"names is a {type(names).__name__}, expected a dict of names of modules, or a "
            'function; write {"NAME IN A": "NAME IN B"}.'
        )
    sides = ("model_a", names.keys(), modules_a), ("model_b", names.values(), modules_b)
    for model, used, modules in sides:
        for name in used:
            if name not in modules:
                close = get_close_matches(name, modules) or list(modules)[1:4]
                raise ValueError(
                    f"names has {name!r}, which is no module of {model}, expected one of its "
                    f"named_modules(), such as {', '.join(map(repr, close))}; correct it."
                )


def map_name(name: str, names: Names) -> str | None:
    """Return the name in model_b; that of a module is also the beginning of those inside of it."""
    if callable(names):
        return names(name)
    for prefix in sorted(names, key=len, reverse=True):
        if not prefix or f"{name}.".startswith(f"{prefix}."):
            return f"{names[prefix]}.{name[len(prefix) :].lstrip('.')}".strip(".")
    return name


def _list_modules(model: nn.Module) -> dict[str, nn.Module]:
    """Return the modules by name, without those inside of a compiled one."""
    modules = dict(model.named_modules())
    compiled = [name for name, module in modules.items() if is_compiled(module)]
    inside = {n for n in modules for c in compiled if n != c and (not c or n.startswith(f"{c}."))}
    return {name: module for name, module in modules.items() if name not in inside}


def name_types(module_a: nn.Module, module_b: nn.Module) -> tuple[str, str]:
    """Return the names of two classes, in full if they are two classes of one name."""
    kinds = type(module_a), type(module_b)
    if kinds[0] is not kinds[1] and kinds[0].__name__ == kinds[1].__name__:
        return full_name(module_a), full_name(module_b)
    return kinds[0].__name__, kinds[1].__name__


def find_lost_ties(
    model_a: nn.Module, model_b: nn.Module, names: Names
) -> Iterator[tuple[str, tuple[str, str], str]]:
    """Yield name and types of each module whose parameter only one model ties, and a sentence."""
    parameters_b = dict(_list_parameters(model_b))
    firsts: tuple[dict[nn.Parameter, str], dict[nn.Parameter, str]] = {}, {}
    for (name, key), (module, parameter) in _list_parameters(model_a):
        target = map_name(name, names)
        if target is None or (target, key) not in parameters_b:
            continue
        module_b, parameter_b = parameters_b[target, key]
        path = f"{name}.{key}".lstrip(".")
        first_a = firsts[0].setdefault(parameter, path)
        first_b = firsts[1].setdefault(parameter_b, path)
        if first_a != first_b:
            models = ("model_a", "model_b") if first_a != path else ("model_b", "model_a")
            first = first_a if first_a != path else first_b
            types = name_types(module, module_b)
            yield name, types, f"{models[0]} ties {path} to {first}, {models[1]} does not"


def _list_parameters(
    model: nn.Module,
) -> Iterator[tuple[tuple[str, str], tuple[nn.Module, nn.Parameter]]]:
    """Yield the name of the module of each parameter and its own, with the module and it."""
    for name, module in model.named_modules(remove_duplicate=False):
        plain_name = ".".join(part for part in name.split(".") if part != "_orig_mod")
        for key, parameter in module.named_parameters(recurse=False):
            yield (plain_name, key), (module, parameter)
