"""Adapters of peft: layers that they need are not swapped, and their first difference is named."""

from copy import deepcopy

import peft
import pytest
import torch
from networks import IDS, make_input, make_network

from lookup_matmul import first_difference, swap_embeddings

WRAPPED = {"base_model.model": ""}


def add_adapter(model, **options):
    """Return a copy of the model with an adapter that changes its outputs."""
    torch.manual_seed(0)
    config = peft.LoraConfig(r=2, init_lora_weights=False, **options)
    return peft.get_peft_model(deepcopy(model), config).eval()


@pytest.mark.parametrize(
    ("name", "target", "layer"),
    [
        ("llama", "q_proj", "model.layers.0.self_attn.q_proj"),
        ("llama", "embed_tokens", "model.embed_tokens"),
        ("llama", "lm_head", "lm_head"),
        ("gpt2", "c_attn", "transformer.h.0.attn.c_attn"),
        ("bert", "query", "encoder.layer.0.attention.self.query"),
        ("t5", "q", "encoder.block.0.layer.0.SelfAttention.q"),
    ],
)
def test_the_first_layer_with_an_adapter_is_named(name, target, layer):
    """A map takes off the names of the wrapper; without the adapter nothing differs."""
    model = make_network(name)
    arguments, adapted = make_input(model), add_adapter(model, target_modules=[target])
    difference = first_difference(adapted, model, names=WRAPPED, **arguments)
    assert difference.name == f"base_model.model.{layer}"
    assert difference.types[0].rpartition(".")[2] in ("Linear", "Embedding")
    assert difference.types[0] != difference.types[1]
    assert difference.notes[0] == "Its inputs agree."
    merged = deepcopy(adapted).merge_and_unload()
    assert first_difference(adapted, merged, names=WRAPPED, **arguments, atol=1e-4) is None
    with adapted.disable_adapter():
        assert first_difference(adapted, model, names=WRAPPED, **arguments) is None


@pytest.mark.parametrize(
    "options",
    [
        {"target_modules": ["embed_tokens"]},
        {"target_modules": ["q_proj"], "modules_to_save": ["embed_tokens"]},
        {"target_modules": ["q_proj"], "trainable_token_indices": {"embed_tokens": [1, 2]}},
    ],
)
def test_an_embedding_in_an_adapter_is_not_swapped(options):
    """It is named, and the model computes as before."""
    adapted = add_adapter(make_network("llama"), **options)
    before = adapted(IDS).logits
    with pytest.raises(
        TypeError, match=r"embed_tokens\..* is in a peft\..*; swap before you add adapters"
    ):
        swap_embeddings(adapted)
    assert torch.equal(adapted(IDS).logits, before)


def test_a_swapped_model_can_get_an_adapter_elsewhere():
    """As can one whose adapter is elsewhere be swapped."""
    model = make_network("llama")
    arguments, adapted = make_input(model), add_adapter(model, target_modules=["q_proj"])
    before = deepcopy(adapted)
    assert set(swap_embeddings(adapted, example=arguments).values()) == {"equal in every bit"}
    swap_embeddings(model)
    later = add_adapter(model, target_modules=["q_proj"])
    for swapped in (adapted, later):
        assert first_difference(before, swapped, **arguments) is None
