"""Broken sparse rows are refused with a message that helps."""

import re
from bisect import bisect_left
from itertools import accumulate, chain

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from lookup_matmul.sparse.bags import check_bags, to_bags, to_scipy_csr, to_torch_csr
from lookup_matmul.sparse.sums import dense_matmul, sum_of_rows

WEIGHT = torch.zeros(4, 2)
IDS, OFFSETS, VALUES = torch.tensor([1, 3, 0]), torch.tensor([0, 2, 2, 3]), torch.ones(3)


def scipy_rows(**changed: np.ndarray) -> sparse.csr_array:
    """Make a valid matrix, then replace some of its arrays, which SciPy does not check."""
    rows = sparse.csr_array(np.array([[0, 2.0, 0, 3], [0, 0, 0, 0], [1, 0, 0, 0]]))
    for name, array in changed.items():
        setattr(rows, name, array)
    return rows


def torch_rows(ids: list[int], columns: int = 4) -> torch.Tensor:
    """Make a CSR tensor of two rows without a check, as torch does by default."""
    arrays = torch.tensor([0, 2, 3]), torch.tensor(ids), torch.ones(3)
    return torch.sparse_csr_tensor(*arrays, (2, columns), check_invariants=False)


# Name: a function that returns the rows, the type of the error, and its message.
BROKEN = {
    "scipy column huge": (lambda: scipy_rows(indices=np.array([1, 3, 2**40])), IndexError, f"row 2 names column {2**40}, but a table of 4 rows takes 0 <= column <= 3; 1 of the 3 entries is outside. Give the table more rows or correct the indices."),
    "scipy indptr falls": (lambda: scipy_rows(indptr=np.array([0, 2, 1, 3])), ValueError, "row 1 begins at 2 and ends at 1, expected offsets that never fall; correct indptr[2], or the arrays if some are cut off."),
    "scipy indptr ends early": (lambda: scipy_rows(indptr=np.array([0, 1, 1, 2])), ValueError, "row 2 ends at indptr[3] = 2, expected 3, the number of entries; if the entries beyond belong to no row, remove them with rows.prune()."),
    "scipy indptr ends late": (lambda: scipy_rows(indptr=np.array([0, 2, 2, 2**31])), ValueError, f"row 2 ends at indptr[3] = {2**31}, expected 3, the number of entries; correct indptr[3], or the arrays if some are cut off."),
    "scipy indptr begins late": (lambda: scipy_rows(indptr=np.array([-1, 2, 2, 3])), ValueError, "indptr[0] is -1, expected 0: row 0 begins with the first entry; correct indptr[0], or the arrays if some are cut off."),
    "scipy indptr too short": (lambda: scipy_rows(indptr=np.array([0, 2, 3])), ValueError, "indptr has 3 elements, expected 4 for the 3 rows of the matrix; one for each row, and the end."),
    "scipy too few values": (lambda: scipy_rows(data=np.ones(2)), ValueError, "data has 2 elements and indices 3, expected as many; give each entry its value."),
    "scipy too many columns": (lambda: sparse.csr_array((3, 5)), ValueError, "rows has 5 columns and the table 4 rows, expected as many; column k of the one multiplies row k of the other, so make both from the same vocabulary."),
    "scipy too few columns": (lambda: sparse.csr_array((3, 3)), ValueError, "rows has 3 columns and the table 4 rows, expected as many; column k of the one multiplies row k of the other, so make both from the same vocabulary."),
    "torch too few columns": (lambda: torch_rows([1, 2, 0], columns=3), ValueError, "rows has 3 columns and the table 4 rows, expected as many; column k of the one multiplies row k of the other, so make both from the same vocabulary."),
    "scipy CSC": (lambda: scipy_rows().tocsc(), TypeError, "rows is a SciPy matrix of format 'csc' and shape (3, 4), expected CSR with two dimensions; convert it with rows.tocsr()."),
    "torch column too large": (lambda: torch_rows([1, 2**33, 0]), IndexError, f"row 0 names column {2**33}, but a table of 4 rows takes 0 <= column <= 3; 1 of the 3 entries is outside. Give the table more rows or correct the col_indices."),
    "scipy other byte order": (lambda: scipy_rows(data=np.ones(3, ">f4")), ValueError, "given numpy array has byte order different from the native byte order. Conversion between byte orders is currently not supported."),
    "torch Boolean": (lambda: (torch.eye(4) > 0).to_sparse_csr(), TypeError, "values has dtype torch.bool, expected an integer or floating one; convert with .float() if True counts as 1."),
    "torch dense": (lambda: torch.ones(3, 4), TypeError, "rows is a tensor of layout torch.strided and shape (3, 4), expected torch.sparse_csr with two dimensions; convert it with rows.to_sparse_csr()."),
    "bags without the end": (lambda: (IDS, OFFSETS[:-1], VALUES), ValueError, "row 1 ends at offsets[2] = 2, expected 3, the number of entries; if offsets has the row number of each entry, convert torch.sparse_coo_tensor(torch.stack([offsets, ids]), weights, (rows, columns)).to_sparse_csr(); or if this is a slice but the entries are whole, take only the entries [0:2]; or if the offsets are only the beginnings (include_last_offset=False), append 3."),
    "bags with weights in two dimensions": (lambda: (IDS, OFFSETS, torch.ones(3, 1)), ValueError, "weights has layout torch.strided and shape (3, 1), expected one dense dimension; flatten it."),
    "bags without rows": (lambda: (IDS, OFFSETS[:1], VALUES), ValueError, "offsets is [0], expected 3, the number of entries; if this is a slice but the entries are whole, take only the entries [0:0]; or if the offsets are only the beginnings (include_last_offset=False), append 3."),
    "bags with empty offsets": (lambda: (IDS[:0], OFFSETS[:0]), ValueError, "offsets is empty, expected at least the end; no rows at all are [0]."),
    "bags with values on meta": (lambda: (IDS, OFFSETS, VALUES.to("meta")), ValueError, "weights is on the device meta, which stores no numbers, expected one that does; create it on another device; where only shapes matter, the forms take check=False."),
    "bags with two columns outside": (lambda: (torch.tensor([1, 4, 5]), OFFSETS, VALUES), IndexError, "row 0 names column 4, but a table of 4 rows takes 0 <= column <= 3; 2 of the 3 entries are outside. Give the table more rows or correct the ids."),
    "bags of complex weights": (lambda: (IDS, OFFSETS, VALUES.cfloat()), TypeError, "weights has dtype torch.complex64, expected an integer or floating one; convert with .float() if True counts as 1."),
    "bags of sparse weights": (lambda: (IDS, OFFSETS, VALUES.to_sparse()), ValueError, "weights has layout torch.sparse_coo and shape (3,), expected one dense dimension; flatten it."),
    "bags with NaN": (lambda: (IDS, OFFSETS, torch.tensor([1.0, torch.nan, 2.0])), ValueError, "weights has NaN in 1 of 3 elements, expected numbers, since a sum with NaN is NaN; replace them or leave these entries out."),
    "bags of floats": (lambda: (IDS, OFFSETS.float()), TypeError, "offsets has dtype torch.float32, expected torch.int32 or torch.int64; convert with offsets.long() if the values are meant as row numbers."),
    "bags of arrays": (lambda: (IDS.numpy(), OFFSETS.numpy()), TypeError, "ids is a ndarray, expected a torch.Tensor; wrap it in torch.as_tensor(...)."),
    "four tensors": (lambda: (IDS, OFFSETS, VALUES, VALUES), TypeError, "bags is a tuple of 4, expected Bags or (ids, offsets, weights); read a matrix with to_bags(...)."),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_broken_rows_are_refused(name):
    """Every function raises the same error; a broken matrix could crash a kernel of torch."""
    make_rows, error, message = BROKEN[name]
    calls = [(sum_of_rows, WEIGHT), (dense_matmul, WEIGHT)]
    calls += [(to_scipy_csr, 4), (to_torch_csr, 4)] * name.startswith("bags")
    calls += [(to_bags,)] * ("columns" not in name)
    for form, *arguments in calls:
        with pytest.raises(error, match=f"^{re.escape(message)}$"):
            form(make_rows(), *arguments)


def test_a_negative_column_is_refused_without_a_number_of_columns():
    """Nonnegative ids pass, also if the number of columns exceeds int64."""
    for columns, expectation in ((None, "expected at least 0"), (2**70, "but a table of")):
        check_bags((torch.tensor([2**63 - 1]), torch.tensor([0, 1])), columns)
        message = (
            rf"row 0 names column -1, {expectation}.*; 1 of the 1 entries is outside\. A negative"
        )
        with pytest.raises(IndexError, match=message):
            check_bags((torch.tensor([-1]), torch.tensor([0, 1])), columns)


COUNTS = st.lists(st.integers(0, 3), min_size=1, max_size=4)
READINGS = {
    "the lengths of the rows": lambda offsets, _: [0, *accumulate(offsets)],
    "the row number of each entry": lambda offsets, _: [bisect_left(offsets, row) for row in range(offsets[-1] + 2)],
    "is a slice of larger arrays": lambda offsets, _: [k - offsets[0] for k in offsets],
    "a slice but the entries are whole": lambda offsets, _: [k - offsets[0] for k in offsets],
    "only the beginnings": lambda offsets, count: [*offsets, count],
    "batches were joined": None,
}  # fmt: skip


@given(COUNTS, COUNTS, st.integers(1, 5), st.booleans())
def test_what_broken_offsets_are_is_among_the_readings(first, second, before, has_end):
    """Every way to write the same rows wrongly passes the check by chance, or is named."""
    meant, later = [0, *accumulate(first)], [0, *accumulate(second)]
    n = meant[-1]
    rows = [row for row, count in enumerate(first) for _ in range(count)]
    end = None if has_end else -1
    cases = [
        (first, n, "the lengths of the rows", meant),
        (rows, n, "the row number of each entry", [0, *accumulate(first[: max(rows, default=0) + 1])]),
        (rows[::-1], n, "the row number of each entry", None),
        ([k + before for k in meant], n, "is a slice of larger arrays", meant),
        ([k + before for k in meant], n + before, "a slice but the entries are whole", meant),
        (meant, n + before, "a slice but the entries are whole", meant),
        (meant[:-1], n, "only the beginnings", meant),
        (meant[:end] + later[:end], n + later[-1], "batches were joined", None),
    ]  # fmt: skip
    for offsets, count, reading, expected in cases:
        try:
            check_bags((torch.zeros(count).long(), torch.tensor(offsets).long()), 1)
        except ValueError as error:
            message = str(error)
        else:
            continue  # these are also the offsets of other rows
        if not offsets:
            assert "is empty" in message
            continue
        assert reading in message
        named = [text for text in READINGS if text in message]
        assert message.count(" if ") == len(named)
        if expected is not None:
            assert READINGS[reading](offsets, count) == expected


MEANT = [[0, 1, 0, 1], [0, 0, 0, 0], [1, 0, 0, 0]]
JAGGED = torch.nested.nested_tensor(
    [torch.tensor(row) for row in ([1, 3], [0])], layout=torch.jagged
)
LISTS = [[1, 3], [], [0]]
# What people hold, the step that the message names, and what it makes of the rows.
HELD = [
    (LISTS, "torch.tensor([*chain(*rows)]) and torch.tensor([0, *map(len, rows)]).cumsum(0)", lambda rows: (torch.tensor([*chain(*rows)]), torch.tensor([0, *map(len, rows)]).cumsum(0)), MEANT),
    (LISTS[::2], "if each list has the ids of one row", lambda rows: (torch.tensor([*chain(*rows)]), torch.tensor([0, *map(len, rows)]).cumsum(0)), MEANT[::2]),
    (JAGGED, "torch.cat(rows.unbind()), torch.tensor([0, *map(len, rows.unbind())]).cumsum(0)", lambda rows: (torch.cat(rows.unbind()), torch.tensor([0, *map(len, rows.unbind())]).cumsum(0)), MEANT[::2]),
    (torch.nested.narrow(torch.tensor([[1, 3, 2], [0, 2, 2]]), 1, torch.tensor([0, 0]), torch.tensor([2, 1]), layout=torch.jagged), "torch.cat(rows.unbind()), torch.tensor([0, *map(len, rows.unbind())]).cumsum(0)", lambda rows: (torch.cat(rows.unbind()), torch.tensor([0, *map(len, rows.unbind())]).cumsum(0)), MEANT[::2]),
    (np.array(MEANT), "scipy.sparse.csr_array(rows)", sparse.csr_array, MEANT),
    (torch.tensor(MEANT), "rows.to_sparse_csr() if these are counts", lambda rows: rows.to_sparse_csr(), MEANT),
    (torch.tensor([[1, 3], [0, 2]]), "pass (rows.flatten(), torch.arange(0, rows.numel() + 1, rows.shape[1])) if they are ids", lambda rows: (rows.flatten(), torch.arange(0, rows.numel() + 1, rows.shape[1])), [MEANT[0], [1, 0, 1, 0]]),
    (torch.tensor([1, 3]), "rows.unsqueeze(0).to_sparse_csr() if these are counts, or pass (rows.flatten(), torch.arange(0, rows.numel() + 1, rows.shape[0])) if they are ids", lambda rows: (rows.flatten(), torch.arange(0, rows.numel() + 1, rows.shape[0])), MEANT[:1]),
    (torch.tensor([MEANT]), "rows.flatten(0, -2).to_sparse_csr() if these are counts, or pass (rows.flatten(), torch.arange(0, rows.numel() + 1, rows.shape[2])) if they are ids", lambda rows: rows.flatten(0, -2).to_sparse_csr(), MEANT),
    (np.array([[1, 3], [0, 2]]), "scipy.sparse.csr_array(rows), or pass (torch.from_numpy(rows).flatten(), torch.arange(0, torch.from_numpy(rows).numel() + 1, torch.from_numpy(rows).shape[1])) if they are ids", lambda rows: (torch.from_numpy(rows).flatten(), torch.arange(0, rows.size + 1, rows.shape[1])), [MEANT[0], [1, 0, 1, 0]]),
    (sparse.csr_array(np.array(MEANT) > 0), "data has dtype torch.bool, expected an integer or floating one; convert with rows.astype('float32')", lambda rows: rows.astype("float32"), MEANT),
    (sparse.csr_array(MEANT)[0], "rows.reshape(1, -1).tocsr()", lambda rows: rows.reshape(1, -1).tocsr(), MEANT[:1]),
    (sparse.csc_array(MEANT), "rows.tocsr()", lambda rows: rows.tocsr(), MEANT),
    (torch.tensor(MEANT).to_sparse_csc(), "rows.to_sparse_csr()", lambda rows: rows.to_sparse_csr(), MEANT),
    (torch.tensor(MEANT).to_sparse(), "rows.to_sparse_csr()", lambda rows: rows.to_sparse_csr(), MEANT),
    (torch.tensor(MEANT)[0].to_sparse(), "rows.unsqueeze(0).to_sparse_csr()", lambda rows: rows.unsqueeze(0).to_sparse_csr(), MEANT[:1]),
]  # fmt: skip


@pytest.mark.parametrize("rows", [np.ones((2, 2), bool), torch.ones(2, 2, dtype=torch.bool)])
def test_a_mask_is_not_offered_as_ids(rows):
    """Its columns are the ids; read as ids, True would be row 1."""
    with pytest.raises(TypeError, match="csr") as error:
        to_bags(rows)
    assert "if they are ids" not in str(error.value)


@pytest.mark.parametrize("k", range(len(HELD)))
def test_the_step_that_the_message_names_converts_the_rows(k):
    """Whoever follows it has the rows that were meant."""
    rows, step, convert, meant = HELD[k]
    with pytest.raises(TypeError, match=re.escape(step)):
        to_bags(rows)
    assert to_scipy_csr(to_bags(convert(rows)), 4).toarray().tolist() == meant


@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint16", "int16", "uint32", "uint64"])
def test_small_and_unsigned_counts_are_exact_unless_scipy_wraps_them(dtype):
    """Each count arrives; duplicates of 8 bits wrap in SciPy."""
    rows = sparse.csr_array((np.array([100, 100, 100], dtype), [1, 1, 1], [0, 3]), shape=(1, 4))
    table = torch.eye(4, dtype=torch.float64)
    assert sum_of_rows(rows, table)[0, 1] == 300
    rows.sum_duplicates()
    wrapped = {"uint8": 300 - 256, "int8": 300 - 256}
    assert sum_of_rows(rows, table)[0, 1] == wrapped.get(dtype, 300)


@pytest.mark.parametrize("form", [check_bags, to_scipy_csr, to_torch_csr])
def test_other_types_than_bags_are_refused(form):
    """Matrices are refused, and tuples of another length than two or three."""
    for bags in (torch.eye(4).to_sparse(), sparse.csr_array((3, 4)), (IDS,), [IDS] * 4):
        with pytest.raises(TypeError, match=r"bags is a \w+( of \d)?, expected Bags or .* to_bags"):
            form(bags, 4)
    form((IDS, OFFSETS), 4)
