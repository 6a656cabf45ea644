"""What a machine's ceilings allow: predicted times, and times that cannot be."""

from __future__ import annotations

import math
from typing import Any

from lookup_matmul.timings.cases import DTYPES, Case
from lookup_matmul.timings.cost import (
    Cost,
    Sizes,
    bag_cost,
    lookup_cost,
    one_hot_cost,
    product_cost,
)

FASTEST_CACHE, FASTEST_PRODUCT = 50, 10  # times the ceilings; beyond, a clock was wrong


def case_cost(case: Case, distinct: int) -> Cost:
    """Count what a case has to do.

    Parameters
    ----------
    case : Case
        The case.
    distinct : int
        How many different ids were drawn.

    Returns
    -------
    Cost
        By the model of its form.

    Examples
    --------
    >>> form = "one-hot built and multiplied"
    >>> case = Case(form, "forward", 4, 5, 3, "uniform", "float32", "hot")
    >>> case_cost(case, distinct=2).allocated_bytes
    108
    """
    itemsize, backward = DTYPES[case.dtype].itemsize, case.direction == "backward"
    sizes = Sizes(case.vocab_size, case.dim, case.ids, distinct, itemsize, case.bags)
    if case.form == "lookup, sparse gradient":
        return Cost(0, 0, 0, 0, 0)  # the ids and the rows that arrive, as they are, under one name
    if case.form.partition(",")[0] in ("lookup", "index_select", "index_add"):
        return lookup_cost(sizes, backward=backward)
    if case.form in ("embedding bag", "embedding bag, without weights"):
        return bag_cost(sizes, weighted=case.form == "embedding bag")
    if case.form == "sparse product":
        return bag_cost(sizes._replace(bags=case.bags or case.ids), index_bytes=4)
    if case.form == "compiled one-hot":
        return product_cost(sizes, fused=True)
    if case.form == "one-hot built and multiplied":
        return one_hot_cost(sizes) + product_cost(sizes)
    return product_cost(sizes._replace(ids=case.bags or case.ids), backward=backward)


def predicted_s(cost: Cost, copy_bytes_per_s: float, operations_per_s: float) -> float:
    """Predict the time of a call by the roofline: the slower of moving and computing.

    Parameters
    ----------
    cost : Cost
        What has to be done.
    copy_bytes_per_s : float
        Measured bandwidth of a large copy, bytes read and written together.
    operations_per_s : float
        Measured rate of a large matrix product in the same dtype.

    Returns
    -------
    float
        Seconds, for compulsory bytes: no launch, no latency, everything kept that can be.

    Notes
    -----
    The model is that of Williams, Waterman and Patterson, *Roofline*, CACM 52 (2009).

    Examples
    --------
    >>> cost = Cost(operations=200, logical_bytes=0, compulsory_bytes=30, sector_bytes=0,
    ...             allocated_bytes=0)
    >>> predicted_s(cost, copy_bytes_per_s=10.0, operations_per_s=100.0)
    3.0
    """
    return max(cost.compulsory_bytes / copy_bytes_per_s, cost.operations / operations_per_s)


def predicted_case_s(case: Case, distinct: int, ceilings: dict[str, Any]) -> float:
    """Predict the time of a case on a machine.

    Parameters
    ----------
    case, distinct
        As for :func:`case_cost`.
    ceilings : dict
        As :func:`measure_ceilings` gives them; without one for the dtype, float32's counts.

    Returns
    -------
    float
        Seconds, as :func:`predicted_s` says.

    Examples
    --------
    >>> case = Case("lookup", "forward", 4, 5, 3, "uniform", "float32", "hot")
    >>> ceilings = {"copy_bytes_per_s": 124.0, "operations_per_s": {"float32": 1e9}}
    >>> predicted_case_s(case, 2, ceilings)
    1.0
    """
    rates = ceilings["operations_per_s"]
    rate = rates.get(case.dtype, rates["float32"])
    return predicted_s(case_cost(case, distinct), ceilings["copy_bytes_per_s"], rate)


def over_limit(case: Case, result: dict[str, Any], ceilings: dict[str, Any]) -> tuple[str, bool]:
    """Say which of the machine's ceilings a time would break, and whether that can be.

    Parameters
    ----------
    case : Case
        The case.
    result : dict
        With ``distinct`` and ``median_s``.
    ceilings : dict
        As :func:`measure_ceilings` gives them.

    Returns
    -------
    str
        The two numbers and how they can come about, for people; empty if no ceiling is broken.
    bool
        Whether it is still possible: ``FASTEST_CACHE`` times the copy, ``FASTEST_PRODUCT`` times
        the operations and no more.

    Examples
    --------
    >>> case = Case("lookup", "forward", 4, 5, 3, "uniform", "float32", "hot")
    >>> ceilings = {"copy_bytes_per_s": 1e9, "operations_per_s": {"float32": 1e9}}
    >>> over_limit(case, {"distinct": 2, "median_s": 1e-8}, ceilings)
    ('12.4 GB/s of compulsory bytes, where a copy reaches 1: what is used again stays in a cache', \
True)
    >>> over_limit(case, {"distinct": 2, "median_s": 1e-10}, ceilings)[1]
    False
    """
    cost, seconds = case_cost(case, result["distinct"]), result["median_s"]
    moved, copied = cost.compulsory_bytes / seconds, ceilings["copy_bytes_per_s"]
    computed = cost.operations / seconds
    reached = ceilings["operations_per_s"].get(case.dtype, math.inf)
    possible = moved <= FASTEST_CACHE * copied and computed <= FASTEST_PRODUCT * reached
    if moved > copied:
        numbers = f"{moved / 1e9:.3g} GB/s of compulsory bytes, where a copy reaches"
        why = {
            "hot": "what is used again stays in a cache",
            "cold": "inputs were flushed, and what is written may stay in a cache",
        }
        return f"{numbers} {copied / 1e9:.3g}: {why[case.cache]}", possible
    if computed > reached:
        numbers = f"{computed / 1e9:.3g} GFLOP/s, where a square product of random numbers reaches"
        return f"{numbers} {reached / 1e9:.3g}: shape and zeros can be kinder", possible
    return "", possible


def copy_share(case: dict[str, Any], ceilings: dict[str, Any]) -> float:
    """Divide the bandwidth of a case by that of a large copy on the same machine.

    Parameters
    ----------
    case : dict
        A measured case.
    ceilings : dict
        Of its recording.

    Returns
    -------
    float
        Compulsory bytes a second over the copy's; above 1 if a cache helped.

    Examples
    --------
    >>> case = {"form": "lookup", "direction": "forward", "vocab_size": 4, "dim": 5, "ids": 3,
    ...         "bags": 0, "draw": "uniform", "dtype": "float32", "cache": "cold", "distinct": 2,
    ...         "median_s": 1e-6}
    >>> copy_share(case, {"copy_bytes_per_s": 1.24e9})
    0.1
    """
    asked = Case(*(case[name] for name in Case._fields))
    moved = case_cost(asked, case["distinct"]).compulsory_bytes / case["median_s"]
    return float(round(moved / ceilings["copy_bytes_per_s"], 12))
