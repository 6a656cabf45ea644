"""Swaps of layers in models: equal outputs and attributes, or a refusal that names the layer."""

import copy
import io
import re

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from oldest import LOWEST
from torch import distributed, nn
from torch.distributed.fsdp import FullyShardedDataParallel, fully_shard
from torch.distributed.tensor.parallel import ColwiseParallel, parallelize_module
from torch.nn.parallel import DistributedDataParallel
from torch.nn.utils import parametrize

from lookup_matmul.equality import assert_bitwise_equal, assert_within, shares_storage
from lookup_matmul.onehot.one_hot_linear import OneHotLinear, get_tied_table
from lookup_matmul.onehot.swap import swap_embeddings, swap_one_hot_linears
from lookup_matmul.sharded import run_on_processes

EQUAL = "equal in every bit"


class Small(nn.Module):
    """A model with tables for tokens and positions, a second one for tokens, and a head."""

    def __init__(self, rows=5, dim=3, padding_idx=None, tie=(), dtype=None, device=None):
        super().__init__()
        kind = {"dtype": dtype, "device": device}
        self.tokens = nn.Embedding(rows, dim, padding_idx, **kind)
        self.inner = nn.ModuleDict({"positions": nn.Sequential(nn.Embedding(4, dim, **kind))})
        self.twin = nn.Embedding(rows, dim, **kind)
        self.head = nn.Linear(dim, rows, bias=False, **kind)
        if "twin" in tie:
            self.twin.weight = self.tokens.weight
        if "head" in tie:
            self.head.weight = self.tokens.weight
        if "module" in tie:
            self.twin = self.tokens

    def forward(self, ids):
        """Return a score for each token of the vocabulary."""
        positions = torch.arange(ids.shape[-1], device=ids.device)
        rows = self.tokens(ids) + self.inner["positions"](positions) + self.twin(ids.flip(-1))
        return self.head(rows)


def ties(model):
    """Return the modules that share each Parameter, sorted."""
    groups = {}
    for name, parameter in model.named_parameters(remove_duplicate=False):
        groups.setdefault(parameter, set()).add(name.split(".")[0])
    return sorted(map(sorted, groups.values()))


@st.composite
def models(draw, dtypes=(torch.float32, torch.float64, torch.bfloat16, torch.float16)):
    """Draw a model whose weights are small whole numbers, so that every sum of them is exact."""
    tie = draw(st.sets(st.sampled_from(["twin", "head", "module"])))
    padding_idx = draw(st.sampled_from([None, 0, 3, -1]))
    rows, dim = draw(st.integers(4, 6)), draw(st.integers(1, 4))
    model = Small(rows, dim, padding_idx, tie, dtype=draw(st.sampled_from(dtypes)))
    torch.manual_seed(draw(st.integers(0, 2**16)))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randint(-2, 3, parameter.shape))
            parameter.requires_grad_(draw(st.booleans()))
    ids = torch.randint(rows, draw(st.sampled_from([(1,), (3,), (2, 4), (2, 0)])))
    return model.train(draw(st.booleans())), ids


def step(model, ids):
    """Take one step of gradient descent without rounding, and return the scores."""
    parameters = [p for p in model.parameters() if p.requires_grad]
    scores = model(ids)
    if parameters:
        (scores * torch.arange(1, scores.shape[-1] + 1)).sum().backward()
        torch.optim.SGD(parameters, lr=0.5).step()
    return scores


@settings(max_examples=30)
@given(models())
def test_a_swap_and_its_inverse_preserve_outputs_and_state(model_and_ids):
    """Bitwise, with names, ties and ``requires_grad``; no random numbers are drawn."""
    model, ids = model_and_ids
    before, reference = copy.deepcopy(model), model(ids)
    table, state = model.inner["positions"][0].weight, torch.get_rng_state()
    outcomes = swap_embeddings(model)
    assert not shares_storage(model.inner["positions"][0].linear.weight, table)
    assert {*outcomes} == {"tokens", "inner.positions.0", "twin"}
    assert {*outcomes.values()} == {EQUAL}
    assert not [m for m in model.modules() if isinstance(m, nn.Embedding)]
    assert_bitwise_equal(model(ids), reference)
    assert ties(model) == ties(before)
    assert model.training is model.tokens.training is before.training
    assert swap_one_hot_linears(model) == outcomes
    assert torch.equal(torch.get_rng_state(), state)
    assert_bitwise_equal(model(ids), reference)
    assert ties(model) == ties(before)
    assert repr(model) == repr(before)
    assert [*model.state_dict()] == [*before.state_dict()]
    for (name, new), old in zip(model.named_parameters(), before.parameters(), strict=True):
        assert_bitwise_equal(new.detach(), old.detach())
        assert new.requires_grad is old.requires_grad, name
        assert new.is_contiguous()


