"""Embedding lookup and one-hot matrix product: the same computation, side by side.

Everything here works on one weight of shape (vocabulary size, embedding dimension),
the layout of :class:`torch.nn.Embedding`, and on integer ids of any shape.

:mod:`lookup_matmul.onehot` and :mod:`lookup_matmul.sparse` hold the forms,
:mod:`lookup_matmul.equality` says what equal means, :mod:`lookup_matmul.inputs` what bad input is,
:mod:`lookup_matmul.diagnosis` why two layers disagree. Three rooms are imported by their own names:
:mod:`lookup_matmul.costs` counts and measures, :mod:`lookup_matmul.sharded` runs a function on
several processes, and :mod:`lookup_matmul.figures` draws; its plots need Matplotlib.
"""

from lookup_matmul.diagnosis.compare import compare
from lookup_matmul.diagnosis.layers import Layer
from lookup_matmul.diagnosis.report import Agreement, Cause, Comparison
from lookup_matmul.equality.assertions import assert_bitwise_equal, assert_within
from lookup_matmul.equality.rounding import rounding_bound
from lookup_matmul.equality.storage import rows_moved, shares_storage
from lookup_matmul.inputs import check_ids, check_inputs
from lookup_matmul.memory import allocated_bytes, peak_bytes
from lookup_matmul.onehot.forms import lookup, one_hot, one_hot_matmul
from lookup_matmul.onehot.layers import to_embedding, to_linear
from lookup_matmul.onehot.one_hot_linear import OneHotLinear
from lookup_matmul.onehot.swap import swap_embeddings, swap_one_hot_linears
from lookup_matmul.sparse.bags import Bags, Rows
from lookup_matmul.sparse.checks import check_bags
from lookup_matmul.sparse.csr import to_scipy_csr, to_torch_csr
from lookup_matmul.sparse.read import to_bags
from lookup_matmul.sparse.sums import dense_matmul, dense_rows, sum_of_rows

__all__ = [
    "Agreement", "Bags", "Cause", "Comparison", "Layer", "OneHotLinear", "Rows",
    "allocated_bytes", "assert_bitwise_equal", "assert_within", "check_bags", "check_ids",
    "check_inputs", "compare", "dense_matmul", "dense_rows", "lookup",
    "one_hot", "one_hot_matmul", "peak_bytes", "rounding_bound", "rows_moved",
    "shares_storage", "sum_of_rows", "swap_embeddings", "swap_one_hot_linears", "to_bags",
    "to_embedding", "to_linear", "to_scipy_csr", "to_torch_csr",
]  # fmt: skip
