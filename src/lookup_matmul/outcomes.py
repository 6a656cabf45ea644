"""How the rows that a OneHotLinear computes compare with the rows of its table."""

import torch

from lookup_matmul.equality import bits_differ
from lookup_matmul.one_hot_linear import OneHotLinear

LARGEST_TRIED = 128


@torch.no_grad()
def compare_rows(name: str, layer: OneHotLinear, table: torch.Tensor) -> str:
    """Say how the product's rows compare with the table's, or raise if they differ."""
    finite = table.isfinite().all(dim=1)
    if not finite.all():
        raise ValueError(
            f"the table of {name} has NaN or infinity in {int((~finite).sum())} of {len(table)} "
            f"rows, the first in row {int(finite.long().argmin())}, expected finite numbers: zero "
            "times NaN or infinity is NaN, so a product carries it into every row; mend these rows."
        )
    odd = (table == 0) & table.signbit() | (table != 0) & (table.abs() < _tiny(table))
    spread = torch.linspace(0, len(table) - 1, min(len(table), LARGEST_TRIED)).long()
    tried = torch.cat([spread.to(table.device), odd.any(dim=1).nonzero().flatten()[:LARGEST_TRIED]])
    product, expected = layer.forward(tried), table[tried]  # without the hooks of the module
    if not bits_differ(product, expected).any():
        return "equal in every bit"
    if torch.equal(product, expected):
        return "equal, with -0 as +0"
    off = (product.double() - expected.double()).abs()
    if (off <= _tiny(table)).all():
        return f"within {_tiny(table):.2g}, with subnormal numbers as 0"
    worst = int(off.amax(dim=1).argmax())
    raise ValueError(
        f"the product of {name} is off by {float(off[worst].max()):.2g} in row "
        f"{int(tried[worst])}, expected the row itself: matrix products run with reduced "
        "precision here; call torch.set_float32_matmul_precision('highest') first."
    )


def _tiny(table: torch.Tensor) -> float:
    return torch.finfo(table.dtype).tiny
