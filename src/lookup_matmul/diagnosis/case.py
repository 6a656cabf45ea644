"""Two layers and their input as one value, and how to run it without changing the caller's."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

import numpy as np
import torch
from scipy import sparse
from torch.nn import functional as F  # noqa: N812 - its usual name

from lookup_matmul.diagnosis.report import EXACT, Cause, Tolerance
from lookup_matmul.sparse.bags import Bags
from lookup_matmul.sparse.sums import dense_rows

NO_TABLE = torch.empty(0, 0, device="cpu")
NO_ROWS = torch.empty(0, dtype=torch.int64, device="cpu")
NOT_FINITE_ROWS = 8  # so many rows with NaN or infinity make a product differ, and fill a sentence


@dataclass(frozen=True)
class Side:
    """One of the two layers; its whole table shares the caller's memory and is never written to.

    ``whole`` has shape (vocabulary size, embedding dimension). ``table`` has the rows from which an
    output is computed, and ``rows`` their sorted numbers; a last row of zeros stands for others.
    """

    name: str  # "a" or "b"
    kind: str  # Embedding, EmbeddingBag, Linear, table or callable
    table_code: str = ""  # the caller's expression for the table
    whole: torch.Tensor = NO_TABLE
    table: torch.Tensor = NO_TABLE
    rows: torch.Tensor = NO_ROWS
    order: torch.Tensor | None = None  # of the rows of the whole table, if a remedy moves them
    function: Callable[[Any], Any] | None = None
    bias: torch.Tensor | None = None
    may_be_head: bool = False  # a Linear whose weight has the shape that its sizes tell
    padding_idx: int | None = None
    skips_padding: bool = False  # a bag leaves out the entries with the id padding_idx
    max_norm: float | None = None
    norm_type: float = 2.0
    mode: str = "sum"
    include_last_offset: bool = True
    uses_values: bool = True  # an Embedding has no argument for the values of sparse rows
    may_shorten: bool = False  # a product may use fewer bits of its factors; else it uses float64
    relative_error: float = 0.0  # of the table's numbers, where a remedy computed them
    requires_grad: bool = False
    scale_grad_by_freq: bool = False
    sparse: bool = False

    @property
    def label(self) -> str:
        return f"{self.name} ({self.kind})"

    def take(self, rows: torch.Tensor | slice) -> torch.Tensor:
        """Return rows of the whole table, in the order that a remedy gave it."""
        return self.whole[rows if self.order is None else self.order[rows]]

    def locate(self, ids: torch.Tensor) -> torch.Tensor:
        """Return where the rows of these ids are in ``table``."""
        return torch.searchsorted(self.rows, ids)

    def list_rows(self, mask: torch.Tensor) -> list[int]:
        """Return the numbers of the rows of ``table`` in which a mask of its shape is true."""
        return self.rows[mask.any(1).nonzero().flatten()].tolist()


@dataclass(frozen=True)
class Outcome:
    """An output or a gradient, or a predicate such as "raises KeyError"."""

    output: torch.Tensor | None = None
    failure: str = ""
    layout: str = ""  # of a gradient, before it was made dense
    bound: torch.Tensor | float = 0.0  # of the rounding of a gradient


@dataclass(frozen=True)
class Case:
    """Two layers, the input as sparse rows, the accepted difference, and the caller's autocast."""

    a: Side
    b: Side
    original: Any  # the caller's input, for callables
    bags: Bags  # int64, one for each output; weights are None if all of them are 1
    shape: tuple[int, ...]  # of the outputs, without the embedding dimension
    by_offsets: bool = False  # an EmbeddingBag gets ids and offsets, not a matrix of ids
    width: int | None = None  # columns of the rows; None for as many as each table has rows
    tolerance: Tolerance = EXACT
    notes: tuple[str, ...] = ()  # on how the sides are read
    autocast: torch.dtype | None = None
    # Holds the input beside each outcome, since the key contains its id().
    call_cache: dict[tuple[Any, ...], tuple[object, Outcome]] = field(default_factory=dict)

    @property
    def sides(self) -> tuple[Side, Side]:
        return self.a, self.b

    @property
    def with_table(self) -> list[Side]:
        return [side for side in self.sides if side.function is None]

    @property
    def callables(self) -> list[Side]:
        return [side for side in self.sides if side.function is not None]

    @property
    def products(self) -> list[Side]:
        return [side for side in self.sides if side.kind == "Linear"]

    @property
    def has_values(self) -> bool:
        return self.bags.weights is not None

    @property
    def has_bags(self) -> bool:
        """Return whether a row can be something else than one id."""
        return self.by_offsets or self.bags.ids.numel() != self.bags.offsets.numel() - 1

    @property
    def has_plain_bags(self) -> bool:
        return self.has_bags and not self.has_values

    @property
    def bag_indices(self) -> torch.Tensor:
        counts = self.bags.offsets.diff()
        return torch.repeat_interleave(counts, output_size=self.bags.ids.numel())

    @property
    def shared_size(self) -> int:
        """Return how many rows both whole tables have."""
        return min((len(side.whole) for side in self.with_table), default=0)

    @property
    def shared_rows(self) -> slice:
        """Return the first rows of ``Side.table``, those that both whole tables have."""
        return slice(int((self.a.rows < self.shared_size).sum()))

    def out_of_range(self, vocab_size: int) -> torch.Tensor:
        return (self.bags.ids < 0) | (self.bags.ids >= vocab_size)

    def find_positions(self, side: Side) -> torch.Tensor:
        """Return where in ``Side.table`` the rows of the ids are that have one."""
        return side.locate(self.bags.ids[~self.out_of_range(len(side.whole))])

    def opposite(self, side: Side) -> Side:
        return self.b if side.name == "a" else self.a

    def change(self, name: str, **options: Any) -> Case:
        """Return a case in which the side of this name has other options."""
        return replace(self, **{name: replace(getattr(self, name), **options)})

    def change_both(self, **options: Any) -> Case:
        return self.change("a", **options).change("b", **options)

    def change_whole(self, name: str, **options: Any) -> Case:
        """Return a case in which the whole table of this side is another or in another order."""
        case = self.change(name, **options)
        return case.read(case.with_table)

    def write_zeros(self, masks: list[torch.Tensor]) -> Case:
        """Return a case with zeros where the masks are true, one for each ``Side.table``."""
        case = self
        for side, mask in zip(self.with_table, masks, strict=True):
            case = case.change(side.name, table=side.table.masked_fill(mask, 0.0))
        return case

    def read(self, sides: list[Side], every_row: bool = False) -> Case:
        """Return a case whose sides hold the rows of the ids and few others, or every row."""
        size = max((len(side.whole) for side in self.with_table), default=0)
        ids = self.bags.ids[~self.out_of_range(size)]
        numbers = [torch.arange(size, device=ids.device) if every_row else ids]
        numbers += [ids.new_tensor([s.padding_idx]) for s in sides if s.padding_idx is not None]
        # In a product each row of a table is a term of each sum.
        for side in sides if self.callables or any(s.kind == "Linear" for s in sides) else ():
            sums = side.whole.sum(1) if side.order is None else side.whole.sum(1)[side.order]
            numbers.append((~sums.isfinite()).nonzero().flatten()[:NOT_FINITE_ROWS])
        rows = torch.unique(torch.cat(numbers))
        case = self
        for side in sides:
            sources = rows[rows < len(side.whole)]
            table = side.whole.new_zeros(min(len(rows) + 1, size), side.whole.shape[1])
            table[: len(sources)] = side.take(sources)
            case = case.change(side.name, table=table, rows=rows)
        return case

    def select(self, mask: torch.Tensor) -> Case:
        """Return a case with some of the rows of the input."""
        ids, offsets, weights = self.bags
        entries = mask[self.bag_indices]
        ends = torch.cat([offsets[:1], offsets.diff()[mask].cumsum(0)])
        bags = Bags(ids[entries], ends, None if weights is None else weights[entries])
        original: Any = bags
        if not self.has_bags:
            original = bags.ids
        elif sparse.issparse(self.original) or getattr(self.original, "layout", 0) is torch.strided:
            original = self.original[mask.cpu().numpy()]
        return replace(self, original=original, bags=bags, shape=(int(mask.sum()),))

    def autocast_context(self) -> torch.autocast:
        """Return a context with the caller's autocast, which is off elsewhere."""
        device_type = self.bags.ids.device.type
        return torch.autocast(device_type, self.autocast, enabled=self.autocast is not None)

    def run(self, side: Side) -> Outcome:
        """Run a side; a callable runs only once for each input."""
        if side.function is None:
            return _run_layer(self, side)
        key = (side.name, id(self.original), self.autocast)
        if key not in self.call_cache:
            self.call_cache[key] = (self.original, _call_function(self, side.function, side.name))
        return self.call_cache[key][1]


