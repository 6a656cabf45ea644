"""Embedding lookup and one-hot matrix product: the same computation, side by side.

Import ``lookup_matmul.costs``, ``.figures`` and ``.sharded`` by their full names.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lookup_matmul.diagnosis.compare import compare
    from lookup_matmul.diagnosis.first_difference import ModuleDifference, first_difference
    from lookup_matmul.diagnosis.inputs import Layer
    from lookup_matmul.diagnosis.probe import probe_lookup
    from lookup_matmul.diagnosis.report import Agreement, Cause, Comparison
    from lookup_matmul.equality import (
        assert_bitwise_equal,
        assert_within,
        rounding_bound,
        rows_moved,
        shares_storage,
    )
    from lookup_matmul.inputs import check_ids, check_inputs
    from lookup_matmul.memory import allocated_bytes, peak_bytes
    from lookup_matmul.onehot.forms import lookup, one_hot, one_hot_matmul
    from lookup_matmul.onehot.layers import to_embedding, to_linear
    from lookup_matmul.onehot.one_hot_linear import OneHotLinear
    from lookup_matmul.onehot.swap import swap_embeddings, swap_one_hot_linears
    from lookup_matmul.sparse.bags import (
        Bags,
        Rows,
        check_bags,
        to_bags,
        to_scipy_csr,
        to_torch_csr,
    )
    from lookup_matmul.sparse.sums import dense_matmul, dense_rows, sum_of_rows

__all__ = [
    "Agreement", "Bags", "Cause", "Comparison", "Layer", "ModuleDifference", "OneHotLinear",
    "Rows", "allocated_bytes", "assert_bitwise_equal", "assert_within", "check_bags",
    "check_ids", "check_inputs", "compare", "dense_matmul", "dense_rows", "first_difference",
    "lookup", "one_hot", "one_hot_matmul", "peak_bytes", "probe_lookup", "rounding_bound",
    "rows_moved", "shares_storage", "sum_of_rows", "swap_embeddings", "swap_one_hot_linears",
    "to_bags", "to_embedding", "to_linear", "to_scipy_csr", "to_torch_csr",
]  # fmt: skip
# Modules are imported on first use: the benchmark needs neither the sparse forms nor compare.
MODULES = {
    "Agreement": "diagnosis.report", "Bags": "sparse.bags", "Cause": "diagnosis.report",
    "Comparison": "diagnosis.report", "Layer": "diagnosis.inputs",
    "ModuleDifference": "diagnosis.first_difference", "OneHotLinear": "onehot.one_hot_linear",
    "Rows": "sparse.bags", "allocated_bytes": "memory", "assert_bitwise_equal": "equality",
    "assert_within": "equality", "check_bags": "sparse.bags", "check_ids": "inputs",
    "check_inputs": "inputs", "compare": "diagnosis.compare", "dense_matmul": "sparse.sums",
    "dense_rows": "sparse.sums", "first_difference": "diagnosis.first_difference",
    "lookup": "onehot.forms", "one_hot": "onehot.forms", "one_hot_matmul": "onehot.forms",
    "peak_bytes": "memory", "probe_lookup": "diagnosis.probe", "rounding_bound": "equality",
    "rows_moved": "equality", "shares_storage": "equality", "sum_of_rows": "sparse.sums",
    "swap_embeddings": "onehot.swap", "swap_one_hot_linears": "onehot.swap",
    "to_bags": "sparse.bags", "to_embedding": "onehot.layers", "to_linear": "onehot.layers",
    "to_scipy_csr": "sparse.bags", "to_torch_csr": "sparse.bags",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return import_module("importlib.metadata").version("lookup-matmul")
    if name in MODULES:
        return getattr(import_module(f"{__name__}.{MODULES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