@settings(max_examples=30)
@given(models(dtypes=(torch.float32, torch.float64)))
def test_a_training_step_is_the_same_on_both_sides(model_and_ids):
    """All sums are exact, so tables and gradients are equal, also for padding."""
    model, ids = model_and_ids
    swapped = copy.deepcopy(model)
    swap_embeddings(swapped)
    assert_bitwise_equal(step(swapped, ids), step(model, ids))
    for name in ("tokens", "twin"):
        assert_within(getattr(swapped, name).weight, getattr(model, name).weight, 0.0)
    swap_one_hot_linears(swapped)
    for new, old in zip(swapped.parameters(), model.parameters(), strict=True):
        assert_within(new, old, 0.0)
        assert (new.grad is None) == (old.grad is None)
        if new.grad is not None:
            assert_within(new.grad, old.grad, 0.0)


def test_one_of_two_tied_layers_is_swapped_alone(device):
    """The table stays one Parameter, whichever layers are swapped."""
    model = Small(tie={"twin"}, device=device)
    table = model.tokens.weight
    assert swap_embeddings(model, ["twin"]) == {"twin": EQUAL}
    assert model.tokens.weight is table is get_tied_table(model.twin.linear)
    assert isinstance(model.twin.linear, nn.Linear)
    assert shares_storage(model.twin.weight, table)
    swap_embeddings(model)
    assert type(model.inner["positions"][0].linear) is nn.Linear
    assert get_tied_table(model.tokens.linear) is table is get_tied_table(model.twin.linear)
    swap_one_hot_linears(model, ["tokens"])
    assert isinstance(model.tokens, nn.Embedding)
    assert isinstance(model.twin, OneHotLinear)
    assert model.tokens.weight is table is get_tied_table(model.twin.linear)


@pytest.mark.filterwarnings("ignore:Full backward hook is firing")  # as with any layer of ids
def test_attributes_and_hooks_of_a_layer_are_kept():
    """Hooks keep their handles, and Parameters their gradient; comparing rows runs no hook."""
    model, calls = Small().eval(), []
    layer, ids = model.tokens, torch.tensor([2, 3, 1])
    model(ids).sum().backward()
    gradient = layer.weight.grad.clone()
    layer.mark = layer.weight.mark = "attribute"
    handles = [
        layer.register_forward_hook(lambda *_: calls.append("forward")),
        layer.register_forward_pre_hook(lambda _, __, kwargs: calls.append(kwargs), with_kwargs=True),
        layer.register_full_backward_pre_hook(lambda _, gradients: calls.append(gradients[0].shape)),
    ]  # fmt: skip
    swap_embeddings(model)
    assert not calls
    assert model.tokens.mark == model.tokens.linear.weight.mark == "attribute"
    assert not model.tokens.training
    assert_bitwise_equal(model.tokens.linear.weight.grad.T, gradient)
    model(ids).sum().backward()
    assert calls == [{}, "forward", (3, 3)]
    swap_one_hot_linears(model)
    assert model.tokens.mark == model.tokens.weight.mark == "attribute"
    assert_within(model.tokens.weight.grad, 2 * gradient, 1e-5)
    for handle in handles:
        handle.remove()
    model(ids).sum().backward()
    assert len(calls) == 3


def test_a_layer_swapped_in_inference_mode_can_be_trained():
    """A default device does not matter either."""
    model, ids = nn.Sequential(nn.Embedding(5, 3)), torch.tensor([2, 3])
    for swap, expected in ((swap_embeddings, 6), (swap_one_hot_linears, 12)):
        with torch.inference_mode(), torch.device("meta"):
            swap(model)
        model(ids).sum().backward()
        assert next(model.parameters()).grad.sum() == expected


