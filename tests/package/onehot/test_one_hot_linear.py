"""A OneHotLinear returns what an Embedding returns, and tools find its Linear."""

import copy
import pickle
import re

import pytest
import torch
from torch import nn
from torch.func import functional_call, grad, vmap
from torch.nn.functional import linear
from torch.nn.functional import one_hot as torch_one_hot

from lookup_matmul.equality import assert_bitwise_equal, assert_within, rounding_bound
from lookup_matmul.onehot.layers import to_linear
from lookup_matmul.onehot.one_hot_linear import OneHotLinear


def pair(rows=7, dim=3, padding_idx=None, **options):
    """Return an Embedding and a OneHotLinear of the same table."""
    torch.manual_seed(123)
    embedding = nn.Embedding(rows, dim, padding_idx, **options)
    plain = nn.Embedding.from_pretrained(embedding.weight.detach(), freeze=False)
    return embedding, OneHotLinear(to_linear(plain, share=False), padding_idx)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize("id_dtype", [torch.int32, torch.int64])
def test_rows_are_those_of_the_embedding(dtype, id_dtype, device):
    """For ids of any shape, bitwise, with dtype and device."""
    embedding, layer = pair(dtype=dtype, device=device)
    for shape in ((), (0,), (5,), (2, 3), (2, 0, 3)):
        ids = torch.randint(7, shape, dtype=id_dtype, device=device)
        assert_bitwise_equal(layer(ids), embedding(ids))
    assert_bitwise_equal(layer(input=ids), embedding(input=ids))
    assert_bitwise_equal(layer.weight, embedding.weight)
    assert (layer.num_embeddings, layer.embedding_dim) == (7, 3)


@pytest.mark.parametrize("padding_idx", [None, 0, -1])
def test_gradients_are_those_of_the_embedding(padding_idx, device):
    """Up to the rounding of sums; the row of padding gets none."""
    embedding, layer = pair(padding_idx=padding_idx, device=device)
    assert layer.padding_idx == embedding.padding_idx
    ids = torch.randint(7, (8, 25), device=device)
    output_gradient = torch.randn(8, 25, 3, device=device)
    for network in (embedding, layer):
        network(ids).backward(output_gradient)
    padding = -1 if embedding.padding_idx is None else embedding.padding_idx
    unpadded_gradient = output_gradient.double() * (ids != padding).unsqueeze(-1)
    encoding = torch_one_hot(ids.flatten(), 7).double()
    exact = encoding.T @ unpadded_gradient.flatten(0, 1)
    size = encoding.T @ unpadded_gradient.flatten(0, 1).abs()
    bound = 2 * rounding_bound(200, torch.float32) * size
    assert_within(layer.linear.weight.grad.T, exact, bound)
    assert_within(embedding.weight.grad, exact, bound)
    if padding_idx is not None:
        assert not layer.linear.weight.grad[:, padding_idx].any()


def test_a_table_used_by_its_name_gets_its_gradient():
    """As in a head that reads ``tokens.weight``."""
    embedding, layer = pair()
    for network in (embedding, layer):
        linear(network(torch.tensor([2, 3, 1])), network.weight).sum().backward()
    assert_within(layer.linear.weight.grad.T, embedding.weight.grad, 1e-5)


def test_tools_find_a_linear_that_gets_rows():
    """By exact type among the modules without children; a hook on it gets the one-hot rows."""
    _, layer = pair()
    linears = [m for m in layer.modules() if not [*m.children()] and type(m) is nn.Linear]
    assert linears == [layer.linear]
    hook_inputs = []
    layer.linear.register_forward_hook(lambda _, inputs, __: hook_inputs.append(inputs[0]))
    ids = torch.tensor([[2, 3, 1]])
    layer(ids)
    assert_bitwise_equal(hook_inputs[0], torch_one_hot(ids, 7).float())


