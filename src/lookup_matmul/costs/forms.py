"""Every form of a case as a call on shared inputs, and the check of its result."""

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch.nn.functional import embedding, embedding_bag

from lookup_matmul.costs.count import BAG, COMPILED, COMPILED_LOOKUP, DTYPES, ONE_HOT, PRODUCT, Case
from lookup_matmul.equality import assert_within, rounding_bound
from lookup_matmul.onehot.forms import lookup, one_hot, one_hot_matmul


def sample_inputs(case: Case, device: str) -> list[torch.Tensor]:
    """Return ids, table, the gradient that arrives for each id, and its weight in its bag."""
    options: Any = {"generator": torch.Generator(device).manual_seed(0), "device": device}
    ids = torch.randint(case.vocab_size, (case.ids,), **options)
    table = torch.randn(case.vocab_size, case.dim, **options)
    row_gradients = torch.randn(case.ids, case.dim, **options)
    weights = torch.rand(case.ids, **options)
    return [ids, *(tensor.to(DTYPES[case.dtype]) for tensor in (table, row_gradients, weights))]


def make_call(case: Case, inputs: list[torch.Tensor]) -> Callable[[], torch.Tensor]:
    """Return the call to be timed; one-hot rows and CSR indices that it reads exist already."""
    ids, table, row_gradients, weights = inputs
    if case.form == ONE_HOT and case.direction == "forward":
        return partial(one_hot_matmul, ids, table, check=False)
    if case.form == ONE_HOT:
        encode = partial(one_hot, ids, case.vocab_size, dtype=table.dtype, check=False)
        return lambda: encode().T @ row_gradients
    if case.form in (COMPILED, COMPILED_LOOKUP):
        torch.compiler.reset()  # earlier shapes would count against the limit of recompilations
        function: Any = _one_hot_product if case.form == COMPILED else embedding
        return partial(torch.compile(function, dynamic=False), ids, table)
    if case.form == PRODUCT:
        rows = one_hot(ids, case.vocab_size, dtype=table.dtype, check=False)
        factors = (rows, table) if case.direction == "forward" else (rows.T, row_gradients)
        return partial(torch.mm, *factors)
    if case.bags:
        offsets = torch.arange(0, case.ids + 1, case.ids // case.bags, device=ids.device)
        if case.form == BAG:
            bag: Any = partial(embedding_bag, mode="sum", per_sample_weights=weights)
            return partial(bag, ids, table, offsets[:-1])
        # Products of CSR read int32 indices, and ids may repeat in a bag.
        arrays = (offsets.int(), ids.int(), weights)
        shape = (case.bags, case.vocab_size)
        with warnings.catch_warnings(action="ignore"):  # the layout is in beta
            csr = torch.sparse_csr_tensor(*arrays, shape, check_invariants=False)
        return partial(torch.mm, csr, table)
    if case.direction == "forward":
        return partial(lookup, ids, table, check=False)
    gradient = torch.ops.aten.embedding_dense_backward
    return partial(gradient, row_gradients, ids, case.vocab_size, -1, False)


def check_result(case: Case, inputs: list[torch.Tensor], result: torch.Tensor) -> float:
    """Return the largest error relative to the terms; raise AssertionError beyond rounding."""
    ids = inputs[0]
    table, row_gradients, weights = (tensor.double() for tensor in inputs[1:])
    expected = table[ids]
    terms = 1
    sizes = expected.abs()
    is_backward = case.direction == "backward"
    if is_backward:
        zeros = torch.zeros_like(table)
        terms = int(ids.bincount().max())
        expected, sizes = (zeros.index_add(0, ids, a) for a in (row_gradients, row_gradients.abs()))
    elif case.bags:
        weighted_rows = (expected * weights.unsqueeze(1)).view(case.bags, -1, case.dim)
        expected = weighted_rows.sum(1)
        sizes = weighted_rows.abs().sum(1)
        terms = case.ids // case.bags + 1  # each product is rounded before the sum
    if is_backward and DTYPES[case.dtype] != torch.float32:  # to be rounded once, after its sum
        bound = rounding_bound(terms, torch.float32) + torch.finfo(DTYPES[case.dtype]).eps
    else:
        bound = rounding_bound(terms, DTYPES[case.dtype])
    bound += 2.0**-10 if case.dtype == "tf32" else 0.0  # which keeps ten bits after the point
    assert_within(result, expected, bound * sizes)
    tiny = torch.finfo(torch.float64).tiny  # rows without ids are zero
    return float(((result - expected).abs() / sizes.clamp_min(tiny)).max())


def _one_hot_product(ids: torch.Tensor, table: torch.Tensor) -> torch.Tensor:
    """Multiply by one-hot rows that a compiler need not write."""
    return (ids.unsqueeze(1) == torch.arange(len(table), device=ids.device)).to(table.dtype) @ table
