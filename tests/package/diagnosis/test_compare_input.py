"""What is refused, with words that say what to do, and what stays as it was."""

import re

import pytest
import torch
from planted import Scaled
from torch import nn

from lookup_matmul import compare

pytestmark = pytest.mark.usefixtures("one_thread")

IDS = torch.tensor([2, 3, 1])
TABLE = torch.randn(4, 3, generator=torch.Generator().manual_seed(0))


def hooked():
    """Give a layer that may change its output on the way."""
    layer = nn.Linear(4, 3)
    layer.register_forward_hook(lambda *_: None)
    return layer


def hooked_weight():
    """Give a layer whose weight receives another gradient than arrives."""
    layer = nn.Embedding(4, 3)
    layer.weight.register_hook(lambda gradient: 2 * gradient)
    return layer


@pytest.mark.parametrize(
    ("layer", "error", "message"),
    [
        (lambda: nn.Sequential(nn.Linear(4, 3)), TypeError, "a has type torch.nn.modules.container.Sequential, expected torch.nn.Embedding, EmbeddingBag or Linear, which hold a table; pass the one inside of it that you mean, or pass lambda given: layer(given) in place of the layer a"),
        (lambda: Scaled(4, 3), TypeError, "Scaled with a forward of its own, expected that of torch.nn.Embedding; pass lambda"),
        (hooked, ValueError, "a has hooks, which may change what goes in or out, expected none; pass lambda"),
        (hooked_weight, ValueError, "a.weight has hooks, which may change its gradient, expected none; pass lambda"),
        (lambda: nn.utils.parametrizations.weight_norm(nn.Linear(4, 3)), ValueError, "a.weight is computed from other parameters"),
        (lambda: nn.Embedding(4, 3, device="meta"), ValueError, "a.weight lies on the device meta, which stores no numbers"),
        (lambda: torch.zeros(4), ValueError, "a has shape (4,), expected two dimensions"),
        (lambda: TABLE.to(torch.float8_e4m3fn), TypeError, "has dtype torch.float8_e4m3fn, expected float16"),
        (lambda: [[1.0, 2.0]], TypeError, "a is a list, expected an Embedding, EmbeddingBag or Linear, a table as a tensor, or a callable; wrap"),
        (lambda: lambda ids: (TABLE[ids], None), TypeError, "a returned tuple, expected a tensor of floating-point numbers; return the output of the layer alone"),
        (lambda: lambda ids: ids, TypeError, "a returned torch.int64, expected a tensor of floating-point"),
    ],
)  # fmt: skip
def test_layers_that_are_refused(layer, error, message):
    """Each error says which of the two it is about, what was expected and what to do."""
    with pytest.raises(error, match=re.escape(message)):
        compare(layer(), TABLE, IDS)
    of_b = re.sub(r"^a(?=[ .])|\ba$", "b", message)
    with pytest.raises(error, match=re.escape(of_b)):
        compare(TABLE, layer(), IDS)


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        (torch.zeros(0, 4), ValueError, "the input holds no row, its shape is (0, 4), expected at least one id"),
        (torch.tensor(2), ValueError, "its shape is (), expected at least one id in at least one dimension; write a single id as ids.reshape(1)"),
        (torch.zeros(1, 2, 4), ValueError, "the rows have shape (1, 2, 4), expected (rows, columns); flatten"),
        (IDS.reshape(1, 1, 3), ValueError, "shape (1, 1, 3), expected one or two dimensions"),
        (IDS.bool(), TypeError, "ids has dtype torch.bool"),
        (IDS.to("meta"), ValueError, "a is on cpu, b is on cpu, the input is on meta; expected one device; move"),
        (IDS.tolist(), TypeError, "expected a torch.Tensor"),
        ((IDS, torch.tensor([0, 1])), ValueError, "offsets"),
    ],
)  # fmt: skip
def test_input_that_is_refused(given, error, message):
    """The same for ids and rows; an EmbeddingBag takes ids in one or two dimensions."""
    with pytest.raises(error, match=re.escape(message)):
        compare(nn.EmbeddingBag(4, 3), TABLE, given)


def test_gradients_of_a_function_are_refused():
    """It has no table that could receive one."""
    with pytest.raises(TypeError, match="expected two with a table, which receives the gradient"):
        compare(TABLE, lambda ids: TABLE[ids], IDS, gradients=True)


