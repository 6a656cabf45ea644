"""Equality of tensors by their bits, within a bound on rounding errors, and of their storage."""

import torch

INTEGER_OF_SIZE = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


def assert_bitwise_equal(actual: torch.Tensor, expected: torch.Tensor) -> None:
    """Raise unless two tensors have the same shape, dtype, device and bits.

    Unlike in :func:`torch.equal`, ``-0.0`` differs from ``0.0``, and a NaN equals a NaN with the
    same bits. Raise AssertionError, and TypeError unless both are dense and real or bool.

    >>> assert_bitwise_equal(torch.tensor([1.0, -0.0]), torch.tensor([1.0, 0.0]))
    Traceback (most recent call last):
    AssertionError: not bitwise equal: 1 of 2 elements differ. First at [1]: -0.0, expected 0.0. \
Largest difference: 0 at [1].
    """
    __tracebackhide__ = True
    _check_comparable(actual, expected)
    if actual.dtype != expected.dtype:
        raise AssertionError(f"not bitwise equal: dtype {actual.dtype}, expected {expected.dtype}.")
    mask = bits_differ(actual, expected)
    if mask.any():
        raise AssertionError(f"not bitwise equal: {_describe(mask, actual, expected)}")


def assert_within(
    actual: torch.Tensor, expected: torch.Tensor, bound: float | torch.Tensor
) -> None:
    """Raise unless every element differs from the expected one by at most ``bound``.

    ``bound`` is a number or broadcasts to the shape of the tensors; differences are in float64, and
    NaNs always fail. Raise AssertionError, also for other shapes or devices, TypeError unless both
    are dense and of floating dtypes, and ValueError for a bound of another shape, negative or NaN.

    >>> assert_within(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.25]), 0.25)
    """
    __tracebackhide__ = True
    _check_comparable(actual, expected)
    if not (actual.is_floating_point() and expected.is_floating_point()):
        raise TypeError(
            f"actual has dtype {actual.dtype} and expected has {expected.dtype}, "
            "expected floating dtypes; use assert_bitwise_equal for integers."
        )
    bounds = torch.as_tensor(bound, dtype=torch.float64, device=actual.device)
    try:
        bounds = bounds.expand(actual.shape)
    except RuntimeError:
        raise ValueError(
            f"bound has shape {tuple(bounds.shape)}, expected one that broadcasts to "
            f"{tuple(actual.shape)}, the shape of the tensors; reshape it or pass a number."
        ) from None
    if not (bounds >= 0).all():
        raise ValueError(f"bound is {bound}, expected a number of at least 0.")
    is_within = difference(actual, expected) <= bounds  # False for NaN
    if not is_within.all():
        limit = f"{bound:g}" if isinstance(bound, float | int) else "the bound of each element"
        raise AssertionError(f"not within {limit}: {_describe(~is_within, actual, expected)}")


def rounding_bound(terms: int, dtype: torch.dtype) -> float:
    """Return the error bound of a floating-point sum, relative to the sum of its absolute terms.

    For ``n`` terms in any order and unit roundoff ``u``, it is ``(n - 1) u / (1 - (n - 1) u)``,
    without over- and underflow (Higham, *Accuracy and Stability of Numerical Algorithms*, 4.2).
    Raise ValueError if ``terms`` is less than one or ``(n - 1) u`` is not less than one.

    >>> rounding_bound(1, torch.float32), f"{rounding_bound(4096, torch.float32):.3g}"
    (0.0, '0.000244')
    """
    accumulated_roundoff = (terms - 1) * torch.finfo(dtype).eps / 2
    if not 0 <= accumulated_roundoff < 1:
        raise ValueError(
            f"terms is {terms}, expected at least 1 and fewer than "
            f"{int(2 / torch.finfo(dtype).eps) + 1} for {dtype}; sum in a wider dtype."
        )
    return accumulated_roundoff / (1 - accumulated_roundoff)


def shares_storage(first: torch.Tensor, second: torch.Tensor) -> bool:
    """Return whether two dense tensors overlap in memory; not if one is empty or on ``meta``.

    >>> weight = torch.zeros(4, 5)
    >>> shares_storage(weight, weight.T), shares_storage(weight, weight.T.contiguous())
    (True, False)
    """
    if first.device != second.device or not first.numel() or not second.numel():
        return False
    storages = [tensor.untyped_storage() for tensor in (first, second)]
    starts = [storage.data_ptr() for storage in storages]
    ends = [storage.data_ptr() + storage.nbytes() for storage in storages]
    return 0 < max(starts) < min(ends)  # on meta, the address is 0


