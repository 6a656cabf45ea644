"""Swapping the layers of a whole model: the same outputs, nothing lost, or a refusal by name."""

import copy
import re
import socket

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import distributed, nn
from torch.distributed.fsdp import FullyShardedDataParallel, fully_shard
from torch.nn.parallel import DistributedDataParallel
from torch.nn.utils import parametrize

from lookup_matmul import (
    OneHotLinear,
    assert_bitwise_equal,
    assert_within,
    shares_storage,
    swap_embeddings,
    swap_one_hot_linears,
)
from lookup_matmul.onehot.one_hot_linear import used_table

pytestmark = pytest.mark.usefixtures("one_thread")

EQUAL = "equal in every bit"


class Small(nn.Module):
    """Tokens and positions, a second table for tokens, and a head; tied or not."""

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
    """Return which names of state-dict tensors stand for one Parameter, as sorted sizes."""
    named = model.named_parameters(remove_duplicate=False)
    groups = {}
    for name, parameter in named:
        groups.setdefault(parameter, set()).add(name.split(".")[0])
    return sorted(sorted(group) for group in groups.values())


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
    """Take one step of gradient descent whose every number is exact, and give the weights."""
    parameters = [p for p in model.parameters() if p.requires_grad]
    scores = model(ids)
    if parameters:
        (scores * torch.arange(1, scores.shape[-1] + 1)).sum().backward()
        torch.optim.SGD(parameters, lr=0.5).step()
    return scores


@settings(deadline=None, max_examples=30)
@given(models())
def test_there_and_back_leaves_outputs_and_state(model_and_ids):
    """In every bit, with the names, the ties and what trains; no random numbers are used."""
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


@settings(deadline=None, max_examples=30)
@given(models(dtypes=(torch.float32, torch.float64)))
def test_a_training_step_is_the_same_on_both_sides(model_and_ids):
    """With weights that make every sum exact: the same table, the gradient for the padding out."""
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
    """By name; the other stays an Embedding, the table one Parameter; then the rest follows."""
    model = Small(tie={"twin"}, device=device)
    table = model.tokens.weight
    assert swap_embeddings(model, ["twin"]) == {"twin": EQUAL}
    assert model.tokens.weight is table is used_table(model.twin.linear)
    assert isinstance(model.twin.linear, nn.Linear)
    assert shares_storage(model.twin.weight, table)
    swap_embeddings(model)
    assert type(model.inner["positions"][0].linear) is nn.Linear
    assert used_table(model.tokens.linear) is table is used_table(model.twin.linear)
    swap_one_hot_linears(model, ["tokens"])
    assert isinstance(model.tokens, nn.Embedding)
    assert isinstance(model.twin, OneHotLinear)
    assert model.tokens.weight is table is used_table(model.twin.linear)


@pytest.mark.filterwarnings("ignore:Full backward hook is firing")  # as with any layer of ids
def test_what_belongs_to_a_layer_goes_along():
    """Hooks with their handles, the gradient collected so far, marks, and the mode."""
    model, calls = Small().eval(), []
    layer, ids = model.tokens, torch.tensor([2, 3, 1])
    model(ids).sum().backward()
    gradient = layer.weight.grad.clone()
    layer.mark = layer.weight.mark = "kept"
    handles = [
        layer.register_forward_hook(lambda *_: calls.append("forward")),
        layer.register_forward_pre_hook(lambda _, __, kwargs: calls.append(kwargs), with_kwargs=True),
        layer.register_full_backward_pre_hook(lambda _, gradients: calls.append(gradients[0].shape)),
    ]  # fmt: skip
    swap_embeddings(model)
    assert not calls  # comparing the rows has not run them
    assert (model.tokens.mark, model.tokens.linear.weight.mark) == ("kept", "kept")
    assert not model.tokens.training
    assert_bitwise_equal(model.tokens.linear.weight.grad.T, gradient)
    model(ids).sum().backward()
    assert calls == [{}, "forward", (3, 3)]
    swap_one_hot_linears(model)
    assert model.tokens.mark == model.tokens.weight.mark == "kept"
    assert_within(model.tokens.weight.grad, 2 * gradient, 1e-5)
    for handle in handles:
        handle.remove()
    model(ids).sum().backward()
    assert len(calls) == 3


