"""Find the first module of two models whose outputs differ."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from torch import nn

from lookup_matmul.diagnosis import pairs
from lookup_matmul.diagnosis.agreement import compare_outcomes
from lookup_matmul.diagnosis.calls import Call, Calls, record_both
from lookup_matmul.diagnosis.case import Outcome
from lookup_matmul.diagnosis.inputs import read_tolerance
from lookup_matmul.diagnosis.pairs import Names
from lookup_matmul.diagnosis.report import DIFFERENT, Agreement, Tolerance
from lookup_matmul.inputs import check_type
from lookup_matmul.models import Leaves


@dataclass(frozen=True)
class ModuleDifference:
    """The first module whose outputs differ between two models; its text is a few sentences.

    ``name`` is that of ``named_modules()`` of model_a, ``""`` for the whole model. ``call`` counts
    the calls of the module from 1, and is 0 if all outputs agree, but only one model ties a weight.
    ``types`` are those of the modules, with their modules where two have one name; ``shapes`` are
    those of the first tensors that differ, at ``place`` in the outputs. ``parent`` is the module
    in whose forward the inputs of this call part, None if they agree. ``notes`` are sentences on
    inputs, training modes, calls that only one model makes, ties, and what was not compared.
    """

    name: str
    call: int
    types: tuple[str, str]
    shapes: tuple[tuple[int, ...], ...]
    agreement: Agreement
    place: str = ""
    parent: str | None = None
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        text = str(self.agreement).removeprefix("different: ")
        if not self.call:
            return f"All outputs agree, but {text}."
        types = " and ".join(dict.fromkeys(self.types))
        call = f" in its call {self.call}" if self.call > 1 else ""
        shape = f", of shape {self.shapes[0]}" if len(set(self.shapes)) == 1 else ""
        place = f" in output{self.place}" if self.place else ""
        heading = f"The first outputs that differ are those of {_describe(self.name)} ({types})"
        return " ".join([f"{heading}{call}{shape}{place}: {text}.", *self.notes])


def first_difference(
    model_a: nn.Module,
    model_b: nn.Module,
    *inputs: Any,
    names: Names | None = None,
    atol: float = 0.0,
    rtol: float = 0.0,
    **keywords: Any,
) -> ModuleDifference | None:
    """Return the first module whose outputs differ between two models, or None if all agree.

    Modules with the same name in both models are compared, in the order in which those of a return.
    ``names`` maps names of a to those of b, such as ``{"transformer.h": "blocks"}``, which holds
    for the modules inside, too; or is a function. Of a compiled module, the insides are not
    compared. One model given twice is compared in ``train()`` with itself in ``eval()``.

    Inputs and keywords go to both models. Of outputs, tensors and numbers are compared, also in
    dicts, tuples, dataclasses and caches; those of another type are paired in order. They agree
    if values and dtypes are equal, or within ``atol + rtol * |b|`` in any dtype. Both models run
    from one random state and without gradients, on copies of inputs, parameters and buffers; what a
    forward writes to other attributes stays.

    Raise TypeError for a model that is not a module and for outputs without any number, ValueError
    if no submodules correspond, for a name that is none, and for a tolerance as :func:`compare`.

    >>> a, b = (torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Softmax(dim)) for dim in (0, 1))
    >>> first_difference(a, b, torch.zeros(2, 4))
    The first outputs that differ are those of module '1' (Softmax), of shape (2, 4): \
