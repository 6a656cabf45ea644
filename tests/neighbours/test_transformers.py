"""Models of transformers: the module with a fault is named, and layers are swapped or refused."""

from copy import deepcopy

import pytest
import torch
import transformers
from networks import IDS, NETWORKS, TIED, VOCAB_SIZE, list_layers, make_input, make_network
from torch import nn

from lookup_matmul import (
    check_ids,
    compare,
    first_difference,
    probe_lookup,
    swap_embeddings,
    swap_one_hot_linears,
    to_linear,
)

HOLDERS = [(name, layer) for name in NETWORKS for layer in list_layers(make_network(name))]


@pytest.fixture(params=NETWORKS)
def network(request):
    """Return the name of each model."""
    return request.param


@pytest.fixture
def pair(network):
    """Return two equal models and their input."""
    model = make_network(network)
    return model, deepcopy(model), make_input(model)


def test_equal_models_have_no_difference(pair):
    """With caches and dataclasses in their outputs, and a mask as keyword."""
    a, b, arguments = pair
    assert first_difference(a, b, **arguments) is None
    arguments["attention_mask"] = None
    assert first_difference(a, b, **arguments) is None


@pytest.mark.parametrize(("name", "layer"), HOLDERS, ids=lambda name: name)
def test_the_layer_whose_parameter_differs_is_named(name, layer):
    """A tied parameter by the first module that uses it."""
    a = make_network(name)
    b, arguments = deepcopy(a), make_input(a)
    (parameter, *_) = b.get_submodule(layer).parameters(recurse=False)
    with torch.no_grad():
        parameter.add_(torch.randn(parameter.shape))
    users = [
        n for n, m in b.named_modules() if any(p is parameter for p in m.parameters(recurse=False))
    ]
    difference = first_difference(a, b, **arguments)
    assert difference.name in users
    assert difference.notes == ("Its inputs agree.",)


def test_dropout_is_the_difference_of_the_two_modes(pair):
    """Unless a model has none; that of BART is a function in the forward of its encoder."""
    model, _, arguments = pair
    difference = first_difference(model, model, **arguments)
    has_dropout = any(isinstance(m, nn.Dropout) and m.p for m in model.modules())
    if not has_dropout:
        has_dropout = getattr(model.config, "dropout", 0)
    assert (difference is None) == (not has_dropout)
    if has_dropout:
        assert "It is in train() in a, in eval() in b." in difference.notes
        assert difference.types[0] == "Dropout" or difference.parent == "model.encoder"
    assert not model.training


def test_a_mask_that_one_model_ignores_is_seen_in_the_attention(pair):
    """Its rows are the first that differ."""
    a, b, arguments = pair
    forward = b.forward
    b.forward = lambda **keywords: forward(**(keywords | {"attention_mask": None}))
    difference = first_difference(a, b, **arguments)
    assert "att" in difference.name.lower()


@pytest.mark.parametrize(
    ("name", "block", "inner"),
    [
        ("gpt2", "transformer.h.1", "ln_1"),
        ("llama", "model.layers.1", "input_layernorm"),
        ("qwen2", "model.layers.0", "input_layernorm"),
        ("bert", "encoder.layer.0", "attention.self.query"),
        ("t5", "encoder.block.0", "layer.0.layer_norm"),
    ],
)
def test_the_parent_in_whose_forward_inputs_part_is_named(name, block, inner):
    """A block doubles the rows that it gets."""
    a = make_network(name)
    b = deepcopy(a)
    forward = b.get_submodule(block).forward
    b.get_submodule(block).forward = lambda rows, *rest, **keywords: forward(
        2 * rows, *rest, **keywords
    )
    difference = first_difference(a, b, **make_input(a))
    assert (difference.name, difference.parent) == (f"{block}.{inner}", block)


@pytest.mark.parametrize("name", TIED)
def test_a_lost_tie_is_named(name):
    """Outputs agree until the first training step."""
    a = make_network(name)
    b, arguments = deepcopy(a), make_input(a)
    head = b.get_output_embeddings()
    head.weight = nn.Parameter(head.weight.detach().clone())
    difference = first_difference(a, b, **arguments)
    assert (difference.name, difference.call) == ("lm_head", 0)
    assert "but model_a ties lm_head.weight to " in str(difference)
    with torch.no_grad():
        head.weight.add_(1)
    difference = first_difference(a, b, **arguments)
    assert (difference.name, difference.call) == ("lm_head", 1)
    assert "model_a ties lm_head.weight to " in difference.notes[-1]


