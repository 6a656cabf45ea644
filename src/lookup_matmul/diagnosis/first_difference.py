"""Find the first module of two models whose outputs differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any, TypeAlias

import torch
from torch import nn
from torch.func import functional_call
from torch.utils._pytree import tree_leaves, tree_map_only

from lookup_matmul.diagnosis.agreement import compare_outcomes
from lookup_matmul.diagnosis.case import Outcome
from lookup_matmul.diagnosis.inputs import read_tolerance
from lookup_matmul.diagnosis.report import DIFFERENT, NOT_COMPARABLE, Agreement, Tolerance
from lookup_matmul.equality import check_dense_real
from lookup_matmul.inputs import check_type

# The tensors in the output of each call, by the name of the module and the number of the call.
Outputs: TypeAlias = dict[tuple[str, int], list[torch.Tensor]]


@dataclass(frozen=True)
class ModuleDifference:
    """The first module whose outputs differ between two models; its text is a sentence.

    ``name`` is that of ``named_modules()``, ``""`` for the whole model. ``call`` counts the calls
    of the module from 1; ``types`` and ``shapes`` are those of the modules and outputs of a and b.
    """

    name: str
    call: int
    types: tuple[str, str]
    shapes: tuple[tuple[int, ...], ...]
    agreement: Agreement

    def __repr__(self) -> str:
        name = f"module {self.name!r}" if self.name else "the whole model"
        types = " and ".join(dict.fromkeys(self.types))
        call = f" in its call {self.call}" if self.call > 1 else ""
        shape = f", of shape {self.shapes[0]}" if len(set(self.shapes)) == 1 else ""
        heading = f"The first outputs that differ are those of {name} ({types}){call}{shape}"
        return f"{heading}: {str(self.agreement).removeprefix('different: ')}."


def first_difference(
    model_a: nn.Module, model_b: nn.Module, *inputs: Any, atol: float = 0.0, rtol: float = 0.0
) -> ModuleDifference | None:
    """Return the first module whose outputs differ between two models, or None if all agree.

    Modules with the same name in both models are compared, in the order in which those of a return.
    Outputs are tensors and numbers, also in tuples, lists and dicts. They agree if their values and
    dtypes are equal, or within ``atol + rtol * |b|`` in any dtype. Both models run from one random
    state and without gradients, on copies of inputs, parameters and buffers; what a forward
    writes to other attributes stays.

    Raise TypeError for a model that is not a module or an output of another type, ValueError if no
    submodule has the same name in both models, and for a tolerance as :func:`compare` does.

    >>> a, b = (torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Softmax(dim)) for dim in (0, 1))
    >>> first_difference(a, b, torch.zeros(2, 4))
    The first outputs that differ are those of module '1' (Softmax), of shape (2, 4): \
8 of 8 numbers, the first at [0, 0]: 0.5 in a, 0.25 in b; the largest difference is 0.25.
    """
    for argument, model in {"model_a": model_a, "model_b": model_b}.items():
        check_type(argument, model, nn.Module, "compare takes tables and functions")
    tolerance = read_tolerance(atol, rtol)
    modules_a, modules_b = (dict(model.named_modules()) for model in (model_a, model_b))
    shared = modules_a.keys() & modules_b.keys()
    if len(shared) == 1 < min(len(modules_a), len(modules_b)):
        raise ValueError(
            "no submodule of model_a has the name of one of model_b, expected models with the same "
            "names; pass the submodules that correspond."
        )
    outputs_a, outputs_b = (_record_outputs(m, shared, inputs) for m in (model_a, model_b))
    for name, call in outputs_a | outputs_b:
        pair = outputs_a.get((name, call)), outputs_b.get((name, call))
        if difference := _find_difference(*pair, tolerance):
            types = type(modules_a[name]).__name__, type(modules_b[name]).__name__
            return ModuleDifference(name, call, types, *difference)
    return None


def _record_outputs(model: nn.Module, names: Iterable[str], inputs: tuple[Any, ...]) -> Outputs:
    """Run a model with a copy of its state, and return the outputs of the modules named."""
    outputs: Outputs = {}
    calls: Counter[str] = Counter()

    def copy_output(name: str, _module: nn.Module, _inputs: Any, output: Any) -> None:
        calls[name] += 1
        copies = outputs[name, calls[name]] = []
        for value in tree_leaves(output):
            if value is not None:
                tensor = torch.tensor(value) if isinstance(value, bool | int | float) else value
                check_dense_real(f"the output of module {name!r}", tensor)
                copies.append(tensor.to("cpu", copy=True))  # later modules may write to it

    state = dict(chain(model.named_parameters(), model.named_buffers()))
    devices = {tensor.device for tensor in state.values() if tensor.is_cuda}
    with torch.random.fork_rng(devices), torch.no_grad(), ExitStack() as stack:
        for name in names:
            hook = partial(copy_output, name)
            stack.callback(model.get_submodule(name).register_forward_hook(hook).remove)
        # A forward may write to its input, parameters and buffers, as with BatchNorm and max_norm.
        copies = tree_map_only(torch.Tensor, torch.clone, (state, inputs))
        functional_call(model, *copies)
    return outputs


def _find_difference(
    a: list[torch.Tensor] | None, b: list[torch.Tensor] | None, tolerance: Tolerance
) -> tuple[tuple[tuple[int, ...], ...], Agreement] | None:
    """Return the shapes and the agreement of the first tensors of two outputs that differ."""
    if a is None or b is None:
        model = "model_a" if a is None else "model_b"
        return (), Agreement(NOT_COMPARABLE, reason=f"{model} does not make this call")
    if len(a) != len(b):
        return (), Agreement(DIFFERENT, reason=f"{len(a)} tensors in a, {len(b)} in b")
    for first, second in zip(a, b, strict=True):
        agreement = compare_outcomes(Outcome(first), Outcome(second), tolerance)
        if agreement.verdict == DIFFERENT:
            return (tuple(first.shape), tuple(second.shape)), agreement
    return None