def test_a_negative_zero_is_reported():
    """It comes out as a positive one: equal in value, and said so, also past the rows tried."""
    model = nn.Sequential(nn.Embedding(1000, 2), nn.Embedding(3, 2))
    with torch.no_grad():
        model[0].weight[501, 1] = -0.0
    assert swap_embeddings(model) == {"0": "equal, with -0 as +0", "1": EQUAL}
    assert swap_one_hot_linears(model) == {"0": "equal, with -0 as +0", "1": EQUAL}


def test_subnormal_numbers_that_are_lost_are_reported():
    """As where the machine flushes them: even a comparison takes them for zeros."""
    model = nn.Sequential(nn.Embedding(1000, 2))
    with torch.no_grad():
        model[0].weight[501, 1] = 1e-40
    if not torch.set_flush_denormal(True):
        pytest.skip("this processor cannot flush them")
    try:
        (outcome,) = swap_embeddings(model).values()
    finally:
        torch.set_flush_denormal(False)
    assert outcome == "within 1.2e-38, with subnormal numbers as 0"


def test_a_swap_without_gradients_can_be_trained_later():
    """Inference mode, or a default device, does not reach the new Parameter."""
    model = nn.Sequential(nn.Embedding(5, 3))
    with torch.inference_mode(), torch.device("meta"):
        swap_embeddings(model)
    model(torch.tensor([2, 3])).sum().backward()
    assert model[0].linear.weight.grad.sum() == 6
    with torch.inference_mode(), torch.device("meta"):
        swap_one_hot_linears(model)
    model(torch.tensor([2, 3])).sum().backward()
    assert model[0].weight.grad.sum() == 12


def test_a_sparse_gradient_goes_along_dense():
    """It was collected before ``sparse`` was set to False, as the refusal advises."""
    model = nn.Sequential(nn.Embedding(5, 3, sparse=True))
    model(torch.tensor([2, 3])).sum().backward()
    model[0].sparse = False
    swap_embeddings(model)
    assert model[0].linear.weight.grad.sum(dim=0).tolist() == [0.0, 0.0, 3.0, 3.0, 0.0]


def test_a_product_that_rounds_is_refused(monkeypatch):
    """As with TF32: the model is left as it was."""
    model = Small()
    rounded = lambda layer, ids: layer.weight[ids].bfloat16().float()  # noqa: E731
    monkeypatch.setattr(OneHotLinear, "forward", rounded)
    with pytest.raises(ValueError, match=r"product of tokens is off by .* reduced precision"):
        swap_embeddings(model)
    assert isinstance(model.tokens, nn.Embedding)


def test_rows_spread_over_the_whole_table_are_compared(monkeypatch):
    """The last is among them, and is named by its own number."""
    wrong = lambda layer, ids: layer.weight[ids] + (ids == 999).unsqueeze(-1)  # noqa: E731
    monkeypatch.setattr(OneHotLinear, "forward", wrong)
    with pytest.raises(ValueError, match=r"off by 1 in row 999,"):
        swap_embeddings(nn.Sequential(nn.Embedding(1000, 2)))


class Named(nn.Embedding):
    """An Embedding that a tool may ask for its name."""


def with_weight(change, rows=5):
    """Return an Embedding that was changed."""
    layer = nn.Embedding(rows, 3)
    with torch.no_grad():
        change(layer)
    return layer


