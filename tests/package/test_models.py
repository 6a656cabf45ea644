"""What is read of a value, and that a model runs on copies."""

from collections import namedtuple
from dataclasses import dataclass
from enum import Enum
from types import SimpleNamespace

import pytest
import torch
from planted import snapshot
from torch import nn

from lookup_matmul.models import read_leaves, run_on_copies

ONES = torch.ones(2)


class Layer:
    """What a cache has for each layer: tensors beside numbers, texts and itself."""

    def __init__(self):
        self.keys, self.length, self.around, self.model = ONES, 7, self, nn.ReLU()


@dataclass(slots=True)
class Output:
    """What a model may return."""

    logits: torch.Tensor
    loss: float | None = None
    cache: object = None


Pair = namedtuple("Pair", ["first", "second"])
Color = Enum("Color", ["RED"])


@pytest.mark.parametrize(
    ("value", "places", "others"),
    [
        (ONES, [""], {}),
        (3, [""], {}),
        (None, [], {}),
        ("text", [], {"str": 1}),
        ((ONES, None, [True, 2.5]), ["[0]", "[2][0]", "[2][1]"], {}),
        ({"a": ONES, 1: Pair(ONES, ["text"])}, ["['a']", "[1][0]"], {"str": 1}),
        (Output(ONES, 0.5, (Layer(), Layer())), [".logits", ".loss", ".cache[0].keys", ".cache[1].keys"], {}),
        ({"cache": object(), "layer": nn.ReLU(), "kind": nn.ReLU, "color": Color.RED}, [], {"object": 1, "ReLU": 1, "type": 1, "Color": 1}),
        (torch.ones(2, device="meta"), [], {"Tensor": 1}),
        ([], [], {}),
    ],
)  # fmt: skip
def test_tensors_are_found_with_their_places(value, places, others):
    """In containers, dataclasses and caches; what else is there is counted."""
    leaves = read_leaves(value)
    assert [*leaves.tensors] == places
    assert (leaves.kind, leaves.others) == (type(value), others)


def test_objects_and_cycles():
    """Inputs are not searched in objects; a list that holds itself ends."""
    assert read_leaves([Layer(), ONES], in_objects=False).tensors.keys() == {"[1]"}
    values = [ONES]
    values.append(values)
    leaves = read_leaves(values)
    assert (leaves.tensors.keys(), leaves.others) == ({"[0]"}, {"list": 1})


@pytest.mark.filterwarnings("ignore:torch.quantize_per_tensor")
@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda: torch.eye(2).to_sparse(), torch.eye(2)),
        (lambda: torch.tensor([1 + 2j]).conj(), torch.tensor([[1.0, -2.0]])),
        (lambda: torch.quantize_per_tensor(ONES, 0.5, 0, torch.qint8), ONES),
    ],
)  # fmt: skip
def test_every_tensor_becomes_dense_and_real(make, expected):
    """As a copy."""
    assert torch.equal(read_leaves(make()).tensors[""], expected)
    assert read_leaves(ONES).tensors[""].data_ptr() != ONES.data_ptr()


class Writer(nn.Module):
    """A model that writes to all that it gets."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(2))
        self.register_buffer("count", torch.zeros(()))

    def forward(self, rows, cache):
        """Return random numbers."""
        self.count += 1
        self.weight.mul_(2)
        cache.rows.append(rows.add_(1))
        return torch.rand(2) + cache.rows[0]


def test_a_model_runs_on_copies():
    """Its state, its inputs and the random state stay; the output is that of the model."""
    model, rows, cache = Writer(), torch.zeros(2), SimpleNamespace(rows=[])
    before, state = snapshot([model]), torch.get_rng_state()
    output = run_on_copies(model, (rows,), {"cache": cache})
    assert snapshot([model]) == before
    assert torch.equal(torch.get_rng_state(), state)
    assert (output.requires_grad, cache.rows, rows.tolist()) == (False, [], [0, 0])
    assert torch.equal(output, torch.rand(2) + 1)
