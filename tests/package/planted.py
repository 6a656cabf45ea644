"""Layers that agree, causes of disagreement to plant in them, and what must not change."""

from contextlib import nullcontext
from dataclasses import dataclass, field

import torch
from torch import nn

from lookup_matmul import dense_rows, to_linear


@dataclass
class PlantedPair:
    """A lookup and a Linear before they are made; tables are (vocabulary size, dimension)."""

    lookup_table: torch.Tensor
    linear_table: torch.Tensor
    ids_or_rows: object
    lookup_type: type = nn.Embedding
    options: dict = field(default_factory=dict)
    bias: torch.Tensor | None = None
    skip_transpose: bool = False
    context: object = field(default_factory=nullcontext)

    def layers(self) -> tuple[nn.Module, nn.Linear]:
        """Return new layers with these tables and options."""
        rows, dim = self.lookup_table.shape
        lookup = self.lookup_type(rows, dim, dtype=self.lookup_table.dtype, **self.options)
        dtype, with_bias = self.linear_table.dtype, self.bias is not None
        linear = nn.Linear(len(self.linear_table), dim, bias=with_bias, dtype=dtype)
        with torch.no_grad():
            lookup.weight.copy_(self.lookup_table)
            linear.weight.copy_(self.linear_table if self.skip_transpose else self.linear_table.T)
            if with_bias:
                linear.bias.copy_(self.bias)
        return lookup, linear


def make_linear(table):
    """Return a Linear with a copy of the table."""
    return to_linear(nn.Embedding.from_pretrained(table, freeze=False), share=False)


def hooked(layer, kind):
    """Return a layer with a hook of a kind, or with the kind "hook" on its weight."""
    owner = layer.weight if kind == "hook" else layer
    getattr(owner, f"register_{kind}")(print)
    return layer


def snapshot(models, inputs=()):
    """Return everything that a comparison could change, as bytes and plain values."""
    modules = [module for model in models for module in model.modules()]
    parameters = [parameter for model in models for parameter in model.parameters()]
    buffers = [buffer for model in models for buffer in model.buffers()]
    gradients = [p.grad for p in parameters if p.grad is not None]
    tensors = [*parameters, *buffers, *gradients, *inputs]
    return (
        [(id(tensor), tensor.detach().numpy().tobytes(), tensor._version) for tensor in tensors],
        [(parameter.requires_grad, id(parameter.grad)) for parameter in parameters],
        [(m.training, repr(m), sorted(vars(m)), dict(m._forward_hooks)) for m in modules],
        torch.get_rng_state().tolist(),
        torch.get_default_dtype(),
        torch.get_float32_matmul_precision(),
        torch.is_grad_enabled(),
        torch.is_inference_mode_enabled(),
        torch.is_autocast_enabled("cpu"),
        torch.get_autocast_dtype("cpu"),
        torch.is_autocast_cache_enabled(),
        torch.get_num_threads(),
        torch.are_deterministic_algorithms_enabled(),
        float(torch.tensor(1e-40) * 1.0),
    )


class Scaled(nn.Embedding):
    """An Embedding with a forward of its own."""

    def forward(self, ids):
        """Return twice the rows."""
        return 2 * super().forward(ids)


# Each function plants one cause. Tables have at least four rows: row 0 can be the padding row, the
# ids never contain 1, and they contain 2.


def options(**options):
    """Plant options of the lookup."""
    return lambda pair: pair.options.update(options)


def change_linear_table(change):
    """Plant a change of the Linear's table."""
    return lambda pair: setattr(pair, "linear_table", change(pair.linear_table))


def zero_padding_row(pair):
    """Make row 0 a padding row, which is zero in the Embedding only."""
    pair.options |= {"padding_idx": 0}
    pair.lookup_table = pair.lookup_table.index_fill(0, torch.tensor([0]), 0.0)


def write_numbers(numbers):
    """Plant the same numbers at the same places of both tables."""

    def plant_numbers(pair):
        for table in (pair.lookup_table, pair.linear_table):
            for index, number in numbers.items():
                table[index] = number

    return plant_numbers


subnormal = write_numbers({(2, 1): 1e-40})


def bias(pair):
    """Give the Linear a bias larger than any rounding."""
    pair.bias = 1 + torch.rand(pair.linear_table.shape[1])


def out_of_range_id(pair):
    """Add an id for which the tables have no row."""
    invalid = torch.tensor([len(pair.lookup_table)])
    if isinstance(pair.ids_or_rows, torch.Tensor):
        pair.ids_or_rows = torch.cat([pair.ids_or_rows, invalid])
    else:
        ids, offsets = pair.ids_or_rows
        pair.ids_or_rows = torch.cat([ids, invalid]), torch.cat([offsets, offsets[-1:] + 1])


def narrow_rows(pair):
    """Write dense rows without a column for the last row of the table."""
    pair.ids_or_rows = dense_rows(pair.ids_or_rows, len(pair.lookup_table) - 1)


def values(pair):
    """Add values, which an Embedding has no argument for."""
    ids, offsets = pair.ids_or_rows
    pair.ids_or_rows = ids, offsets, 2 + torch.arange(len(ids), dtype=torch.float32)
    pair.lookup_type = nn.Embedding
    pair.options = {name: v for name, v in pair.options.items() if name == "max_norm"}


# The causes by name, in an order in which none undoes an earlier one.
COMMON = {
    "weights": change_linear_table(torch.randn_like),
    "NaN or infinity": write_numbers({(1, -1): torch.nan, (1, -2): -torch.inf}),
    "bias": bias,
    "transposed weight": lambda pair: setattr(pair, "skip_transpose", True),
    "dtype": change_linear_table(torch.Tensor.half),
    "max_norm": options(max_norm=0.01),
    "autocast": lambda pair: setattr(pair, "context", torch.autocast("cpu", torch.bfloat16)),
    "ids out of range": out_of_range_id,
}
ROWS = {
    "order of the rows": change_linear_table(lambda table: table.roll(1, 0)),
    "scaled rows": change_linear_table(lambda table: table * table.shape[1] ** 0.5),
    "reshaped weight": change_linear_table(lambda table: table.reshape(table.shape[::-1]).T),
}
ID_CAUSES = {
    **COMMON,
    "padding_idx": zero_padding_row,
    "negative zero": write_numbers({(2, 0): -0.0, (3, 0): 1.0}),
    **ROWS,
}
BAG_CAUSES = {
    **COMMON,
    "padding_idx": options(padding_idx=0),
    "mode": options(mode="mean"),
    "offsets": options(include_last_offset=False),
    "width of the rows": narrow_rows,
    **ROWS,
}
VALUE_CAUSES = {**COMMON, "values ignored": values}

# In these pairs one cause hides the other. Unrelated weights have no layout, order, scale or
# padding row; rows of a fixed width have no column for an invalid id; a reshape of a square table
# transposes it; and a scaled or moved negative zero is rounded or never read.
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


def plant(pair, names, causes):
    """Plant the named causes in the order of ``causes``."""
    for name, plant_cause in causes.items():
        if name in names:
            plant_cause(pair)
    return pair
