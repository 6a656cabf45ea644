"""Every form of one computation, ready to be called on shared inputs."""

from __future__ import annotations

import importlib
import logging
import warnings
from collections.abc import Callable
from contextlib import redirect_stderr
from io import StringIO
from typing import Any, TypeAlias

import torch
from torch.nn.functional import embedding_bag

from lookup_matmul.forms import lookup, one_hot, one_hot_matmul
from lookup_matmul.timings.cases import BUILT, RATE, Case, Inputs

Contender: TypeAlias = Callable[[], torch.Tensor]


def contender(case: Case, inputs: Inputs) -> Contender:
    """Make the call of a case; what it does not count has been done before."""
    return _MADE["bags" if case.bags else case.direction, case.form](inputs, case.bags)


def _encoded(inputs: Inputs) -> torch.Tensor:
    return one_hot(inputs.ids, len(inputs.weight), dtype=inputs.weight.dtype, check=False)


def _product(rows: torch.Tensor, table: torch.Tensor) -> Contender:
    return lambda: rows @ table


def _compiled(inputs: Inputs) -> Contender:
    """Compile the product, on a GPU such that its one-hot rows need not be written."""

    def by_comparison(ids: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        columns = torch.arange(len(weight), device=ids.device)
        return (ids.unsqueeze(1) == columns).to(weight.dtype) @ weight

    _import_compiler()
    options: dict[str, Any] = {}
    if inputs.ids.is_cuda:  # its templates in Triton may compare ids where they multiply
        known = importlib.import_module("torch._inductor.config")
        options = {n: True for n in ("max_autotune_gemm", "prologue_fusion") if hasattr(known, n)}
    torch.compiler.reset()  # or the shapes of earlier cases would count against this one
    form: Any = torch.compile(by_comparison, fullgraph=True, dynamic=False, options=options)
    with redirect_stderr(StringIO()):  # where choices are listed that were tried
        form(inputs.ids, inputs.weight)
    return lambda: form(inputs.ids, inputs.weight)


def _import_compiler() -> None:
    """Import what compilers and optimisers import of torch, which looks for CUDA and says so."""
    log = logging.getLogger("torch.utils.cpp_extension")
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        with redirect_stderr(StringIO()):  # torch 2.6 prints what later ones log
            importlib.import_module("torch.utils.cpp_extension")
    finally:
        log.setLevel(level)


def _csr(inputs: Inputs, bags: int) -> torch.Tensor:
    """Write bags, or without any each id, as rows; the ids drawn for a bag may repeat."""
    ids, values, rows = inputs.ids, inputs.values, bags or len(inputs.ids)
    if not bags:
        values = inputs.weight.new_ones(len(ids))
    # The products want indices of four bytes, and would convert others at every call.
    offsets = (torch.arange(rows + 1, device=ids.device) * (len(ids) // rows)).int()
    shape = (rows, len(inputs.weight))
    with warnings.catch_warnings(action="ignore"):  # torch calls the layout a beta version
        return torch.sparse_csr_tensor(offsets, ids.int(), values, shape, check_invariants=not bags)


def _bag(inputs: Inputs, bags: int, values: torch.Tensor | None) -> Contender:
    ids, table = inputs.ids, inputs.weight
    offsets = torch.arange(bags, device=ids.device) * (len(ids) // bags)
    return lambda: embedding_bag(ids, table, offsets, mode="sum", per_sample_weights=values)


def _dense(inputs: Inputs, bags: int) -> torch.Tensor:
    rows = inputs.values.new_zeros(bags, len(inputs.weight))
    return rows.scatter_add_(1, inputs.ids.view(bags, -1), inputs.values.view(bags, -1))


def _gradient(inputs: Inputs, *, sparse: bool = False) -> Contender:
    """Call what autograd calls: its engine would cost more than a small gradient does."""
    size, backward = len(inputs.weight), torch.ops.aten.embedding_backward
    return lambda: backward(inputs.arriving, inputs.ids, size, -1, False, sparse)


def _coalesced(inputs: Inputs) -> Contender:
    gradient = _gradient(inputs, sparse=True)
    return lambda: gradient().coalesce()


def _added(inputs: Inputs) -> Contender:
    shape, ids = inputs.weight.shape, inputs.ids
    return lambda: inputs.arriving.new_zeros(shape).index_add_(0, ids, inputs.arriving)


def _deterministic(gradient: Contender) -> Contender:
    """Set :func:`torch.use_deterministic_algorithms` without its 100 µs of importing."""

    def call() -> torch.Tensor:
        before = torch.are_deterministic_algorithms_enabled()
        torch._C._set_deterministic_algorithms(True, warn_only=False)
        try:
            return gradient()
        finally:
            torch._C._set_deterministic_algorithms(before, warn_only=False)

    return call


def _step(optimiser: Any, inputs: Inputs, gradient: Contender) -> Contender:
    """Step once, so that the optimiser has its state, and make the next step the call."""
    _import_compiler()
    table = torch.nn.Parameter(inputs.weight.clone())
    table.grad = gradient()
    step = optimiser([table], lr=RATE).step
    step()
    return lambda: (step(), table.detach())[1]


_MADE: dict[tuple[str, str], Callable[[Inputs, int], Contender]] = {
    ("forward", "lookup"): lambda i, _: lambda: lookup(i.ids, i.weight, check=False),
    ("forward", "one-hot built"): lambda i, _: lambda: _encoded(i),
    ("forward", BUILT): lambda i, _: lambda: one_hot_matmul(i.ids, i.weight, check=False),
    ("forward", "multiplication alone"): lambda i, _: _product(_encoded(i), i.weight),
    ("forward", "compiled one-hot"): lambda i, _: _compiled(i),
    ("forward", "sparse product"): lambda i, _: _product(_csr(i, 0), i.weight),
    ("bags", "embedding bag"): lambda i, bags: _bag(i, bags, i.values),
    ("bags", "embedding bag, without weights"): lambda i, bags: _bag(i, bags, None),
    ("bags", "sparse product"): lambda i, bags: _product(_csr(i, bags), i.weight),
    ("bags", "multiplication alone"): lambda i, bags: _product(_dense(i, bags), i.weight),
    ("backward", "lookup"): lambda i, _: _gradient(i),
    ("backward", "lookup, deterministic"): lambda i, _: _deterministic(_gradient(i)),
    ("backward", "lookup, sparse gradient"): lambda i, _: _gradient(i, sparse=True),
    ("backward", "lookup, sparse and coalesced"): lambda i, _: _coalesced(i),
    ("backward", "index_add"): lambda i, _: _added(i),
    ("backward", "multiplication alone"): lambda i, _: _product(_encoded(i).T, i.arriving),
    ("step", "SGD, dense"): lambda i, _: _step(torch.optim.SGD, i, _gradient(i)),
    ("step", "SGD, sparse"): lambda i, _: _step(torch.optim.SGD, i, _coalesced(i)),
    ("step", "Adam, dense"): lambda i, _: _step(torch.optim.Adam, i, _gradient(i)),
    ("step", "SparseAdam"): lambda i, _: _step(torch.optim.SparseAdam, i, _coalesced(i)),
}
