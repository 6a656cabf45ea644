"""Assertions that name the class of equality they check, and say where and by how much it fails."""

import torch

_BITS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


def assert_bitwise_equal(actual: torch.Tensor, expected: torch.Tensor) -> None:
    """Raise unless two tensors hold the same bits in the same shape, dtype and device.

    This sees what :func:`torch.equal` does not: ``-0.0`` differs from ``+0.0``,
    and a NaN equals a NaN with the same bits in the same place.

    The tensors are dense and real (or bool), of any shape; others are a TypeError. If shape, dtype,
    device or any bit differs, that is an AssertionError, whose message counts the differing
    elements and shows the first and the largest difference, the latter in float64.

    Examples
    --------
    >>> nan = float("nan")
    >>> assert_bitwise_equal(torch.tensor([1.0, nan]), torch.tensor([1.0, nan]))
    >>> assert_bitwise_equal(torch.tensor([1.0, -0.0]), torch.tensor([1.0, 0.0]))
    Traceback (most recent call last):
    ...
    AssertionError: not bitwise equal: 1 of 2 elements differ. First at [1]: -0.0, expected 0.0. \
Largest difference: 0 at [1].
    """
    __tracebackhide__ = True
    _check_comparable(actual, expected)
    if actual.dtype != expected.dtype:
        raise AssertionError(f"not bitwise equal: dtype {actual.dtype}, expected {expected.dtype}.")
    differs = bits_differ(actual, expected)
    if differs.any():
        raise AssertionError(f"not bitwise equal: {_where(differs, actual, expected)}")


def assert_within(
    actual: torch.Tensor, expected: torch.Tensor, bound: float | torch.Tensor
) -> None:
    """Raise unless every element differs from the expected one by at most ``bound``.

    The difference is taken in float64, so the two dtypes may differ; any NaN fails.
    A bound of ``0.0`` asks for equal values.

    The tensors are dense, of floating dtypes, the same shape and device; ``bound`` is at least
    zero, and a tensor must broadcast to the shape. Tensors of other kinds are a TypeError: integers
    are equal or not, so :func:`assert_bitwise_equal` compares them. A bound that is negative or NaN
    is a ValueError. Another shape or device, or an element outside of the bound, is an
    AssertionError, whose message counts these elements and shows the first and the largest
    difference.

    Examples
    --------
    >>> assert_within(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.25]), 0.25)
    >>> assert_within(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.25]), 0.125)
    Traceback (most recent call last):
    ...
    AssertionError: not within 0.125: 1 of 2 elements differ. First at [1]: 2.0, expected 2.25. \
Largest difference: 0.25 at [1].
    """
    __tracebackhide__ = True
    _check_comparable(actual, expected)
    if not (actual.is_floating_point() and expected.is_floating_point()):
        raise TypeError(
            f"actual has dtype {actual.dtype} and expected has {expected.dtype}, "
            "expected floating dtypes; use assert_bitwise_equal for integers."
        )
    limit = torch.as_tensor(bound, dtype=torch.float64, device=actual.device)
    limit = limit.expand(actual.shape)  # not the tensors to a larger bound
    if not (limit >= 0).all():
        raise ValueError(f"bound is {bound}, expected a number of at least 0.")
    # A NaN compares as false, so it is never inside by accident.
    inside = difference(actual, expected) <= limit
    if not inside.all():
        size = f"{bound:g}" if isinstance(bound, float | int) else "the bound of each element"
        raise AssertionError(f"not within {size}: {_where(~inside, actual, expected)}")


def bits_differ(first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
    """Tell for each element whether the bits differ; both tensors have one shape and dtype."""
    return bits_of(first) != bits_of(second)


def check_dense_real(name: str, tensor: torch.Tensor) -> None:
    """Raise unless a tensor has bits that can be compared one element with one element."""
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


def bits_of(tensor: torch.Tensor) -> torch.Tensor:
    """Return the bits of each element as an integer of its size."""
    # The imaginary part of a conjugate carries a sign that is not in its bits yet.
    return tensor.detach().resolve_neg().contiguous().view(_BITS[tensor.element_size()])


def _check_comparable(actual: torch.Tensor, expected: torch.Tensor) -> None:
    __tracebackhide__ = True
    check_dense_real("actual", actual)
    check_dense_real("expected", expected)
    if actual.shape != expected.shape:
        raise AssertionError(f"shape {tuple(actual.shape)}, expected {tuple(expected.shape)}.")
    if actual.device != expected.device:
        raise AssertionError(f"device {actual.device}, expected {expected.device}.")


def difference(actual: torch.Tensor, expected: torch.Tensor) -> torch.Tensor:
    """Return the absolute differences in float64; both tensors have one shape."""
    a, b = actual.detach().double(), expected.detach().double()
    # Equal infinities have no distance, although their difference is NaN.
    return torch.where(a == b, 0.0, (a - b).abs())


def _where(differs: torch.Tensor, actual: torch.Tensor, expected: torch.Tensor) -> str:
    first = [int(i) for i in differs.nonzero()[0]]
    gap = difference(actual, expected).masked_fill(~differs, -1.0)
    largest = [int(i) for i in torch.unravel_index(gap.argmax(), gap.shape)]
    elements = [tensor[tuple(first)] for tensor in (actual, expected)]
    shown, wanted = (str(element.item()) for element in elements)
    if shown == wanted and actual.dtype == expected.dtype:  # two NaNs
        bits = [bits_of(element).item() % 2 ** (8 * element.element_size()) for element in elements]
        shown, wanted = (f"{shown} (bits {number:#x})" for number in bits)
    return (
        f"{int(differs.sum())} of {differs.numel()} elements differ. "
        f"First at {first}: {shown}, expected {wanted}. "
        f"Largest difference: {float(gap.max()):.4g} at {largest}."
    )
