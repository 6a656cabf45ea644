"""Every form of a case, ready to be called on the inputs that all of them share."""

import importlib
import warnings
from collections.abc import Callable
from contextlib import redirect_stderr
from functools import partial
from io import StringIO
from typing import Any, TypeAlias

import torch
from torch.nn.functional import embedding_bag

from lookup_matmul.costs.cases import Case, Inputs
from lookup_matmul.onehot.forms import lookup, one_hot, one_hot_matmul

BUILT, ALONE, COMPILED = "one-hot built and multiplied", "multiplication alone", "compiled one-hot"
Contender: TypeAlias = Callable[[], torch.Tensor]


def forms_of(direction: str, bags: int) -> tuple[str, ...]:
    """Return the names of the forms that compute one thing."""
    return tuple(_FORMS["bags" if bags else direction])


def contender(case: Case, inputs: Inputs) -> Contender:
    """Return the call of a case; what it does not count has been done before."""
    return _FORMS["bags" if case.bags else case.direction][case.form](inputs)


def by_comparison(ids: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """Multiply one-hot rows that a compiler need not write."""
    columns = torch.arange(len(weight), device=ids.device)
    return (ids.unsqueeze(1) == columns).to(weight.dtype) @ weight


def _encoded(inputs: Inputs) -> torch.Tensor:
    if not inputs.bags:
        return one_hot(inputs.ids, len(inputs.weight), dtype=inputs.weight.dtype, check=False)
    rows, each = inputs.values.new_zeros(inputs.bags, len(inputs.weight)), (inputs.bags, -1)
    return rows.scatter_add_(1, inputs.ids.view(each), inputs.values.view(each))


def _csr(inputs: Inputs) -> torch.Tensor:
    """Write bags, or without any each id, as rows; the ids drawn for a bag may repeat."""
    ids, rows, check = inputs.ids, inputs.bags or len(inputs.ids), not inputs.bags
    values = inputs.values if inputs.bags else inputs.weight.new_ones(rows)
    # The products want indices of four bytes, and would convert others at every call.
    given = (torch.arange(0, len(ids) + 1, len(ids) // rows, device=ids.device).int(), ids.int())
    shape = (rows, len(inputs.weight))
    with warnings.catch_warnings(action="ignore"):  # torch calls the layout a beta version
        return torch.sparse_csr_tensor(*given, values, shape, check_invariants=check)


def _bag(inputs: Inputs, values: torch.Tensor | None) -> Contender:
    ids, each = inputs.ids, len(inputs.ids) // inputs.bags
    given = (ids, inputs.weight, torch.arange(0, len(ids), each, device=ids.device))
    return partial(embedding_bag, *given, mode="sum", per_sample_weights=values)


def _compiled(inputs: Inputs) -> Contender:
    """Compile the product, on a GPU such that its one-hot rows need not be written."""
    known = importlib.import_module("torch._inductor.config") if inputs.ids.is_cuda else None
    # Its templates in Triton may compare ids where they multiply.
    options: Any = {n: True for n in ("max_autotune_gemm", "prologue_fusion") if hasattr(known, n)}
    torch.compiler.reset()  # or the shapes of earlier cases would count against this one
    form: Any = torch.compile(by_comparison, fullgraph=True, dynamic=False, options=options)
    with redirect_stderr(StringIO()):  # where choices are listed that were tried
        form(inputs.ids, inputs.weight)
    return partial(form, inputs.ids, inputs.weight)


def _gradient(inputs: Inputs, *, sparse: bool = False) -> Contender:
    """Call what autograd calls: its engine would cost more than a small gradient does."""
    given = (inputs.arriving, inputs.ids, len(inputs.weight), -1, False, sparse)
    return partial(torch.ops.aten.embedding_backward, *given)


def _coalesced(inputs: Inputs) -> Contender:
    gradient = _gradient(inputs, sparse=True)
    return lambda: gradient().coalesce()


def _deterministic(inputs: Inputs) -> Contender:
    # As torch.use_deterministic_algorithms does, without its 100 µs of importing.
    gradient, switch = _gradient(inputs), torch._C._set_deterministic_algorithms

    def call() -> torch.Tensor:
        before = torch.are_deterministic_algorithms_enabled()
        switch(True, warn_only=False)
        try:
            return gradient()
        finally:
            switch(before, warn_only=False)

    return call


_FORMS: dict[str, dict[str, Callable[[Inputs], Contender]]] = {
    "forward": {
        "lookup": lambda i: partial(lookup, i.ids, i.weight, check=False),
        "one-hot built": lambda i: partial(_encoded, i),
        BUILT: lambda i: partial(one_hot_matmul, i.ids, i.weight, check=False),
        ALONE: lambda i: partial(torch.mm, _encoded(i), i.weight),
        COMPILED: _compiled,
        "sparse product": lambda i: partial(torch.mm, _csr(i), i.weight),
    },
    "bags": {
        "embedding bag": lambda i: _bag(i, i.values),
        "embedding bag, without weights": lambda i: _bag(i, None),
        "sparse product": lambda i: partial(torch.mm, _csr(i), i.weight),
        ALONE: lambda i: partial(torch.mm, _encoded(i), i.weight),
    },
    "backward": {
        "lookup": _gradient,
        "lookup, deterministic": _deterministic,
        "lookup, sparse gradient": partial(_gradient, sparse=True),
        "lookup, sparse and coalesced": _coalesced,
        "index_add": lambda i: lambda: torch.zeros_like(i.weight).index_add_(0, i.ids, i.arriving),
        ALONE: lambda i: partial(torch.mm, _encoded(i).T, i.arriving),
    },
}
