"""Every form of one computation, ready to be called on shared inputs."""

from __future__ import annotations

import importlib
import logging
import warnings
from collections.abc import Callable
from contextlib import redirect_stderr
from io import StringIO
from typing import TypeAlias

import torch
from torch.nn.functional import embedding_bag

from lookup_matmul.forms import lookup, one_hot, one_hot_matmul
from lookup_matmul.timings.cases import Case
from lookup_matmul.timings.inputs import Inputs

Contender: TypeAlias = Callable[[], torch.Tensor]


def contender(case: Case, inputs: Inputs) -> Contender:
    """Make the call of a case; what it does not count has been done before.

    Parameters
    ----------
    case : Case
        The case.
    inputs : Inputs
        On the device to be measured.

    Returns
    -------
    collections.abc.Callable
        Gives the rows, the sums of the bags, or the gradient of the table.

    Raises
    ------
    KeyError
        If the case's form is not one of its direction.

    Examples
    --------
    >>> case = Case("lookup", "forward", 4, 5, 3, "uniform", "float32", "hot")
    >>> ids, none = torch.tensor([2, 3, 1]), torch.empty(0)
    >>> contender(case, Inputs(ids, torch.ones(4, 5), none, none))().shape
    torch.Size([3, 5])
    """
    if case.direction == "backward":
        return _BACKWARD[case.form](inputs)
    return _BAGS[case.form](case.bags, inputs) if case.bags else _FORWARD[case.form](inputs)


def _alone(inputs: Inputs) -> Contender:
    encoding = one_hot(inputs.ids, len(inputs.weight), dtype=inputs.weight.dtype, check=False)
    return lambda: encoding @ inputs.weight


def _compiled(inputs: Inputs) -> Contender:
    def by_comparison(ids: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        columns = torch.arange(len(weight), device=ids.device)
        return (ids.unsqueeze(1) == columns).to(weight.dtype) @ weight

    _import_compiler()
    torch.compiler.reset()  # or the shapes of earlier cases would count against this one
    compiled = torch.compile(by_comparison, fullgraph=True, dynamic=False)
    return lambda: compiled(inputs.ids, inputs.weight)


def _import_compiler() -> None:
    """Import what torch's compiler needs of its own accord, which looks for CUDA and says so."""
    log = logging.getLogger("torch.utils.cpp_extension")
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        with redirect_stderr(StringIO()):  # torch 2.6 prints what later ones log
            importlib.import_module("torch.utils.cpp_extension")
    finally:
        log.setLevel(level)


def _sparse(bags: int, inputs: Inputs) -> Contender:
    ids, weight, values = inputs.ids, inputs.weight, inputs.values
    # The ids drawn for a bag may repeat: torch's check refuses that, the product adds them up.
    check = not bags
    if not bags:
        bags, values = len(ids), torch.ones(len(ids), dtype=weight.dtype, device=ids.device)
    # The products want indices of four bytes, and would convert others at every call.
    offsets = (torch.arange(bags + 1, device=ids.device) * (len(ids) // bags)).int()
    shape = (bags, len(weight))
    with warnings.catch_warnings(action="ignore"):  # torch calls the layout a beta version
        rows = torch.sparse_csr_tensor(offsets, ids.int(), values, shape, check_invariants=check)
    return lambda: rows @ weight


def _bag(bags: int, inputs: Inputs, *, weighted: bool) -> Contender:
    offsets = torch.arange(bags, device=inputs.ids.device) * (len(inputs.ids) // bags)
    values = inputs.values if weighted else None
    return lambda: embedding_bag(
        inputs.ids, inputs.weight, offsets, mode="sum", per_sample_weights=values
    )


def _dense(bags: int, inputs: Inputs) -> Contender:
    rows = torch.zeros(
        bags, len(inputs.weight), dtype=inputs.values.dtype, device=inputs.ids.device
    )
    rows.scatter_add_(1, inputs.ids.view(bags, -1), inputs.values.view(bags, -1))
    return lambda: rows @ inputs.weight


def _gradient(inputs: Inputs, *, sparse: bool = False) -> Contender:
    """Call what autograd calls: its engine would cost more than a small gradient does."""
    size = len(inputs.weight)
    backward = torch.ops.aten.embedding_backward
    return lambda: backward(inputs.arriving, inputs.ids, size, -1, False, sparse)


def _added(inputs: Inputs) -> Contender:
    shape, dtype = inputs.weight.shape, inputs.weight.dtype
    return lambda: torch.zeros(shape, dtype=dtype, device=inputs.ids.device).index_add_(
        0, inputs.ids, inputs.arriving
    )


def _deterministic(gradient: Contender) -> Contender:
    """Set what :func:`torch.use_deterministic_algorithms` sets, without its 100 µs of importing.

    New memory is not filled with NaN meanwhile: that is a help in finding faults, not a cost
    of adding in a fixed order.
    """

    def call() -> torch.Tensor:
        before = torch.are_deterministic_algorithms_enabled()
        filled = torch._C._get_deterministic_fill_uninitialized_memory()
        torch._C._set_deterministic_algorithms(True, warn_only=False)
        torch._C._set_deterministic_fill_uninitialized_memory(False)
        try:
            return gradient()
        finally:
            torch._C._set_deterministic_algorithms(before, warn_only=False)
            torch._C._set_deterministic_fill_uninitialized_memory(filled)

    return call


def _transposed(inputs: Inputs) -> Contender:
    encoding = one_hot(inputs.ids, len(inputs.weight), dtype=inputs.weight.dtype, check=False).T
    return lambda: encoding @ inputs.arriving


_FORWARD: dict[str, Callable[[Inputs], Contender]] = {
    "lookup": lambda i: lambda: lookup(i.ids, i.weight, check=False),
    "index_select": lambda i: lambda: i.weight.index_select(0, i.ids),
    "one-hot built and multiplied": lambda i: lambda: one_hot_matmul(i.ids, i.weight, check=False),
    "multiplication alone": _alone,
    "compiled one-hot": _compiled,
    "sparse product": lambda inputs: _sparse(0, inputs),
}
_BACKWARD: dict[str, Callable[[Inputs], Contender]] = {
    "lookup": _gradient,
    "lookup, deterministic": lambda inputs: _deterministic(_gradient(inputs)),
    "lookup, sparse gradient": lambda inputs: _gradient(inputs, sparse=True),
    "index_add": _added,
    "index_add, deterministic": lambda inputs: _deterministic(_added(inputs)),
    "multiplication alone": _transposed,
}
_BAGS: dict[str, Callable[[int, Inputs], Contender]] = {
    "embedding bag": lambda bags, inputs: _bag(bags, inputs, weighted=True),
    "embedding bag, without weights": lambda bags, inputs: _bag(bags, inputs, weighted=False),
    "sparse product": _sparse,
    "multiplication alone": _dense,
}
