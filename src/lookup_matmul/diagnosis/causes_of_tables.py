"""Causes in a table: its layout, the order of its rows, or different weights."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache, partial
from itertools import zip_longest
from operator import methodcaller
from typing import TypeAlias

import torch
from torch.nn import functional as F  # noqa: N812 - its usual name

from lookup_matmul.diagnosis.layers import Side, format_rows
from lookup_matmul.diagnosis.run import Pair
from lookup_matmul.diagnosis.search import Remedy
from lookup_matmul.equality import bits_differ, shares_storage, view_bits

LEADING_COLUMNS = 8  # these differ between the rows of most tables

Moves: TypeAlias = dict[int, int]  # from rows of a to the rows of b with the same content


def layout(pair: Pair) -> list[Remedy]:
    priorities = {"table": 0, "Linear": 1}
    sides = sorted(pair.with_table, key=lambda s: (priorities.get(s.kind, 2), s is pair.a))
    shapes = [tuple(side.table.shape) for side in sides]
    is_same_shape, remedies = shapes[0] == shapes[-1], []
    for side in sides:
        weight = side.table.T if side.kind == "Linear" else side.table
        rows, columns = weight.shape
        if len(sides) == 1 or shapes[0] == shapes[1][::-1]:
            size = " × ".join(map(str, shapes[0]))
            evidence = f"the table of {side.name} ({size}) has its rows as columns"
            if rows == columns:
                evidence += "; being square, its shape does not show it"
            advice = f"transpose the table of {side.name}"
            remedies.append(_rearrange(side, "transposed weight", advice, ".T", weight.T, evidence))
        if is_same_shape and rows != columns:
            evidence = (
                f"the {rows} × {columns} weight of {side.label} holds its numbers in the order of "
                f"a {columns} × {rows} one, as a reshape leaves them and a transpose does not"
            )
            code, weight = f".reshape({columns}, {rows}).T", weight.reshape(columns, rows).T
            advice = f"undo the reshape of {side.name} and transpose"
            remedies.append(_rearrange(side, "reshaped weight", advice, code, weight, evidence))
    return [replace(remedy, implied_by_weights=is_same_shape) for remedy in remedies]


def _rearrange(
    side: Side, cause: str, advice: str, code: str, weight: torch.Tensor, evidence: str
) -> Remedy:
    name, table = side.name, weight.T if side.kind == "Linear" else weight
    statement = f"{name}.weight = torch.nn.Parameter({name}.weight{code}.contiguous())"
    statement = f"{name} = {name}{code}" if side.kind == "table" else statement
    replace_table = methodcaller("change", name, stored_table=table)
    return Remedy(cause, f"{advice}: {statement}", replace_table, evidence)


def row_order(pair: Pair) -> Iterator[Remedy]:
    if pair.callables:
        return
    find_moves = cache(_find_moves)  # many combinations of remedies leave the tables as they are

    def reorder(pair: Pair) -> Pair:
        moves, rows = find_moves(pair.a.table, pair.b.table)[0], range(len(pair.b.table))
        moves = {row: source for row, source in moves.items() if row in rows}
        if not moves:
            return pair
        unused = set(rows) - set(moves.values())
        vacant = iter(sorted(unused & set(moves)))
        order = [moves[i] if i in moves else i if i in unused else next(vacant) for i in rows]
        return pair.change("b", stored_table=pair.b.table[order])

    def describe(repaired: Pair) -> str:
        for tables in (repaired, pair):  # rows that another remedy has changed may not match
            moves, relation = find_moves(tables.a.table, tables.b.table)
            if moves:
                a_rows, b_rows = format_rows(moves), format_rows(moves.values())
                return f"{a_rows} of {pair.a.label} {relation} {b_rows} of {pair.b.label}"
        return f"rows of {pair.a.label} are other rows of {pair.b.label}"

    advice = "give a thing the same id in both, or put the rows of b in the order of a"
    yield Remedy("order of the rows", advice, reorder, describe)


def _find_moves(a: torch.Tensor, b: torch.Tensor) -> tuple[Moves, str]:
    """Return the moves of rows from a to b, and how the rows are related."""
    for mark, relation in ((view_bits, "are"), (_round_directions, "are multiples of")):
        if moves := _match_rows(mark, a, b):
            return moves, relation
    return {}, ""


def _match_rows(
    mark: Callable[[torch.Tensor], torch.Tensor], a: torch.Tensor, b: torch.Tensor
) -> Moves:
    """Match rows of a that differ from those of b to other rows of b, unless two have no match."""
    if _have_unmatched_rows(*(mark(table[:, :LEADING_COLUMNS]) for table in (a, b))):
        return {}
    a_rows, b_rows = ([row.tobytes() for row in mark(t).cpu().numpy()] for t in (a, b))
    differing = [i for i, rows in enumerate(zip_longest(a_rows, b_rows)) if rows[0] != rows[1]]
    sources = defaultdict(list)
    for i in reversed([i for i in differing if i < len(b_rows)]):
        sources[b_rows[i]].append(i)
    moves = {
        i: sources[a_rows[i]].pop() for i in differing if i < len(a_rows) and sources[a_rows[i]]
    }
    unmatched = sum(i < min(len(a_rows), len(b_rows)) for i in differing) - len(moves)
    return moves if len(moves) > 1 and unmatched < 2 else {}


def _have_unmatched_rows(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Return quickly whether the first and last two differing rows of a are nowhere in b."""
    if a.shape[1] != b.shape[1]:
        return True
    count = min(len(a), len(b))
    rows = a[:count][(a[:count] != b[:count]).any(1)]
    return len(rows) > 1 and not any((b == row).all(1).any() for row in (*rows[:2], *rows[-2:]))


