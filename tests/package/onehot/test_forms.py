"""Both forms against NumPy's indexing in float64, forward and backward."""

import numpy as np
import pytest
import torch
from oldest import LOWEST

from lookup_matmul.equality import assert_bitwise_equal, assert_within, rounding_bound
from lookup_matmul.onehot.forms import lookup, one_hot, one_hot_matmul

FORMS = [lookup, one_hot_matmul]
DTYPES = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
SHAPES = [(), (0,), (1,), (7,), (3, 0), (2, 3), (2, 3, 4)]


def table(vocab_size, dim, dtype, seed=0):
    """Draw finite weights with no negative zero among them."""
    return torch.randn(vocab_size, dim, generator=torch.Generator().manual_seed(seed)).to(dtype)


def scatter_in_float64(ids, output_gradient, vocab_size):
    """Give the plain definition of the gradient: add up the output gradients of each id."""
    gradient = np.zeros((vocab_size, output_gradient.shape[-1]))
    np.add.at(gradient, ids.cpu().numpy(), output_gradient.cpu().double().numpy())
    return torch.from_numpy(gradient)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("id_dtype", [torch.int32, torch.int64], ids=str)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("form", FORMS)
def test_forward_is_row_picking(form, dtype, id_dtype, shape, device):
    """Every form gives the rows themselves, in the weight's dtype, on its device."""
    ids = torch.randint(11, shape, dtype=id_dtype).to(device)
    for weight in (table(11, 5, dtype), table(5, 11, dtype).T, table(11, 0, dtype)):
        rows = torch.from_numpy(weight.double().numpy()[ids.cpu().numpy()])
        weight = weight.to(device)
        result = form(ids, weight)
        assert_bitwise_equal(result, rows.to(weight))
        assert_bitwise_equal(form(ids, weight, check=False), result)


@pytest.mark.parametrize("repeats", [1, 16])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("form", FORMS)
def test_backward_is_within_the_rounding_of_its_sums(form, dtype, repeats, device):
    """Exact where no id repeats; where some do, within the theorem's bound for any order."""
    ids = torch.tensor([[3, 1]] * repeats, device=device)
    weight = table(11, 5, dtype).to(device).requires_grad_()
    output_gradient = table(2 * repeats, 5, dtype, seed=1).to(device).reshape(repeats, 2, 5)
    (gradient,) = torch.autograd.grad(form(ids, weight), weight, output_gradient)
    bound = rounding_bound(repeats, dtype) * scatter_in_float64(ids, output_gradient.abs(), 11)
    assert_within(gradient.cpu(), scatter_in_float64(ids, output_gradient, 11), bound)


@pytest.mark.parametrize("dtype", [None, torch.int64, torch.bool, torch.float16, torch.float64])
def test_one_hot_against_identity(dtype, device):
    """The encoding picks rows of the identity matrix, as wide as asked, in the dtype asked for."""
    ids = torch.tensor([[2, 0], [3, 3]], dtype=torch.int32, device=device)
    encoding = one_hot(ids, 6, dtype=dtype)
    assert encoding.dtype == (dtype or torch.get_default_dtype())
    assert encoding.device == ids.device
    assert encoding.tolist() == np.eye(6)[ids.cpu().numpy()].tolist()


@pytest.mark.parametrize("form", FORMS)
def test_compiled_as_one_graph_without_the_check(form):
    """The check needs the values of the ids, which a graph does not have while it is traced."""
    ids, weight = torch.tensor([1, 3]), table(4, 5, torch.float32)
    compiled = torch.compile(lambda i, w: form(i, w, check=False), backend="eager", fullgraph=True)
    assert_bitwise_equal(compiled(ids, weight), form(ids, weight))
    checked = torch.compile(lambda i, w: form(i, w), backend="eager", fullgraph=True)
    with pytest.raises(Exception, match="Tensor.item" if LOWEST else "data-dependent"):
        checked(ids, weight)


@pytest.mark.filterwarnings("ignore:There is a performance drop")  # torch loops over the batch
def test_ids_are_mapped_over():
    """``torch.func.vmap`` gives what the whole batch gives, for ids and for tables."""
    ids, weight = torch.tensor([[2, 0], [3, 3], [1, 2]]), table(4, 5, torch.float32)
    for dtype in (None, torch.int64):
        mapped = torch.func.vmap(lambda i, dtype=dtype: one_hot(i, 4, dtype=dtype, check=False))
        assert_bitwise_equal(mapped(ids), one_hot(ids, 4, dtype=dtype))
    for form in FORMS:
        mapped = torch.func.vmap(lambda i, form=form: form(i, weight, check=False))
        assert_bitwise_equal(mapped(ids), form(ids, weight))
        over_tables = torch.func.vmap(lambda w, form=form: form(ids, w, check=False))
        tables = torch.stack([weight, weight + 1])
        assert_bitwise_equal(over_tables(tables), torch.stack([form(ids, w) for w in tables]))


def test_autocast_changes_the_dtype_of_the_product_only():
    """As its documentation says, the product follows autocast, the lookup does not."""
    ids, weight = torch.tensor([1, 3]), table(4, 5, torch.float32)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert lookup(ids, weight).dtype == torch.float32
        assert one_hot_matmul(ids, weight).dtype == torch.bfloat16
        assert one_hot_matmul(ids, weight.double()).dtype == torch.float64


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("size", [4, 300])
def test_extreme_finite_weights_keep_their_bits(dtype, size):
    """The largest and the smallest numbers pass through the product unchanged."""
    info = torch.finfo(dtype)
    weight = torch.tensor([info.max, info.min, info.tiny, info.smallest_normal / 4], dtype=dtype)
    weight = weight.repeat(size, size)
    ids = torch.arange(size)
    assert_bitwise_equal(one_hot_matmul(ids, weight), lookup(ids, weight))