@dataclass(frozen=True)
class Remedy:
    """A change of the case, the cause that it removes, and the texts of the report."""

    name: str
    advice: str  # one line for the caller
    evidence: str | Callable[[], str]  # a function, if it reads whole tables
    change: Callable[[Case], Case]

    def describe(self, verified: bool = True) -> Cause:
        evidence = self.evidence if isinstance(self.evidence, str) else self.evidence()
        return Cause(self.name, evidence, self.advice, verified)


def apply_remedies(case: Case, remedies: Iterable[Remedy]) -> Case:
    return reduce(lambda case, remedy: remedy.change(case), remedies, case)


def _run_layer(case: Case, side: Side) -> Outcome:
    invalid = case.out_of_range(len(side.whole))
    if invalid.any() and not (side.kind == "Linear" and case.width is not None):
        # torch is not asked, since on a GPU an invalid id can end the process.
        failure = (
            f"has no row for id {int(case.bags.ids[invalid][0])}, its rows are 0 to "
            f"{len(side.whole) - 1}; {int(invalid.sum())} of {invalid.numel()} ids are outside"
        )
        return Outcome(failure=failure)
    try:
        with case.autocast_context():
            return Outcome(compute_output(case, side, renormalize(case, side)))
    except (IndexError, NotImplementedError, RuntimeError, TypeError, ValueError) as error:
        return Outcome(failure=describe_error(error))


