"""A recording has every case of the plan, measured or with a reason, also when interrupted."""

import platform
import sys
from collections import Counter
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock, patch

import pytest
import torch

from lookup_matmul.costs import Case, Spread, __main__, processor, read_recordings, recorder
from lookup_matmul.costs.count import ONE_HOT, PRODUCT

CASES = [Case("lookup", "forward", vocab_size=V, dim=8, ids=16) for V in (2, 4)]
PAIR = [CASES[0], CASES[0]._replace(form=PRODUCT)]
short_plan = patch.object(recorder, "plan_cases", lambda *_, **__: CASES)
DRIVER_ANSWER = Mock(return_value=SimpleNamespace(stdout="570.86.15\n"))


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_the_plan_has_the_cases_of_the_page(device):
    """At most 80 cases over vocabularies, widths, dtypes, directions and bags, none twice."""
    cases = recorder.plan_cases(device)
    assert len(cases) == len(set(cases)) <= 80
    forms, directions, vocab_sizes, dims, _, dtypes, _ = map(set, zip(*cases, strict=True))
    assert len(dims) == 2
    assert directions == {"forward", "backward"}
    assert {2, 131_072} <= vocab_sizes
    assert dtypes == {"float32", "bfloat16", "float16"} | ({"tf32"} if device == "cuda" else set())
    assert {"lookup", ONE_HOT, PRODUCT, "compiled one-hot", "compiled lookup"} <= forms
    assert {case.form for case in cases if case.bags} == {"embedding bag", "sparse product"}
    assert min(Counter(case[1:] for case in cases).values()) > 1  # nothing is measured alone
    quick = recorder.plan_cases(device, quick=True)
    assert set(quick) < set(cases)
    assert {"lookup", ONE_HOT, PRODUCT} < {case.form for case in quick} < forms


@short_plan
def test_the_command_records_into_a_folder(tmp_path, monkeypatch, capsys):
    """A new one, under the name of the device; a missing device is an error in one line."""
    folder = tmp_path / "new"
    monkeypatch.setattr(sys, "argv", ["costs", "--quick", "--device", "cpu", "--out", str(folder)])
    __main__.main()
    (path,) = folder.iterdir()
    assert str(path) in capsys.readouterr().out
    assert path.name.endswith("-quick.json")
    (recording,) = read_recordings(folder).values()
    assert recording["complete"]
    assert recording["provenance"]["quick"]
    assert [case["vocab_size"] for case in recording["cases"]] == [2, 4]
    assert all(case["rounds"] == 3 for case in recording["cases"])
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(sys, "argv", ["costs", "--device", "cuda"])
    with pytest.raises(SystemExit, match="torch finds no GPU; measure on cpu"):
        __main__.main()


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (torch.OutOfMemoryError("CUDA out of memory.\nTried"), "OutOfMemoryError: CUDA out of"),
        (RuntimeError(), "RuntimeError: "),
    ],
)
def test_a_case_with_an_error_of_torch_is_skipped_with_the_reason(monkeypatch, error, reason):
    """The first line of the message."""
    monkeypatch.setattr(recorder, "make_call", Mock(side_effect=error))
    (result,) = recorder.measure_cases(CASES[:1], "cpu", rounds=2)
    assert result["skipped"].startswith(reason)
    assert "\n" not in result["skipped"]


def test_a_case_that_does_not_fit_is_skipped(monkeypatch):
    """Its one-hot rows would fill the memory; a lookup of the same table fits."""
    monkeypatch.setattr(recorder.os, "sysconf", lambda _: 1024)  # 1 MiB: half of it is free
    large = Case("lookup", "forward", vocab_size=1000, dim=2, ids=100)
    cases = [large._replace(form=ONE_HOT), large]
    skipped, fitting = recorder.measure_cases(cases, "cpu", rounds=2)
    assert 0 < fitting["low_s"] <= fitting["median_s"] <= fitting["high_s"]
    assert skipped["skipped"].startswith("MemoryError: needs 0.0 GB, 0.0 GB are free")


