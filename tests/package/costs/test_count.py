"""Bytes and operations against the tensors of a call and torch's own count."""

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from lookup_matmul import lookup, one_hot, one_hot_matmul
from lookup_matmul.costs import Case, kernels

CASE = Case("lookup", "forward", vocab_size=7, dim=5, ids=9)
IDS = torch.tensor([0, 3, 3, 6, 1, 0, 3, 6, 6])  # 4 of them distinct
DTYPES = {"float32": torch.float32, "tf32": torch.float32, "bfloat16": torch.bfloat16}
every_dtype = pytest.mark.parametrize("dtype", DTYPES)


@every_dtype
def test_a_lookup_reads_ids_and_distinct_rows_and_writes_rows(dtype):
    """Against the bytes of these tensors."""
    table = torch.ones(7, 5, dtype=DTYPES[dtype])
    (kernel,) = kernels(CASE._replace(dtype=dtype), distinct=4)
    tensors = (IDS, table[IDS.unique()], lookup(IDS, table))
    assert kernel == ("rows", sum(tensor.nbytes for tensor in tensors), 0)


@every_dtype
def test_a_product_reads_both_factors_and_writes_its_result(dtype):
    """Against the bytes of these tensors, and the operations that torch counts."""
    table = torch.ones(7, 5, dtype=DTYPES[dtype])
    encoding = one_hot(IDS, 7, dtype=table.dtype)
    with FlopCounterMode(display=False) as counter:
        result = encoding @ table
    case = CASE._replace(form="multiplication alone", dtype=dtype)
    (product,) = kernels(case, distinct=4)
    moved = encoding.nbytes + table.nbytes + result.nbytes
    assert product == ("product", moved, counter.get_total_flops())


def test_a_product_that_builds_its_one_hot_rows_writes_them_first():
    """Zeros everywhere, then a one for each id; the product is the same."""
    *writing, product = kernels(CASE._replace(form="one-hot built and multiplied"), distinct=4)
    encoding = one_hot(IDS, 7, dtype=torch.float32)
    assert writing == [("zeros", encoding.nbytes, 0), ("ones", IDS.nbytes, 0)]
    assert [product] == [*kernels(CASE._replace(form="multiplication alone"), distinct=4)]
    with FlopCounterMode(display=False) as counter:
        one_hot_matmul(IDS, torch.ones(7, 5))
    assert product.operations == counter.get_total_flops()


@pytest.mark.parametrize(
    "case",
    [
        CASE._replace(form="sparse product"),
        CASE._replace(form="one-hot"),
        CASE._replace(direction="backward"),
    ],
)
def test_other_forms_and_directions_are_refused(case):
    """With the name that arrived and those that are counted."""
    with pytest.raises(ValueError, match=rf"form is '{case.form}' {case.direction}, expected"):
        kernels(case, distinct=4)
