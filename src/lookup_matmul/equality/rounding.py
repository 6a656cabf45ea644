"""How far the rounding of a sum can carry it from the exact value."""

import torch


def rounding_bound(terms: int, dtype: torch.dtype) -> float:
    """Bound the error of a floating-point sum, relative to the sum of its absolute terms.

    For ``n`` terms, added in any order, with unit roundoff ``u`` of the dtype,
    ``|computed - exact| <= g * sum(|term|)`` with ``g = (n - 1) u / (1 - (n - 1) u)``,
    as long as nothing overflows and no subnormal number is flushed to zero.
    The theorem is in Higham, *Accuracy and Stability of Numerical Algorithms*, section 4.2.

    Returns the factor ``g`` for so many terms, accumulated and stored in a floating ``dtype``; it
    is zero for a single term, which is not rounded. No term at all, or so many that the theorem
    says nothing, is a ValueError.

    Examples
    --------
    >>> rounding_bound(1, torch.float32)
    0.0
    >>> f"{rounding_bound(4096, torch.float32):.3g}"
    '0.000244'
    """
    steps = (terms - 1) * torch.finfo(dtype).eps / 2
    if not 0 <= steps < 1:
        raise ValueError(
            f"terms is {terms}, expected at least 1 and fewer than "
            f"{int(2 / torch.finfo(dtype).eps) + 1} for {dtype}; sum in a wider dtype."
        )
    return steps / (1 - steps)
