"""Sparse rows times a table, in every form."""

from collections.abc import Callable

import torch

from lookup_matmul.bags import Bags
from lookup_matmul.csr import to_scipy_csr, to_torch_csr
from lookup_matmul.dense import dense_rows
from lookup_matmul.rounding import rounding_bound
from lookup_matmul.sums import sum_of_rows
from lookup_matmul.timings.oracle import check_results


def zipf_bags(rows: int, per_row: int, vocab_size: int, seed: int = 0) -> Bags:
    """Draw sparse rows whose columns are as unequal as the words of a text.

    Parameters
    ----------
    rows, per_row : int
        Number of rows, and of entries in each, at most ``vocab_size``.
    vocab_size : int
        Number of columns; the k-th most frequent has a chance proportional to 1/k,
        and its place is drawn too, so frequent columns are not neighbours.
    seed : int
        Of the generator.

    Returns
    -------
    lookup_matmul.Bags
        int32 ids, distinct and ascending in each row, and float32 weights from U(0, 1).

    Examples
    --------
    >>> bags = zipf_bags(3, 2, 1000)
    >>> bags.ids.shape, bags.offsets, bags.weights.dtype
    (torch.Size([6]), tensor([0, 2, 4, 6], dtype=torch.int32), torch.float32)
    """
    generator = torch.Generator().manual_seed(seed)
    chances = 1 / torch.randperm(vocab_size, generator=generator).add(1.0)
    drawn = [torch.multinomial(chances, per_row, generator=generator) for _ in range(rows)]
    ids = torch.stack(drawn).sort().values.flatten().int()
    offsets = torch.arange(0, rows * per_row + 1, per_row, dtype=torch.int32)
    return Bags(ids, offsets, torch.rand(len(ids), generator=generator))


def bag_contenders(bags: Bags, weight: torch.Tensor) -> dict[str, Callable[[], torch.Tensor]]:
    """Name every form of rows times table, ready to be called and computing the same.

    Parameters
    ----------
    bags : lookup_matmul.Bags
        The rows, on a CPU, with ids that ascend in each row and values of the weight's dtype.
    weight : torch.Tensor
        Shape (vocabulary size, embedding dimension), float32 or float64.

    Returns
    -------
    dict
        Name and call; each gives a tensor of shape (number of rows, embedding dimension).
        What is built beforehand, the matrices in their formats, is not part of a call.

    Examples
    --------
    >>> calls = bag_contenders(zipf_bags(3, 2, 10), torch.ones(10, 4))
    >>> {name: tuple(call().shape) for name, call in calls.items()}["SciPy, X @ W"]
    (3, 4)
    """
    rows = to_scipy_csr(bags, len(weight))
    csr, dense, table = (
        to_torch_csr(bags, len(weight)),
        dense_rows(bags, len(weight), dtype=weight.dtype),
        weight.numpy(),
    )
    return {
        "embedding_bag by hand": lambda: torch.nn.functional.embedding_bag(
            bags.ids,
            weight,
            bags.offsets,
            mode="sum",
            per_sample_weights=bags.weights,
            include_last_offset=True,
        ),
        "sum_of_rows, with checks": lambda: sum_of_rows(rows, weight),
        "torch sparse CSR, X @ W": lambda: csr @ weight,
        "SciPy, X @ W": lambda: torch.from_numpy(rows @ table),
        "dense, X @ W": lambda: dense @ weight,
    }


def check_bag_contenders(
    contenders: dict[str, Callable[[], torch.Tensor]], bags: Bags, weight: torch.Tensor
) -> None:
    """Raise unless each form is within the rounding of its sum from the float64 result.

    Parameters
    ----------
    contenders : dict
        What :func:`bag_contenders` gave for the other two arguments.
    bags : lookup_matmul.Bags
        The rows.
    weight : torch.Tensor
        The table.

    Raises
    ------
    AssertionError
        Naming the first contender that is off, and by how much.

    Notes
    -----
    The bound is that of a sum over all columns, since the dense product adds its zeros too.

    Examples
    --------
    >>> bags, weight = zipf_bags(3, 2, 10), torch.ones(10, 4)
    >>> check_bag_contenders(bag_contenders(bags, weight), bags, weight)
    """
    sizes = bags if bags.weights is None else bags._replace(weights=bags.weights.abs())
    bound = rounding_bound(len(weight) + 1, weight.dtype) * sum_of_rows(
        sizes, weight.double().abs()
    )
    check_results(contenders, sum_of_rows(bags, weight.double()), bound)
