"""Converting layers: same outputs, storage shared or not as asked, nothing lost in silence."""

import re

import pytest
import torch
from planted import Scaled
from torch import nn
from torch.nn.utils import prune

from lookup_matmul import (
    assert_bitwise_equal,
    copy_weight,
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


@pytest.mark.parametrize("swap", [False, True])
def test_copy_weight_keeps_the_parameter_and_shares_nothing(swap):
    """The target's parameter is the same object as before, so an optimizer still holds it."""
    layers = nn.Embedding(4, 5), nn.Linear(4, 5, bias=False)
    source, target = layers[::-1] if swap else layers
    parameter = target.weight
    copy_weight(source, target)
    assert target.weight is parameter
    assert_bitwise_equal(target.weight, source.weight.T)
    assert not shares_storage(source.weight, target.weight)


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
        (lambda: copy_weight(nn.Embedding(4, 5), nn.Embedding(4, 5)), TypeError, "expected one nn.Embedding and one nn.Linear"),
        (lambda: copy_weight(nn.Embedding(4, 5), nn.Linear(5, 4, bias=False)), ValueError, "source.weight has shape (4, 5) and target.weight (4, 5), expected transposed shapes"),
        (lambda: copy_weight(nn.Embedding(4, 5), nn.Linear(4, 5, bias=False).double()), TypeError, "dtype torch.float32 and target.weight torch.float64"),
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
    own = r"embedding is a Scaled with a forward of its own, expected that of torch.nn.Embedding"
    with pytest.raises(TypeError, match=own):
        to_linear(Scaled(4, 5), share=False)
    patched = nn.Linear(4, 5, bias=False)
    patched.forward = lambda rows: 2 * rows
    with pytest.raises(TypeError, match="linear is a Linear with a forward of its own"):
        to_embedding(patched, share=False)
    named, linear = Named(4, 5), nn.Linear(4, 5, bias=False)
    assert_bitwise_equal(to_linear(named, share=False).weight.T, named.weight)
    copy_weight(scaled := Scaled(4, 5), linear)  # which promises the table, not the output
    assert_bitwise_equal(linear.weight.T, scaled.weight)


COMPUTED = {
    "weight_norm": (nn.utils.parametrizations.weight_norm, lambda layer: nn.utils.parametrize.remove_parametrizations(layer, "weight")),
    "pruned": (lambda layer: prune.random_unstructured(layer, "weight", 0.5), lambda layer: prune.remove(layer, "weight")),
}  # fmt: skip


@pytest.mark.parametrize("name", COMPUTED)
def test_a_weight_that_is_computed_is_refused(name):
    """A copy into it would be lost, and a view of it trains nothing; once undone, both work."""
    compute, undo = COMPUTED[name]
    linear, embedding = compute(nn.Linear(4, 5, bias=False)), nn.Embedding(4, 5)
    for call, role in (
        (lambda: copy_weight(linear, embedding), "source"),
        (lambda: copy_weight(embedding, linear), "target"),
        (lambda: to_embedding(linear, share=True), "linear"),
        (lambda: to_linear(compute(nn.Embedding(4, 5)), share=True), "embedding"),
    ):
        with pytest.raises(ValueError, match=f"{role}.weight is computed from other parameters"):
            call()
    undo(linear)
    shared = to_embedding(linear, share=True)
    copy_weight(embedding, linear)
    assert_bitwise_equal(linear(one_hot(IDS, 4)), embedding(IDS))
    assert_bitwise_equal(shared(IDS), embedding(IDS))
