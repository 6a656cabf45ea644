"""The first module whose outputs differ is named, and neither model changes."""

from copy import deepcopy

import pytest
import torch
from planted import snapshot
from torch import nn

from lookup_matmul import first_difference, swap_embeddings

IDS = torch.tensor([[2, 0, 3], [1, 2, 2]])


class Block(nn.Module):
    """A residual block whose output is a tuple."""

    def __init__(self):
        super().__init__()
        self.norm, self.mlp = nn.LayerNorm(6), nn.Sequential(nn.Linear(6, 6), nn.ReLU(inplace=True))
        self.scale = 1.0

    def forward(self, rows):
        """Return the rows and their length."""
        rows = rows + self.scale * self.mlp(self.norm(rows))
        return rows, {"count": rows.shape[1], "mask": None}


class Model(nn.ModuleDict):
    """A small model that calls one of its blocks twice."""

    def __init__(self):
        super().__init__({"table": nn.Embedding(5, 6, max_norm=0.5), "drop": nn.Dropout(0.5)})
        self.blocks, self.batch_norm = nn.ModuleList([Block(), Block()]), nn.BatchNorm1d(3)
        self.rnn = nn.LSTM(6, 4, batch_first=True)

    def forward(self, ids):
        """Return the output of an LSTM."""
        rows = self.table(ids)
        for block in (*self.blocks, self.blocks[0]):
            rows, _ = block(rows)
        return self.rnn(self.batch_norm(self.drop(rows)))


def make_models():
    """Return two equal models in training mode."""
    torch.manual_seed(0)
    model = Model()
    return model, deepcopy(model)


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("name", [name for name, _ in Model().named_parameters()])
def test_the_module_with_a_changed_parameter_is_named(name, training):
    """In both modes; equal models have no difference, and random masks are the same."""
    models = [model.train(training) for model in make_models()]
    assert first_difference(*models, IDS) is None
    with torch.no_grad():
        models[1].get_parameter(name).add_(torch.randn(models[1].get_parameter(name).shape))
    difference = first_difference(*models, IDS)
    assert (difference.name, difference.call) == (name.rpartition(".")[0], 1)
    text = f"of module {difference.name!r} ({difference.types[0]}), of shape (2, 3,"
    assert text in str(difference)


@pytest.mark.parametrize(
    ("plant", "name"),
    [
        (lambda m: setattr(m.blocks[1], "scale", 2.0), "blocks.1"),
        (lambda m: setattr(m.blocks[1].norm, "eps", 1.0), "blocks.1.norm"),
        (lambda m: setattr(m, "drop", nn.Identity()), "drop"),
        (lambda m: setattr(m, "rnn", nn.LSTM(6, 5, batch_first=True)), "rnn"),
        (lambda m: m.rnn.register_forward_hook(lambda *arguments: arguments[-1][:1]), "rnn"),
        (lambda m: m.batch_norm.register_forward_hook(lambda *_: torch.zeros(2, 3, 6)), "batch_norm"),
    ],
    ids=["forward", "option", "type", "shape", "count", "hook"],
)  # fmt: skip
def test_other_faults_are_named(plant, name):
    """In a forward, an option, the type of a module, its number of outputs, and a hook."""
    a, b = make_models()
    plant(b)
    assert first_difference(a, b, IDS).name == name


def test_the_difference_is_that_of_the_outputs():
    """Its shape and index are theirs, and their dtypes are named."""
    a, b = (nn.Sequential(model.table) for model in make_models())
    with torch.no_grad():
        b[0].weight[3, 1] += 0.125
    difference = first_difference(a, b, IDS)
    assert difference.shapes == ((2, 3, 6), (2, 3, 6))
    assert difference.agreement.first[:2] == (0, 2)
    a, b = nn.Sequential(nn.Identity()), nn.Sequential(nn.Identity())
    b[0].register_forward_hook(lambda *arguments: arguments[-1].double())
    text = ": dtype torch.float32 in a, torch.float64 in b; all numbers are equal in value. Its"
    assert text in str(first_difference(a, b, torch.ones(2)))