def test_a_sparse_gradient_becomes_dense():
    """It was computed before ``sparse`` was set to False, as the error message advises."""
    model = nn.Sequential(nn.Embedding(5, 3, sparse=True))
    model(torch.tensor([2, 3])).sum().backward()
    model[0].sparse = False
    swap_embeddings(model)
    assert model[0].linear.weight.grad.sum(dim=0).tolist() == [0.0, 0.0, 3.0, 3.0, 0.0]


@pytest.mark.parametrize(
    ("forward", "message"),
    [
        (lambda layer, ids: layer.weight[ids].bfloat16().float(), r"product of 1 is off by .* reduced precision"),
        (lambda layer, ids: layer.weight[ids] + (ids == 999).unsqueeze(-1), "product of 1 is off by 1 in row 999,"),
    ],
)  # fmt: skip
def test_a_product_that_differs_is_refused(monkeypatch, forward, message):
    """Rows spread over the whole table are compared; the model does not change."""
    model = nn.Sequential(nn.ReLU(), nn.Embedding(1000, 2))
    monkeypatch.setattr(OneHotLinear, "forward", forward)
    with pytest.raises(ValueError, match=message):
        swap_embeddings(model)
    assert isinstance(model[1], nn.Embedding)


def changed(layer, change):
    with torch.no_grad():
        change(layer)
    return layer


def one_hot_linear():
    """Return a OneHotLinear of the same size as the Embeddings."""
    return OneHotLinear(nn.Linear(5, 3, bias=False))


# Name: a function that makes the layer, the type of the error, and the beginning of its message.
REFUSED = {
    "max_norm of zero": (lambda: nn.Embedding(5, 3, max_norm=0.0), ValueError, "inner.layer is an Embedding with max_norm=0.0"),
    "buffer": (lambda: changed(nn.Embedding(5, 3), lambda e: e.register_buffer("scale", torch.ones(3))), ValueError, "inner.layer holds scale besides its table, which the swap would lose"),
    "Parameter": (lambda: changed(nn.Embedding(5, 3), lambda e: e.register_parameter("extra", nn.Parameter(torch.ones(3)))), ValueError, "inner.layer holds extra besides its table"),
    "child": (lambda: changed(nn.Embedding(5, 3), lambda e: e.add_module("norm", nn.LayerNorm(3))), ValueError, "inner.layer holds norm besides its table"),
    "patched": (lambda: changed(nn.Embedding(5, 3), lambda e: setattr(e, "forward", lambda ids: ids)), TypeError, "inner.layer is a torch.nn.modules.sparse.Embedding, expected Embedding itself, since what a subclass or a forward"),
    "meta": (lambda: nn.Embedding(5, 3, device="meta"), ValueError, "inner.layer.weight is on meta, which has no numbers, expected some"),
    "computed": (lambda: nn.utils.parametrizations.weight_norm(nn.Embedding(5, 3)), ValueError, "inner.layer.weight is computed from other parameters"),
    "infinity": (lambda: changed(nn.Embedding(5, 3), lambda e: e.weight[2, 1].fill_(float("inf"))), ValueError, "the table of inner.layer has NaN or infinity in 1 of 5 rows, the first in row 2"),
    "no columns": (lambda: nn.Embedding(5, 0), ValueError, "inner.layer.weight has shape (5, 0), expected at least one column"),
    "eight bits": (lambda: nn.Embedding(5, 3).to(torch.float8_e4m3fn), TypeError, "inner.layer.weight has dtype torch.float8_e4m3fn, expected float16, bfloat16, float32 or float64"),
    "state hook": (lambda: changed(nn.Embedding(5, 3), lambda e: e.register_state_dict_pre_hook(lambda *_: None)), ValueError, "inner.layer has hooks (_state_dict_pre_hooks), which the layer in its place could not keep"),
    "hook after the gradient": (lambda: changed(nn.Embedding(5, 3), lambda e: e.weight.register_post_accumulate_grad_hook(print)), ValueError, "the weight of inner.layer has hooks of its own"),
    "patched back": (lambda: changed(one_hot_linear(), lambda m: setattr(m, "forward", lambda ids: ids)), TypeError, "expected OneHotLinear itself, since what a subclass or a forward of its own"),
    "replaced back": (lambda: changed(one_hot_linear(), lambda m: setattr(m, "linear", nn.Bilinear(5, 5, 3))), TypeError, "layer.linear is a torch.nn.modules.linear.Bilinear, expected Linear itself"),
    "bias back": (lambda: changed(one_hot_linear(), lambda m: setattr(m, "linear", nn.Linear(5, 3))), ValueError, "has a bias, expected none"),
    "hook back": (lambda: changed(one_hot_linear(), lambda m: m.linear.register_forward_hook(print)), ValueError, "layer.linear has hooks (_forward_hooks"),
    "parameter hook back": (lambda: changed(one_hot_linear(), lambda m: m.linear.weight.register_hook(lambda g: g)), ValueError, "the weight of inner.layer has hooks of its own, which expect gradients of shape (3, 5)"),
}  # fmt: skip