# Name: how it is made, the error, and how its text begins.
REFUSED = {
    "max_norm": (lambda: nn.Embedding(5, 3, max_norm=1.0), ValueError, "inner.layer is an Embedding with max_norm=1.0: an Embedding then shortens rows"),
    "max_norm of zero": (lambda: nn.Embedding(5, 3, max_norm=0.0), ValueError, "inner.layer is an Embedding with max_norm=0.0"),
    "buffer": (lambda: with_weight(lambda e: e.register_buffer("scale", torch.ones(3))), ValueError, "inner.layer holds scale besides its table, which the swap would lose"),
    "Parameter": (lambda: with_weight(lambda e: e.register_parameter("extra", nn.Parameter(torch.ones(3)))), ValueError, "inner.layer holds extra besides its table"),
    "bias": (lambda: with_weight(lambda e: e.register_parameter("bias", nn.Parameter(torch.ones(3)))), ValueError, "inner.layer holds bias besides its table"),
    "child": (lambda: with_weight(lambda e: e.add_module("norm", nn.LayerNorm(3))), ValueError, "inner.layer holds norm besides its table"),
    "scale_grad_by_freq": (lambda: nn.Embedding(5, 3, scale_grad_by_freq=True), ValueError, "inner.layer is an Embedding with scale_grad_by_freq=True"),
    "sparse": (lambda: nn.Embedding(5, 3, sparse=True), ValueError, "inner.layer is an Embedding with sparse=True: the gradient of a product is dense"),
    "patched": (lambda: with_weight(lambda e: setattr(e, "forward", lambda ids: ids)), TypeError, "inner.layer is a torch.nn.modules.sparse.Embedding, expected Embedding itself, since what a subclass or a forward"),
    "subclass": (lambda: Named(5, 3), TypeError, "inner.layer is a test_swap.Named, expected Embedding itself, since what a subclass"),
    "bag": (lambda: nn.EmbeddingBag(5, 3), TypeError, "inner.layer is a torch.nn.modules.sparse.EmbeddingBag, which cannot be swapped, expected Embedding; name some of ['tokens']"),
    "meta": (lambda: nn.Embedding(5, 3, device="meta"), ValueError, "inner.layer.weight is on meta, which has no numbers, expected some"),
    "computed": (lambda: nn.utils.parametrizations.weight_norm(nn.Embedding(5, 3)), ValueError, "inner.layer.weight is computed from other parameters"),
    "NaN": (lambda: with_weight(lambda e: e.weight[3].fill_(float("nan"))), ValueError, "the table of inner.layer has NaN or infinity in 1 of 5 rows, the first in row 3"),
    "infinity": (lambda: with_weight(lambda e: e.weight[2, 1].fill_(float("inf"))), ValueError, "the table of inner.layer has NaN or infinity in 1 of 5 rows, the first in row 2"),
    "no columns": (lambda: nn.Embedding(5, 0), ValueError, "inner.layer.weight has shape (5, 0), expected at least one column"),
    "eight bits": (lambda: nn.Embedding(5, 3).to(torch.float8_e4m3fn), TypeError, "inner.layer.weight has dtype torch.float8_e4m3fn, expected float16, bfloat16, float32 or float64"),
    "complex": (lambda: nn.Embedding(5, 3, dtype=torch.complex64), TypeError, "inner.layer.weight has dtype torch.complex64, expected float16, bfloat16, float32 or float64"),
    "state hook": (lambda: with_weight(lambda e: e.register_state_dict_pre_hook(lambda *_: None)), ValueError, "inner.layer has hooks on its state dict (_state_dict_pre_hooks)"),
    "parameter hook": (lambda: with_weight(lambda e: e.weight.register_hook(lambda g: g)), ValueError, "the weight of inner.layer has hooks of its own, which expect gradients of shape (5, 3)"),
    "hook after the gradient": (lambda: with_weight(lambda e: e.weight.register_post_accumulate_grad_hook(print)), ValueError, "the weight of inner.layer has hooks of its own"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_kept_is_refused_by_name(case):
    """With the reason; and a layer that could be swapped is left, since not all could be."""
    make, error, message = REFUSED[case]
    model = nn.ModuleDict({"tokens": nn.Embedding(5, 3), "inner": nn.ModuleDict({"layer": make()})})
    layers = list(model.modules())
    with pytest.raises(error, match=re.escape(message)):
        swap_embeddings(model)
    assert list(model.modules()) == layers
    assert swap_embeddings(model, ["tokens"]) == {"tokens": EQUAL}


def test_hooks_on_a_tied_parameter_stay():
    """It is not transposed, so they get what they expect."""
    model, shapes = Small(tie={"head"}), []
    model.tokens.weight.register_hook(lambda gradient: shapes.append(gradient.shape))
    swap_embeddings(model)
    model(torch.tensor([2, 3, 1])).sum().backward()
    assert shapes == [(5, 3)]


def test_two_parameters_on_one_memory_are_refused():
    """A swap would part them in silence; tied in earnest, they stay together."""
    model = Small()
    model.head.weight = nn.Parameter(model.tokens.weight.detach())
    with pytest.raises(
        ValueError, match=r"weight of tokens and head\.weight are two tensors on one"
    ):
        swap_embeddings(model)
    model.head.weight = model.tokens.weight
    swap_embeddings(model)
    model.twin.linear.weight = nn.Parameter(model.tokens.weight.detach().T)
    with pytest.raises(ValueError, match="are two tensors on one memory"):
        swap_one_hot_linears(model)
    model = nn.Sequential(nn.Embedding(5, 3))
    model.register_buffer("kept", model[0].weight.detach())
    with pytest.raises(ValueError, match="weight of 0 and kept are two tensors on one memory"):
        swap_embeddings(model)


@pytest.mark.parametrize(
    ("make", "names", "error", "message"),
    [
        (lambda: nn.Embedding(5, 3), None, ValueError, "names is None and model, a Embedding, holds []"),
        (Small, [], ValueError, "names is [] and model, a Small, holds ['tokens', 'inner.positions.0', 'twin']"),
        (Small, ["token"], TypeError, "token is no module of the model, which cannot be swapped"),
        (Small, ["head"], TypeError, "head is a torch.nn.modules.linear.Linear, which cannot be swapped"),
    ],
)  # fmt: skip
def test_names_that_name_no_embedding_are_refused(make, names, error, message):
    """The message lists those that do."""
    with pytest.raises(error, match=re.escape(message)):
        swap_embeddings(make(), names)


@pytest.mark.parametrize("swap", [swap_embeddings, swap_one_hot_linears])
def test_a_string_is_the_name_of_one_module(swap):
    """Its letters are not taken for the names of several."""
    layers = [nn.Embedding(5, 3) for _ in range(11)]
    model = nn.Sequential(*layers)
    if swap is swap_one_hot_linears:
        swap_embeddings(model)
    assert swap(model, "10") == {"10": EQUAL}


def test_a_swapped_model_has_nothing_left_to_name():
    """The message says so and offers no empty list to choose from."""
    model = nn.Sequential(nn.Embedding(5, 3))
    swap_embeddings(model, "0")
    message = r"0 is a lookup_matmul.*OneHotLinear, .*, expected Embedding; the model holds none\."
    with pytest.raises(TypeError, match=message):
        swap_embeddings(model, "0")


def test_other_tensors_of_a_model_may_be_sparse():
    """Only strided tensors can share memory with a table."""
    model = nn.Sequential(nn.Embedding(5, 3))
    model.register_buffer("mask", torch.eye(3).to_sparse())
    assert swap_embeddings(model) == {"0": EQUAL}


def test_embedding_bags_do_not_hinder_the_way_back():
    """They are refused by ``swap_embeddings`` without names, but need not be swapped back."""
    model = nn.Sequential(nn.Embedding(5, 3), nn.EmbeddingBag(5, 3))
    swap_embeddings(model, "0")
    assert swap_one_hot_linears(model) == {"0": EQUAL}


def test_a_second_parametrization_of_a_tied_weight_is_refused():
    """An Embedding with the tied table would drop it."""
    model = Small(tie={"head"})
    swap_embeddings(model, ["tokens"])
    parametrize.register_parametrization(model.tokens.linear, "weight", nn.Identity())
    with pytest.raises(ValueError, match=r"tokens\.linear\.weight is computed from other param"):
        swap_one_hot_linears(model)


@pytest.mark.parametrize(("value", "count"), [(1.0, 128), (-0.0, 256)])
def test_as_many_rows_are_compared_as_documented(monkeypatch, value, count):
    """128 rows spread over the table, and 128 with a negative zero if there are as many."""
    compared_ids = []

    def forward(layer, ids):
        compared_ids.extend(ids.tolist())
        return layer.weight[ids]

    monkeypatch.setattr(OneHotLinear, "forward", forward)
    swap_embeddings(nn.Sequential(with_weight(lambda e: e.weight.fill_(value), rows=1000)))
    assert len(compared_ids) == count
    assert len({*compared_ids[:128]}) == 128


@pytest.fixture
def group(monkeypatch):
    """Make a process group of this process alone, which listens to nobody else."""
    loopback = next(name for _, name in socket.if_nameindex() if name.startswith("lo"))
    monkeypatch.setenv("GLOO_SOCKET_IFNAME", loopback)
    distributed.init_process_group("gloo", store=distributed.HashStore(), rank=0, world_size=1)
    yield
    distributed.destroy_process_group()


WRAPPED = {
    "DistributedDataParallel": DistributedDataParallel,
    "FullyShardedDataParallel": lambda model: FullyShardedDataParallel(
        model, device_id=torch.device("cpu")
    ),
    "FSDPModule": lambda model: fully_shard(model, mesh=distributed.init_device_mesh("cpu", (1,))),
}


@pytest.mark.filterwarnings("ignore")  # what wrappers say of a CPU, and of versions to come
@pytest.mark.usefixtures("group")
@pytest.mark.parametrize("kind", WRAPPED)
def test_a_wrapped_model_is_refused(kind):
    """The wrapper has noted its Parameters, alone or as a part of another model."""
    wrapped = WRAPPED[kind](nn.Sequential(nn.Embedding(5, 3), nn.Linear(3, 2)))
    for model in (wrapped, nn.ModuleDict({"whole": wrapped})):
        layers = list(model.modules())
        with pytest.raises(TypeError, match=f"a {kind}, which would not know the new Parameter"):
            swap_embeddings(model)
        assert list(model.modules()) == layers


@pytest.mark.usefixtures("group")
def test_what_is_beside_a_wrapper_can_be_swapped():
    """And a model that was swapped first and wrapped after is not swapped back in there."""
    model = nn.ModuleDict({"inner2": nn.Embedding(5, 3), "inner": nn.Embedding(5, 3)})
    swap_embeddings(model, ["inner"])
    model["inner"] = DistributedDataParallel(model["inner"])
    assert swap_embeddings(model) == {"inner2": EQUAL}
    with pytest.raises(TypeError, match=r"in inner, a Dist.*; swap first, wrap after\."):
        swap_one_hot_linears(model)
    assert swap_one_hot_linears(model, ["inner2"]) == {"inner2": EQUAL}


@pytest.mark.filterwarnings("ignore:Lazy modules")
def test_a_lazy_layer_elsewhere_does_no_harm():
    """It is left as it is."""
    model = nn.Sequential(nn.Embedding(5, 3), nn.LazyLinear(2))
    assert swap_embeddings(model) == {"0": EQUAL}
    assert model(torch.tensor([2, 3, 1])).shape == (3, 2)


def one_hot_linear(change=lambda _: None, **options):
    """Return a OneHotLinear that was changed."""
    layer = OneHotLinear(nn.Linear(5, 3, bias=False, **options))
    change(layer)
    return layer


REFUSED_BACK = {
    "patched": (lambda: one_hot_linear(lambda m: setattr(m, "forward", lambda ids: ids)), TypeError, "expected OneHotLinear itself, since what a subclass or a forward of its own"),
    "replaced": (lambda: one_hot_linear(lambda m: setattr(m, "linear", nn.Bilinear(5, 5, 3))), TypeError, "layer.linear is a torch.nn.modules.linear.Bilinear, expected Linear itself"),
    "bias": (lambda: one_hot_linear(lambda m: setattr(m, "linear", nn.Linear(5, 3))), ValueError, "has a bias, expected none"),
    "hook": (lambda: one_hot_linear(lambda m: m.linear.register_forward_hook(print)), ValueError, "layer.linear has hooks (_forward_hooks"),
    "parameter hook": (lambda: one_hot_linear(lambda m: m.linear.weight.register_hook(lambda g: g)), ValueError, "the weight of layer has hooks of its own, which expect gradients of shape (3, 5)"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED_BACK)
def test_what_cannot_be_kept_on_the_way_back_is_refused_by_name(case):
    """Among them what tools leave behind in the Linear."""
    make, error, message = REFUSED_BACK[case]
    model = nn.ModuleDict({"tokens": one_hot_linear(), "layer": make()})
    layers = list(model.modules())
    with pytest.raises(error, match=re.escape(message)):
        swap_one_hot_linears(model)
    assert list(model.modules()) == layers


def test_a_weight_that_another_layer_uses_in_its_own_shape_is_refused():
    """An Embedding cannot hold it; and a plain Linear takes rows, which no Embedding does."""
    model = nn.ModuleDict({"tokens": one_hot_linear(), "other": nn.Linear(5, 3, bias=False)})
    with pytest.raises(TypeError, match=r"other is a torch.nn.modules.linear.Linear, which"):
        swap_one_hot_linears(model, ["other"])
    model["other"].weight = model["tokens"].linear.weight
    with pytest.raises(ValueError, match=r"weight of tokens.linear is that of another layer too"):
        swap_one_hot_linears(model)
    model["other"] = model["tokens"].linear
    with pytest.raises(ValueError, match=r"weight of tokens.linear is that of another layer too"):
        swap_one_hot_linears(model)
