"""Read the layers, and the input once for both: ids, or sparse rows in any notation."""

import math
from collections.abc import Callable
from dataclasses import replace
from numbers import Real
from typing import Any, TypeAlias

import torch
from torch import nn

from lookup_matmul.diagnosis.case import Case, Side
from lookup_matmul.diagnosis.report import Tolerance
from lookup_matmul.inputs import check_id_tensor, check_matmul_dtype, check_weight, full_name
from lookup_matmul.onehot.checks import check_forward, check_no_hooks, require_weight
from lookup_matmul.sparse.bags import Bags, to_bags

# An Embedding, an EmbeddingBag or a Linear; a table; or a function of the input.
Layer: TypeAlias = nn.Module | torch.Tensor | Callable[[Any], torch.Tensor]


def read_side(name: str, layer: Layer) -> Side:
    layer = getattr(layer, "_orig_mod", layer)  # of a compiled layer
    if isinstance(layer, torch.Tensor):
        table = _detach_table(name, layer)
        return _make_side(name, "table", table, name, requires_grad=layer.requires_grad)
    if not isinstance(layer, nn.Module):
        if callable(layer):
            return Side(name, "callable", function=layer)
        raise TypeError(
            f"{name} is a {type(layer).__name__}, expected an Embedding, EmbeddingBag or Linear, "
            "a table as a tensor, or a callable; wrap numbers in torch.tensor(...)."
        )
    supported = (nn.Embedding, nn.EmbeddingBag, nn.Linear)
    kind = next((kind for kind in supported if isinstance(layer, kind)), None)
    as_function = f"pass lambda x: layer(x) in place of the layer {name}"
    if kind is None:
        raise TypeError(
            f"{name} has type {full_name(layer)}, expected torch.nn.Embedding, EmbeddingBag or "
            f"Linear, which hold a table; pass the submodule that you mean, or {as_function}."
        )
    check_forward(name, layer, kind, as_function)
    weight = require_weight(name, layer)
    check_no_hooks(name, layer, f"{as_function}, or remove them")
    options: dict[str, Any] = {"requires_grad": weight.requires_grad}
    table = _detach_table(f"{name}.weight", weight)
    if isinstance(layer, nn.Linear):
        options["bias"] = None if layer.bias is None else layer.bias.detach()
        options["may_shorten"] = table.dtype != torch.float64
        options["may_be_head"] = table.shape == (layer.out_features, layer.in_features)
        return _make_side(name, "Linear", table.T, f"{name}.weight.T", **options)
    names = ["padding_idx", "max_norm", "norm_type", "scale_grad_by_freq", "sparse"]
    if is_bag := isinstance(layer, nn.EmbeddingBag):
        names += ["mode", "include_last_offset"]
    options |= {option: getattr(layer, option) for option in names}
    options |= {"uses_values": is_bag, "skips_padding": is_bag and layer.padding_idx is not None}
    return _make_side(name, kind.__name__, table, f"{name}.weight", **options)


def _make_side(name: str, kind: str, table: torch.Tensor, code: str, **options: Any) -> Side:
    rows = torch.arange(len(table), device=table.device)
    return Side(name, kind, code, table, table, rows, **options)


def _detach_table(name: str, weight: torch.Tensor) -> torch.Tensor:
    check_weight(weight, name)
    check_matmul_dtype(weight)
    return weight.detach()


def read_case(a: Side, b: Side, ids_or_rows: Any) -> Case:
    """Read ids or rows, or raise; for an EmbeddingBag each row of a matrix of ids is one bag."""
    if not isinstance(ids_or_rows, torch.Tensor) or ids_or_rows.layout is not torch.strided:
        case = _read_sparse_rows(a, b, ids_or_rows)
    elif ids_or_rows.is_floating_point():
        case = _read_dense_rows(a, b, ids_or_rows)
    else:
        case = _read_ids(a, b, ids_or_rows)
    if not case.shape or 0 in case.shape:
        shape = tuple(getattr(ids_or_rows, "shape", case.shape))
        raise ValueError(
            f"the input holds no row, its shape is {shape}, expected at least one id in at least "
            "one dimension; write a single id as ids.reshape(1)."
        )
    return case


