"""Causes that lie in the rows of a table: their order and their length."""

from collections import defaultdict
from dataclasses import replace
from functools import cache
from itertools import zip_longest
from math import log10

import torch
from torch.nn import functional as F  # noqa: N812 - as everybody calls it

from lookup_matmul.diagnosis.layers import named
from lookup_matmul.diagnosis.run import Pair
from lookup_matmul.diagnosis.search import Remedy
from lookup_matmul.equality.assertions import bits_of

FEW = 8  # columns tell most tables apart


def order(pair: Pair) -> list[Remedy]:
    """Put the rows of b in the order of a, known by their bits or, if scaled, by direction."""
    if pair.unknown:
        return []
    find = cache(_moves)  # once for two tables, which come back with every combination

    def put(pair: Pair) -> Pair:
        count = len(pair.b.weight)
        moves, _ = find(pair.a.weight, pair.b.weight)
        if not moves:
            return pair
        moves = {row: place for row, place in moves.items() if row < count}
        left = set(range(count)) - set(moves.values())  # where rows stay that are there
        rest = iter(sorted(left & set(moves)))
        for row in (row for row in range(count) if row not in moves):
            moves[row] = row if row in left else next(rest)
        order = [moves[row] for row in range(count)]
        return pair.put(replace(pair.b, table=pair.b.weight[order]))

    def seen(repaired: Pair) -> str:
        for tables in (repaired, pair):  # rows that were repaired may go together no more
            moves, verb = find(tables.a.weight, tables.b.weight)
            if moves:
                at = named(moves.values())
                return f"{named(moves)} of {pair.a.called} {verb} {at} of {pair.b.called}"
        return f"rows of {pair.a.called} are other rows of {pair.b.called}"

    advice = "give a thing the same id in both, or put the rows of b in the order of a"
    return [Remedy("order of the rows", advice, put, seen, True)]


def _moves(a: torch.Tensor, b: torch.Tensor) -> tuple[dict[int, int], str]:
    """Find rows of a elsewhere in b, and say how they go together.

    There are none unless that is so of all that moved, but for one.
    """
    for marks, verb in ((bits_of, "are"), (_directions, "point as do")):
        if _unrelated(*(marks(table[:, :FEW]) for table in (a, b))):
            continue
        first, second = ([row.tobytes() for row in marks(t).cpu().numpy()] for t in (a, b))
        moved = [i for i, rows in enumerate(zip_longest(first, second)) if rows[0] != rows[1]]
        places = defaultdict(list)
        for i in reversed([i for i in moved if i < len(second)]):
            places[second[i]].append(i)
        moves = {i: places[first[i]].pop() for i in moved if i < len(first) and places[first[i]]}
        lost = sum(i < min(len(first), len(second)) for i in moved) - len(moves)
        if len(moves) > 1 and lost < 2:
            return moves, verb
    return {}, ""


def _unrelated(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Tell whether two rows of a that moved are nowhere in b, so that no more need be asked."""
    if a.shape[1] != b.shape[1]:
        return True
    count = min(len(a), len(b))
    moved = a[:count][(a[:count] != b[:count]).any(1)][:2]
    return len(moved) == 2 and not any((b == row).all(1).any() for row in moved)


def _directions(table: torch.Tensor) -> torch.Tensor:
    """Return coarse integers, so that rounding hardly ever tells a row from its multiple."""
    return (64 * F.normalize(table.double().nan_to_num(0.0, 0.0, 0.0))).round().char()


def scale(pair: Pair) -> list[Remedy]:
    """Multiply the rows of a by one number, or until they are as long as those of b."""
    if pair.unknown:
        return []
    advice = "multiply or normalize the rows of both in the same way, or of none"
    return [Remedy("scaled rows", advice, _scaled, lambda pair: _factors(pair)[2], True)]


def _scaled(pair: Pair) -> Pair:
    ids, factors, _ = _factors(pair)
    if not len(ids):
        return pair
    table = pair.a.weight.clone()
    table[ids] = (table[ids].double() * factors).to(table.dtype)
    return pair.put(replace(pair.a, table=table, error=_error(pair)))


def _error(pair: Pair) -> float:
    """Bound the relative error of a number that was multiplied or divided."""
    return 4 * max(torch.finfo(side.weight.dtype).eps for side in pair.sides)


def _factors(pair: Pair) -> tuple[torch.Tensor, torch.Tensor, str]:
    """Return rows that were read, what makes those of a those of b, and words for it."""
    (a, b), error = pair.sides, _error(pair)
    ids = torch.unique(pair.given.bags.ids[~pair.given.outside(min(len(a.weight), len(b.weight)))])
    nothing = ids[:0], ids[:0].unsqueeze(1), ""
    if a.weight.shape[1] != b.weight.shape[1]:
        return nothing
    x, y = (side.weight[ids].double().nan_to_num(0.0, 0.0, 0.0) for side in pair.sides)
    factors = ((x * y).sum(1, True) / (x * x).sum(1, True)).nan_to_num(1.0)
    if ((x * factors - y).abs() > error * y.abs()).any():
        return nothing
    # A number fits by chance about as likely as the error is large, and one row always does.
    others = min(len(torch.unique(rows[rows != 0].abs())) for rows in (x, y)) - 1
    long = x.any(1)
    if error**others > 1e-12 or long.sum() < 2:
        return nothing
    factor, root = float(factors[long][0]), x.shape[1] ** 0.5
    lengths = [rows[long].norm(dim=1) for rows in (x, y)]
    if _same(factors[long], error) and abs(factor - 1) > error:
        text = f"{b.called} holds {in_digits(factor, error)} times the numbers of {a.called}"
        for number, words in ((root, "the square root"), (1 / root, "one over the square root")):
            if abs(factor - number) <= error * number:
                text += f", which is {words} of the embedding dimension"
    elif any(_same(length, error) for length in lengths):
        ends = [(f"{float(n.min()):.3g}", f"{float(n.max()):.3g}") for n in lengths]
        spans = [" to ".join(dict.fromkeys(pair)) for pair in ends]
        text = f"the lengths are {spans[0]} in {a.called} and {spans[1]} in {b.called}"
    else:
        return nothing
    return ids, factors, f"in the rows that were read, {text}"


def _same(numbers: torch.Tensor, error: float) -> bool:
    return bool(numbers.max() - numbers.min() <= error * numbers.abs().max())


def in_digits(number: float, error: float) -> str:
    """Write a number with no more digits than its relative error leaves it."""
    return f"{number:.{min(6, int(-log10(error)))}g}"