def _round_directions(table: torch.Tensor) -> torch.Tensor:
    """Return integers that are equal for nearly all multiples of a row, negative ones included."""
    coarse = (64 * F.normalize(table.double().nan_to_num(0.0, 0.0, 0.0))).round()
    coarse = F.pad(coarse, (1, 0))  # so that a row has a first number
    return (coarse * coarse.gather(1, (coarse != 0).int().argmax(1, keepdim=True)).sign()).char()


def weights(pair: Pair) -> Iterator[Remedy]:
    if pair.callables:
        return

    @cache
    def are_moved(a: torch.Tensor, b: torch.Tensor) -> bool:
        return any(row < len(b) for row in _match_rows(view_bits, a, b))

    def copy_table(name: str, pair: Pair) -> Pair:
        source: Side = getattr(pair, name)
        table, target = source.table, pair.opposite(source)
        # Rows that were only moved are not copied, so that their order is named.
        if table.shape[1] != target.table.shape[1] or are_moved(pair.a.table, pair.b.table):
            return pair
        copy = table[: len(target.table)].to(target.table.dtype)
        copy = torch.cat([copy, target.table[len(table) :]])
        return pair.change(target.name, stored_table=copy)

    for side in pair.sides:
        advice = _write_copy_advice(side, pair.opposite(side))
        yield Remedy("weights", advice, partial(copy_table, side.name), _describe_weights)


def _write_copy_advice(source: Side, target: Side) -> str:
    """Write the copy in plain torch, which takes layers of any kind."""
    to, origin = target.table_code, source.table_code
    (rows, dim), (target_rows, target_dim) = source.table.shape, target.table.shape
    if rows != target_rows and dim == target_dim:  # else a transpose comes first, and they fit
        shared = f"[:{min(rows, target_rows)}]"
        to, origin = to + shared, origin + shared
    elif target.kind == "Linear":  # usually the transpose is written on the right
        to, origin = to.removesuffix(".T"), f"{origin}.T".removesuffix(".T.T")
    return f"copy the table: with torch.no_grad(): {to}.copy_({origin})"


def _describe_weights(pair: Pair) -> str:
    tables = [side.table for side in pair.sides]
    a, b = (table[: min(map(len, tables))].double() for table in tables)
    mask = bits_differ(a, b)
    deviations = [f"{float(table.double().std(correction=0)):.2g}" for table in tables]
    facts = []
    if len(tables[0]) != len(tables[1]):
        facts.append(f"a has {len(tables[0])} rows and b has {len(tables[1])}")
    facts += [
        f"{int(mask.sum())} of {mask.numel()} numbers of the tables differ, in "
        + format_rows(mask.any(1).nonzero().flatten().tolist()),
        f"the standard deviation is {deviations[0]} in a and {deviations[1]} in b",
        "they share storage" if shares_storage(*tables) else "they share no storage",
    ]
    frozen = [side.name for side in pair.sides if not side.requires_grad]
    if len(frozen) == 1:
        facts.append(f"{frozen[0]} requires no gradient, so training moves the other alone")
    return "; ".join(facts)
