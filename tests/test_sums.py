"""Sums of rows and the dense product against SciPy in float64, forward and backward."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from lookup_matmul import (
    Bags,
    assert_bitwise_equal,
    assert_within,
    dense_matmul,
    dense_rows,
    lookup,
    rounding_bound,
    sum_of_rows,
    to_bags,
    to_torch_csr,
)

FORMS = [sum_of_rows, dense_matmul]
DTYPES = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
KINDS = ["scipy array", "scipy matrix", "torch", "bags", "list"]


@st.composite
def sparse_rows(draw):
    """Draw rows with empty ones, duplicates, stored zeros and columns in any order."""
    counts = draw(st.lists(st.sampled_from([0, 0, 1, 2, 3, 9]), max_size=8))
    columns = draw(st.integers(1, 12))
    entries = sum(counts)
    ids = draw(st.lists(st.integers(0, columns - 1), min_size=entries, max_size=entries))
    numbers = st.sampled_from([0.0, 1.0, -1.0, 0.5, 3.0, -0.123, 17.25])
    values = draw(st.lists(numbers, min_size=entries, max_size=entries))
    index = draw(st.sampled_from([torch.int32, torch.int64]))
    offsets = torch.tensor([0, *np.cumsum(counts)], dtype=index)
    return Bags(torch.tensor(ids, dtype=index), offsets, torch.tensor(values)), columns


def in_scipy(bags: Bags, columns: int) -> sparse.csr_array:
    """Write the rows as SciPy would, in float64, duplicates kept."""
    arrays = (bags.weights.detach().double().numpy(), bags.ids.numpy(), bags.offsets.numpy())
    return sparse.csr_array(arrays, shape=(len(bags.offsets) - 1, columns))


def table(columns: int, dim: int, dtype: torch.dtype, seed: int = 0) -> torch.Tensor:
    """Draw a table of the wanted dtype."""
    return torch.randn(columns, dim, generator=torch.Generator().manual_seed(seed)).to(dtype)


def dot_bound(factors: sparse.csr_array, matrix: np.ndarray, dtype: torch.dtype) -> torch.Tensor:
    """Bound the error of ``factors @ matrix`` in ``dtype``, and of a value that is rounded first."""
    terms = int(np.diff(factors.indptr).max(initial=0)) + 2
    return rounding_bound(terms, dtype) * torch.from_numpy(absolute(factors) @ np.abs(matrix))


def absolute(factors: sparse.csr_array) -> sparse.csr_array:
    """Take absolute values entry by entry; SciPy's ``abs`` would add up duplicates first."""
    arrays = (np.abs(factors.data), factors.indices, factors.indptr)
    return sparse.csr_array(arrays, shape=factors.shape)


@pytest.mark.parametrize("form", FORMS)
@settings(deadline=None)
@given(sparse_rows(), st.integers(1, 9), st.sampled_from(DTYPES))
def test_forward_is_the_sparse_product(form, drawn, dim, dtype):
    """Every row is the weighted sum, within the bound, in the weight's dtype."""
    bags, columns = drawn
    bags = bags._replace(weights=bags.weights.to(dtype))
    weight = table(columns, dim, dtype)
    rows = in_scipy(bags, columns)
    result = form(bags, weight)
    assert result.dtype == dtype
    exact = torch.from_numpy(rows @ weight.double().numpy())
    assert_within(result.double(), exact, dot_bound(rows, weight.double().numpy(), dtype))


@pytest.mark.parametrize("form", FORMS)
@settings(deadline=None)
@given(sparse_rows(), st.integers(1, 9), st.sampled_from(DTYPES))
def test_backward_is_the_transposed_product(form, drawn, dim, dtype):
    """The weight gets X.T @ G, each value the dot product of G's row with the table's."""
    bags, columns = drawn
    weight = table(columns, dim, dtype).requires_grad_()
    values = bags.weights.to(dtype).requires_grad_()
    arriving = table(len(bags.offsets) - 1, dim, dtype, seed=1)
    result = form(bags._replace(weights=values), weight)
    to_weight, to_values = torch.autograd.grad(result, (weight, values), arriving)

    rows = in_scipy(bags._replace(weights=values), columns)
    transposed = sparse.csr_array(rows.T)
    exact = torch.from_numpy(transposed @ arriving.double().numpy())
    bound = dot_bound(transposed, arriving.double().numpy(), dtype)
    # The dense product adds duplicates first: their sum is rounded, and may cancel.
    dense_bound = bound + rounding_bound(11, dtype) * torch.from_numpy(
        absolute(transposed) @ arriving.abs().double().numpy()
    )
    assert_within(to_weight.double(), exact, bound if form is sum_of_rows else dense_bound)

    owner = np.repeat(np.arange(len(arriving)), np.diff(bags.offsets.numpy()))
    left = arriving.double().numpy()[owner]
    right = weight.detach().double().numpy()[bags.ids.numpy()]
    allowed = rounding_bound(dim + 2, dtype) * torch.from_numpy((abs(left) * abs(right)).sum(1))
    assert_within(to_values.double(), torch.from_numpy((left * right).sum(1)), allowed)