def test_transforms_and_exporters_trace_it(recwarn):
    """``torch.func`` needs no fallback for per-sample gradients, and ``torch.export`` one graph."""
    embedding, layer = pair(padding_idx=0)
    ids, more_ids = torch.randint(7, (6, 4)), torch.randint(7, (3, 4))

    def per_sample(network):
        def loss(weights, sample):
            return functional_call(network, weights, (sample,)).square().sum()

        parameters = dict(network.named_parameters())
        (gradient,) = vmap(grad(loss), in_dims=(None, 0))(parameters, ids).values()
        return gradient

    assert_within(per_sample(layer).mT, per_sample(embedding), 1e-5)
    assert not [w for w in recwarn if "batching rule" in str(w.message)]
    exported = torch.export.export(layer, (ids,), dynamic_shapes=({0: torch.export.Dim("n")},))
    targets = " ".join(str(node.target) for node in exported.graph.nodes)
    assert "aten.linear.default" in targets
    assert "embedding" not in targets
    assert_bitwise_equal(exported.module()(more_ids), embedding(more_ids))
    compiled = torch.compile(layer, backend="eager", fullgraph=True)
    assert_bitwise_equal(compiled(more_ids), embedding(more_ids))


def test_it_can_be_copied_pickled_and_moved():
    """As other modules; on meta it computes shapes."""
    embedding, layer = pair(padding_idx=2)
    ids = torch.tensor([2, 3, 1])
    for layer_copy in (copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):
        assert_bitwise_equal(layer_copy(ids), embedding(ids))
        assert repr(layer_copy) == repr(layer)
    assert "padding_idx=2" in repr(layer)
    assert layer.to("meta")(ids.to("meta")).shape == (3, 3)


@pytest.mark.filterwarnings("ignore")  # the tool is deprecated in favor of one outside of torch
def test_a_quantized_linear_may_take_the_place_of_the_child():
    """It holds a packed weight and takes rows of float32; off by at most a step of its scale."""
    embedding, layer = pair()
    model = torch.ao.quantization.quantize_dynamic(nn.Sequential(layer), {nn.Linear})
    assert type(model[0].linear) is not nn.Linear
    ids = torch.tensor([2, 3, 1])
    assert_within(model(ids), embedding(ids), float(embedding.weight.detach().abs().max()) / 64)


@pytest.mark.parametrize(
    ("linear", "padding_idx", "error", "message"),
    [
        (nn.Embedding(4, 5), None, TypeError, "linear has type torch.nn.modules.sparse.Embedding, expected torch.nn.Linear; make one of an Embedding with to_linear"),
        (nn.Linear(4, 5), None, ValueError, "has a bias, expected none"),
        (nn.Linear(4, 5, bias=False), 4, ValueError, "padding_idx is 4, but a table of 4 rows takes -4 to 3"),
        (nn.Linear(4, 5, bias=False), True, TypeError, "padding_idx is True of type bool, expected an int or None"),
        (nn.LazyLinear(5, bias=False), None, ValueError, "linear.weight is not initialized, expected a shape"),
        (nn.utils.parametrizations.weight_norm(nn.Linear(4, 5, bias=False)), None, ValueError, "linear.weight is computed from other parameters"),
    ],
)  # fmt: skip
def test_invalid_layers_are_refused(linear, padding_idx, error, message):
    """The error is raised at construction, not in the first batch."""
    with pytest.raises(error, match=re.escape(message)):
        OneHotLinear(linear, padding_idx)


@pytest.mark.parametrize(
    ("ids", "error", "message"),
    [
        ([0, 1], TypeError, "ids has type builtins.list, expected torch.Tensor"),
        (torch.tensor([1.0]), TypeError, "ids has dtype torch.float32, expected torch.int32 or torch.int64"),
        (torch.tensor([7]), RuntimeError, "index 7 is out of bounds"),
        (torch.tensor([-1]), RuntimeError, "index -1 is out of bounds"),
    ],
)  # fmt: skip
def test_ids_that_an_embedding_refuses_are_refused(ids, error, message):
    """None is rounded, wrapped around or taken for a mask."""
    _, layer = pair()
    with pytest.raises(error, match=re.escape(message)):
        layer(ids)