class LoraEmbedding(nn.Module):
    """Read options of its layer in a method of forward's class, as PEFT does."""

    def __init__(self, base):
        super().__init__()
        self.base_layer = base

    def forward(self, ids):
        """Add nothing."""
        return self.embed(ids)

    def embed(self, ids):
        """Read the options."""
        return nn.functional.embedding(
            ids, self.base_layer.weight, max_norm=self.base_layer.max_norm
        )


class BaseTunerLayer(nn.Sequential):
    """The name by which adapters of PEFT are known."""


class InnerEmbedding(nn.Embedding):
    """An Embedding that holds another one."""

    def __init__(self, inner):
        super().__init__(5, 3)
        self.inner = inner


@pytest.mark.parametrize(
    ("owner", "problem"),
    [(LoraEmbedding, "which reads its max_norm"), (BaseTunerLayer, "a BaseTunerLayer, which"), (InnerEmbedding, "itself an Embedding")],
)  # fmt: skip
def test_a_layer_whose_owner_needs_an_embedding_is_refused(owner, problem):
    """The model does not change, and computes as before."""
    model = nn.Sequential(owner(nn.Embedding(5, 3)))
    layers = list(model.modules())
    name = [name for name, _ in model.named_modules()][-1]
    with pytest.raises(
        TypeError, match=rf"{name} is in a .*{owner.__name__}, {problem}.*; swap before"
    ):
        swap_embeddings(model, name)
    assert list(model.modules()) == layers


class Reads(nn.Module):
    """A model that reads an attribute of its layer."""

    def __init__(self, read):
        super().__init__()
        self.inner, self.read = nn.Sequential(nn.Embedding(5, 3), nn.Dropout(0.5)), read

    def forward(self, ids, cache=None):
        """Return rows and what was read, in a dict."""
        return {"rows": self.inner(ids), "value": self.read(self.inner[0]), "cache": [cache]}


@pytest.mark.parametrize(
    "example",
    [
        torch.tensor([2, 3]),
        (torch.tensor([2, 3]),),
        {"ids": torch.tensor([2, 3]), "cache": torch.ones(1)},
    ],
)
@pytest.mark.parametrize("swap", [swap_embeddings, swap_one_hot_linears])
def test_the_whole_model_runs_on_an_example(swap, example):
    """The result has how its outputs compare; random masks are the same in both runs."""
    model = Reads(lambda layer: layer.weight.sum() + layer.embedding_dim)
    if swap is swap_one_hot_linears:
        swap_embeddings(model)
    before, state = copy.deepcopy(model), torch.get_rng_state()
    outcomes = swap(model, example=example)
    assert {*outcomes} == {"inner.0", ""}
    assert outcomes[""] == EQUAL or float(outcomes[""].removeprefix("within ")) < 1e-5
    assert torch.equal(torch.get_rng_state(), state)
    assert type(model.inner[0]) is not type(before.inner[0])


@pytest.mark.parametrize(
    ("read", "message"),
    [
        (lambda layer: layer.norm_type, r"raises on the example, AttributeError: 'OneHotLinear' object has no .*; it has its old"),
        (lambda layer: isinstance(layer, nn.Embedding), r"returns something else on the example, AssertionError: .*'value'.*; it has its old"),
    ],
)  # fmt: skip
def test_a_model_that_changes_on_an_example_gets_its_layers_back(read, message):
    """What reads options of an Embedding further outside than its owner is seen only so."""
    model = Reads(read)
    layers, parameters = list(model.modules()), list(model.parameters())
    with pytest.raises(ValueError, match=message):
        swap_embeddings(model, example=torch.tensor([2, 3]))
    assert list(model.modules()) == layers
    assert all(new is old for new, old in zip(model.parameters(), parameters, strict=True))
    assert swap_embeddings(model) == {"inner.0": EQUAL}


