"""The first module whose outputs differ is named, and neither model changes."""

from collections import OrderedDict
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass

import pytest
import torch
from planted import snapshot
from torch import nn

from lookup_matmul import first_difference, swap_embeddings
from lookup_matmul.diagnosis.pairs import map_name, pair_modules

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
    assert text.startswith(
        "The first outputs that differ are those of module '0' (Linear) in its call 2,"
    )


def test_a_call_that_one_model_does_not_make_is_named():
    """Only where outputs differ."""
    sigmoid, ones = nn.Sigmoid(), torch.ones(2)
    once, twice = (
        nn.Sequential(sigmoid, nn.Identity()),
        nn.Sequential(sigmoid, nn.Identity(), sigmoid),
    )
    difference = first_difference(twice, once, ones)
    assert (difference.name, difference.notes) == (
        "",
        ("Before, model_b makes no call of module '0'.",),
    )
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


class Cache:
    """What a language model returns beside its hidden states."""

    def __init__(self, rows):
        self.layers, self.length = [{"keys": rows * 2}], 7


@dataclass
class Output:
    """A result with a cache, or without."""

    logits: torch.Tensor
    cache: object = None
    name: str = "output"


class Body(nn.Module):
    """Scale rows of a table, mask them, and call blocks."""

    def __init__(self, factor=1.0):
        super().__init__()
        self.tokens, self.factor = nn.Embedding(5, 6), factor
        self.blocks = nn.ModuleList([Block(), Block()])

    def forward(self, ids, attention_mask=None):
        """Return a dict with a cache."""
        rows = self.factor * self.tokens(ids)
        if attention_mask is not None:
            rows = rows * attention_mask[..., None]
        for block in self.blocks:
            rows, _ = block(rows)
        return {"last_hidden_state": rows, "past_key_values": Cache(rows)}


class Language(nn.Module):
    """A body with dropout and a tied head, whose result is a dataclass."""

    def __init__(self, factor=1.0, tied=True):
        super().__init__()
        self.body, self.drop = Body(factor), nn.Dropout(0.5)
        self.head = nn.Linear(6, 5, bias=False)
        if tied:
            self.head.weight = self.body.tokens.weight

    def forward(self, ids, attention_mask=None):
        """Return logits and the cache."""
        result = self.body(ids, attention_mask=attention_mask)
        logits = self.head(self.drop(result["last_hidden_state"]))
        return Output(logits, result["past_key_values"])


def make_languages(factor=1.0, tied=True):
    """Return two models with the same weights, in evaluation mode; only a is surely tied."""
    torch.manual_seed(0)
    a, b = Language().eval(), Language(factor, tied).eval()
    b.load_state_dict(a.state_dict())
    return a, b


def test_outputs_with_caches_are_compared():
    """Tensors in dicts, dataclasses and objects; what else is in them is counted."""
    a, b = make_languages(tied=False)
    with torch.no_grad():
        b.head.weight[1, 1] += 1
    difference = first_difference(a, b, IDS)
    assert (difference.name, difference.types) == ("head", ("Linear", "Linear"))
    a, b = make_languages()
    b.register_forward_hook(lambda *all: Output(all[2].logits, Cache(torch.zeros(2, 3, 6))))
    difference = first_difference(a, b, IDS)
    assert (difference.name, difference.place) == ("", ".cache.layers[0]['keys']")
    assert "(Language), of shape (2, 3, 6) in output.cache.layers[0]['keys']: 36 of" in str(
        difference
    )
    assert difference.notes == ("Not compared: 1 str.",)
    b.register_forward_hook(lambda *all: Output(all[2].logits))
    assert "(Language): 2 tensors in a, 1 in b." in str(first_difference(a, b, IDS))
    b.register_forward_hook(lambda *all: all[2].logits)
    assert first_difference(a, b, IDS) is None  # a dataclass and a tensor, in order


