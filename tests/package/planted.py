"""Layers that agree, and causes of disagreement that can be planted in them."""

from contextlib import nullcontext
from dataclasses import dataclass, field

import torch
from torch import nn


@dataclass
class Case:
    """Two layers in the making: the tables as (vocabulary size, embedding dimension)."""

    first: torch.Tensor
    second: torch.Tensor
    given: object
    kind: type = nn.Embedding
    options: dict = field(default_factory=dict)
    bias: torch.Tensor | None = None
    turned: bool = False
    context: object = field(default_factory=nullcontext)

    def layers(self) -> tuple[nn.Module, nn.Linear]:
        """Make the layer that looks up and the Linear."""
        count, dim = self.first.shape
        looking = self.kind(count, dim, dtype=self.first.dtype, **self.options)
        product = nn.Linear(
            len(self.second), dim, bias=self.bias is not None, dtype=self.second.dtype
        )
        with torch.no_grad():
            looking.weight.copy_(self.first)
            product.weight.copy_(self.second if self.turned else self.second.T)
            if self.bias is not None:
                product.bias.copy_(self.bias)
        return looking, product


class Scaled(nn.Embedding):
    """An Embedding whose output is not its table's rows."""

    def forward(self, ids):
        """Return twice the row."""
        return 2 * super().forward(ids)


# Row 0 may be a padding row, row 1 is not asked for, row 2 is; there are at least four rows.


def option(**options):
    """Make a cause of an option of the layer that looks up."""

    def planted(case):
        case.options |= options

    return planted


def second(change):
    """Make a cause of a change of the Linear's table."""

    def planted(case):
        case.second = change(case.second)

    return planted


def padding_row(case):
    """Zero the row of the padding in the Embedding alone."""
    case.options |= {"padding_idx": 0}
    case.first = case.first.index_fill(0, torch.tensor([0]), 0.0)


def not_finite(case):
    """Put NaN and infinity in a row that is not asked for."""
    for table in (case.first, case.second):
        table[1, -1], table[1, -2] = torch.nan, -torch.inf


def negative_zero(case):
    """Put -0 in a row that is asked for, and a positive number in its column."""
    for table in (case.first, case.second):
        table[2, 0], table[3, 0] = -0.0, 1.0


def subnormal(case):
    """Put a subnormal number in a row that is asked for."""
    for table in (case.first, case.second):
        table[2, 1] = 1e-40


def bias(case):
    """Give the Linear a bias that no rounding hides."""
    case.bias = 1 + torch.rand(case.second.shape[1])


def transposed(case):
    """Write the table into the Linear as it is."""
    case.turned = True


def autocast(case):
    """Compute under autocast."""
    case.context = torch.autocast("cpu", dtype=torch.bfloat16)


def outside(case):
    """Ask for a row that is not there."""
    if isinstance(case.given, torch.Tensor):
        case.given = torch.cat([case.given, torch.tensor([len(case.first)])])
    else:
        ids, offsets = case.given
        ids = torch.cat([ids, torch.tensor([len(case.first)])])
        case.given = ids, torch.cat([offsets, offsets[-1:] + 1])


def width(case):
    """Write the rows only as wide as the batch asks for, leaving the last row of the table out."""
    ids, offsets = case.given
    rows = torch.zeros(len(offsets) - 1, len(case.first) - 1)
    owners = torch.arange(len(rows)).repeat_interleave(offsets.diff())
    case.given = rows.index_put((owners, ids), torch.tensor(1.0), accumulate=True)


def values(case):
    """Give values that an Embedding has no place for."""
    ids, offsets = case.given
    case.given = ids, offsets, 2 + torch.arange(len(ids), dtype=torch.float32)
    case.kind, case.options = nn.Embedding, {
        key: case.options[key] for key in ("max_norm",) if key in case.options
    }  # fmt: skip


# Name of the cause and how to plant it, in an order in which one does not undo the other.
COMMON = {
    "weights": second(torch.randn_like),
    "NaN or infinity": not_finite,
    "bias": bias,
    "transposed weight": transposed,
    "dtype": second(torch.Tensor.half),
    "max_norm": option(max_norm=0.01),
    "autocast": autocast,
    "ids out of range": outside,
}
ROWS = {
    "order of the rows": second(lambda table: table.roll(1, 0)),
    "scaled rows": second(lambda table: table * table.shape[1] ** 0.5),
    "reshaped weight": second(lambda table: table.reshape(table.shape[::-1]).T),
}
OF_IDS = COMMON | {"padding_idx": padding_row, "negative zero": negative_zero} | ROWS
OF_BAGS = COMMON | {
    "padding_idx": option(padding_idx=0),
    "mode": option(mode="mean"),
    "offsets": option(include_last_offset=False),
    "width of the rows": width,
    **ROWS,
}
OF_VALUES = COMMON | {"values ignored": values}

# The one hides the other: with two unrelated tables, no turning or sorting can help, and it does
# not matter that one row is zero; a row outside has no place in rows of a given width, a square
# table is transposed by reshaping it; a zero is carried to a row that nobody asks for, or rounded.
HIDDEN = [
    {"transposed weight", "weights"},
    {"reshaped weight", "weights"},
    {"order of the rows", "weights"},
    {"scaled rows", "weights"},
    {"padding_idx", "weights"},
    {"width of the rows", "ids out of range"},
    {"transposed weight", "reshaped weight"},
    {"negative zero", "scaled rows"},
    {"negative zero", "reshaped weight"},
]


def plant(case, names, plants):
    """Plant causes, in the order of the table."""
    for name in plants:
        if name in names:
            plants[name](case)
    return case
