"""``sum_of_rows`` and ``dense_matmul`` against SciPy in float64, forward and backward."""

from unittest import mock

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from lookup_matmul.equality import assert_bitwise_equal, assert_within, rounding_bound
from lookup_matmul.sparse.bags import Bags, to_bags, to_torch_csr
from lookup_matmul.sparse.sums import dense_matmul, dense_rows, sum_of_rows

FORMS = [sum_of_rows, dense_matmul]
DTYPES = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
VALUE_DTYPES = [torch.uint8, torch.int8, torch.int32, torch.int64, *DTYPES]
INDEX_DTYPES = [torch.int32, torch.int64]


@st.composite
def sparse_rows(draw, dtypes=tuple(VALUE_DTYPES)):
    """Draw bags with empty rows, duplicates, stored zeros and unsorted columns."""
    counts = draw(st.lists(st.sampled_from([0, 0, 1, 2, 3, 9]), max_size=8))
    columns = draw(st.one_of(st.integers(1, 12), st.integers(1, 400)))
    entries = sum(counts)
    ids = draw(st.lists(st.integers(0, columns - 1), min_size=entries, max_size=entries))
    dtype = draw(st.sampled_from(dtypes))
    floats, integers = [0.0, 1.0, -1.0, 0.5, 3.0, -0.123, 17.25], [0, 1, 2, 7, 100]
    numbers = st.sampled_from(floats if dtype.is_floating_point else integers)
    values = draw(st.lists(numbers, min_size=entries, max_size=entries))
    offsets = torch.tensor([0, *np.cumsum(counts)], dtype=draw(st.sampled_from(INDEX_DTYPES)))
    ids = torch.tensor(ids, dtype=draw(st.sampled_from(INDEX_DTYPES)))
    return Bags(ids, offsets, torch.tensor(values, dtype=torch.float64).to(dtype)), columns


def in_scipy(bags, columns):
    """Convert the bags to a SciPy matrix of float64 that keeps duplicates."""
    arrays = (bags.weights.detach().double().numpy(), bags.ids.numpy(), bags.offsets.numpy())
    return sparse.csr_array(arrays, shape=(len(bags.offsets) - 1, columns))


def convert(bags, columns, format_name):
    """Convert the bags to a format without changing dtypes, except for the offsets of torch."""
    size = (len(bags.offsets) - 1, columns)
    if format_name == "scipy" and bags.weights.dtype != torch.bfloat16:
        rows = sparse.csr_array(size)
        rows.indices, rows.indptr = bags.ids.numpy(), bags.offsets.numpy()
        rows.data = bags.weights.detach().numpy()
        return rows
    if format_name == "torch":
        arrays = (bags.offsets.to(bags.ids.dtype), bags.ids, bags.weights)
        return torch.sparse_csr_tensor(*arrays, size, check_invariants=False)
    return bags


def table(columns, dim, dtype, seed=0):
    """Return a random table with absolute values above 0.1, so that no product underflows."""
    values = torch.randn(columns, dim, generator=torch.Generator().manual_seed(seed))
    return torch.where(values < 0, values - 0.1, values + 0.1).to(dtype)


def dot_bound(factors, matrix, dtype, roundings=1):
    """Return the error bound of ``factors @ matrix`` whose terms are rounded so often each."""
    bounds = [rounding_bound(int(n) + roundings, dtype) for n in np.diff(factors.indptr)]
    arrays = np.abs(factors.data), factors.indices, factors.indptr  # abs() would add duplicates up
    sizes = sparse.csr_array(arrays, shape=factors.shape) @ np.abs(matrix)
    return torch.tensor(bounds).double()[:, None] * torch.from_numpy(sizes)


every_form_and_format = pytest.mark.parametrize(
    ("form", "format_name"), [(form, name) for form in FORMS for name in ("bags", "scipy", "torch")]
)


@every_form_and_format
@settings(max_examples=40)
@given(sparse_rows(), st.integers(1, 9), st.sampled_from(DTYPES))
def test_forward_is_the_sparse_product(form, format_name, bags_and_columns, dim, dtype):
    """The result is within the documented bound and has the dtype of the weight."""
    bags, columns = bags_and_columns
    weight = table(columns, dim, dtype)
    rows = in_scipy(bags, columns)
    result = form(convert(bags, columns, format_name), weight)
    assert result.dtype == dtype
    exact = torch.from_numpy(rows @ weight.double().numpy())
    roundings = 1 if bags.weights.dtype == dtype else 2  # as the docstrings say
    bound = dot_bound(rows, weight.double().numpy(), dtype, roundings)
    assert_within(result.double(), exact, bound)