def planted():
    """Make pairs that are changed by being read, have options, gradients, or nothing to explain."""
    torch.manual_seed(0)
    table = torch.randn(5, 5)
    table[0] = torch.nan
    table[1, 1] = -0.0
    options = {"max_norm": 0.5, "padding_idx": 2, "scale_grad_by_freq": True}
    embedding = nn.Embedding.from_pretrained(table.clone(), freeze=False, **options)
    linear = nn.Linear(5, 5)
    linear.weight.data = table.half().float().clone()
    frozen = nn.Embedding.from_pretrained(torch.randn(5, 5), sparse=True).eval()
    bag = nn.EmbeddingBag(5, 5, max_norm=0.5)
    return embedding, linear, frozen, bag


def state_of(layers, given):
    """Give all that could change, as bytes and plain values."""
    tensors = [
        t for layer in layers for p in layer.parameters() for t in (p, p.grad) if t is not None
    ]
    tensors += [x for x in given if x is not None]
    return (
        [(id(tensor), tensor.detach().numpy().tobytes(), tensor._version) for tensor in tensors],
        [(p.requires_grad, id(p.grad)) for layer in layers for p in layer.parameters()],
        [(layer.training, repr(layer), sorted(vars(layer))) for layer in layers],
        torch.get_rng_state().tolist(),
        torch.get_default_dtype(),
        torch.get_float32_matmul_precision(),
        torch.is_grad_enabled(),
        torch.is_inference_mode_enabled(),
        torch.is_autocast_enabled("cpu"),
        torch.get_autocast_dtype("cpu"),
        torch.is_autocast_cache_enabled(),
        torch.get_num_threads(),
        torch.are_deterministic_algorithms_enabled(),
        float(torch.tensor(1e-40) * 1.0),
    )


@pytest.mark.parametrize(
    ("around", "flushed"),
    [
        (torch.enable_grad, False),
        (torch.no_grad, True),
        (torch.inference_mode, False),
        (lambda: torch.autocast("cpu", dtype=torch.bfloat16), False),
    ],
)
def test_nothing_of_the_callers_changes(around, flushed):
    """No bit of a weight, gradient or input, no random number, setting or mode."""
    layers = planted()
    for layer in layers[:2]:
        layer.weight.grad = torch.ones(5, 5)
    ids, rows = (
        torch.tensor([1, 1, 3, 4]),
        (torch.tensor([1, 3, 4]), torch.tensor([0, 2, 3]), torch.tensor([2.0, 3.0, 1.0])),
    )
    if not torch.set_flush_denormal(flushed) and flushed:
        pytest.skip("this processor cannot be told to flush")
    torch.set_float32_matmul_precision("high")
    try:
        with around():
            before = state_of(layers, (ids, *rows))
            for a, b in zip(layers, layers[1:] + layers[:1], strict=True):
                for given in (ids, rows):
                    report = compare(a, b, given, gradients=True)
                    assert report.before.total or report.before.reason
            compare(lambda ids: torch.rand(len(ids), 5), layers[0], ids)
            assert state_of(layers, (ids, *rows)) == before
    finally:
        torch.set_flush_denormal(False)
        torch.set_float32_matmul_precision("highest")


def test_the_default_device_does_not_matter():
    """Whoever builds a model on the device meta may compare two layers with numbers."""
    layers = planted()
    ids, rows = torch.tensor([1, 3, 4]), (torch.tensor([1, 3, 3]), torch.tensor([0, 2, 3]))
    for given in (ids, rows):
        expected = repr(compare(layers[0], layers[1], given, gradients=True))
        with torch.device("meta"):
            assert repr(compare(layers[0], layers[1], given, gradients=True)) == expected


def test_a_report_is_data_text_and_a_table():
    """An error of a function is part of it, shown, not run, in the table of a notebook."""

    def loud(_):
        raise ValueError("<script>alert(1)</script>")

    report = compare(loud, nn.Linear(4, 3), IDS)
    assert report.verdict == "not to be compared"
    assert report.before.reason == "a raises ValueError: <script>alert(1)</script>"
    table = report._repr_html_()
    assert "<script>" in repr(report)
    assert "<script>" not in table
    assert "&lt;script&gt;" in table
    assert table.count("<tr>") == table.count("</tr>") == len(repr(report).splitlines())
    assert str(report) == repr(report)


def test_the_text_tells_the_numbers_apart():
    """Six digits, and more where these are the same."""
    report = compare(TABLE, TABLE.nextafter(TABLE + 1), IDS)
    a, b = re.search(r": (\S+) in a, (\S+) in b", repr(report)).groups()
    assert a != b
    assert (float(a), float(b)) == pytest.approx(report.before.values)
    assert report.before.differing == report.before.total == 9
    assert report.before.first == (0, 0)
    doubled = compare(TABLE, TABLE.double(), IDS)
    assert "all numbers are equal in value" in repr(doubled)
