"""Causes that the whole tables tell: their layout, the order of their rows, other weights."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import partial
from itertools import zip_longest
from operator import methodcaller
from typing import TypeAlias

import torch
from torch.nn import functional as F  # noqa: N812 - its usual name

from lookup_matmul.diagnosis import numbers
from lookup_matmul.diagnosis.case import Case, Remedy, Side, apply_remedies
from lookup_matmul.diagnosis.report import format_rows
from lookup_matmul.equality import bits_differ, shares_storage, view_bits

CHUNK = 512  # rows of a table that are copied at once
SAMPLE = 8  # so many rows, and columns of all rows, show whether a search is worthwhile

View: TypeAlias = Callable[[torch.Tensor], torch.Tensor]
Moves: TypeAlias = dict[int, int]  # from rows of a to the rows of b with the same content


def arrange(case: Case) -> Iterator[tuple[list[Remedy], Case]]:
    """Yield no remedy, one for a layout, one for an order of the rows, and both, with the case."""
    arrangements = []
    for remedies in ([], *([remedy] for remedy in layout(case))):
        arrangements.append((remedies, apply_remedies(case, remedies)))
        yield arrangements[-1]
    for remedies, arranged in arrangements:
        for order in row_order(arranged):
            yield [*remedies, order], order.change(arranged)


def layout(case: Case) -> Iterator[Remedy]:
    """Yield the layouts that the shapes allow, first of a table, which is easier to change."""
    priorities = {"table": 0, "Linear": 1}
    sides = sorted(case.with_table, key=lambda s: (priorities.get(s.kind, 2), s is case.a))
    shapes = [tuple(side.whole.shape) for side in sides]
    for side in sides:
        weight = side.whole.T if side.kind == "Linear" else side.whole
        rows, columns = weight.shape
        if len(sides) == 1 or shapes[0] == shapes[1][::-1]:
            size = " × ".join(map(str, shapes[0]))
            evidence = f"the table of {side.name} ({size}) has its rows as columns"
            if rows == columns:
                evidence += "; being square, its shape does not show it"
            advice = f"transpose the table of {side.name}"
            if side.kind == "Linear" and case.width is None:
                advice = f"pass {side.name}.weight if {side.name} is a head, else {advice}"
            yield _rearrange(side, "transposed weight", advice, ".T", evidence, torch.t)
        if shapes[0] == shapes[-1] and rows != columns:
            evidence = (
                f"the {rows} × {columns} weight of {side.label} holds its numbers in the order of "
                f"a {columns} × {rows} one, as a reshape leaves them and a transpose does not"
            )
            advice = f"undo the reshape of {side.name} and transpose"
            code = f".reshape({columns}, {rows}).T"
            undo = partial(_undo_reshape, side.kind)
            yield _rearrange(side, "reshaped weight", advice, code, evidence, undo)


def _undo_reshape(kind: str, whole: torch.Tensor) -> torch.Tensor:
    if kind == "Linear":
        return whole.T.reshape(whole.shape)
    return whole.reshape(whole.shape[::-1]).T


def _rearrange(side: Side, cause: str, advice: str, code: str, evidence: str, view: View) -> Remedy:
    """Return a remedy that takes another view of the whole table."""
    name = side.name
    statement = f"{name}.weight = torch.nn.Parameter({name}.weight{code}.contiguous())"
    statement = statement if ".weight" in side.table_code else f"{name} = {name}{code}"

    def change(case: Case) -> Case:
        return case.change_whole(name, whole=view(side.whole))

    return Remedy(cause, f"{advice}: {statement}", evidence, change)


def row_order(case: Case) -> Iterator[Remedy]:
    """Yield the order in which the rows of b are those of a, or else the columns that were read."""
    if case.callables or case.a.whole.shape[1] != case.b.whole.shape[1]:
        return
    for mark, relation in ((view_bits, "are"), (_round_directions, "are multiples of")):
        if moves := _find_moves(case, partial(_convert_and_mark, case, mark)):
            order = case.b.rows.new_tensor(_order_rows(moves, len(case.b.whole)))
            change = methodcaller("change_whole", "b", order=order)
            yield _describe_order(case, moves, relation, "row", change)
            return
    turned = _turn(case)
    if moves := _find_moves(turned, partial(_convert_and_mark, case, view_bits)):
        order = case.b.rows.new_tensor(_order_rows(moves, len(turned.b.whole)))
        yield _describe_order(case, moves, "are", "column", partial(_move_columns, order))


def _turn(case: Case) -> Case:
    """Return a case whose rows are the columns of the tables that were read."""
    for side in case.sides:
        columns = side.table.T
        rows = torch.arange(len(columns), device=columns.device)
        case = case.change(side.name, whole=columns, table=columns, rows=rows, order=None)
    return case


def _move_columns(order: torch.Tensor, case: Case) -> Case:
    bias = None if case.b.bias is None else case.b.bias[order]
    return case.change("b", table=case.b.table[:, order], bias=bias)


def _describe_order(
    case: Case, moves: Moves, relation: str, noun: str, change: Callable[[Case], Case]
) -> Remedy:
    owners = [side.label for side in case.sides]
    if len(case.products) == 2 and case.width is not None:  # heads, whose weights are transposed
        noun = "column" if noun == "row" else "row"
        owners = [f"{side.name}.weight" for side in case.sides]
    places = [format_rows(rows, noun) for rows in (moves, moves.values())]
    evidence = f"{places[0]} of {owners[0]} {relation} {places[1]} of {owners[1]}"
    advice = f"give a thing the same number in both, or put the {noun}s of b in the order of a"
    return Remedy(f"order of the {noun}s", advice, evidence, change)


def _convert_and_mark(case: Case, mark: View, rows: torch.Tensor) -> torch.Tensor:
    """Return the marks of rows, converted as those of the other table may have been."""
    dtypes = [side.whole.dtype for side in case.sides]
    return mark(rows.to(max(dtypes, key=lambda dtype: torch.finfo(dtype).eps)))


def _find_moves(case: Case, mark: View) -> Moves:
    """Match rows of a to other rows of b, unless two of them, and one in a hundred, match none."""
    if not _is_elsewhere(case, mark):
        return {}
    a, b = (_hash_rows(side.whole, mark) for side in case.sides)
    differing = [row for row, keys in enumerate(zip_longest(a, b)) if keys[0] != keys[1]]
    sources = defaultdict(list)
    for row in reversed([row for row in differing if row < len(b)]):
        sources[b[row]].append(row)
    moves = {row: sources[a[row]].pop() for row in differing if row < len(a) and sources[a[row]]}
    unmatched = sum(row < case.shared_size for row in differing) - len(moves)
    return moves if len(moves) > 1 and unmatched <= max(1, len(differing) // 100) else {}


def _is_elsewhere(case: Case, mark: View) -> bool:
    """Return quickly whether a row that was read, and differs, begins as another row of b."""
    differs = (mark(case.a.table) != mark(case.b.table)).any(1)
    positions = differs.nonzero().flatten()[:SAMPLE]
    beginnings = mark(case.b.whole[:, :SAMPLE])
    rows = mark(case.a.table[positions, :SAMPLE])
    for row, number in zip(rows, case.a.rows[positions], strict=True):
        if ((beginnings == row).all(1).nonzero() != number).any():
            return True
    return False


def _hash_rows(table: torch.Tensor, mark: View) -> list[int]:
    """Return a number for each row, the same one for rows with the same marks."""
    marks = (mark(chunk).cpu().numpy() for chunk in torch.split(table, CHUNK))
    return [hash(row.tobytes()) for chunk in marks for row in chunk]


def _round_directions(rows: torch.Tensor) -> torch.Tensor:
    """Return integers that are equal for nearly all multiples of a row, negative ones included."""
    coarse: torch.Tensor = 64 * F.normalize(rows.double().nan_to_num(0.0, 0.0, 0.0))
    coarse = coarse.round().char()
    return coarse * coarse.gather(1, (coarse != 0).char().argmax(1, keepdim=True)).sign()


def _order_rows(moves: Moves, size: int) -> list[int]:
    """Return which row of b takes the place of each; a row without a match stays if it can."""
    moves = {row: source for row, source in moves.items() if row < size}
    unused = set(range(size)) - set(moves.values())
    vacant = iter(sorted(unused & set(moves)))
    return [moves[i] if i in moves else i if i in unused else next(vacant) for i in range(size)]


def _count_differing(case: Case) -> torch.Tensor:
    """Count for each row that both whole tables have the numbers that differ."""
    dtype = torch.promote_types(case.a.whole.dtype, case.b.whole.dtype)
    # One tensor, since a small one after each chunk would keep its memory from being used again.
    counts = case.a.rows.new_zeros(case.shared_size)
    for start in range(0, case.shared_size, CHUNK):
        rows = slice(start, min(start + CHUNK, case.shared_size))
        a, b = (side.take(rows).to(dtype) for side in case.sides)
        counts[rows] = bits_differ(a, b).sum(1)
    return counts


def copy_table(target_name: str, case: Case) -> Iterator[Remedy]:
    target = getattr(case, target_name)
    source = case.opposite(target)

    def copy(case: Case) -> Case:
        table = getattr(case, target.name).table.clone()
        copied = getattr(case, source.name).table[case.shared_rows]
        table[case.shared_rows] = copied.to(table.dtype)
        return case.change(target.name, table=table)

    to = target.table_code
    origin = source.table_code
    if len(source.whole) != len(target.whole):
        to += f"[:{case.shared_size}]"
        origin += f"[:{case.shared_size}]"
    elif to.endswith(".T"):  # usually the transpose is written on the right
        to = to.removesuffix(".T")
        origin = f"{origin}.T".removesuffix(".T.T")
    advice = f"copy the table: with torch.no_grad(): {to}.copy_({origin})"
    yield Remedy("weights", advice, partial(_describe_weights, case), copy)


def _describe_weights(case: Case) -> str:
    tables = [side.whole for side in case.sides]
    counts = _count_differing(case)
    deviations = [f"{float(table.std(correction=0)):.2g}" for table in tables]
    facts = [
        f"{int(counts.sum())} of {len(counts) * tables[0].shape[1]} numbers of the tables differ, "
        f"in {format_rows(counts.nonzero().flatten().tolist())}",
        f"the standard deviation is {deviations[0]} in a and {deviations[1]} in b",
        "they share storage" if shares_storage(*tables) else "they share no storage",
    ]
    if len(tables[0]) != len(tables[1]):
        facts.insert(0, f"a has {len(tables[0])} rows and b has {len(tables[1])}")
    rows = counts.nonzero().flatten()[: numbers.RANK_SAMPLE]
    eps = max(torch.finfo(table.dtype).eps for table in tables)
    if rank := numbers.describe_rank(case.a.take(rows), case.b.take(rows), eps):
        facts.append(rank)
    frozen = [side.name for side in case.sides if not side.requires_grad]
    if len(frozen) == 1:
        facts.append(f"{frozen[0]} requires no gradient, so training moves the other alone")
    return "; ".join(facts)