def test_a_saved_model_is_the_same_after_loading(pair, tmp_path):
    """And another one if its Embedding is not swapped back before."""
    model, swapped, arguments = pair
    model.save_pretrained(tmp_path / "model")
    assert (
        first_difference(model, type(model).from_pretrained(tmp_path / "model").eval(), **arguments)
        is None
    )
    names = plain_embeddings(model)
    if not names:
        return
    swap_embeddings(swapped, names)
    restored = deepcopy(swapped)
    swap_one_hot_linears(restored)
    restored.save_pretrained(tmp_path / "restored")
    assert (
        first_difference(
            model, type(model).from_pretrained(tmp_path / "restored").eval(), **arguments
        )
        is None
    )


@pytest.mark.parametrize("name", ["llama", "bert"])
def test_a_swapped_model_loads_random_rows(name, tmp_path):
    """As the docstring of the swap says; the first layer that differs is the Embedding."""
    model = make_network(name)
    swapped = deepcopy(model)
    (layer, *_) = swap_embeddings(swapped)
    swapped.save_pretrained(tmp_path)
    loaded = type(model).from_pretrained(tmp_path).eval()
    assert first_difference(model, loaded, **make_input(model)).name == layer


def plain_embeddings(model):
    return [n for n, m in model.named_modules(remove_duplicate=False) if type(m) is nn.Embedding]


def test_a_model_with_swapped_embeddings_computes_the_same(pair):
    """Those of a class of their own are refused by name, and the model does not change."""
    model, swapped, arguments = pair
    kinds = {type(m) for m in model.modules() if isinstance(m, nn.Embedding)}
    if kinds != {nn.Embedding}:
        modules = list(swapped.modules())
        with pytest.raises(
            TypeError, match=r"is a transformers\.models.*, expected Embedding itself"
        ):
            swap_embeddings(swapped, example=arguments)
        assert list(swapped.modules()) == modules
        return
    outcomes = swap_embeddings(swapped, example=arguments)
    assert {*outcomes} == {*plain_embeddings(model), ""}
    assert {*outcomes.values()} == {"equal in every bit"}
    assert first_difference(model, swapped, **arguments) is None
    if model.can_generate():
        generated = [
            m.generate(IDS[:1], max_new_tokens=3, do_sample=False) for m in (model, swapped)
        ]
        assert torch.equal(*generated)
    assert {*swap_one_hot_linears(swapped, example=arguments).values()} == {"equal in every bit"}


def test_the_table_of_a_model_answers_as_a_table(pair):
    """A lookup, a comparison with a product, and ids."""
    model, _, arguments = pair
    layer = model.get_input_embeddings()
    table = layer(torch.arange(VOCAB_SIZE)).detach()
    answers = probe_lookup(layer, table, outside=True)
    inside = {value for question, value in answers.items() if question not in ("id -1", "id 40")}
    assert inside == {"equal in every bit"}
    assert answers["id 40"].startswith("raises IndexError")
    check_ids(arguments["input_ids"], VOCAB_SIZE)
    bad = arguments | {"input_ids": IDS + 33}
    with pytest.raises(IndexError):
        model(**bad)
    with pytest.raises(IndexError, match=r"ids\[0, 2\] is 40, but a table of 40 rows"):
        check_ids(bad["input_ids"], VOCAB_SIZE)
    linear = to_linear(nn.Embedding.from_pretrained(table), share=False)
    report = compare(lambda ids: layer(ids), linear, IDS)
    assert report.verdict == "equal in every bit"


@pytest.mark.parametrize("name", ["gpt2", "llama"])
def test_a_compiled_model_is_compared_as_a_whole(name):
    """Its modules have other names."""
    model = make_network(name)
    arguments, changed = make_input(model), deepcopy(model)
    compiled = torch.compile(deepcopy(model), backend="eager")
    assert first_difference(model, compiled, **arguments) is None
    with torch.no_grad():
        changed.lm_head.weight.add_(1)
    difference = first_difference(changed, compiled, **arguments)
    assert (difference.name, difference.types[1]) == ("", "OptimizedModule")