@every_form_and_format
@settings(max_examples=40)
@given(sparse_rows(dtypes=[torch.float64]), st.integers(1, 9), st.sampled_from(DTYPES))
def test_backward_is_the_transposed_product(form, format_name, bags_and_columns, dim, dtype):
    """The gradient of the weight is X.T @ G, that of a value a dot product of rows."""
    bags, columns = bags_and_columns
    weight = table(columns, dim, dtype).requires_grad_()
    if format_name == "torch":  # torch has no gradient for the values of duplicates
        distinct = in_scipy(bags, columns)
        distinct.sum_duplicates()
        bags = to_bags(distinct)
    values = bags.weights.to(dtype).requires_grad_()
    output_gradient = table(len(bags.offsets) - 1, dim, dtype, seed=1)
    rows_argument = convert(bags._replace(weights=values), columns, format_name)
    result = form(rows_argument, weight)
    to_weight = torch.autograd.grad(result, weight, output_gradient, retain_graph=True)[0]

    rows = in_scipy(bags._replace(weights=values), columns)
    transposed = sparse.csr_array(rows.T)
    exact = torch.from_numpy(transposed @ output_gradient.double().numpy())
    # The dense product rounds the sums of duplicates, which may cancel.
    roundings = 1 if form is sum_of_rows else 11
    bound = dot_bound(transposed, output_gradient.double().numpy(), dtype, roundings)
    assert_within(to_weight.double(), exact, bound)

    if sparse.issparse(rows_argument):
        return
    to_values = torch.autograd.grad(result, values, output_gradient)[0]
    row_indices = np.repeat(np.arange(len(output_gradient)), np.diff(bags.offsets.numpy()))
    products = output_gradient.double().numpy()[row_indices]
    products = products * weight.detach().double().numpy()[bags.ids.numpy()]
    bound = rounding_bound(dim + 1, dtype) * torch.from_numpy(abs(products).sum(1))
    assert_within(to_values.double(), torch.from_numpy(products.sum(1)), bound)


IDS, OFFSETS = torch.tensor([3, 0, 3, 2, 1]), torch.tensor([0, 3, 3, 5])
NUMBERS = torch.tensor([0.5, -2.0, 1.5, 0.0, 3.0], dtype=torch.float64)


@pytest.mark.filterwarnings("ignore:.*torch.jit.script")
def test_only_the_dense_product_has_second_derivatives_and_forward_mode():
    """An embedding bag of torch has neither, as documented."""
    weight = torch.randn(5, 4, dtype=torch.float64, requires_grad=True)
    values = NUMBERS.clone().requires_grad_()
    forms = {form: lambda w, v, form=form: form((IDS, OFFSETS, v), w) for form in FORMS}
    dense = forms[dense_matmul]
    assert torch.autograd.gradgradcheck(dense, (weight, values))
    assert torch.autograd.gradcheck(dense, (weight, values), check_forward_ad=True)
    with pytest.raises(RuntimeError, match="is not implemented"):
        torch.autograd.gradgradcheck(forms[sum_of_rows], (weight, values))
    with pytest.raises(NotImplementedError, match="forward AD"):
        torch.func.jvp(lambda w: sum_of_rows((IDS, OFFSETS), w), (weight,), (weight,))


EDITS = {
    "comparison": lambda rows: rows != 0,
    "values": lambda rows: rows.data.fill(9),
    "columns": lambda rows: rows.indices.fill(10**9),
    "ends": lambda rows: rows.indptr.fill(10**9),
}


@pytest.mark.parametrize("is_leaf", [True, False])
@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.parametrize("form", FORMS)
def test_scipy_may_edit_a_matrix_between_forward_and_backward(form, edit, is_leaf):
    """The gradient is that of the matrix before the change, also for a computed weight."""
    arrays = np.array([1, 4, 2], np.float32), np.array([2, 2, 0], np.int32), np.array([0, 2, 3])
    rows = sparse.csr_array(arrays, shape=(2, 4))
    weight = torch.eye(4).requires_grad_()
    result = form(rows, weight if is_leaf else weight * 1)
    EDITS[edit](rows)
    result.sum().backward()
    assert weight.grad[:, 0].tolist() == [2, 0, 5, 0]


def test_scipy_arrays_are_copied_for_a_gradient_only():
    """Without a gradient the embedding bag shares their memory."""
    rows = sparse.csr_array(np.eye(4, dtype=np.float32))
    embedding_bag = torch.nn.functional.embedding_bag
    for requires_grad in (False, True):
        weight = torch.eye(4, requires_grad=requires_grad)
        with mock.patch("torch.nn.functional.embedding_bag", wraps=embedding_bag) as spy:
            sum_of_rows(rows, weight)
            with torch.no_grad():
                sum_of_rows(rows, weight)
        ids_of_calls = [call.args[0].numpy() for call in spy.call_args_list]
        is_shared = [np.shares_memory(ids, rows.indices) for ids in ids_of_calls]
        assert is_shared == [not requires_grad, True]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_duplicates_add_up_beyond_half_precision(dtype):
    """5,000 duplicates in one column are off their float64 sum by one rounding to the dtype."""
    offsets, ids = torch.tensor([0, 5_000]), torch.zeros(5_000, dtype=torch.int64)
    fractions = torch.rand(5_000, generator=torch.Generator().manual_seed(0)).to(dtype)
    for values in (None, fractions):
        exact = torch.tensor(5_000.0).double() if values is None else values.double().sum()
        bound = (rounding_bound(2, dtype) + rounding_bound(5_000, torch.float32)) * exact
        for result in (
            dense_rows((ids, offsets, values), 1, dtype=dtype),
            dense_matmul((ids, offsets, values), torch.ones(1, 1, dtype=dtype)),
            sum_of_rows((ids, offsets, values), torch.ones(1, 1, dtype=dtype)),
        ):
            assert result.dtype == dtype
            assert_within(result.double(), exact.reshape(1, 1), bound)