def test_keyword_arguments_go_to_both_models():
    """The models differ only where something is masked."""
    a, b = make_languages()
    forward = b.body.forward
    b.body.forward = lambda ids, **_: forward(ids)
    mask = torch.ones(IDS.shape)
    assert first_difference(a, b, IDS, attention_mask=mask) is None
    mask[0, 1] = 0
    difference = first_difference(a, b, ids=IDS, attention_mask=mask)
    assert (difference.name, difference.parent) == ("body.blocks.0.norm", "body")


def test_one_model_is_compared_in_both_modes():
    """Dropout is the first difference; each module keeps its mode."""
    model = make_languages()[0]
    model.body.blocks[0].train()
    before = snapshot([model])
    for pair in ((model, model), (deepcopy(model).train(), model)):
        difference = first_difference(*pair, IDS)
        assert (difference.name, difference.types[0]) == ("drop", "Dropout")
        assert difference.notes == ("Its inputs agree.", "It is in train() in a, in eval() in b.")
        assert snapshot([model]) == before
    difference = first_difference(model.eval(), deepcopy(model).train(), IDS)
    assert difference.notes[1] == "It is in eval() in a, in train() in b."


@pytest.mark.parametrize(
    ("factor", "parent", "text"),
    [
        (6**0.5, "body", "they part in the forward of module 'body', before that of module 'body.blocks.0'."),
        (1.0, "body.blocks.1", "they part in the forward of module 'body.blocks.1', before this call."),
    ],
)  # fmt: skip
def test_the_parent_in_whose_forward_inputs_part_is_named(factor, parent, text):
    """A factor that only one body has, and a block that changes its input."""
    a, b = make_languages(factor)
    if factor == 1.0:
        b.body.blocks[1].norm.register_forward_pre_hook(lambda _, inputs: inputs)
        b.body.blocks[1].forward = lambda rows: Block.forward(b.body.blocks[1], rows + 1)
    difference = first_difference(a, b, IDS)
    assert difference.name == f"body.blocks.{int(factor == 1.0)}.norm"
    assert (difference.parent, difference.notes) == (
        parent,
        (f"Its inputs differ already: {text}",),
    )


class Masked(nn.Module):
    """A layer that its model calls as ``call`` says."""

    def __init__(self, call, factor=1.0):
        super().__init__()
        self.call, self.layer = call, nn.Identity()
        self.layer.forward = lambda rows, **_: factor * rows

    def forward(self, rows):
        """Return what the layer returns."""
        return self.call(self.layer, rows)


@pytest.mark.parametrize(
    ("call", "note"),
    [
        (lambda layer, rows: layer(rows=rows), "Its inputs agree."),
        (lambda layer, rows: layer(rows, cache=Cache(rows + 1)), "Its inputs agree."),
        (lambda layer, rows: layer(rows=rows + 1), "Its inputs differ already: they part in the forward of the whole model, before this call."),
        (lambda layer, rows: layer(rows, mask=rows > 0), "Its inputs are of other kinds, and were not compared."),
    ],
)  # fmt: skip
def test_inputs_of_a_port_are_paired_by_shape(call, note):
    """Unless one of them has others."""
    difference = first_difference(
        Masked(lambda layer, rows: layer(rows)), Masked(call, 2.0), torch.ones(2)
    )
    assert (difference.name, difference.notes) == ("layer", (note,))
    assert difference.parent == ("" if "part" in note else None)


def test_a_hook_belongs_to_its_module():
    """Inputs are compared as they are before hooks, and outputs as they are after them."""
    a, b = make_languages()
    b.body.blocks[0].norm.register_forward_pre_hook(lambda _, rows: (rows[0] + IDS[..., None],))
    difference = first_difference(a, b, IDS)
    assert (difference.name, difference.notes) == ("body.blocks.0.norm", ("Its inputs agree.",))