def test_a_module_that_is_called_again_is_named_with_its_call():
    """Only the second output of the Linear differs."""
    linear, ones = nn.Linear(2, 2), torch.ones(2)
    a, b = nn.Sequential(linear, nn.ReLU(), linear), nn.Sequential(linear, nn.Tanh(), linear)
    text = str(first_difference(a, b, ones, names=lambda name: name if name == "0" else None))
    assert text.startswith("The first outputs that differ are those of module '0' (Linear) in its call 2,")


def test_a_call_that_one_model_does_not_make_is_named():
    """Only where outputs differ."""
    sigmoid, ones = nn.Sigmoid(), torch.ones(2)
    once, twice = nn.Sequential(sigmoid, nn.Identity()), nn.Sequential(sigmoid, nn.Identity(), sigmoid)
    difference = first_difference(twice, once, ones)
    assert (difference.name, difference.notes) == ("", ("Before, model_b makes no call of module '0'.",))
    assert "model_a makes no call of module '0'." in str(first_difference(once, twice, ones))
    relu = nn.ReLU()
    assert first_difference(nn.Sequential(relu), nn.Sequential(relu, relu), ones) is None


def test_modules_are_compared_in_the_order_of_the_first_model():
    """The second one calls its modules in reverse."""
    forward, reverse = (nn.ModuleDict({"0": nn.Sigmoid(), "1": nn.Softplus()}) for _ in range(2))
    forward.forward = lambda x: forward["1"](forward["0"](x))
    reverse.forward = lambda x: reverse["0"](reverse["1"](x))
    assert first_difference(forward, reverse, torch.ones(2)).name == "0"
    assert first_difference(reverse, forward, torch.ones(2)).name == "1"


def test_a_model_with_swapped_layers_is_compared_by_shared_names():
    """The product has a Linear that the lookup lacks; both compute the same."""
    a, b = make_models()
    a.table.max_norm = b.table.max_norm = None
    swap_embeddings(b)
    assert first_difference(a, b, IDS) is None
    with torch.no_grad():
        b.table.linear.weight.mul_(2)
    difference = first_difference(a, b, IDS)
    assert difference.types == ("Embedding", "OneHotLinear")
    assert "module 'table' (Embedding and OneHotLinear), of shape (2, 3, 6)" in str(difference)


def test_nothing_changes_even_after_an_error():
    """Parameters under max_norm, buffers, modes, hooks, inputs and the random state."""
    models, inputs = make_models(), torch.rand(2, 3)
    models[0].drop.eval()
    before = snapshot(models)
    assert first_difference(*models, IDS).name == "drop"
    with pytest.raises(IndexError, match="out of range"):
        first_difference(*models, IDS + 5)
    assert snapshot(models) == before
    zeros, expected = nn.Sequential(nn.Identity(), nn.Threshold(1.0, 0.0, inplace=True)), inputs + 0
    difference = first_difference(zeros, nn.Sequential(nn.Identity(), nn.Identity()), inputs)
    assert difference.name == "1"  # although it writes to the output of module 0
    assert torch.equal(inputs, expected)


TEXT = nn.Identity()
TEXT.register_forward_hook(lambda *_: "text")


@pytest.mark.parametrize(
    ("models", "error", "message"),
    [
        ([nn.ReLU(), torch.relu], TypeError, "model_b has type builtins.builtin_function"),
        ([nn.Sequential(TEXT), nn.Sequential(TEXT)], TypeError, "modules of model_a return str, expected a tensor"),
        ([nn.Sequential(nn.ReLU()), nn.ModuleDict({"a": nn.ReLU()})], ValueError, "no submodule of"),
    ],
)  # fmt: skip
def test_models_that_are_refused(models, error, message):
    """With what was expected."""
    with pytest.raises(error, match=message):
        first_difference(*models, IDS)
    with pytest.raises(ValueError, match="atol is -1, expected a finite number"):
        first_difference(nn.ReLU(), nn.ReLU(), IDS, atol=-1)