def test_two_parameters_on_one_memory_are_refused():
    """One Parameter in two layers is swapped and stays shared."""
    model = Small()
    model.head.weight = nn.Parameter(model.tokens.weight.detach())
    with pytest.raises(ValueError, match=r"of tokens and head\.weight are two tensors on one mem"):
        swap_embeddings(model)
    model.head.weight = model.tokens.weight
    swap_embeddings(model)
    model.twin.linear.weight = nn.Parameter(model.tokens.weight.detach().T)
    with pytest.raises(ValueError, match="are two tensors on one memory"):
        swap_one_hot_linears(model)
    model = nn.Sequential(nn.Embedding(5, 3))
    model.register_buffer("mask", model[0].weight.detach())
    with pytest.raises(ValueError, match="weight of 0 and mask are two tensors on one memory"):
        swap_embeddings(model)


@pytest.mark.parametrize(
    ("swap", "make", "names", "error", "message"),
    [
        (swap_embeddings, lambda: nn.Embedding(5, 3), None, ValueError, "names has no Embedding of this Embedding, expected at least one; the model holds none; convert a single layer with to_linear"),
        (swap_embeddings, Small, [], ValueError, "names has no Embedding of this Small, expected at least one; name some of ['tokens', 'inner.positions.0', 'twin']"),
        (swap_embeddings, Small, ["token"], TypeError, "token is no module of the model, which cannot be swapped"),
        (swap_embeddings, Small, ["head"], TypeError, "head is a torch.nn.modules.linear.Linear, which cannot be swapped"),
        (swap_embeddings, lambda: nn.Sequential(one_hot_linear()), "0", TypeError, "expected Embedding; the model is swapped already; swap_one_hot_linears swaps it back."),
        (swap_embeddings, lambda: nn.Sequential(one_hot_linear()), None, ValueError, "expected at least one; the model is swapped already; swap_one_hot_linears swaps it back."),
        (swap_one_hot_linears, Small, "tokens", TypeError, "Embedding, which cannot be swapped, expected OneHotLinear; call swap_embeddings first."),
    ],
)  # fmt: skip
def test_names_of_no_layer_to_swap_are_refused(swap, make, names, error, message):
    """The message lists valid names, or says why there are none."""
    with pytest.raises(error, match=re.escape(message)):
        swap(make(), names)


@pytest.mark.filterwarnings("ignore:Lazy modules")
@pytest.mark.parametrize("name", ["linear", "module.linear"])
def test_other_modules_do_not_matter(name):
    """Neither those without a shape or a dense layout, nor a name that others contain."""
    model = nn.ModuleDict({"lazy": nn.LazyLinear(2), "bag": nn.EmbeddingBag(5, 3)})
    model.register_buffer("mask", torch.eye(3).to_sparse())
    parent, _, leaf = name.rpartition(".")
    model.module = nn.Module()
    setattr(model.get_submodule(parent), leaf, nn.Embedding(5, 3))
    weight = model.get_submodule(name).weight
    assert swap_embeddings(model, name) == {name: EQUAL}
    assert not shares_storage(model.get_submodule(name).weight, weight)
    assert swap_one_hot_linears(model) == {name: EQUAL}


def test_a_tied_parameter_stays_with_its_hooks_and_is_computed_from():
    """Torch saves the state dict, not the model; another parametrization would be lost."""
    model, shapes = Small(tie={"head"}), []
    model.tokens.weight.register_hook(lambda gradient: shapes.append(gradient.shape))
    swap_embeddings(model)
    model(torch.tensor([2, 3, 1])).sum().backward()
    assert shapes == [(5, 3)]
    torch.save(model.state_dict(), io.BytesIO())
    with pytest.raises(RuntimeError, match="only supported through state_dict"):
        torch.save(model, io.BytesIO())
    parametrize.register_parametrization(model.tokens.linear, "weight", nn.Identity())
    with pytest.raises(ValueError, match=r"tokens\.linear\.weight is computed from other param"):
        swap_one_hot_linears(model)