def test_tf32_is_allowed_for_its_cases_only(monkeypatch):
    """And the precision is restored, also after an error."""
    precisions, before = [], torch.get_float32_matmul_precision()

    def note_precision(*_):
        precisions.append(torch.get_float32_matmul_precision())
        raise RuntimeError

    monkeypatch.setattr(recorder, "make_call", note_precision)
    for dtype in ("tf32", "float32"):
        recorder.measure_cases([CASES[0]._replace(dtype=dtype)], "cpu", rounds=2)
    assert precisions == ["high", "highest"]
    with pytest.raises(ZeroDivisionError), recorder.float32_precision("medium"):
        raise ZeroDivisionError
    assert torch.get_float32_matmul_precision() == before


def test_the_time_of_a_graph_is_that_of_one_of_its_calls(monkeypatch):
    """With the GPU's functions replaced; a form that no graph can hold is timed without one."""
    sample_inputs = recorder.sample_inputs
    graphs = [lambda: None, RuntimeError("it waits for the GPU")]
    spread = Spread(1e-5, 2e-5, 3e-5, 9)
    for name, replacement in {
        "sample_inputs": lambda case, _: sample_inputs(case, "cpu"),
        "check_memory": lambda *_: None,
        "capture_cuda_graph": Mock(side_effect=graphs),
        "time_side_by_side": lambda calls, **_: dict.fromkeys(calls, spread),
    }.items():
        monkeypatch.setattr(recorder, name, replacement)
    with_graph, without_graph = recorder.measure_cases(PAIR, "cuda", rounds=9)
    times = {"median_s": 2e-5, "low_s": 1e-5, "high_s": 3e-5, "rounds": 9, "largest_error": 0.0}
    graph = {"median_s": 2e-6, "low_s": 1e-6, "high_s": 3e-6}
    assert with_graph == PAIR[0]._asdict() | times | {"graph": graph}
    assert without_graph == PAIR[1]._asdict() | times


@pytest.mark.skipif(not torch.cuda.is_available(), reason="measures on a GPU")
def test_on_a_gpu_calls_are_timed_as_graphs_too():
    """Lookup and product in a graph, without the time to launch them."""
    for result in recorder.measure_cases(PAIR, "cuda", rounds=3):
        assert 0 < result["graph"]["median_s"] < result["median_s"]


def test_the_processor_is_named_as_linux_names_it(monkeypatch):
    """Elsewhere as Python names it, or by its architecture."""
    text = "processor\t: 0\nmodel name\t: A CPU @ 2.0 GHz\nprocessor\t: 1\nmodel name\t: A CPU\n"
    monkeypatch.setattr(Path, "exists", lambda _: True)
    monkeypatch.setattr(Path, "read_text", lambda *_: text)
    assert processor() == "A CPU @ 2.0 GHz"
    monkeypatch.setattr(Path, "exists", lambda _: False)
    for name, expected in (("arm", "arm"), ("", platform.machine())):
        monkeypatch.setattr(platform, "processor", lambda name=name: name)
        assert processor() == expected


@pytest.mark.parametrize(
    ("kind", "run", "expected"),
    [
        ("cpu", DRIVER_ANSWER, (processor(), None, None)),
        ("cuda", DRIVER_ANSWER, ("A GPU", "570.86.15", "13.0")),
        ("cuda", Mock(side_effect=FileNotFoundError), ("A GPU", None, "13.0")),
    ],
)
def test_the_provenance_has_the_device_and_the_versions(monkeypatch, kind, run, expected):
    """A processor has no driver, even beside a GPU; a container may hide that of a GPU."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "A GPU")
    monkeypatch.setattr(torch.version, "cuda", "13.0")
    monkeypatch.setattr(recorder.subprocess, "run", run)
    origin = recorder.provenance(kind)
    assert (origin["device"], origin["driver"], origin["cuda"]) == expected
    versions = torch.__version__, version("lookup-matmul"), platform.python_version()
    assert (origin["torch"], origin["package"], origin["python"]) == versions
    assert (origin["kind"], origin["threads"]) == (kind, torch.get_num_threads())
