"""What a case should give by its definition, in float64, and how far a result is from it."""

from __future__ import annotations

from collections.abc import Mapping

import torch

from lookup_matmul.equality import assert_within, bits_differ
from lookup_matmul.rounding import rounding_bound
from lookup_matmul.timings.cases import DTYPES, Case
from lookup_matmul.timings.clock import Call
from lookup_matmul.timings.contenders import Contender
from lookup_matmul.timings.inputs import Inputs

AT_ONCE = 2**25  # elements in float64 at a time, so that checking fits wherever measuring does


def check_results(
    contenders: Mapping[str, Call],
    expected: torch.Tensor,
    bound: torch.Tensor | float,
) -> None:
    """Raise unless each contender computes what is expected, so that no wrong result is timed.

    Parameters
    ----------
    contenders : collections.abc.Mapping
        Name and call of each.
    expected : torch.Tensor
        The oracle, of any floating dtype.
    bound : torch.Tensor or float
        The largest difference allowed, of each element or of all.

    Raises
    ------
    AssertionError
        Naming the first contender that is off, and by how much.

    Examples
    --------
    >>> check_results({"2": lambda: torch.tensor([2.0])}, torch.tensor([2.0]), 0)
    >>> check_results({"3": lambda: torch.tensor([3.0])}, torch.tensor([2.0]), 0)
    Traceback (most recent call last):
    ...
    AssertionError: the contender '3' is not to be timed: not within 0: 1 of 1 elements differ. \
First at [0]: 3.0, expected 2.0. Largest difference: 1 at [0].
    """
    for name, call in contenders.items():
        try:
            assert_within(torch.as_tensor(call()), expected, bound)
        except AssertionError as error:
            raise AssertionError(f"the contender {name!r} is not to be timed: {error}") from None


def expected_columns(
    case: Case, inputs: Inputs, columns: slice
) -> tuple[torch.Tensor, torch.Tensor]:
    """Compute some columns of what a case should give, and the size of the terms added up.

    Parameters
    ----------
    case : Case
        The case.
    inputs : Inputs
        Its inputs.
    columns : slice
        Which columns.

    Returns
    -------
    torch.Tensor
        The rows picked, their weighted sums, or the gradient of the table; float64.
    torch.Tensor
        The same of absolute values.

    Examples
    --------
    >>> case = Case("lookup", "backward", 3, 2, 3, "uniform", "float32", "hot")
    >>> ids, none = torch.tensor([2, 2, 1]), torch.empty(0)
    >>> arriving = torch.tensor([[1.0, 0.0], [-2.0, 0.0], [4.0, 0.0]])
    >>> inputs = Inputs(ids, torch.ones(3, 2), none, arriving)
    >>> expected, size = expected_columns(case, inputs, slice(0, 1))
    >>> expected.tolist(), size.tolist()
    ([[0.0], [4.0], [-1.0]], [[0.0], [4.0], [3.0]])
    """
    if case.direction == "backward":
        arriving = inputs.arriving[:, columns].double()
        zeros = arriving.new_zeros(case.vocab_size, arriving.shape[1])
        return (
            zeros.index_add(0, inputs.ids, arriving),
            zeros.index_add(0, inputs.ids, arriving.abs()),
        )
    rows = inputs.weight[:, columns][inputs.ids].double()
    if not case.bags:
        return rows, rows.abs()
    if case.form != "embedding bag, without weights":
        rows *= inputs.values.double().unsqueeze(1)
    rows = rows.view(case.bags, -1, rows.shape[1])
    return rows.sum(1), rows.abs().sum(1)


def error_bound(case: Case, most: int) -> float:
    """Bound the error of a case, relative to the sum of its absolute terms.

    Parameters
    ----------
    case : Case
        The case.
    most : int
        How often the most frequent id occurs.

    Returns
    -------
    float
        0 where nothing is rounded; 1 at most, where so many numbers of a half precision
        are added that a sum of them may stop growing.

    Examples
    --------
    >>> case = Case("lookup", "forward", 3, 2, 3, "uniform", "float32", "hot")
    >>> error_bound(case, most=2), error_bound(case._replace(dtype="tf32"), most=2)
    (0.0, 0.0009765625)
    """
    dtype = DTYPES[case.dtype]
    terms = most if case.direction == "backward" else 1
    if case.bags:
        terms = case.ids // case.bags + 1  # each product is rounded as well
    few = (terms - 1) * torch.finfo(dtype).eps < 1
    share = rounding_bound(terms, dtype) if few else 1.0
    rounded = 2.0**-10 if case.dtype == "tf32" else 0.0  # to ten bits after the point
    return min(1.0, share + rounded)


def largest_error(case: Case, inputs: Inputs, result: torch.Tensor) -> float:
    """Compare a result with its definition.

    Parameters
    ----------
    case : Case
        The case.
    inputs : Inputs
        Its inputs.
    result : torch.Tensor
        What its contender gave.

    Returns
    -------
    float
        Largest absolute difference.

    Raises
    ------
    AssertionError
        If the result is further off than rounding explains.

    Examples
    --------
    >>> case = Case("lookup", "forward", 4, 5, 3, "uniform", "float32", "hot")
    >>> none = torch.empty(0)
    >>> inputs = Inputs(torch.tensor([2, 3, 1]), torch.ones(4, 5), none, none)
    >>> largest_error(case, inputs, torch.ones(3, 5))
    0.0
    """
    bound = error_bound(case, int(torch.bincount(inputs.ids).max()))
    longest = max(case.ids, case.vocab_size if case.direction == "backward" else 0)
    step = max(1, AT_ONCE // longest)
    worst, result = 0.0, result.to_dense()
    for begin in range(0, case.dim, step):
        columns = slice(begin, begin + step)
        found = result[:, columns]
        expected, size = expected_columns(case, inputs, columns)
        check_results({case.form: lambda found=found: found}, expected, bound * size)
        worst = max(worst, float((found.double() - expected).abs().max()))
    return worst


def repeats_bitwise(call: Contender, times: int = 5) -> bool:
    """Tell whether repeated calls give the same bits.

    Parameters
    ----------
    call : collections.abc.Callable
        Gives a tensor, dense or sparse.
    times : int
        How often it is called.

    Returns
    -------
    bool
        Whether all agree with the first.

    Examples
    --------
    >>> repeats_bitwise(lambda: torch.ones(3)), repeats_bitwise(lambda: torch.rand(3))
    (True, False)
    """
    first = _parts(call())
    return not any(
        bool(bits_differ(one, other).any())
        for _ in range(times - 1)
        for one, other in zip(first, _parts(call()), strict=True)
    )


def _parts(result: torch.Tensor) -> list[torch.Tensor]:
    """Give what a sparse gradient holds as it is: adding it up might not repeat itself."""
    return [result._indices(), result._values()] if result.is_sparse else [result]