def test_a_traced_model_is_compared_by_the_modules_that_it_calls():
    """An exported program calls none, so that only the whole is compared."""
    model = make_network("bert")
    arguments = make_input(model)
    exported = torch.export.export(deepcopy(model), (), arguments).module()
    assert first_difference(model, exported, **arguments) is None
    with torch.no_grad():
        model.pooler.dense.weight.add_(1)
    difference = first_difference(model, exported, **arguments)
    assert (difference.name, difference.place) == ("", "['pooler_output']")
    text = "Before, model_b makes no call of module 'embeddings.word_embeddings', "
    assert text in str(difference)


class Block(nn.Module):
    """A block of GPT-2 in plain torch."""

    def __init__(self):
        super().__init__()
        self.norm_1, self.norm_2 = nn.LayerNorm(16), nn.LayerNorm(16)
        self.qkv, self.project = nn.Linear(16, 48), nn.Linear(16, 16)
        self.mlp = nn.Sequential(nn.Linear(16, 64), nn.GELU(approximate="tanh"), nn.Linear(64, 16))

    def forward(self, rows):
        """Return rows of the same shape."""
        heads = [
            part.unflatten(-1, (2, 8)).transpose(1, 2)
            for part in self.qkv(self.norm_1(rows)).split(16, -1)
        ]
        attended = nn.functional.scaled_dot_product_attention(*heads, is_causal=True)
        rows = rows + self.project(attended.transpose(1, 2).flatten(2))
        return rows + self.mlp(self.norm_2(rows))


class Port(nn.Module):
    """GPT-2 in plain torch, under other names."""

    def __init__(self):
        super().__init__()
        self.embed, self.positions = nn.Embedding(VOCAB_SIZE, 16), nn.Embedding(16, 16)
        self.blocks, self.norm = nn.Sequential(Block(), Block()), nn.LayerNorm(16)
        self.head = nn.Linear(16, VOCAB_SIZE, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, input_ids):
        """Return logits."""
        rows = self.embed(input_ids) + self.positions(torch.arange(input_ids.shape[1])[None])
        return self.head(self.norm(self.blocks(rows)))


PARTS = {
    "transformer.wte": "embed",
    "transformer.wpe": "positions",
    "transformer.h": "blocks",
    "transformer.ln_f": "norm",
    "lm_head": "head",
}
INNER = {
    "ln_1": "norm_1",
    "ln_2": "norm_2",
    "attn.c_attn": "qkv",
    "attn.c_proj": "project",
    "mlp.c_fc": "mlp.0",
    "mlp.act": "mlp.1",
    "mlp.c_proj": "mlp.2",
}
NAMES = PARTS | {
    f"transformer.h.{i}.{old}": f"blocks.{i}.{new}" for i in (0, 1) for old, new in INNER.items()
}


def make_port():
    """Return GPT-2 and its port with the same weights; those of its Conv1D are transposed."""
    model, port = make_network("gpt2"), Port().eval()
    with torch.no_grad():
        for name, target in NAMES.items():
            for key, parameter in model.get_submodule(name).named_parameters(recurse=False):
                layer = model.get_submodule(name)
                turned = isinstance(layer, transformers.pytorch_utils.Conv1D) and key == "weight"
                port.get_submodule(target).get_parameter(key).copy_(
                    parameter.T if turned else parameter
                )
    return model, port


@pytest.mark.parametrize(
    ("plant", "name", "parent"),
    [
        (nn.Module.eval, None, None),
        (lambda port: setattr(port.blocks[0].norm_2, "eps", 0.1), "transformer.h.0.ln_2", None),
        (lambda port: port.blocks[1].mlp.__setitem__(1, nn.GELU()), "transformer.h.1.mlp.act", None),
        (lambda port: port.positions.register_forward_hook(lambda *all: 0 * all[2]), "transformer.wpe", None),
        (lambda port: port.blocks[0].register_forward_pre_hook(lambda _, rows: (2 * rows[0],)), "transformer.h.0.ln_1", "transformer.h.0"),
        (lambda port: setattr(port.blocks[1], "norm_2", nn.Identity()), "transformer.h.1.ln_2", None),
        (lambda port: setattr(port.head, "weight", nn.Parameter(port.head.weight.detach().clone())), "lm_head", None),
    ],
)  # fmt: skip
def test_a_port_of_gpt2_is_compared_by_names(plant, name, parent):
    """Dataclass against tensor, rounding within a tolerance, and planted faults."""
    model, port = make_port()
    plant(port)
    difference = first_difference(model, port, input_ids=IDS, names=NAMES, atol=1e-5)
    if name is None:
        assert difference is None
    else:
        assert (difference.name, difference.parent) == (name, parent)
