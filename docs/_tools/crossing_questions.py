"""What the scripts of ``crossings/`` ask of every framework and of every quantizer."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from lookup_matmul import costs, probe_lookup

TABLE = torch.arange(1.0, 11.0).view(5, 2)  # row r is (2r + 1, 2r + 2)
SPOILED = TABLE.clone()
SPOILED[3, 0] = torch.nan
OUTSIDE = (-1, -6, 5)
ONE_LONG_ROW = torch.randn(1_000, 64, generator=torch.Generator().manual_seed(0))
ONE_LONG_ROW[7] *= 100
DTYPES = ("bool", "int8", "uint8", "int16", "int32", "int64", "float32")
Lookup = Callable[[np.ndarray, np.ndarray], Any]
V, D = 50_000, 128  # of the table whose lookups are timed


class SumOfRows(nn.Module):
    """A lookup and a sum, for bags of one length."""

    def __init__(self, weight: torch.Tensor) -> None:
        super().__init__()
        self.register_buffer("weight", weight)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        """Return a sum of rows for each row of ids."""
        return functional.embedding(ids, self.get_buffer("weight")).sum(1)


class Tied(nn.Module):
    """An embedding of 1,000 rows and a head that shares its table."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding, self.head = nn.Embedding(1_000, 64), nn.Linear(64, 1_000, bias=False)
        self.head.weight = self.embedding.weight
        self.requires_grad_(False).eval()

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        """Return a score for each row of the table."""
        scores: torch.Tensor = self.head(self.embedding(ids))
        return scores


def make_bags() -> tuple[torch.Tensor, torch.Tensor]:
    """Return a table, and 512 bags of 10 ids."""
    generator = torch.Generator().manual_seed(123)
    table = torch.randn(V, D, generator=generator)
    return table, torch.randint(0, V, (512, 10), generator=generator)


def time_beside(call: Callable[[], Any], others: dict[str, Callable[[], Any]]) -> dict[str, Any]:
    """Return quartiles of the time of others over the median of a call, with one thread."""
    torch.set_num_threads(1)
    times = costs.time_side_by_side({"": call, **others}, rounds=15)
    once = times.pop("").median_s
    return {name: [round(s / once, 2) for s in spread[:3]] for name, spread in times.items()}


def size_of(count: int) -> float:
    """Return a number of bytes over that of the table of ``Tied``."""
    return round(count / Tied().head.weight.nbytes, 2)


def attempt(call: Callable[[], Any]) -> Any:
    """Return the numbers that a call returns as lists, or type and beginning of its error."""
    try:
        return np.round(np.asarray(call(), dtype=np.float64), 4).tolist()
    except Exception as error:
        return f"{type(error).__name__}: {str(error).strip().splitlines()[0].partition(' (at ')[0]}"


def ask(lookup: Lookup, product: Lookup, outside: Iterable[int] = OUTSIDE) -> dict[str, Any]:
    """Return the answers of a lookup and of the product with the framework's one-hot rows."""
    answers: dict[str, Any] = {}
    for name, form, ids in (("lookup", lookup, outside), ("product", product, OUTSIDE)):
        answers[name] = probe_lookup(_with_table(form, TABLE), TABLE, outside=ids)
        beside = probe_lookup(_with_table(form, SPOILED), SPOILED)["row with none of them"]
        answers[f"{name} beside a row of NaN"] = beside
    rows = {
        name: attempt(lambda name=name: lookup(np.ones(1, name), TABLE.numpy()))  # type: ignore[misc]
        for name in DTYPES
    }
    return answers | {"row 1 by dtype of the id": rows}


def describe_spread(numbers: Any) -> dict[str, Any]:
    """Return the standard deviation of a fresh table, and whether its numbers look uniform."""
    array = np.asarray(numbers, dtype=np.float64)
    std, largest = array.std(), np.abs(array).max()
    return {"shape": list(array.shape), "std": round(std, 3), "uniform": bool(largest < 1.8 * std)}


def median_error(rows: Any) -> float:
    """Return the median error of the rows of ``ONE_LONG_ROW``, relative to their lengths."""
    errors = torch.tensor(np.asarray(rows)) - ONE_LONG_ROW
    return round(float((errors.norm(dim=1) / ONE_LONG_ROW.norm(dim=1)).median()), 4)


def _with_table(form: Lookup, table: torch.Tensor) -> Callable[[torch.Tensor], Any]:
    return lambda ids: form(ids.numpy(), table.numpy())
