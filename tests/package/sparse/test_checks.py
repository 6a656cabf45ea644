"""Broken sparse rows are refused with a message that helps."""

import re

import numpy as np
import pytest
import torch
from scipy import sparse

from lookup_matmul.sparse.bags import check_bags
from lookup_matmul.sparse.formats import to_bags, to_scipy_csr, to_torch_csr
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
    "scipy indptr falls": (lambda: scipy_rows(indptr=np.array([0, 2, 1, 3])), ValueError, "row 1 begins at 2 and ends at 1, expected offsets that never fall; correct indptr[2]."),
    "scipy indptr ends early": (lambda: scipy_rows(indptr=np.array([0, 1, 1, 2])), ValueError, "row 2 ends at indptr[3] = 2, expected 3, the number of entries; remove the entries beyond it with rows.prune()."),
    "scipy indptr ends late": (lambda: scipy_rows(indptr=np.array([0, 2, 2, 2**31])), ValueError, f"row 2 ends at indptr[3] = {2**31}, expected 3, the number of entries; correct indptr[3], or the arrays if some are cut off."),
    "scipy indptr begins late": (lambda: scipy_rows(indptr=np.array([-1, 2, 2, 3])), ValueError, "indptr[0] is -1, expected 0: row 0 begins with the first entry; subtract the first element if this is a slice of a larger matrix."),
    "scipy indptr too short": (lambda: scipy_rows(indptr=np.array([0, 2, 3])), ValueError, "indptr has 3 elements, expected 4 for the 3 rows of the matrix; one for each row, and the end."),
    "scipy too few values": (lambda: scipy_rows(data=np.ones(2)), ValueError, "data has 2 elements and indices 3, expected as many; give each entry its value."),
    "scipy too many columns": (lambda: sparse.csr_array((3, 5)), ValueError, "rows has 5 columns and the table 4 rows, expected as many; column k of the one multiplies row k of the other, so make both from the same vocabulary."),
    "scipy too few columns": (lambda: sparse.csr_array((3, 3)), ValueError, "rows has 3 columns and the table 4 rows, expected as many; column k of the one multiplies row k of the other, so make both from the same vocabulary."),
    "torch too few columns": (lambda: torch_rows([1, 2, 0], columns=3), ValueError, "rows has 3 columns and the table 4 rows, expected as many; column k of the one multiplies row k of the other, so make both from the same vocabulary."),
    "scipy CSC": (lambda: scipy_rows().tocsc(), TypeError, "rows is a SciPy matrix of format 'csc' and shape (3, 4), expected CSR with two dimensions; convert a matrix with rows.tocsr()."),
    "torch column too large": (lambda: torch_rows([1, 2**33, 0]), IndexError, f"row 0 names column {2**33}, but a table of 4 rows takes 0 <= column <= 3; 1 of the 3 entries is outside. Give the table more rows or correct the col_indices."),
    "scipy other byte order": (lambda: scipy_rows(data=np.ones(3, ">f4")), ValueError, "given numpy array has byte order different from the native byte order. Conversion between byte orders is currently not supported."),
    "torch Boolean": (lambda: (torch.eye(4) > 0).to_sparse_csr(), TypeError, "values has dtype torch.bool, expected an integer or floating one; convert with .float() if True counts as 1."),
    "torch dense": (lambda: torch.ones(3, 4), TypeError, "rows is a tensor of layout torch.strided and shape (3, 4), expected torch.sparse_csr with two dimensions; convert a matrix with rows.to_sparse_csr()."),
    "bags without the end": (lambda: (IDS, OFFSETS[:-1], VALUES), ValueError, "row 1 ends at offsets[2] = 2, expected 3, the number of entries; append it if the offsets are only the beginnings (include_last_offset=False)."),
    "bags with weights in two dimensions": (lambda: (IDS, OFFSETS, torch.ones(3, 1)), ValueError, "weights has layout torch.strided and shape (3, 1), expected one dense dimension; flatten it."),
    "bags without rows": (lambda: (IDS, OFFSETS[:1], VALUES), ValueError, "offsets is [0], expected 3, the number of entries; append it if the offsets are only the beginnings (include_last_offset=False)."),
    "bags with empty offsets": (lambda: (IDS[:0], OFFSETS[:0]), ValueError, "offsets is empty, expected at least the end; no rows at all are [0]."),
    "bags with values on meta": (lambda: (IDS, OFFSETS, VALUES.to("meta")), ValueError, "weights is on the device meta, which stores no numbers, expected one that does; create it on another device; where only shapes matter, the forms take check=False."),
    "bags with two columns outside": (lambda: (torch.tensor([1, 4, 5]), OFFSETS, VALUES), IndexError, "row 0 names column 4, but a table of 4 rows takes 0 <= column <= 3; 2 of the 3 entries are outside. Give the table more rows or correct the ids."),
    "bags of complex weights": (lambda: (IDS, OFFSETS, VALUES.cfloat()), TypeError, "weights has dtype torch.complex64, expected an integer or floating one; convert with .float() if True counts as 1."),
    "bags of sparse weights": (lambda: (IDS, OFFSETS, VALUES.to_sparse()), ValueError, "weights has layout torch.sparse_coo and shape (3,), expected one dense dimension; flatten it."),
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


@pytest.mark.parametrize("form", [check_bags, to_scipy_csr, to_torch_csr])
def test_other_types_than_bags_are_refused(form):
    """Matrices are refused, and tuples of another length than two or three."""
    for bags in (torch.eye(4).to_sparse(), sparse.csr_array((3, 4)), (IDS,), [IDS] * 4):
        with pytest.raises(TypeError, match=r"bags is a \w+( of \d)?, expected Bags or .* to_bags"):
            form(bags, 4)
    form((IDS, OFFSETS), 4)
