"""Conversions between layers keep outputs and share storage on request, or raise an error."""

import re

import pytest
import torch
from planted import Scaled, hooked
from torch import nn
from torch.nn.utils import parametrizations, prune

from lookup_matmul.equality import assert_bitwise_equal, shares_storage
from lookup_matmul.onehot.forms import one_hot
from lookup_matmul.onehot.layers import to_embedding, to_linear

IDS = torch.tensor([2, 3, 1])


@pytest.mark.parametrize("requires_grad", [True, False])
@pytest.mark.parametrize("share", [True, False])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32, torch.float64])
def test_converted_layers_agree_and_share_storage_on_request(share, dtype, requires_grad, device):
    """Bitwise in both directions; a copy is contiguous, and no random numbers are drawn."""
    embedding = nn.Embedding(4, 5, dtype=dtype, device=device).requires_grad_(requires_grad)
    state = torch.get_rng_state()
    linear = to_linear(embedding, share=share)
    back = to_embedding(linear, share=share)
    assert torch.equal(torch.get_rng_state(), state)
    ids = IDS.to(device)
    assert_bitwise_equal(linear(one_hot(ids, 4, dtype=dtype)), embedding(ids))
    assert_bitwise_equal(back(ids), embedding(ids))
    assert (linear.in_features, linear.out_features, linear.bias) == (4, 5, None)
    assert (back.num_embeddings, back.embedding_dim) == (4, 5)
    for first, second in ((embedding, linear), (linear, back)):
        assert shares_storage(first.weight, second.weight) is share
        assert second.weight.requires_grad is requires_grad
    assert linear.weight.is_contiguous() is not share
    assert linear.weight.is_leaf


PATCHED = nn.Linear(4, 5, bias=False)
PATCHED.forward = print
HOOKS = " has hooks, which may change what goes in or out, expected none; remove them first"


@pytest.mark.parametrize(
    ("convert", "layer", "error", "message"),
    [
        *((to_linear, nn.Embedding(4, 5, **{option: value}), ValueError, f"the Embedding uses {option}={value}, which a Linear cannot do; expected a plain lookup")
          for option, value in {"padding_idx": 0, "max_norm": 1.0, "scale_grad_by_freq": True, "sparse": True}.items()),
        (to_linear, nn.Linear(4, 5), TypeError, "embedding has type torch.nn.modules.linear.Linear, expected torch.nn.Embedding; call to_embedding for the way back"),
        (to_embedding, nn.Embedding(4, 5), TypeError, "linear has type torch.nn.modules.sparse.Embedding, expected torch.nn.Linear; call to_linear for the way back"),
        (to_linear, hooked(nn.Embedding(4, 5), "forward_hook"), ValueError, f"embedding{HOOKS}"),
        (to_embedding, hooked(nn.Linear(4, 5, bias=False), "forward_pre_hook"), ValueError, f"linear{HOOKS}"),
        (to_linear, hooked(nn.Embedding(4, 5), "full_backward_hook"), ValueError, f"embedding{HOOKS}"),
        (to_embedding, hooked(nn.Linear(4, 5, bias=False), "full_backward_pre_hook"), ValueError, f"linear{HOOKS}"),
        (to_linear, hooked(nn.Embedding(4, 5), "hook"), ValueError, "embedding.weight has hooks, which may change its gradient, expected none; remove them first"),
        (to_embedding, nn.Linear(4, 5), ValueError, "has a bias, expected none"),
        (to_linear, Scaled(4, 5), TypeError, "embedding is a Scaled with a forward of its own, expected that of torch.nn.Embedding"),
        (to_embedding, PATCHED, TypeError, "linear is a Linear with a forward of its own, expected that of torch.nn.Linear"),
        (to_embedding, parametrizations.weight_norm(nn.Linear(4, 5, bias=False)), ValueError, "linear.weight is computed from other parameters"),
        (to_linear, prune.random_unstructured(nn.Embedding(4, 5), "weight", 0.5), ValueError, "embedding.weight is computed from other parameters"),
    ],
)  # fmt: skip
def test_layers_that_cannot_be_converted_are_refused(convert, layer, error, message):
    """The message names what the other layer could not do."""
    with pytest.raises(error, match=re.escape(message)):
        convert(layer, share=False)


def test_a_subclass_without_a_forward_is_converted():
    """It computes what its base class computes."""
    renamed = type("Renamed", (nn.Embedding,), {})(4, 5)
    assert_bitwise_equal(to_linear(renamed, share=False).weight.T, renamed.weight)
