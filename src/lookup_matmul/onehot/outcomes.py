"""How the rows that a OneHotLinear computes compare with the rows of its table."""

import torch

from lookup_matmul.equality.assertions import bits_differ
from lookup_matmul.onehot.one_hot_linear import OneHotLinear

LARGEST_TRIED = 128


@torch.no_grad()
def compare_rows(name: str, layer: OneHotLinear, table: torch.Tensor) -> str:
    """Say how the product's rows compare with the table's, or raise if they differ."""
    lowest, highest = table.aminmax(dim=1)  # both NaN for a row with a NaN
    finite = lowest.isfinite() & highest.isfinite()
    if not finite.all():
        raise ValueError(
            f"the table of {name} has NaN or infinity in {int((~finite).sum())} of {len(table)} "
            f"rows, the first in row {int(finite.long().argmin())}, expected finite numbers: zero "
            "times NaN or infinity is NaN, so a product carries it into every row; mend these rows."
        )
    tiny, zero = torch.finfo(table.dtype).tiny, table.new_zeros(())
    # By the bits: where the machine takes subnormal numbers for zeros, comparisons do so too.
    odd = (table > -tiny) & (table < tiny) & bits_differ(table, zero)
    count = min(len(table), LARGEST_TRIED)
    spread = torch.linspace(0, len(table) - 1, count, dtype=torch.float64, device=table.device)
    tried = torch.cat([spread.long(), odd.any(dim=1).nonzero().flatten()[:LARGEST_TRIED]])
    product, expected = layer.forward(tried), table[tried]  # without the hooks of the module
    differs = bits_differ(product, expected)
    if not differs.any():
        return "equal in every bit"
    sign_lost = ~(bits_differ(expected, -zero) | bits_differ(product, zero))
    if not (differs & ~sign_lost).any():
        return "equal, with -0 as +0"
    off = (product.double() - expected.double()).abs()
    if (off <= tiny).all():
        return f"within {tiny:.2g}, with subnormal numbers as 0"
    worst = int(off.amax(dim=1).argmax())
    raise ValueError(
        f"the product of {name} is off by {float(off[worst].max()):.2g} in row "
        f"{int(tried[worst])}, expected the row itself: matrix products run with reduced "
        "precision here; call torch.set_float32_matmul_precision('highest') first."
    )