def _call_function(case: Case, function: Callable[[Any], Any], name: str) -> Outcome:
    original = case.original
    try:
        with case.autocast_context():
            output = function(original.clone() if isinstance(original, torch.Tensor) else original)
    except Exception as error:
        return Outcome(failure=describe_error(error))
    if isinstance(output, list) and len(output) == 1:  # as a session of onnxruntime returns
        output = output[0]
    if not isinstance(output, torch.Tensor) and hasattr(output, "__array__"):
        output = torch.from_numpy(np.array(output))
    if not isinstance(output, torch.Tensor) or not output.is_floating_point():
        kind = output.dtype if isinstance(output, torch.Tensor) else type(output).__name__
        raise TypeError(
            f"{name} returned {kind}, expected a tensor of floating-point numbers; "
            "return the output of the layer alone, and codes times their scale."
        )
    return Outcome(output.detach())


def compute_output(case: Case, side: Side, table: torch.Tensor) -> torch.Tensor:
    """Compute the output of a side with another table of the same shape."""
    bags = case.bags._replace(ids=side.locate(case.bags.ids))
    if not side.uses_values:
        bags = bags._replace(weights=None)
    if side.kind == "Linear":
        # A part of a table takes as much too wide or too narrow rows as the whole table does.
        surplus = 0 if case.width is None else case.width - len(side.whole)
        dtype = table.dtype if side.may_shorten else torch.float64
        rows = dense_rows(bags, len(table) + surplus, dtype=dtype, check=False)
        bias = None if side.bias is None else side.bias.to(dtype)
        product = F.linear(rows.reshape(*case.shape, -1), table.to(dtype).T, bias)
        return product if side.may_shorten else product.to(table.dtype)
    padding_idx = None
    if side.padding_idx is not None:
        padding_idx = int(side.locate(bags.ids.new_tensor(side.padding_idx)))
    options: Any = {"scale_grad_by_freq": side.scale_grad_by_freq, "sparse": side.sparse}
    if not case.has_bags and side.kind != "EmbeddingBag":
        return F.embedding(bags.ids, table, padding_idx, **options).reshape(*case.shape, -1)
    is_bag = side.kind == "EmbeddingBag"  # other kinds have no offsets
    options["mode"] = side.mode
    options["padding_idx"] = padding_idx if side.skips_padding else None
    options["include_last_offset"] = side.include_last_offset or not (is_bag and case.by_offsets)
    weights = None if bags.weights is None else bags.weights.to(table.dtype)
    sums = F.embedding_bag(bags.ids, table, bags.offsets, per_sample_weights=weights, **options)
    return sums if case.by_offsets else sums.reshape(*case.shape, -1)


def renormalize(case: Case, side: Side) -> torch.Tensor:
    """Return the table with the rows that are read rescaled to ``max_norm``, if there is one."""
    if side.max_norm is None:
        return side.table
    copy = side.table.clone(memory_format=torch.contiguous_format)
    # torch does not check positions.
    return torch.embedding_renorm_(copy, case.find_positions(side), side.max_norm, side.norm_type)


def describe_error(error: BaseException) -> str:
    return f"raises {type(error).__name__}: {(str(error).splitlines() or [''])[0]}"