8 of 8 numbers, the first at [0, 0]: 0.5 in a, 0.25 in b; the largest difference is 0.25. \
Its inputs agree.
    """
    for argument, model in {"model_a": model_a, "model_b": model_b}.items():
        check_type(argument, model, nn.Module, "compare takes tables and functions")
    tolerance = read_tolerance(atol, rtol)
    names = {} if names is None else names
    modules = pairs.pair_modules(model_a, model_b, names)
    a, b = record_both(model_a, model_b, modules, inputs, keywords)
    common = [call for call in a.outputs if call in b.outputs]
    if not any(a.outputs[call].tensors and b.outputs[call].tensors for call in common):
        kinds = sorted({leaves.kind.__name__ for leaves in a.outputs.values()})
        raise TypeError(
            f"the modules of model_a return {' and '.join(kinds) or 'nothing'}, expected a tensor "
            "or a number somewhere in the outputs of both models; return one."
        )
    ties = list(pairs.find_lost_ties(model_a, model_b, names))
    for call in common:
        if difference := _compare(a.outputs[call], b.outputs[call], tolerance):
            parent, notes = _compare_inputs(call, a, b, tolerance)
            name, count = call
            notes += _list_notes(call, a, b, modules[name])
            notes += [f"Besides, {sentence}." for _, _, sentence in ties]
            types = pairs.name_types(*modules[name])
            return ModuleDifference(name, count, types, *difference, parent, tuple(notes))
    if not ties:
        return None
    name, types, sentence = ties[0]
    return ModuleDifference(name, 0, types, (), Agreement(DIFFERENT, reason=sentence))


def _compare(
    a: Leaves, b: Leaves, tolerance: Tolerance
) -> tuple[tuple[tuple[int, ...], ...], Agreement, str] | None:
    """Return shapes, agreement and place of the first tensors of two values that differ."""
    same_places = a.tensors.keys() == b.tensors.keys()
    places_b = a.tensors if same_places else b.tensors
    for place_a, place_b in zip(a.tensors, places_b, strict=False):
        first, second = a.tensors[place_a], b.tensors[place_b]
        agreement = compare_outcomes(Outcome(first), Outcome(second), tolerance)
        if agreement.verdict == DIFFERENT:
            return (tuple(first.shape), tuple(second.shape)), agreement, place_a
    if a.kind is b.kind and len(a.tensors) != len(b.tensors):
        reason = f"{len(a.tensors)} tensors in a, {len(b.tensors)} in b"
        return (), Agreement(DIFFERENT, reason=reason), ""
    return None


def _compare_inputs(
    call: Call, a: Calls, b: Calls, tolerance: Tolerance
) -> tuple[str | None, list[str]]:
    """Return the module in whose forward the inputs of a call part, if they do, and a sentence."""
    if call not in a.callers:
        return None, []
    if not _is_paired(call, a, b):
        return None, ["Its inputs are of other kinds, and were not compared."]
    outermost, below = call, None
    while outermost in a.callers and _is_paired(outermost, a, b):
        if not _compare(a.inputs[outermost], b.inputs[outermost], tolerance):
            break
        outermost, below = a.callers[outermost], outermost
    if below is None:
        return None, ["Its inputs agree."]
    parent = outermost[0]
    place = "this call" if below == call else f"that of {_describe(below[0])}"
    forward = f"the forward of {_describe(parent)}"
    return parent, [f"Its inputs differ already: they part in {forward}, before {place}."]


def _is_paired(call: Call, a: Calls, b: Calls) -> bool:
    """Return whether the inputs of a call have the same places, or the same shapes in order."""
    tensors_a, tensors_b = (calls.inputs[call].tensors for calls in (a, b))
    shapes = [[tensor.shape for tensor in tensors.values()] for tensors in (tensors_a, tensors_b)]
    return tensors_a.keys() == tensors_b.keys() or shapes[0] == shapes[1]


def _list_notes(call: Call, a: Calls, b: Calls, modules: tuple[nn.Module, ...]) -> Iterator[str]:
    """Yield sentences on training modes, on missing calls, and on what was not compared."""
    if a.modes[call] != b.modes[call]:
        modes = ("train", "eval") if a.modes[call] else ("eval", "train")
        yield "It is in {}() in a, in {}() in b.".format(*modes)
    for model, calls, others in (("model_b", a, b), ("model_a", b, a)):
        before = list(calls.outputs)[: list(calls.outputs).index(call)]
        if missing := [name for name, count in before if (name, count) not in others.outputs]:
            listing = ", ".join(map(_describe, missing[:3])) + (", …" if len(missing) > 3 else "")
            yield f"Before, {model} makes no call of {listing}."
    if uncompared := a.outputs[call].others:
        counts = ", ".join(f"{count} {name}" for name, count in sorted(uncompared.items()))
        yield f"Not compared: {counts}."
    if any(map(pairs.is_compiled, modules)):
        yield "Of a compiled module, the modules inside were not compared."


def _describe(name: str) -> str:
    return f"module {name!r}" if name else "the whole model"
