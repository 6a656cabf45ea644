"""Converting layers: same outputs, storage shared or not as asked, nothing lost in silence."""

import re

import pytest
import torch
from planted import Scaled
from torch import nn
from torch.nn.utils import prune

from lookup_matmul import (
    assert_bitwise_equal,
    one_hot,
    shares_storage,
    to_embedding,
    to_linear,
)

IDS = torch.tensor([2, 3, 1])


@pytest.mark.parametrize("share", [True, False])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32, torch.float64])
def test_converted_layers_agree(share, dtype, device):
    """There and back, the outputs are bitwise equal, and the weight is kept."""
    embedding = nn.Embedding(4, 5, dtype=dtype, device=device)
    linear = to_linear(embedding, share=share)
    back = to_embedding(linear, share=share)
    ids = IDS.to(device)
    assert_bitwise_equal(linear(one_hot(ids, 4, dtype=dtype)), embedding(ids))
    assert_bitwise_equal(back(ids), embedding(ids))
    assert (linear.in_features, linear.out_features, linear.bias) == (4, 5, None)
    assert (back.num_embeddings, back.embedding_dim) == (4, 5)


@pytest.mark.parametrize("requires_grad", [True, False])
@pytest.mark.parametrize("share", [True, False])
def test_storage_is_shared_as_asked_and_frozen_stays_frozen(share, requires_grad):
    """Writing to one layer moves the other if shared, and only then; a copy is contiguous."""
    embedding = nn.Embedding(4, 5).requires_grad_(requires_grad)
    linear = to_linear(embedding, share=share)
    back = to_embedding(linear, share=share)
    for first, second in ((embedding, linear), (linear, back)):
        assert shares_storage(first.weight, second.weight) is share
        assert second.weight.requires_grad is requires_grad
    assert linear.weight.is_contiguous() is not share
    assert linear.weight.is_leaf
    before = embedding.weight.detach().clone()
    with torch.no_grad():
        linear.weight.add_(1.0)
    assert torch.equal(embedding.weight, before + 1.0 if share else before)


def test_conversion_draws_no_random_numbers():
    """A seeded program goes on as if no layer had been made."""
    embedding = nn.Embedding(4, 5)
    state = torch.get_rng_state()
    to_embedding(to_linear(embedding, share=False), share=False)
    assert torch.equal(torch.get_rng_state(), state)


OPTIONS = {"padding_idx": 0, "max_norm": 1.0, "scale_grad_by_freq": True, "sparse": True}


@pytest.mark.parametrize(("option", "value"), OPTIONS.items())
def test_what_a_linear_cannot_do_is_refused(option, value):
    """Options of an Embedding are not dropped in silence."""
    message = f"the Embedding uses {option}={value}, which a Linear cannot do;.* which gives it up"
    with pytest.raises(ValueError, match=message):
        to_linear(nn.Embedding(4, 5, **{option: value}), share=False)


def hooked(layer, kind):
    """Return a layer with one hook."""
    getattr(layer, f"register_{kind}")(print)
    return layer


def hooked_weight(layer):
    """Return a layer with a hook on its weight."""
    layer.weight.register_hook(print)
    return layer


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: to_linear(nn.Linear(4, 5), share=True), TypeError, "embedding has type torch.nn.modules.linear.Linear, expected torch.nn.Embedding; call to_embedding for the way back"),
        (lambda: to_embedding(nn.Embedding(4, 5), share=True), TypeError, "linear has type torch.nn.modules.sparse.Embedding, expected torch.nn.Linear; call to_linear for the way back"),
        (lambda: to_linear(hooked(nn.Embedding(4, 5), "forward_hook"), share=True), ValueError, "embedding has hooks, which may change what goes in or out, expected none; remove them first"),
        (lambda: to_embedding(hooked(nn.Linear(4, 5, bias=False), "forward_pre_hook"), share=True), ValueError, "linear has hooks, which may change what goes in or out, expected none; remove them first"),
        (lambda: to_linear(hooked(nn.Embedding(4, 5), "full_backward_hook"), share=False), ValueError, "embedding has hooks"),
        (lambda: to_embedding(hooked(nn.Linear(4, 5, bias=False), "full_backward_pre_hook"), share=False), ValueError, "linear has hooks"),
        (lambda: to_linear(hooked_weight(nn.Embedding(4, 5)), share=False), ValueError, "embedding.weight has hooks, which may change its gradient, expected none; remove them first"),
        (lambda: to_embedding(nn.Linear(4, 5), share=False), ValueError, "has a bias, expected none"),
    ],
)  # fmt: skip
def test_misuse_is_named(call, error, message):
    """The message says what arrived and what was expected."""
    with pytest.raises(error, match=re.escape(message)):
        call()


class Named(nn.Embedding):
    """An embedding that only has another name."""


def test_layers_that_compute_something_else_are_refused():
    """A subclass, or a function put into a layer; a mere name of its own is no matter."""
    message = (
        r"embedding is a Scaled with a forward of its own, expected that of torch.nn.Embedding"
    )
    with pytest.raises(TypeError, match=message):
        to_linear(Scaled(4, 5), share=False)
    patched = nn.Linear(4, 5, bias=False)
    patched.forward = lambda rows: 2 * rows
    with pytest.raises(TypeError, match="linear is a Linear with a forward of its own"):
        to_embedding(patched, share=False)
    named = Named(4, 5)
    assert_bitwise_equal(to_linear(named, share=False).weight.T, named.weight)


COMPUTED = {
    "weight_norm": (nn.utils.parametrizations.weight_norm, lambda layer: nn.utils.parametrize.remove_parametrizations(layer, "weight")),
    "pruned": (lambda layer: prune.random_unstructured(layer, "weight", 0.5), lambda layer: prune.remove(layer, "weight")),
}  # fmt: skip


@pytest.mark.parametrize("name", COMPUTED)
def test_a_weight_that_is_computed_is_refused(name):
    """A view of a computed weight trains nothing; once the computation is undone, it works."""
    compute, undo = COMPUTED[name]
    linear = compute(nn.Linear(4, 5, bias=False))
    for call, role in (
        (lambda: to_embedding(linear, share=True), "linear"),
        (lambda: to_linear(compute(nn.Embedding(4, 5)), share=True), "embedding"),
    ):
        with pytest.raises(ValueError, match=f"{role}.weight is computed from other parameters"):
            call()
    undo(linear)
    shared = to_embedding(linear, share=True)
    assert shares_storage(shared.weight, linear.weight)
    assert_bitwise_equal(shared(IDS), linear.weight.T[IDS])