@pytest.mark.parametrize("tied", [True, False])
def test_a_tie_of_one_model_is_named(tied):
    """Also where all outputs agree, and beside a difference of outputs."""
    a, b = make_languages(tied=tied)
    if tied:
        assert first_difference(a, b, IDS) is None
        return
    sentence = "ties head.weight to body.tokens.weight, model_"
    difference = first_difference(a, b, IDS)
    assert (difference.name, difference.call, difference.types) == ("head", 0, ("Linear", "Linear"))
    assert str(difference) == f"All outputs agree, but model_a {sentence}b does not."
    assert (
        str(first_difference(b, a, IDS)) == f"All outputs agree, but model_b {sentence}a does not."
    )
    with torch.no_grad():
        b.head.weight.zero_()
    assert str(first_difference(a, b, IDS)).endswith(f"Besides, model_a {sentence}b does not.")


def test_a_module_that_compiles_in_place_is_recorded_outside_of_its_graph():
    """Its graph copies nothing, and its own call is there again afterwards."""
    model, graphs = make_languages()[0], []
    compiled = deepcopy(model)
    compiled.body.compile(backend=lambda graph, _: graphs.append(graph) or graph.forward)
    call = compiled.body._compiled_call_impl
    assert first_difference(model, compiled, IDS) is None
    assert graphs
    assert not [node for graph in graphs for node in graph.graph.nodes if node.target == "to"]
    assert compiled.body._compiled_call_impl is call


def test_a_call_whose_error_the_model_catches_has_no_output():
    """The calls after it have their own caller."""

    class Catching(nn.Module):
        def __init__(self, factor=1.0):
            super().__init__()
            self.fails, self.layer, self.factor = nn.Linear(7, 7), nn.Identity(), factor

        def forward(self, rows):
            with suppress(RuntimeError):
                self.fails(rows)
            return self.layer(self.factor * rows)

    models = nn.Sequential(Catching()), nn.Sequential(Catching(2.0))
    assert first_difference(models[0], models[0], torch.ones(2)) is None
    assert first_difference(*models, torch.ones(2)).name == "0.layer"
    difference = first_difference(
        *models, torch.ones(2), names=lambda n: n if n != "0.layer" else None
    )
    assert (difference.name, difference.notes) == ("0", ("Its inputs agree.",))


class Port(nn.Module):
    """The same model under other names, with a tensor as its result."""

    def __init__(self):
        super().__init__()
        self.embed, self.layers, self.out = (
            nn.Embedding(5, 6),
            nn.Sequential(Block(), Block()),
            nn.Linear(6, 5, bias=False),
        )

    def forward(self, ids):
        """Return logits."""
        rows = self.embed(ids)
        for layer in self.layers:
            rows, _ = layer(rows)
        return self.out(rows)


NAMES = {"body.tokens": "embed", "body.blocks": "layers", "head": "out"}


def rename(name):
    """Return the name in the port, as a function."""
    for old, new in NAMES.items():
        name = name.replace(old, new)
    return None if name.startswith("body") else name


@pytest.mark.parametrize("names", [NAMES, rename])
def test_a_port_is_compared_by_a_map_of_names(names):
    """A dict, whose entries hold for the modules inside, or a function."""
    a, port = make_languages(tied=False)[1], Port().eval()
    port.load_state_dict({rename(key): value for key, value in a.state_dict().items()})
    assert first_difference(a, port, IDS, names=names) is None
    port.layers[1].norm.eps = 1.0
    difference = first_difference(a, port, IDS, names=names)
    assert (difference.name, difference.notes) == ("body.blocks.1.norm", ("Its inputs agree.",))
    port.out.weight = port.embed.weight
    assert "model_b ties head.weight to body.tokens.weight" in str(
        first_difference(a, port, IDS, names=names)
    )


