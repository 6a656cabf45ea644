"""Bad arguments are refused with advice, and nothing of the caller's changes."""

import re
from contextlib import nullcontext

import pytest
import torch
from planted import Scaled, hooked, snapshot
from torch import nn

from lookup_matmul import compare

IDS = torch.tensor([2, 3, 1])
TABLE = torch.randn(4, 3, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize(
    ("layer", "error", "message"),
    [
        (lambda: nn.Sequential(nn.Linear(4, 3)), TypeError, "a has type torch.nn.modules.container.Sequential, expected torch.nn.Embedding, EmbeddingBag or Linear, which hold a table; pass the submodule that you mean, or pass lambda x: layer(x) in place of the layer a"),
        (lambda: Scaled(4, 3), TypeError, "Scaled with a forward of its own, expected that of torch.nn.Embedding; pass lambda"),
        (lambda: hooked(nn.Linear(4, 3), "forward_hook"), ValueError, "a has hooks, which may change what goes in or out, expected none; pass lambda"),
        (lambda: hooked(nn.Embedding(4, 3), "hook"), ValueError, "a.weight has hooks, which may change its gradient, expected none; pass lambda"),
        (lambda: nn.utils.parametrizations.weight_norm(nn.Linear(4, 3)), ValueError, "a.weight is computed from other parameters"),
        (lambda: nn.Embedding(4, 3, device="meta"), ValueError, "a.weight is on the device meta, which stores no numbers"),
        (lambda: torch.zeros(4), ValueError, "a has shape (4,), expected two dimensions"),
        (lambda: TABLE.to(torch.float8_e4m3fn), TypeError, "has dtype torch.float8_e4m3fn, expected float16"),
        (lambda: [[1.0, 2.0]], TypeError, "a is a list, expected an Embedding, EmbeddingBag or Linear, a table as a tensor, or a callable; wrap"),
        (lambda: lambda ids: (TABLE[ids], None), TypeError, "a returned tuple, expected a tensor of floating-point numbers; return the output of the layer alone"),
        (lambda: lambda ids: ids, TypeError, "a returned torch.int64, expected a tensor of floating-point"),
    ],
)  # fmt: skip
def test_layers_that_are_refused(layer, error, message):
    """Each error names the argument, what was expected and what to do."""
    with pytest.raises(error, match=re.escape(message)):
        compare(layer(), TABLE, IDS)
    message_for_b = re.sub(r"^a(?=[ .])|\ba$", "b", message)
    with pytest.raises(error, match=re.escape(message_for_b)):
        compare(TABLE, layer(), IDS)


@pytest.mark.parametrize(
    ("ids_or_rows", "error", "message"),
    [
        (torch.zeros(0, 4), ValueError, "the input holds no row, its shape is (0, 4), expected at least one id"),
        (torch.tensor(2), ValueError, "its shape is (), expected at least one id in at least one dimension; write a single id as ids.reshape(1)"),
        (torch.zeros(1, 2, 4), ValueError, "the rows have shape (1, 2, 4), expected (rows, columns); flatten"),
        (IDS.reshape(1, 1, 3), ValueError, "shape (1, 1, 3), expected one or two dimensions"),
        (IDS.bool(), TypeError, "ids has dtype torch.bool"),
        (IDS.to("meta"), ValueError, "a is on cpu, b is on cpu, the input is on meta; expected one device; move"),
        (IDS.tolist(), TypeError, "expected a torch.Tensor"),
        ((IDS, torch.tensor([0, 1])), ValueError, "offsets"),
        ((IDS[:1].expand(300), torch.tensor([0, 300])), ValueError, "fewer than 257 for torch.bfloat16; sum in a wider dtype"),
    ],
)  # fmt: skip
def test_input_that_is_refused(ids_or_rows, error, message):
    """Ids for an EmbeddingBag have one or two dimensions, rows have two; long sums no bound."""
    with pytest.raises(error, match=re.escape(message)):
        compare(nn.EmbeddingBag(4, 3), TABLE.bfloat16(), ids_or_rows)


@pytest.mark.parametrize(
    ("b", "options", "error", "message"),
    [
        (TABLE, {"atol": -1}, ValueError, "atol is -1, expected a finite number of at least 0; pass the largest"),
        (TABLE, {"rtol": float("nan")}, ValueError, "rtol is nan, expected a finite number of at least 0"),
        (TABLE, {"rtol": float("inf")}, ValueError, "rtol is inf, expected a finite number of at least 0"),
        (TABLE, {"atol": "1e-3"}, TypeError, "atol is '1e-3', expected a finite number of at least 0"),
        (lambda ids: TABLE[ids], {"gradients": True}, TypeError, "expected two with a table, which receives the gradient"),
    ],
)  # fmt: skip
def test_options_that_are_refused(b, options, error, message):
    """Each error names the argument; a function has no table that could receive a gradient."""
    with pytest.raises(error, match=re.escape(message)):
        compare(TABLE, b, IDS, **options)


def make_layers():
    """Return layers whose options, gradients and tables give every cause something to try."""
    torch.manual_seed(0)
    table = torch.randn(5, 5)
    table[0] = torch.nan
    table[1, 1] = -0.0
    options = {"max_norm": 0.5, "padding_idx": 2, "scale_grad_by_freq": True}
    embedding = nn.Embedding.from_pretrained(table.clone(), freeze=False, **options)
    linear = nn.Linear(5, 5)
    linear.weight.data = table.half().float().clone()
    frozen = nn.Embedding.from_pretrained(torch.randn(5, 5), sparse=True).eval()
    return embedding, linear, frozen, nn.EmbeddingBag(5, 5, max_norm=0.5)


BATCHES = (
    torch.tensor([1, 1, 3, 4]),
    (torch.tensor([1, 3, 4]), torch.tensor([0, 2, 3]), torch.tensor([2.0, 3.0, 1.0])),
)


@pytest.mark.parametrize(
    ("context", "flush"),
    [
        (nullcontext, False),
        (torch.no_grad, True),
        (torch.inference_mode, False),
        (lambda: torch.autocast("cpu", dtype=torch.bfloat16), False),
    ],
    ids=["plain", "no_grad", "inference_mode", "autocast"],
)
def test_nothing_of_the_callers_changes(context, flush):
    """No bit of a weight, gradient or input, no random state, setting or mode."""
    layers = make_layers()
    for layer in layers[:2]:
        layer.weight.grad = torch.ones(5, 5)
    if not torch.set_flush_denormal(flush) and flush:
        pytest.skip("this processor cannot be told to flush")
    torch.set_float32_matmul_precision("high")
    inputs = (BATCHES[0], *BATCHES[1])
    try:
        with context():
            before = snapshot(layers, inputs)
            for a, b in zip(layers, layers[1:] + layers[:1], strict=True):
                for batch in BATCHES:
                    report = compare(a, b, batch, gradients=True)
                    assert report.before.total or report.before.reason
            compare(lambda ids: torch.rand(len(ids), 5), layers[0], BATCHES[0])
            assert snapshot(layers, inputs) == before
    finally:
        torch.set_flush_denormal(False)
        torch.set_float32_matmul_precision("highest")


def test_the_default_device_does_not_matter():
    """Layers on the CPU can be compared while the default device is meta."""
    a, b, *_ = make_layers()
    for batch in BATCHES:
        expected = repr(compare(a, b, batch, gradients=True))
        with torch.device("meta"):
            assert repr(compare(a, b, batch, gradients=True)) == expected