def read_heads(case: Case) -> Case:
    """Return a case in which a head looks up ids, and a table that is a head's weight multiplies.

    A head takes hidden rows, and its weight has the shape of a table of embeddings.
    """
    if case.width is None:
        heads = [side for side in case.products if _is_head(side, case)]
    else:
        heads = [side for side in case.with_table if len(side.whole) != case.width]
        if any(side.kind == "Linear" or side.whole.shape[1] != case.width for side in heads):
            return case
    for side in heads:
        options: dict[str, Any] = {"requires_grad": side.requires_grad}
        if case.width is None:
            kind, reading = "table", "the rows of its weight are compared, not products"
        else:
            kind, reading = "Linear", "its table multiplies the rows, which are as wide"
            options["may_shorten"] = side.whole.dtype != torch.float64
        reading += "" if side.bias is None else ", without the bias"
        code = f"{side.table_code}.T".removesuffix(".T.T")
        head = _make_side(side.name, kind, side.whole.T, code, **options)
        changes: dict[str, Any] = {side.name: head}
        changes["notes"] = (*case.notes, f"{side.name} is read as a head: {reading}")
        case = replace(case, **changes)
    return case


def _is_head(linear: Side, case: Case) -> bool:
    """Return whether a row of a Linear's weight, and not a column, belongs to each id."""
    weight, opposite = linear.whole.T, case.opposite(linear)
    table = opposite.whole if opposite.function is None else case.run(opposite).output
    if not linear.may_be_head or opposite.kind == "Linear" or table is None:
        return False
    if weight.shape[0] == weight.shape[1]:  # only a tie tells that it is no table of columns
        return table.data_ptr() == weight.data_ptr() and table.stride() == weight.stride()
    return table.shape[-1:] == weight.shape[1:]


def read_tolerance(atol: float, rtol: float) -> Tolerance:
    for name, value in (("atol", atol), ("rtol", rtol)):
        if not isinstance(value, Real) or not 0 <= value < math.inf:
            error = ValueError if isinstance(value, Real) else TypeError
            raise error(
                f"{name} is {value!r}, expected a finite number of at least 0; pass the largest "
                f"difference to accept, for instance {name}=1e-3."
            )
    return Tolerance(float(atol), float(rtol))


def _read_ids(a: Side, b: Side, ids: torch.Tensor) -> Case:
    check_id_tensor(ids)
    bag_ids = "EmbeddingBag" in (a.kind, b.kind)
    if bag_ids and ids.dim() > 2:
        raise ValueError(
            f"the ids have shape {tuple(ids.shape)}, expected one or two dimensions, since an "
            "EmbeddingBag reads no more; reshape them to (bags, ids of each)."
        )
    flat = ids.detach().long().flatten()
    length = ids.shape[1] if bag_ids and ids.dim() == 2 else 1
    offsets = torch.arange(0, flat.numel() + 1, max(length, 1), device=ids.device)
    shape = ids.shape[:1] if length != 1 else ids.shape
    return Case(a, b, ids, Bags(flat, offsets), tuple(shape))


def _read_dense_rows(a: Side, b: Side, rows: torch.Tensor) -> Case:
    if rows.dim() != 2:
        raise ValueError(
            f"the rows have shape {tuple(rows.shape)}, expected (rows, columns); flatten the "
            "dimensions before the last with rows.flatten(0, -2), write a single row as row[None], "
            "and ids as whole numbers, with .long()."
        )
    numbers = rows.detach().float() if rows.dtype.itemsize == 1 else rows.detach()
    row_indices, ids = numbers.nonzero(as_tuple=True)
    offsets = torch.searchsorted(row_indices, torch.arange(len(rows) + 1, device=rows.device))
    bags = _drop_ones(Bags(ids, offsets, numbers[row_indices, ids]))
    return Case(a, b, rows, bags, (len(rows),), by_offsets=True, width=rows.shape[1])


def _read_sparse_rows(a: Side, b: Side, rows: Any) -> Case:
    ids, offsets, weights = to_bags(rows)
    bags = Bags(
        ids.long().contiguous(), offsets.long(), None if weights is None else weights.detach()
    )
    width = int(rows.shape[1]) if hasattr(rows, "shape") else None
    shape = (offsets.numel() - 1,)
    return Case(a, b, rows, _drop_ones(bags), shape, by_offsets=True, width=width)


def _drop_ones(bags: Bags) -> Bags:
    """Drop weights that are all 1, since only mode="sum" of an EmbeddingBag accepts weights."""
    only_ones = bags.weights is not None and bool((bags.weights == 1).all())
    return bags._replace(weights=None) if only_ones else bags
