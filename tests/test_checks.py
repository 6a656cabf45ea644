"""Every way in which input can be bad, in every form, with the message it gets."""

import re

import pytest
import torch

from lookup_matmul import check_ids, check_inputs, lookup, one_hot, one_hot_matmul

GOOD = torch.zeros(4, 5)
IDS = torch.tensor([2, 3, 1])
BAD_INPUTS = {
    "ids is a list": ([2, 3], GOOD, TypeError, "ids is [2, 3] of type list, expected a torch.Tensor"),
    "ids is float": (torch.tensor([2.5]), GOOD, TypeError, "ids has dtype torch.float32 (first value: 2.5)"),
    "ids is bool": (torch.tensor([True]), GOOD, TypeError, "expected torch.int32 or torch.int64"),
    "ids is uint8": (torch.tensor([1], dtype=torch.uint8), GOOD, TypeError, "convert with ids.long()"),
    "ids is empty float": (torch.empty(0), GOOD, TypeError, "(first value: none, it is empty)"),
    "weight is a list": (IDS, [[1.0]], TypeError, "weight is [[1.0]] of type list, expected a torch.Tensor"),
    "weight is a layer": (IDS, torch.nn.Embedding(4, 5), TypeError, "of type Embedding, expected a torch.Tensor; pass its .weight"),
    "weight is integer": (IDS, torch.ones(4, 5, dtype=torch.int64), TypeError, "weight has dtype torch.int64, expected a floating dtype; convert with weight.float()"),
    "weight is complex": (IDS, torch.ones(4, 5, dtype=torch.complex64), TypeError, "weight has dtype torch.complex64"),
    "weight is a vector": (IDS, torch.ones(4), ValueError, "weight has shape (4,), expected two dimensions"),
    "weight is a cube": (IDS, torch.ones(4, 5, 6), ValueError, "weight has shape (4, 5, 6), expected two dimensions"),
    "two devices": (IDS, torch.zeros(4, 5, device="meta"), ValueError, "ids is on cpu and weight on meta, expected one device; move one of them with .to(...)"),
    "id too large": (torch.tensor([[2, 3], [7, 9]]), GOOD, IndexError, "ids[1, 0] is 7, but a table of 4 rows takes 0 <= id <= 3; 2 of the 4 ids are outside. Give the table more rows or correct the ids."),
    "id just too large": (torch.tensor([3, 4]), GOOD, IndexError, "ids[1] is 4,"),
    "id negative": (torch.tensor([0, -1]), GOOD, IndexError, "ids[1] is -1, but a table of 4 rows takes 0 <= id <= 3; 1 of the 2 ids is outside. A negative id does not count from the end"),
    "scalar id": (torch.tensor(4), GOOD, IndexError, "ids is 4, but"),
    "int32 id": (torch.tensor([2**31 - 1], dtype=torch.int32), GOOD, IndexError, "ids[0] is 2147483647,"),
    "huge id": (torch.tensor([2**62 + 1]), GOOD, IndexError, "ids[0] is 4611686018427387905,"),
    "empty table": (torch.tensor([0]), torch.zeros(0, 5), IndexError, "a table of 0 rows takes no id at all"),
}  # fmt: skip


@pytest.mark.parametrize("form", [lookup, one_hot_matmul, check_inputs])
@pytest.mark.parametrize(("ids", "weight", "error", "message"), BAD_INPUTS.values(), ids=BAD_INPUTS)
def test_bad_input_is_refused_alike(form, ids, weight, error, message):
    """Every form raises the same error, which shows the value, its place, the range and a remedy."""
    with pytest.raises(error, match=re.escape(message)):
        form(ids, weight)


def test_bad_ids_are_refused_on_every_device(device):
    """The check runs before any kernel could fail, so an accelerator stays usable."""
    weight = torch.zeros(4, 5, device=device)
    for form in (lookup, one_hot_matmul):
        with pytest.raises(IndexError, match=r"ids\[1\] is 4"):
            form(torch.tensor([0, 4], device=device), weight)
    assert lookup(torch.tensor([3], device=device), weight).shape == (1, 5)


@pytest.mark.parametrize("check", [one_hot, check_ids])
@pytest.mark.parametrize(
    ("vocab_size", "error", "message"),
    [
        (max(IDS) + 1, TypeError, "vocab_size is tensor(4) of type Tensor, expected an int"),
        (4.0, TypeError, "vocab_size is 4.0 of type float"),
        (True, TypeError, "vocab_size is True of type bool"),
        (-1, ValueError, "vocab_size is -1, expected at least 0"),
        (3, IndexError, "ids[1] is 3, but a table of 3 rows takes 0 <= id <= 2"),
    ],
)
def test_bad_vocabulary_sizes_are_refused(check, vocab_size, error, message):
    """A width is an int that was decided beforehand, never a tensor taken from a batch."""
    with pytest.raises(error, match=re.escape(message)):
        check(IDS, vocab_size)


@pytest.mark.parametrize("shape", [(0,), (3, 0)])
def test_empty_ids_are_valid(shape):
    """No ids, nothing to refuse, not even for a table without rows."""
    check_inputs(torch.empty(shape, dtype=torch.int32), torch.zeros(0, 5))


@pytest.mark.parametrize("form", [lookup, one_hot_matmul])
def test_check_changes_no_argument(form):
    """Nothing is converted, clamped or written."""
    ids, weight = IDS.int(), torch.randn(4, 5)
    before = ids.clone(), weight.clone()
    form(ids, weight)
    assert ids.dtype == torch.int32
    assert torch.equal(ids, before[0])
    assert torch.equal(weight, before[1])
