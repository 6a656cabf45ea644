"""What is done before a call is not part of it, and what a call changes is as before after it."""

import pytest
import torch
from test_oracle import inputs_of

from lookup_matmul.costs.cases import Case, Inputs
from lookup_matmul.costs.contenders import contender

CASE = Case("lookup", "forward", 7, 3, 20, "uniform", "float32", "hot")


@pytest.mark.parametrize("before", [False, True])
def test_the_deterministic_form_asks_for_it_and_asks_no_longer(before, monkeypatch):
    """The switch is set during the call only, and is as before even if that fails."""
    seen = []

    def gradient(*_):
        seen.append(torch.are_deterministic_algorithms_enabled())
        raise RuntimeError

    monkeypatch.setattr(torch.ops.aten, "embedding_backward", gradient)
    case = CASE._replace(form="lookup, deterministic", direction="backward")
    call = contender(case, inputs_of(case))
    torch.use_deterministic_algorithms(before)
    try:
        with pytest.raises(RuntimeError):
            call()
        assert seen == [True]
        assert torch.are_deterministic_algorithms_enabled() is before
    finally:
        torch.use_deterministic_algorithms(False)


class OnGpu(torch.Tensor):
    """A tensor that says that it lies on a GPU."""

    is_cuda = True


def test_the_compiled_form_forgets_earlier_shapes_and_is_offered_fusion_on_a_gpu(monkeypatch):
    """Or a compiler would give up after eight shapes; it is compiled before the call is timed."""
    log = []

    def compiled(call, *, options, **_):
        log.append(options)
        return lambda *given: log.append("called") or call(*given)

    monkeypatch.setattr(torch, "compile", compiled)
    monkeypatch.setattr(torch.compiler, "reset", lambda: log.append("reset"))
    case = CASE._replace(form="compiled one-hot")
    inputs = inputs_of(case)
    call = contender(case, inputs)
    assert log == ["reset", {}, "called"]
    assert call().equal(inputs.weight[inputs.ids])
    contender(case, Inputs(inputs.ids.as_subclass(OnGpu), *inputs[1:]))
    assert log[4] == "reset"
    assert "max_autotune_gemm" in log[5]
