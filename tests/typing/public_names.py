"""What a type checker knows of the public functions; ``nox -s lint`` checks it and runs nothing.

A name that ``lookup_matmul`` does not import for type checkers would be ``Any`` here, an error.
"""

from typing import assert_type

import torch
from scipy import sparse
from torch import nn

import lookup_matmul as lm
from lookup_matmul import costs, figures, sharded

ids, weight, rows = torch.tensor([2, 3, 1]), torch.randn(4, 5), sparse.csr_array((3, 4))
embedding, linear, bags = nn.Embedding(4, 5), nn.Linear(4, 5, bias=False), lm.to_bags(rows)

assert_type(lm.lookup(ids, weight), torch.Tensor)
assert_type(lm.one_hot(ids, 4, dtype=torch.float64), torch.Tensor)
assert_type(lm.one_hot_matmul(ids, weight, check=False), torch.Tensor)

assert_type(bags, lm.Bags)
assert_type(bags.weights, torch.Tensor | None)
assert_type(lm.sum_of_rows(bags, weight), torch.Tensor)
assert_type(lm.sum_of_rows([[0, 2], [1]], weight), torch.Tensor)
assert_type(lm.dense_matmul(rows, weight), torch.Tensor)
assert_type(lm.dense_rows(rows, 4), torch.Tensor)
assert_type(lm.to_torch_csr(bags, 4), torch.Tensor)
lm.to_scipy_csr(bags, 4)  # SciPy is published without types

assert_type(lm.to_linear(embedding, share=True), nn.Linear)
assert_type(lm.to_embedding(linear, share=False), nn.Embedding)
assert_type(lm.OneHotLinear(linear).num_embeddings, int)
assert_type(lm.swap_embeddings(nn.Sequential(embedding)), dict[str, str])
assert_type(lm.swap_one_hot_linears(nn.Sequential(embedding), ["0"]), dict[str, str])

assert_type(lm.compare(embedding, lm.to_linear(embedding, share=False), ids), lm.Comparison)
comparison = lm.compare(embedding, lambda ids: weight[ids], ids, gradients=True, atol=1e-6)
assert_type(comparison.causes, tuple[lm.Cause, ...])
assert_type(comparison.after, lm.Agreement)
assert_type(comparison.gradients, lm.Comparison | None)
assert_type(lm.first_difference(embedding, embedding, ids), lm.ModuleDifference | None)

assert_type(lm.rounding_bound(3, torch.float32), float)
assert_type(lm.rows_moved(weight, weight), torch.Tensor)
assert_type(lm.shares_storage(weight, weight), bool)
assert_type(lm.allocated_bytes(lambda: weight + 1), int)
assert_type(lm.peak_bytes(lambda: weight + 1), int)
lm.assert_bitwise_equal(weight, weight)
lm.assert_within(weight, weight, bound=weight.abs())
lm.check_bags(bags, 4)
lm.check_ids(ids, 4)
lm.check_inputs(ids, weight)

assert_type(costs.in_unit(0.1), str)
assert_type(costs.time_side_by_side({"sum": weight.sum})["sum"], costs.Spread)
assert_type(sharded.cut(10, 3), list[slice])
assert_type(figures.draw_lookup(ids, weight), figures.Drawing)

lm.lookup([2, 3, 1], weight)  # type: ignore[arg-type]
lm.sum_of_rows(rows, 3)  # type: ignore[arg-type]
lm.to_linear(embedding)  # type: ignore[call-arg]
lm.rounding_bound(3, "float32")  # type: ignore[arg-type]
