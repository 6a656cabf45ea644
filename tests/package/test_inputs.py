"""Every way in which input can be bad, in every form, with the message it gets."""

import re
from unittest import mock

import pytest
import torch

from lookup_matmul.inputs import check_ids, check_inputs
from lookup_matmul.onehot.forms import lookup, one_hot, one_hot_matmul
from lookup_matmul.sparse.bags import check_bags, to_bags, to_scipy_csr, to_torch_csr
from lookup_matmul.sparse.sums import dense_matmul, dense_rows, sum_of_rows

GOOD = torch.zeros(4, 5)
IDS = torch.tensor([2, 3, 1])
BAGS = (IDS, torch.tensor([0, 2, 3]), torch.ones(3))
LARGE = "1 of the 1 ids is outside. Give the table more rows or correct the ids."
# Name: ids, table, error, text.
BAD_INPUTS = {
    "ids is a list": ([2, 3], GOOD, TypeError, "ids has type builtins.list, expected torch.Tensor; wrap it in torch.tensor(...)."),
    "ids is float": (torch.tensor([2.5, 1.5]), GOOD, TypeError, "ids has dtype torch.float32, expected torch.int32 or torch.int64; convert with ids.long()"),
    "ids are sparse": (IDS.to_sparse(), GOOD, ValueError, "ids has layout torch.sparse_coo, expected a dense tensor; convert with ids.to_dense()."),
    "weight is a layer": (IDS, torch.nn.Linear(4, 4), TypeError, "weight has type torch.nn.modules.linear.Linear, expected torch.Tensor; pass the table itself, such as embedding.weight or linear.weight.T."),
    "weight is integer": (IDS, torch.ones(4, 5, dtype=torch.int64), TypeError, "weight has dtype torch.int64, expected a floating dtype; convert with weight.float()."),
    "weight is sparse": (IDS, GOOD.to_sparse(), ValueError, "weight has layout torch.sparse_coo, expected a dense table; convert with weight.to_dense()."),
    "weight is a vector": (IDS, torch.ones(4), ValueError, "weight has shape (4,), expected two dimensions"),
    "table on meta": (IDS, GOOD.to("meta"), ValueError, "weight is on the device meta, which stores no numbers"),
    "ids on meta": (IDS.to("meta"), GOOD, ValueError, "ids is on the device meta, which stores no numbers, expected one that does; create it on another device; where only shapes matter, the forms take check=False."),
    "id too large": (torch.tensor([[2, 3], [7, 9]]), GOOD, IndexError, "ids[1, 0] is 7, but a table of 4 rows takes 0 <= id <= 3; 2 of the 4 ids are outside. Give the table more rows or correct the ids."),
    "id negative": (torch.tensor([0, -1]), GOOD, IndexError, "ids[1] is -1, but a table of 4 rows takes 0 <= id <= 3; 1 of the 2 ids is outside. A negative id does not count from the end"),
    "scalar id": (torch.tensor(4), GOOD, IndexError, "ids is 4, but"),
    "empty table": (torch.tensor([0]), GOOD[:0], IndexError, f"ids[0] is 0, but a table of 0 rows takes no id at all; {LARGE}"),
}  # fmt: skip


@pytest.mark.parametrize(("ids", "weight", "error", "message"), BAD_INPUTS.values(), ids=BAD_INPUTS)
def test_bad_input_is_refused_alike(ids, weight, error, message):
    """Every form raises the same error, which shows the value, its place, the range and a remedy."""
    calls = [(form, ids) for form in (lookup, one_hot_matmul, check_inputs)]
    if message.startswith("weight"):
        calls += [(sum_of_rows, BAGS), (dense_matmul, BAGS)]
    for form, ids_or_rows in calls:
        with pytest.raises(error, match=re.escape(message)):
            form(ids_or_rows, weight)


def test_bad_ids_are_refused_on_every_device(device):
    """The check runs before any kernel could fail, so an accelerator stays usable."""
    weight = torch.zeros(4, 5, device=device)
    for form in (lookup, one_hot_matmul):
        with pytest.raises(IndexError, match=r"ids\[1\] is 4"):
            form(torch.tensor([0, 4], device=device), weight)
    assert lookup(torch.tensor([3], device=device), weight).shape == (1, 5)