@pytest.mark.parametrize(("value", "count"), [(1.0, 128), (-0.0, 256)])
def test_as_many_rows_are_compared_as_documented(monkeypatch, value, count):
    """128 rows spread over the table, and 128 with a negative zero if there are as many."""
    calls = []
    forward = lambda layer, ids: calls.append(ids.tolist()) or layer.weight[ids]  # noqa: E731
    monkeypatch.setattr(OneHotLinear, "forward", forward)
    swap_embeddings(nn.Sequential(changed(nn.Embedding(1000, 3), lambda e: e.weight.fill_(value))))
    (ids,) = calls
    assert (len(ids), len({*ids[:128]})) == (count, 128)


def swap_wrapped_models():
    """Check that a wrapped part is refused, and layers beside a wrapper are swapped."""
    layers = nn.Sequential(nn.Embedding(5, 3), nn.Linear(3, 2))
    wrapped = FullyShardedDataParallel(layers, device_id=torch.device("cpu"))
    with pytest.raises(TypeError, match="a FullyShardedDataParallel, which would not know the"):
        swap_embeddings(nn.ModuleDict({"part": wrapped}))
    model = nn.ModuleDict({"inner2": nn.Embedding(5, 3), "inner": nn.Embedding(5, 3)})
    swap_embeddings(model, ["inner"])
    model["inner"] = DistributedDataParallel(model["inner"])
    assert swap_embeddings(model) == {"inner2": EQUAL}
    with pytest.raises(TypeError, match=r"in inner, a Dist.*; swap first, wrap after\."):
        swap_one_hot_linears(model)
    assert swap_one_hot_linears(model, ["inner2"]) == {"inner2": EQUAL}


def swap_beside_dtensors():
    """Swap an Embedding beside Parameters of FSDP2, then refuse a table on two processes."""
    mesh = distributed.init_device_mesh("cpu", (2,))
    torch.manual_seed(123)
    model = nn.ModuleDict({"tokens": nn.Embedding(5, 3), "head": nn.Linear(3, 2)})
    fully_shard(model["head"], mesh=mesh)
    ids = torch.tensor([2, 3, 1])
    before = model["head"](model["tokens"](ids))
    assert swap_embeddings(model) == {"tokens": EQUAL}
    scores = model["head"](model["tokens"](ids))
    scores.sum().backward()
    assert_bitwise_equal(scores, before)
    assert all(parameter.grad is not None for parameter in model.parameters())
    parallelize_module(model["tokens"].linear, mesh, ColwiseParallel())
    with pytest.raises(TypeError, match=r"tokens\.linear\.weight is a DTensor, expected a Par"):
        swap_one_hot_linears(model)


BESIDE_DTENSORS = pytest.param(
    swap_beside_dtensors,
    marks=pytest.mark.xfail(LOWEST, reason="torch 2.6 runs no FSDP2 on a CPU"),
)


@pytest.mark.parametrize("check", [swap_wrapped_models, BESIDE_DTENSORS])
def test_layers_outside_of_wrappers_are_swapped(check):
    """A wrapper would not know the new Parameter."""
    run_on_processes(check, 2)


@pytest.mark.parametrize("name", REFUSED)
def test_a_layer_that_cannot_be_swapped_is_refused_by_name(name):
    """The model does not change, though another layer could be swapped."""
    make, error, message = REFUSED[name]
    is_back = name.endswith("back")
    swap = swap_one_hot_linears if is_back else swap_embeddings
    tokens = one_hot_linear() if is_back else nn.Embedding(5, 3)
    model = nn.ModuleDict({"tokens": tokens, "inner": nn.ModuleDict({"layer": make()})})
    layers = list(model.modules())
    with pytest.raises(error, match=re.escape(message)):
        swap(model)
    assert list(model.modules()) == layers
    assert swap(model, ["tokens"]) == {"tokens": EQUAL}


def test_a_weight_that_another_layer_uses_in_its_own_shape_is_refused():
    """An Embedding cannot hold it."""
    model = nn.ModuleDict({"tokens": one_hot_linear(), "other": nn.Linear(5, 3, bias=False)})
    model["other"].weight = model["tokens"].linear.weight
    with pytest.raises(ValueError, match=r"weight of tokens.linear is that of another layer too"):
        swap_one_hot_linears(model)
    model["other"] = model["tokens"].linear
    with pytest.raises(ValueError, match=r"weight of tokens.linear is that of another layer too"):
        swap_one_hot_linears(model)