def rows_moved(before: torch.Tensor, after: torch.Tensor) -> torch.Tensor:
    """Return a bool mask of shape (vocabulary size,) of the rows in which any bit changed.

    ``before``, a copy, and ``after`` have shape (vocabulary size, embedding dimension). Raise
    TypeError unless they are dense and real, ValueError for unlike tables or shared storage.

    >>> rows_moved(torch.zeros(3, 2), torch.tensor([[0.0, 0.0], [0.5, 0.0], [0.0, 0.0]]))
    tensor([False,  True, False])
    """
    check_dense_real("before", before)
    check_dense_real("after", after)
    if before.shape != after.shape or before.dim() != 2 or before.dtype != after.dtype:
        raise ValueError(
            f"before has shape {tuple(before.shape)} and dtype {before.dtype}, after has "
            f"{tuple(after.shape)} and {after.dtype}; expected the same table at two times; "
            "take before = weight.clone()."
        )
    if shares_storage(before, after):
        raise ValueError(
            "before and after share storage, expected a copy; take before = weight.clone()."
        )
    return bits_differ(before, after).any(dim=1)


def bits_differ(first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
    """Return a bool mask of the elements whose bits differ; shapes and dtypes must be equal."""
    return view_bits(first) != view_bits(second)


def view_bits(tensor: torch.Tensor) -> torch.Tensor:
    """Return the bits of each element as an integer of the same size."""
    # The imaginary part of a conjugate is negated lazily.
    return tensor.detach().resolve_neg().contiguous().view(INTEGER_OF_SIZE[tensor.element_size()])


def difference(actual: torch.Tensor, expected: torch.Tensor) -> torch.Tensor:
    """Return the absolute differences in float64; the shapes must be equal."""
    actual, expected = actual.detach().double(), expected.detach().double()
    # The difference of equal infinities is 0 here, not NaN.
    return torch.where(actual == expected, 0.0, (actual - expected).abs())


def check_dense_real(name: str, tensor: torch.Tensor) -> None:
    __tracebackhide__ = True
    if not isinstance(tensor, torch.Tensor):
        raise TypeError(
            f"{name} is a {type(tensor).__name__}, expected a torch.Tensor; pass the .weight of a "
            "layer, or wrap an array in torch.as_tensor(...)."
        )
    if tensor.layout != torch.strided or tensor.is_complex() or tensor.is_quantized:
        raise TypeError(
            f"{name} has layout {tensor.layout} and dtype {tensor.dtype}, expected a dense real "
            "tensor; use .to_dense(), torch.view_as_real or .dequantize()."
        )


def _check_comparable(actual: torch.Tensor, expected: torch.Tensor) -> None:
    __tracebackhide__ = True
    check_dense_real("actual", actual)
    check_dense_real("expected", expected)
    if actual.shape != expected.shape:
        raise AssertionError(f"shape {tuple(actual.shape)}, expected {tuple(expected.shape)}.")
    if actual.device != expected.device:
        raise AssertionError(f"device {actual.device}, expected {expected.device}.")


def _describe(mask: torch.Tensor, actual: torch.Tensor, expected: torch.Tensor) -> str:
    first_index = [int(i) for i in mask.nonzero()[0]]
    differences = difference(actual, expected).masked_fill(~mask, -1.0)
    largest_index = [int(i) for i in torch.unravel_index(differences.argmax(), differences.shape)]
    elements = [tensor[tuple(first_index)] for tensor in (actual, expected)]
    actual_text, expected_text = (str(element.item()) for element in elements)
    if actual_text == expected_text and actual.dtype == expected.dtype:  # two NaNs
        bits = [view_bits(element).item() % 2 ** (8 * element.itemsize) for element in elements]
        actual_text, expected_text = (f"{actual_text} (bits {value:#x})" for value in bits)
    return (
        f"{int(mask.sum())} of {mask.numel()} elements differ. "
        f"First at {first_index}: {actual_text}, expected {expected_text}. "
        f"Largest difference: {float(differences.max()):.4g} at {largest_index}."
    )
