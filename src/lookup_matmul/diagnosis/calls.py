"""Record what the modules of two models are passed and return."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias

from torch import nn

from lookup_matmul.models import Leaves, read_leaves, run_on_copies

# The name in model_a and the number of the call, from 1.
Call: TypeAlias = tuple[str, int]
Hook: TypeAlias = Callable[..., None]


@dataclass
class Calls:
    """What the modules of a model were passed and returned, outputs in the order of the returns.

    ``callers`` has the call in whose forward each call was made, ``modes`` each one's ``training``.
    """

    inputs: dict[Call, Leaves] = field(default_factory=dict)
    outputs: dict[Call, Leaves] = field(default_factory=dict)
    callers: dict[Call, Call] = field(default_factory=dict)
    modes: dict[Call, bool] = field(default_factory=dict)


def record_both(
    model_a: nn.Module,
    model_b: nn.Module,
    pairs: Mapping[str, tuple[nn.Module, nn.Module]],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
) -> tuple[Calls, Calls]:
    """Record the calls of both models; of a model given twice, in train() and in eval()."""
    modes = {module: module.training for module in model_a.modules()}
    modules_a, modules_b = ({name: pair[side] for name, pair in pairs.items()} for side in (0, 1))
    try:
        if model_a is model_b:
            model_a.train()
        calls_a = _record_calls(model_a, modules_a, args, kwargs)
        if model_a is model_b:
            model_a.eval()
        return calls_a, _record_calls(model_b, modules_b, args, kwargs)
    finally:
        for module, is_training in modes.items():
            module.training = is_training


def _record_calls(
    model: nn.Module,
    modules: Mapping[str, nn.Module],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
) -> Calls:
    """Run a model on copies of its state, and return the calls of the modules by these names."""
    calls = Calls()
    counts: Counter[str] = Counter()
    running: list[Call] = []

    def begin(name: str, module: nn.Module, args: Any, kwargs: Any) -> None:
        counts[name] += 1
        call = (name, counts[name])
        if running:
            calls.callers[call] = running[-1]
        calls.inputs[call] = read_leaves({**dict(enumerate(args)), **kwargs}, in_objects=False)
        calls.modes[call] = module.training
        running.append(call)

    def end(name: str, _module: nn.Module, _args: Any, _kwargs: Any, output: Any) -> None:
        while running[-1][0] != name:  # a call that raised an error, which the model caught
            running.pop()
        calls.outputs[running.pop()] = read_leaves(output)

    with ExitStack() as stack:
        for name, module in modules.items():
            stack.enter_context(_watched(module, partial(begin, name), partial(end, name)))
        run_on_copies(model, args, kwargs)
    return calls


@contextmanager
def _watched(module: nn.Module, begin: Hook, end: Hook) -> Iterator[None]:
    """Call functions before and after each forward of a module; its other hooks are in between."""
    compiled = getattr(module, "_compiled_call_impl", None)
    if compiled is None:
        before = module.register_forward_pre_hook(begin, prepend=True, with_kwargs=True)
        with before, module.register_forward_hook(end, with_kwargs=True):
            yield
        return

    def call(*args: Any, **kwargs: Any) -> Any:
        begin(module, args, kwargs)
        output = compiled(*args, **kwargs)
        end(module, args, kwargs, output)
        return output

    module._compiled_call_impl = call  # a hook would be compiled with the module
    try:
        yield
    finally:
        module._compiled_call_impl = compiled
