"""A bound on the rounding error of a floating-point sum."""

import torch


def rounding_bound(terms: int, dtype: torch.dtype) -> float:
    """Return the error bound of a floating-point sum, relative to the sum of its absolute terms.

    For ``n`` terms, accumulated in any order in a ``dtype`` with unit roundoff ``u``, the bound is
    ``g = (n - 1) u / (1 - (n - 1) u)``: ``|computed - exact| <= g * sum(|term|)``, as long as
    nothing overflows and no subnormal number is flushed to zero (Higham, *Accuracy and Stability of
    Numerical Algorithms*, section 4.2).

    Raises ValueError if ``terms`` is less than one or ``(n - 1) u`` is not less than one.

    Examples
    --------
    >>> rounding_bound(1, torch.float32)
    0.0
    >>> f"{rounding_bound(4096, torch.float32):.3g}"
    '0.000244'
    """
    accumulated_roundoff = (terms - 1) * torch.finfo(dtype).eps / 2
    if not 0 <= accumulated_roundoff < 1:
        raise ValueError(
            f"terms is {terms}, expected at least 1 and fewer than "
            f"{int(2 / torch.finfo(dtype).eps) + 1} for {dtype}; sum in a wider dtype."
        )
    return accumulated_roundoff / (1 - accumulated_roundoff)