def test_two_classes_of_one_name_have_their_modules():
    """An adapter has the name of the layer that it wraps."""

    class Linear(nn.Linear):
        def forward(self, rows):
            return 2 * super().forward(rows)

    difference = first_difference(
        nn.Sequential(nn.Linear(2, 2)), nn.Sequential(Linear(2, 2)), torch.ones(2)
    )
    assert difference.types == (
        "torch.nn.modules.linear.Linear",
        f"{__name__}.{Linear.__qualname__}",
    )


@pytest.mark.parametrize(
    ("names", "name", "expected"),
    [
        ({}, "h.0", "h.0"),
        ({"h": "blocks"}, "h.0.norm", "blocks.0.norm"),
        ({"h": "blocks"}, "head", "head"),
        ({"h": "blocks", "h.1": "last"}, "h.1.norm", "last.norm"),
        ({"h.1": "last", "h": "blocks"}, "h.1", "last"),
        ({"": "inner"}, "h.0", "inner.h.0"),
        ({"": "inner"}, "", "inner"),
        ({"inner": ""}, "inner.h", "h"),
        (str.upper, "h", "H"),
    ],
)
def test_names_are_mapped(names, name, expected):
    """The longest entry counts."""
    assert map_name(name, names) == expected


def test_a_mapped_name_comes_before_an_equal_one():
    """A wrapper has the empty name, as what it wraps has in b."""
    b = nn.Sequential(nn.ReLU())
    wrapper = nn.Sequential(OrderedDict(module=deepcopy(b)))
    pairs = pair_modules(wrapper, b, {"module": ""})
    assert pairs == {"module": (wrapper.module, b), "module.0": (wrapper.module[0], b[0])}


def test_a_wrapper_is_compared_with_what_it_wraps():
    """By the empty name of the whole model."""
    a, b = make_languages()
    wrapper = nn.Sequential(OrderedDict(module=a))
    for names in ({"module": ""}, lambda name: name.removeprefix("module").lstrip(".")):
        assert first_difference(wrapper, b, IDS, names=names) is None
    assert first_difference(b, wrapper, IDS, names={"": "module"}) is None
    b.body.factor = 2.0
    difference = first_difference(wrapper, b, IDS, names={"module": ""})
    assert (difference.name, difference.parent) == ("module.body.blocks.0.norm", "module.body")


def compile_in_place(module):
    """Compile a module without a wrapper."""
    module.compile(backend="eager", fullgraph=True)
    return module


def compile_forward(module):
    """Compile the forward alone."""
    module.forward = torch.compile(module.forward, backend="eager")
    return module


@pytest.mark.parametrize(
    "compile_module",
    [lambda m: torch.compile(m, backend="eager"), compile_in_place, compile_forward],
)
@pytest.mark.parametrize("place", ["", "body"])
def test_a_compiled_model_is_compared_with_its_original(compile_module, place):
    """As a whole, or a part of it; what is inside of a compiled module is not compared."""
    model = make_languages()[0]
    compiled = deepcopy(model)
    part = compile_module(compiled.get_submodule(place))
    if place:
        compiled.body = part
    else:
        compiled = part
    assert first_difference(model, compiled, IDS) is None
    assert first_difference(compiled, compiled, IDS).name == ("" if not place else "drop")
    with torch.no_grad():
        model.body.blocks[0].mlp[0].bias += 1
    difference = first_difference(model, compiled, IDS)
    assert difference.name == place
    assert "Of a compiled module, the modules inside were not compared." in difference.notes
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in compiled.modules())


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
    for names, error, message in (
        ({"0": "1"}, ValueError, "names has '1', which is no module of model_b"),
        ({"2": "0"}, ValueError, "names has '2', which is no module of model_a, .* such as '0'"),
        (["0"], TypeError, "names is a list, expected a dict"),
    ):
        with pytest.raises(error, match=message):
            first_difference(nn.Sequential(nn.ReLU()), nn.Sequential(nn.ReLU()), IDS, names=names)
    with pytest.raises(ValueError, match="atol is -1, expected a finite number"):
        first_difference(nn.ReLU(), nn.ReLU(), IDS, atol=-1)
