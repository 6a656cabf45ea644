"""Compare the rows of new layers, and what a model with them returns, with those of the old."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import nn

from lookup_matmul.equality import bits_differ, difference
from lookup_matmul.models import read_leaves, run_on_copies
from lookup_matmul.onehot.one_hot_linear import OneHotLinear

SAMPLE_ROWS = 128


@torch.no_grad()
def compare_rows(name: str, layer: OneHotLinear, table: torch.Tensor) -> str:
    """Describe how the rows of the product compare with the table's; raise if they differ."""
    finite = table.isfinite().all(dim=1)
    if not finite.all():
        raise ValueError(
            f"the table of {name} has NaN or infinity in {int((~finite).sum())} of {len(table)} "
            f"rows, the first in row {int(finite.long().argmin())}, expected finite numbers, since "
            "zero times NaN or infinity is NaN; repair these rows."
        )
    tiny = torch.finfo(table.dtype).tiny
    zero = table.new_zeros(())
    # Compare bits: where the processor flushes subnormal numbers to zero, == does so too.
    has_special = (table > -tiny) & (table < tiny) & bits_differ(table, zero)
    count = min(len(table), SAMPLE_ROWS)
    spread = torch.linspace(0, len(table) - 1, count, dtype=torch.float64, device=table.device)
    ids = torch.cat([spread.long(), has_special.any(dim=1).nonzero().flatten()[:SAMPLE_ROWS]])
    product = layer.forward(ids)  # without the hooks of the module
    expected = table[ids]
    differs = bits_differ(product, expected)
    if not differs.any():
        return "equal in every bit"
    if not (differs & (bits_differ(expected, -zero) | bits_differ(product, zero))).any():
        return "equal, with -0 as +0"
    error = difference(product, expected)
    if (error <= tiny).all():
        return f"within {tiny:.2g}, with subnormal numbers as 0"
    worst_index = int(error.amax(dim=1).argmax())
    raise ValueError(
        f"the product of {name} is off by {float(error[worst_index].max()):.2g} in row "
        f"{int(ids[worst_index])}, expected the row itself: matrix products run with reduced "
        "precision here; call torch.set_float32_matmul_precision('highest') first."
    )


def run_example(model: nn.Module, example: Any) -> dict[str, torch.Tensor]:
    """Return the tensors in the output for one argument, a tuple, or a dict of keywords."""
    keywords = example if isinstance(example, Mapping) else {}
    arguments = example if isinstance(example, tuple) else (example,)
    return read_leaves(run_on_copies(model, () if keywords else arguments, keywords)).tensors


def compare_runs(model: nn.Module, example: Any, before: dict[str, torch.Tensor]) -> str:
    """Describe how well a model returns what it returned before, or raise ValueError."""
    try:
        after = run_example(model, example)
        torch.testing.assert_close(after, before, equal_nan=True)
    except Exception as error:
        verb = "returns something else" if isinstance(error, AssertionError) else "raises"
        text = " ".join(f"{type(error).__name__}: {error}".split())
        raise ValueError(
            f"with the new layers the model {verb} on the example, {text}; it has its old layers "
            "again; leave the layer that it needs out of names."
        ) from error
    pairs = [(after[place], before[place]) for place in before]
    if not any(bits_differ(*pair).any() for pair in pairs):
        return "equal in every bit"
    return f"within {max(float(difference(*pair).max()) for pair in pairs):.2g}"