@pytest.mark.parametrize("form", FORMS)
def test_gradients_agree_with_finite_differences(form):
    """For the weight and for the values, with an empty row, a duplicate and a stored zero."""
    ids, offsets = torch.tensor([3, 0, 3, 2, 1]), torch.tensor([0, 3, 3, 5])
    weight = torch.randn(5, 4, dtype=torch.float64, requires_grad=True)
    values = torch.tensor([0.5, -2.0, 1.5, 0.0, 3.0], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda w, v: form((ids, offsets, v), w), (weight, values))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form", FORMS)
def test_every_notation_gives_the_same_bits(form, kind, device):
    """SciPy's two classes, torch's CSR, the named tuple and a plain list."""
    rows = sparse.random_array((7, 11), density=0.3, format="csr", dtype=np.float32, rng=0)
    bags = Bags(*(member.to(device) for member in to_bags(rows)))
    weight = table(11, 5, torch.float32).to(device)
    given_as = {
        "scipy array": rows,
        "scipy matrix": sparse.csr_matrix(rows),
        "torch": to_torch_csr(bags, 11),
        "bags": bags,
        "list": list(bags),
    }[kind]
    result = form(given_as, weight)
    assert result.device == weight.device
    assert_bitwise_equal(result, form(bags, weight))


@pytest.mark.parametrize("form", FORMS)
def test_gradients_reach_the_values_of_a_torch_tensor(form):
    """Through a CSR tensor down to the tensor that its values came from."""
    values = torch.tensor([2.0, 3.0, 4.0], requires_grad=True)
    rows = to_torch_csr(Bags(torch.tensor([1, 3, 0]), torch.tensor([0, 2, 3]), values), 4)
    form(rows, torch.eye(4)).sum().backward()
    assert values.grad.tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("form", FORMS)
def test_empty_rows_give_zeros(form, device):
    """Also a matrix of nothing but empty rows, and one of no rows."""
    weight = table(4, 3, torch.float32).to(device).requires_grad_()
    none = torch.zeros(0, dtype=torch.int64, device=device)
    for count in (0, 1, 5):
        offsets = torch.zeros(count + 1, dtype=torch.int64, device=device)
        result = form((none, offsets), weight)
        assert result.shape == (count, 3)
        assert not result.any()
        (gradient,) = torch.autograd.grad(result.sum(), weight)
        assert not gradient.any()


@pytest.mark.parametrize("form", FORMS)
def test_counts_are_values_too(form):
    """Integer data is converted to the weight's dtype; None stands for ones."""
    ids, offsets = torch.tensor([2, 0, 1]), torch.tensor([0, 2, 3])
    weight = torch.arange(8.0).reshape(4, 2)
    counted = form((ids, offsets, torch.tensor([3, 2, 1])), weight)
    assert counted.tolist() == [[12.0, 17.0], [2.0, 3.0]]
    assert_bitwise_equal(form((ids, offsets), weight), form((ids, offsets, torch.ones(3)), weight))
    assert dense_rows((ids, offsets), 4, dtype=torch.int64).tolist() == [[1, 0, 1, 0], [0, 1, 0, 0]]


def test_a_row_with_a_single_one_is_a_lookup():
    """Nothing is added, so the bits are those of the table."""
    ids, weight = torch.tensor([2, 3, 1]), table(4, 5, torch.float32)
    result = sum_of_rows((ids, torch.arange(4)), weight)
    assert_bitwise_equal(result, lookup(ids, weight))


def test_columns_without_an_entry_are_never_read():
    """NaN in a row that nobody names stays there; the dense product spreads it."""
    weight = torch.zeros(4, 2)
    weight[3] = torch.nan
    rows = (torch.tensor([0, 1]), torch.tensor([0, 2]))
    assert sum_of_rows(rows, weight).isfinite().all()
    assert dense_matmul(rows, weight).isnan().all()


@pytest.mark.parametrize("change", ["read-only", "reversed"])
def test_arrays_that_torch_cannot_hold_are_copied(change):
    """Without a warning, with the same result."""
    data, indices = np.array([2.0, 3.0], dtype=np.float32), np.array([3, 1], dtype=np.int32)
    rows = sparse.csr_array((data, indices, [0, 2]), shape=(1, 4))
    expected = sum_of_rows(rows, torch.eye(4))
    if change == "read-only":
        rows.data.flags.writeable = rows.indices.flags.writeable = False
    else:
        rows.data, rows.indices = data[::-1].copy()[::-1], indices[::-1].copy()[::-1]
    assert_bitwise_equal(sum_of_rows(rows, torch.eye(4)), expected)


def test_unchecked_input_gives_the_same_result():
    """``check=False`` leaves out the checks and nothing else."""
    rows = sparse.random_array((7, 11), density=0.3, format="csr", dtype=np.float32, rng=0)
    weight = table(11, 5, torch.float32)
    for form in FORMS:
        assert_bitwise_equal(form(rows, weight, check=False), form(rows, weight))
