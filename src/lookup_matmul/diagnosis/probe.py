"""Ask a lookup of any framework the same questions, and name each answer."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import torch

from lookup_matmul.diagnosis.case import describe_error
from lookup_matmul.diagnosis.report import BITS, DIFFERENT, VALUE
from lookup_matmul.equality import bits_differ, difference
from lookup_matmul.inputs import check_weight, full_name


class Answers(dict[str, str]):
    """The answer to each question, by the question; its text is a table of two columns."""

    def __repr__(self) -> str:
        width = max(map(len, self))
        return "\n".join(f"{question:{width}}  {answer}" for question, answer in self.items())


def probe_lookup(
    lookup: Callable[[torch.Tensor], Any],
    weight: torch.Tensor,
    *,
    outside: bool | Iterable[int] = False,
) -> dict[str, str]:
    """Return how a lookup in the table ``weight`` answers questions, each asked in its own call.

    ``lookup`` is any function from ids to rows, such as a layer, a session of an exported model, a
    product with one-hot rows, or code of another framework. It gets a CPU tensor of int64, or int32
    where it refuses int64, and returns a tensor or what ``numpy.asarray`` converts, of shape
    ``ids.shape + (embedding dimension,)``. ``weight``, of shape (vocabulary size, embedding
    dimension) and a floating dtype, is the table that ``lookup`` has; its rows should differ.

    The questions are both dtypes, the first and the last id, one id twice, no id, ids of two
    dimensions, and, if rows have NaN, an infinity or -0.0, these and a row without. An answer is
    ``"equal in every bit"``; ``"equal in value"``, if signs of zeros or bits of NaN differ;
    ``"different: "`` and the first wrong row; or ``"raises "``, an error and its first line.

    With ``outside=True``, it also asks for -1 and the vocabulary size, or for the ids given; a row
    of the table, ``"zeros"``, ``"NaN"``, other numbers or an error comes back. By default it does
    not, since some libraries check no ids: they read beyond the table, which can end the process or
    reveal foreign memory. Ask only where the documentation defines the answer, as that of
    `Gather <https://onnx.ai/onnx/operators/onnx__Gather.html>`_ in ONNX does.

    Raise TypeError unless ``lookup`` is callable, and the errors of :func:`check_inputs` for
    ``weight``; ValueError if it has no rows or columns.

    >>> probe_lookup(lambda ids: torch.eye(3)[ids], torch.eye(3), outside=True)
    ids of int64           equal in every bit
    ids of int32           equal in every bit
    first id               equal in every bit
    last id                equal in every bit
    one id twice           equal in every bit
    no id                  equal in every bit
    ids of two dimensions  equal in every bit
    id -1                  row 2
    id 3                   raises IndexError: index 3 is out of bounds for dimension 0 with size 3
    """
    if not callable(lookup):
        raise TypeError(
            f"lookup has type {full_name(lookup)}, expected a function from ids to rows; "
            "wrap a session, such as lambda ids: session.run(None, {'ids': ids.numpy()})[0]."
        )
    check_weight(weight)
    if not weight.numel():
        raise ValueError(f"weight has shape {tuple(weight.shape)}, expected a row and a column.")
    table = weight.detach().cpu()
    ends = torch.tensor([0, len(table) - 1])
    answers = Answers(
        (f"ids of {name}", _answer(lookup, ends.to(dtype), table))
        for name, dtype in (("int64", torch.int64), ("int32", torch.int32))
    )
    refuses_int64 = [answer.startswith("raises ") for answer in answers.values()] == [True, False]
    dtype = torch.int32 if refuses_int64 else torch.int64
    for question, ids in _questions(table):
        answers[question] = _answer(lookup, ids.to(dtype), table)
    for id_ in (-1, len(table)) if outside is True else outside or ():
        answers[f"id {id_}"] = _answer(lookup, torch.tensor([id_], dtype=dtype), table)
    return answers


def _questions(table: torch.Tensor) -> Iterator[tuple[str, torch.Tensor]]:
    """Yield questions about valid ids, the last ones only if a row has special values."""
    last = len(table) - 1
    yield "first id", torch.tensor([0])
    yield "last id", torch.tensor([last])
    yield "one id twice", torch.tensor([last, last])
    yield "no id", torch.tensor([], dtype=torch.int64)
    yield "ids of two dimensions", torch.tensor([[0, last, 0], [last, 0, last]])
    negative_zero = (table == 0) & table.signbit()
    masks = {"NaN": table.isnan(), "infinity": table.isinf(), "-0.0": negative_zero}
    rows = {name: mask.any(dim=1) for name, mask in masks.items() if mask.any()}
    if rows:
        rows["none of them"] = ~torch.stack([*rows.values()]).any(dim=0)
    for name, mask in rows.items():
        if mask.any():
            yield f"row with {name}", mask.nonzero()[0]


def _answer(lookup: Callable[[torch.Tensor], Any], ids: torch.Tensor, table: torch.Tensor) -> str:
    try:
        rows = lookup(ids.clone())
        if not isinstance(rows, torch.Tensor):
            rows = torch.from_numpy(np.array(rows))  # a copy, since some arrays are read-only
        rows = rows.cpu()
    except Exception as error:
        return describe_error(error)
    shape = (*ids.shape, table.shape[1])
    if rows.shape != shape:
        return f"{DIFFERENT}: shape {tuple(rows.shape)}, expected {shape}"
    dtype = f", as {rows.dtype}" if rows.dtype != table.dtype else ""
    if ids.numel() and not 0 <= int(ids.min()) <= int(ids.max()) < len(table):
        return _describe_row(rows[0], table) + dtype
    expected = table[ids]
    if not dtype and not bits_differ(rows, expected).any():
        return BITS
    differs = ~_same_values(rows, expected)
    if not differs.any():
        return VALUE + dtype
    first = tuple(differs.any(dim=-1).nonzero()[0])
    description = _describe_row(rows[first], table)
    if description == "other numbers":
        description += f", off by up to {difference(rows[first], expected[first]).max():.3g}"
    return f"{DIFFERENT}: id {int(ids[first])} has {description}{dtype}"


def _describe_row(row: torch.Tensor, table: torch.Tensor) -> str:
    """Name the rows of the table that a row equals, or else what it holds."""
    names = [f"row {int(i)}" for i in _same_values(row, table).all(dim=1).nonzero()]
    if row.isnan().all():
        names.append("NaN")
    elif not row.any():
        names.append("zeros")
    if names:
        return " or ".join(names)
    if count := int(row.isnan().sum()):
        return f"NaN in {count} of {row.numel()} numbers"
    return "other numbers"


def _same_values(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return (a == b) | (a.isnan() & b.isnan())  # torch compares in the wider dtype
