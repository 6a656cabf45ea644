"""Exported layers in onnxruntime: functions without modules."""

import onnxruntime
import pytest
import torch
from networks import IDS, VOCAB_SIZE, make_network
from torch import nn

from lookup_matmul import compare, probe_lookup, to_linear


def run_in_onnx(module, ids):
    """Export a module, and return a function that runs it in onnxruntime."""
    sizes = ({0: torch.export.Dim.DYNAMIC, 1: torch.export.Dim.DYNAMIC},)
    program = torch.onnx.export(
        module.eval(), (ids,), dynamo=True, dynamic_shapes=sizes, verbose=False
    )
    session = onnxruntime.InferenceSession(program.model_proto.SerializeToString())
    (name,) = (argument.name for argument in session.get_inputs())
    return lambda ids: torch.from_numpy(session.run(None, {name: ids.numpy()})[0])


@pytest.fixture(scope="module")
def table():
    """Return the Embedding of a model."""
    return make_network("llama").get_input_embeddings()


@pytest.fixture(scope="module")
def session(table):
    """Return this Embedding in onnxruntime."""
    return run_in_onnx(nn.Sequential(table), IDS)


def test_a_session_agrees_with_its_layer(table, session):
    """And with a product, in every bit."""
    for layer in (table, to_linear(table, share=False), table.weight):
        assert compare(layer, session, IDS).verdict == "equal in every bit"


def test_causes_are_found_between_a_layer_and_a_session(table, session):
    """A factor of two, and another table."""
    doubled = nn.Embedding.from_pretrained(2 * table.weight.detach())
    report = compare(doubled, session, IDS)
    assert not report.agrees
    assert "b is 0.5 times a" in report.notes or report.causes[0].name == "scaled rows"
    with torch.no_grad():
        other = nn.Embedding.from_pretrained(table.weight.flip(0))
    assert not compare(other, session, IDS).agrees


def test_ids_outside_are_as_onnx_defines_them(table, session):
    """A negative id counts from the end, and one too large is refused."""
    lookup = lambda ids: session(ids.reshape(1, -1)).reshape(*ids.shape, -1)  # noqa: E731
    answers = probe_lookup(lookup, table.weight, outside=True)
    assert answers["id -1"] == f"row {VOCAB_SIZE - 1}"
    assert answers[f"id {VOCAB_SIZE}"].startswith("raises InvalidArgument")
    assert answers["first id"] == answers["last id"] == "equal in every bit"