@pytest.mark.parametrize(
    "form", [one_hot, check_ids, check_bags, to_scipy_csr, to_torch_csr, dense_rows]
)
@pytest.mark.parametrize(
    ("vocab_size", "error", "message"),
    [
        (max(IDS) + 1, TypeError, "vocab_size is tensor(4) of type Tensor, expected an int"),
        (True, TypeError, "vocab_size is True of type bool"),
        (-1, ValueError, "vocab_size is -1, expected at least 0"),
        (3, IndexError, " 3, but a table of 3 rows takes 0 <= "),
    ],
)
def test_bad_vocabulary_sizes_are_refused(form, vocab_size, error, message):
    """A width is an int that was decided beforehand, never a tensor taken from a batch."""
    with pytest.raises(error, match=re.escape(message)):
        form(IDS if form in (one_hot, check_ids) else BAGS, vocab_size)


@pytest.mark.parametrize("vocab_size", [2**31, 2**32 + 1, 2**70])
def test_ids_of_32_bits_in_a_table_of_more_rows(vocab_size):
    """Only the negative one is outside; 2**31 - 1 rows can still be compared with the ids."""
    ids = torch.tensor([0, 2**31 - 1], dtype=torch.int32)
    check_ids(ids, vocab_size)
    with pytest.raises(IndexError, match=r"ids\[1\] is -1, .*; 1 of the 2 ids is outside\. A neg"):
        check_ids(torch.tensor([1, -1], dtype=torch.int32), vocab_size)
    with pytest.raises(IndexError, match=r"ids\[1\] is 2147483647, .*; 1 of the 2 ids is outside"):
        check_ids(ids, 2**31 - 1)


def test_a_product_needs_a_dtype_that_torch_can_multiply():
    """Rows of eight bits are copied by a lookup, and refused in words by the products."""
    eight = torch.ones(4, 5).to(torch.float8_e4m3fn)
    assert lookup(IDS, eight).dtype == torch.float8_e4m3fn
    message = "weight has dtype torch.float8_e4m3fn, expected float16, bfloat16, float32 or float64"
    for form, ids in ((one_hot_matmul, IDS), (sum_of_rows, BAGS), (dense_matmul, BAGS)):
        with pytest.raises(TypeError, match=rf"{message}; convert with weight.bfloat16\(\)"):
            form(ids, eight)
        assert form(ids, eight.bfloat16()).shape[1] == 5


NEVER_READ = {
    lookup: (IDS, GOOD),
    one_hot_matmul: (IDS, GOOD),
    one_hot: (IDS, 4),
    sum_of_rows: (BAGS, GOOD),
    dense_matmul: (BAGS, GOOD),
    dense_rows: (BAGS, 4),
    to_bags: (BAGS,),
}


@pytest.mark.parametrize("form", NEVER_READ)
def test_without_the_check_no_number_is_read(form):
    """With ``check=False`` a form asks for no value of a tensor, so nothing waits for a device."""
    read = AssertionError("a value was read")
    with (
        mock.patch("torch.aminmax", side_effect=read),
        mock.patch("torch.Tensor.__int__", side_effect=read),
        mock.patch("torch.Tensor.__bool__", side_effect=read),
        mock.patch("torch.Tensor.item", side_effect=read),
        mock.patch("torch.Tensor.numpy", side_effect=read),
    ):
        form(*NEVER_READ[form], check=False)
        with pytest.raises(AssertionError, match="a value was read"):
            form(*NEVER_READ[form])


@pytest.mark.parametrize("form", [lookup, one_hot_matmul, sum_of_rows, dense_matmul])
def test_without_the_check_a_table_is_not_looked_at(form):
    """On the device meta a shape is all that is asked for."""
    ids, weight = NEVER_READ[form]
    there = ids.to("meta") if form in (lookup, one_hot_matmul) else [t.to("meta") for t in ids]
    assert form(there, weight.to("meta"), check=False).shape[-1] == 5
    for place in (ids, there):
        with pytest.raises(ValueError, match="weight is on the device meta, which stores no num"):
            form(place, weight.to("meta"))