@pytest.mark.parametrize(
    ("format_name", "check"), [("bags", True), ("bags", False), ("scipy", True), ("torch", True)]
)
@pytest.mark.parametrize("form", FORMS)
def test_forms_compile(form, format_name, check):
    """In every format, with and without checks; the checks still raise."""
    torch.compiler.reset()
    weight = torch.randn(5, 4, requires_grad=True)
    valid = Bags(IDS, OFFSETS, NUMBERS.float())
    compiled = torch.compile(lambda rows, w: form(rows, w, check=check), backend="aot_eager")
    rows = convert(valid, 5, format_name)
    assert_bitwise_equal(compiled(rows, weight), form(rows, weight))
    compiled(rows, weight).sum().backward()
    if check:
        broken = convert(valid._replace(ids=torch.tensor([3, 0, -1, 2, 1])), 5, format_name)
        with pytest.raises(IndexError, match="column -1"):
            compiled(broken, weight)


@pytest.mark.parametrize("form", FORMS)
def test_forms_work_inside_transforms(form):
    """``torch.func.grad`` gives the gradient of ``backward``, but refuses a CSR tensor."""
    weight, bags = torch.randn(5, 4, requires_grad=True), Bags(IDS, OFFSETS, NUMBERS.float())
    form(bags, weight).square().sum().backward()

    def gradient(rows):
        return torch.func.grad(lambda w: form(rows, w).square().sum())(weight.detach())

    for format_name in ("bags", "scipy"):
        assert_bitwise_equal(gradient(convert(bags, 5, format_name)), weight.grad)
    with pytest.raises(RuntimeError, match="Sparse CSR tensors do not have strides"):
        gradient(convert(bags._replace(ids=torch.tensor([0, 2, 3, 1, 2])), 5, "torch"))


def test_the_dense_forms_support_vmap():
    """``torch.func.vmap`` gives the results of a loop, over values and over tables."""
    values, tables = torch.randn(3, 5), torch.randn(3, 4, 2)
    for call, batch in (
        (lambda v: dense_rows((IDS, OFFSETS, v), 4, check=False), values),
        (lambda v: dense_matmul((IDS, OFFSETS, v), tables[0], check=False), values),
        (lambda w: dense_matmul((IDS, OFFSETS), w, check=False), tables),
    ):
        expected = torch.stack([call(item) for item in batch])
        assert_within(torch.func.vmap(call)(batch), expected, 1e-6)


@pytest.mark.parametrize("form", FORMS)
def test_every_format_gives_the_same_bits(form, device):
    """The formats are SciPy's two classes, a torch CSR tensor, ``Bags`` and a list."""
    matrix = sparse.random_array((7, 11), density=0.3, format="csr", dtype=np.float32, rng=0)
    bags = Bags(*(member.to(device) for member in to_bags(matrix)))
    weight = table(11, 5, torch.float32).to(device)
    expected = form(bags, weight)
    for rows in (matrix, sparse.csr_matrix(matrix), to_torch_csr(bags, 11), bags, list(bags)):
        result = form(rows, weight)
        assert result.device == weight.device
        assert_bitwise_equal(result, expected)
        assert_bitwise_equal(form(rows, weight, check=False), expected)


def test_fractions_are_not_truncated():
    """An integer dtype refuses floating values, unless ``check=False``."""
    rows = (torch.tensor([2]), torch.tensor([0, 1]), torch.tensor([1.5]))
    with pytest.raises(TypeError, match=r"dtype is torch.int64 and the values are torch.float32"):
        dense_rows(rows, 4, dtype=torch.int64)
    assert dense_rows(rows, 4, dtype=torch.int64, check=False).tolist() == [[0, 0, 1, 0]]


@pytest.mark.parametrize("change", ["read-only", "reversed"])
def test_arrays_that_torch_cannot_share_are_copied(change):
    """The result is the same, without a warning."""
    data, indices = np.array([2.0, 3.0], dtype=np.float32), np.array([3, 1], dtype=np.int32)
    rows = sparse.csr_array((data, indices, [0, 2]), shape=(1, 4))
    expected = sum_of_rows(rows, torch.eye(4))
    if change == "read-only":
        rows.data.flags.writeable = rows.indices.flags.writeable = False
    else:
        rows.data, rows.indices = data[::-1].copy()[::-1], indices[::-1].copy()[::-1]
    assert_bitwise_equal(sum_of_rows(rows, torch.eye(4)), expected)
