"""A recording is on disk all along: killed, interrupted or out of time, the next run goes on."""

import multiprocessing
import sys
import time
from contextlib import contextmanager, nullcontext, suppress
from functools import cache
from random import Random
from unittest import mock

import pytest
from cuda_stand_in import stand_in
from test_recording import CASES, ceilings, faster, measured

from lookup_matmul.costs import Case, DeviceLost, __main__, measure, provenance, recorder
from lookup_matmul.costs.contenders import contender
from lookup_matmul.costs.recording import read_recording

COMMIT = 40 * "0"
LOOKUP = CASES[0]
FORMS = ("lookup", "multiplication alone")
SWEPT = [LOOKUP._replace(ids=n) for n in (1, 2, 3, 4)]
MADE = {"device": "cpu", "command": "python -m lookup_matmul.costs", "commit": COMMIT}


def fake(cases, ceilings):
    """Give what a measurement would, at once."""
    return [result | {"launch_s": None, "clock_hz": None} for result in on_gpu(cases, ceilings)]


def on_gpu(cases, ceilings):
    """Give what a measurement on a GPU would."""
    return [measured(case, ceilings) for case in cases]


def record(path, cases, measure=None, **made):
    """Record with another way of measuring a group of cases, or with the real one."""
    replaced = mock.patch.object(
        recorder, "measure_cases", lambda group, ceilings, **_: measure(group, ceilings)
    )
    with replaced if measure else nullcontext():
        return recorder.record(path, cases, **made)


@cache
def origin_here():
    """Describe this machine, once."""
    return provenance(**MADE)


@pytest.fixture
def path(tmp_path, monkeypatch):
    """Where the recording goes; ceilings and odd input take no time."""
    monkeypatch.setattr(recorder, "measure_ceilings", lambda *_, **__: ceilings())
    monkeypatch.setattr(recorder, "odd_input", lambda _: {})
    monkeypatch.setattr(recorder, "provenance", lambda *_: origin_here())
    return tmp_path / "recordings" / "mine.json"


def test_a_recording_goes_on_where_it_was_interrupted(path):
    """After any case, nothing is measured twice and nothing is lost."""
    log, stops = [], []

    def counted(cases, ceilings):
        if cases[0] in stops[-1:]:
            raise KeyboardInterrupt
        log.extend(cases)
        return fake(cases, ceilings)

    for k, stop in enumerate(SWEPT):
        stops.append(stop)
        with pytest.raises(KeyboardInterrupt):
            record(path, SWEPT, measure=counted, **MADE)
        kept = read_recording(path)
        assert [result["ids"] for result in kept["cases"]] == [1, 2, 3, 4][:k]
        assert not kept["complete"]
    stops.append(None)
    whole = record(path, SWEPT, measure=counted, **MADE)
    assert log == SWEPT
    assert whole == read_recording(path)
    assert whole["complete"]
    assert [result["ids"] for result in whole["cases"]] == [1, 2, 3, 4]


def test_what_is_complete_is_left_as_it_is(path, monkeypatch):
    """Not even the ceilings are measured again."""
    whole = record(path, SWEPT, measure=fake, **MADE)
    monkeypatch.setattr(recorder, "measure_ceilings", None)
    assert record(path, SWEPT, measure=None, **MADE) == whole


def test_more_cases_complete_a_recording(path):
    """As after a change of the sweep."""
    record(path, SWEPT[:2], measure=fake, **MADE)
    whole = record(path, SWEPT, measure=fake, **MADE)
    assert whole["complete"]
    assert [result["ids"] for result in whole["cases"]] == [1, 2, 3, 4]


def test_forms_that_share_their_inputs_are_measured_together(path):
    """Those left of a group too, since a kill may come between."""
    asked = []
    two = [case._replace(form=form) for case in SWEPT[:2] for form in ("lookup", "one-hot built")]

    def noting(cases, ceilings):
        asked.append(cases)
        return fake([case._replace(form="lookup") for case in cases[:1]], ceilings)

    with pytest.raises(KeyError):  # the machine of this test was not asked for that form's price
        record(path, two, measure=fake, **MADE)
    record(path, two, measure=noting, **MADE)
    assert asked == [two[:2], two[2:]]


def test_ceilings_are_measured_at_the_start_in_the_middle_and_at_the_end(path, monkeypatch):
    """So that a machine that slows down shows; predictions hold to the first."""
    order = []

    def noting(cases, ceilings):
        order.append(cases[0].ids)
        return fake(cases, ceilings)

    def limits(device, **_):
        order.append(device)
        return ceilings(1.0 + 0.01 * len(order))

    monkeypatch.setattr(recorder, "measure_ceilings", limits)
    whole = record(path, SWEPT, measure=noting, **MADE)
    assert order == ["cpu", 1, 2, 3, "cpu", 4, "cpu"]
    assert len(whole["ceilings"]) == 3
    assert whole["ceilings"][0] != whole["ceilings"][1]


def test_ceilings_of_a_busy_machine_are_measured_again(path, monkeypatch):
    """And if it stays busy, the run ends, the file stays sound, and a later run goes on."""
    shown = [ceilings(), ceilings(0.1), ceilings(1.1), ceilings(0.1), ceilings(0.01), ceilings(0.1)]
    monkeypatch.setattr(recorder, "measure_ceilings", lambda *_, **__: shown.pop(0))
    with pytest.raises(ValueError, match=r"The machine seems busy: run it again later to go on\."):
        record(path, SWEPT, measure=fake, **MADE)
    assert not shown
    left = read_recording(path)
    assert left["ceilings"] == [ceilings(), ceilings(1.1)]
    assert len(left["cases"]) == 4
    shown.append(ceilings(0.9))
    assert record(path, SWEPT, measure=fake, **MADE)["complete"]


def test_a_time_that_no_reader_would_accept_is_left_out(path):
    """With what was wrong with it, so that the others can be kept."""

    def hasty(cases, ceilings):
        return [
            faster(0, 20, {"cases": [result]})["cases"][0] if result["ids"] == 2 else result
            for result in fake(cases, ceilings)
        ]

    whole = record(path, SWEPT, measure=hasty, **MADE)
    assert ["skipped" in result for result in whole["cases"]] == [False, True, False, False]
    assert whole["cases"][1]["skipped"]["kind"] == "impossible time"
    assert "by the ceilings of the same run" in whole["cases"][1]["skipped"]["says"]


def test_a_result_of_another_form_is_a_fault_of_ours(path):
    """No reason is made up for it."""

    def hasty(cases, ceilings):
        return [result | {"kernels": 3} for result in fake(cases, ceilings)]

    with pytest.raises(ValueError, match=r"the case\.kernels is 3, expected no such member"):
        record(path, SWEPT, measure=hasty, **MADE)


def test_of_a_case_that_was_not_measured_only_the_reason_is_kept(path):
    """In marks that no page reads as markup, though torch's own words have them."""
    says = "NotImplementedError: `addmm` <Half> {x|y}\nmore"

    def lacking(cases, ceilings):
        skipped = {"skipped": {"kind": "not in torch", "says": says}}
        return [result | skipped for result in fake(cases, ceilings)]

    kept = record(path, SWEPT, measure=lacking, **MADE)["cases"][0]
    assert kept["skipped"] == {
        "kind": "not in torch",
        "says": "NotImplementedError: 'addmm' ‹Half› (x/y)",
    }
    assert set(kept) == {*Case._fields, "distinct", "predicted_s", "skipped"}


def test_time_runs_out_and_a_rerun_goes_on(path, monkeypatch):
    """The minutes given end a run between two groups, with ceilings measured once more."""
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])

    def slow(cases, ceilings):
        now[0] += 60
        return fake(cases, ceilings)

    part = record(path, SWEPT, measure=slow, minutes=2, **MADE)
    assert [result["ids"] for result in part["cases"]] == [1, 2]
    assert not part["complete"]
    assert len(part["ceilings"]) == 3
    assert now[0] == 120
    other = MADE | {"command": "python -m lookup_matmul.costs --minutes 9"}
    whole = record(path, SWEPT, measure=slow, minutes=9, **other)
    assert whole["complete"]
    assert [result["ids"] for result in whole["cases"]] == [1, 2, 3, 4]


def test_a_lost_device_ends_the_run_and_its_case_is_not_done(path):
    """What was measured before is on disk; the next run begins with that case."""
    log = []

    def losing(cases, ceilings):
        if cases[0].ids == 3 and not log:
            log.append(cases[0].ids)
            raise DeviceLost("the GPU answers no more: device-side assert triggered")
        return fake(cases, ceilings)

    with pytest.raises(DeviceLost, match="device-side assert"):
        record(path, SWEPT, measure=losing, **MADE)
    left = read_recording(path)
    assert [result["ids"] for result in left["cases"]] == [1, 2]
    assert not left["complete"]
    assert [result["ids"] for result in record(path, SWEPT, measure=losing, **MADE)["cases"]] == [
        1,
        2,
        3,
        4,
    ]


@pytest.mark.parametrize(
    ("name", "value"),
    [("commit", "unknown"), ("driver", None), ("device", "<b>"), ("date", "2999-01-01")],
)
def test_an_origin_that_no_reader_would_accept_is_refused_before_anything_is_measured(
    path, monkeypatch, name, value
):
    """Not after the minutes that the ceilings take."""
    origin = provenance("cpu", MADE["command"], COMMIT) | {
        "kind": "cuda",
        "driver": "1.2",
        "cuda": "13.0",
    }
    monkeypatch.setattr(recorder, "provenance", lambda *_: origin | {name: value})
    monkeypatch.setattr(recorder, "measure_ceilings", None)
    with pytest.raises(ValueError, match=f"data.provenance.{name} is"):
        record(path, SWEPT, measure=None, **MADE)
    assert not path.exists()


SAME = (
    "kind",
    "device",
    "device_memory_bytes",
    "driver",
    "cuda",
    "torch",
    "triton",
    "cpu",
    "threads",
    "commit",
)


@pytest.mark.parametrize("name", SAME)
def test_another_machine_or_version_does_not_go_on(path, monkeypatch, name):
    """Numbers of two never stand in one file."""
    origin = provenance("cpu", MADE["command"], COMMIT) | {
        "kind": "cuda",
        "driver": "1.2",
        "cuda": "13.0",
        "triton": "3.1",
    }
    monkeypatch.setattr(recorder, "provenance", lambda *_: origin)
    record(path, SWEPT[:1], measure=on_gpu, **MADE)
    other = {"kind": "cpu", "threads": 99, "device_memory_bytes": 5, "commit": 40 * "1"}.get(
        name, "9.9"
    )
    changed = origin | {name: other} | ({"driver": None, "cuda": None} if name == "kind" else {})
    monkeypatch.setattr(recorder, "provenance", lambda *_: changed)
    with pytest.raises(
        ValueError, match=f"data.provenance.{name} is .*, and now it is .*; move the file away"
    ):
        record(path, SWEPT, measure=on_gpu, **MADE)


def test_a_trial_is_not_completed_to_a_recording(path):
    """Its limits were measured with smaller sizes, its cases in fewer rounds."""
    record(path, SWEPT[:1], measure=fake, quick=True, **MADE)
    with pytest.raises(ValueError, match=r"data\.provenance\.quick is True, and now it is False"):
        record(path, SWEPT, measure=fake, **MADE)


def test_a_damaged_file_is_not_overwritten(path):
    """It may hold what somebody needs."""
    path.parent.mkdir()
    path.write_text("{", "utf-8")
    with pytest.raises(ValueError, match="the file is not JSON"):
        record(path, SWEPT, measure=None, **MADE)
    assert path.read_text("utf-8") == "{"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such lock")
def test_one_folder_has_one_run(path):
    """The second is refused in words; another folder is free, and so is this one afterwards."""
    path.parent.mkdir()
    with recorder.only_writer(path.parent):
        with pytest.raises(
            ValueError, match=r"recordings: another run is recording into this folder"
        ):
            record(path, SWEPT, measure=fake, **MADE)
        record(path.parent / "other" / path.name, SWEPT, measure=fake, **MADE)
        by_another_way = path.parent / ".." / path.parent.name / path.name
        with pytest.raises(ValueError, match="another run"):
            record(by_another_way, SWEPT, measure=fake, **MADE)
    assert record(path, SWEPT, measure=fake, **MADE)["complete"]
    assert [file.name for file in path.parent.iterdir() if file.is_file()] == [path.name]


MANY = [LOOKUP._replace(ids=n) for n in range(1, 41)]
AFRESH = multiprocessing.get_context("forkserver")  # imports torch once for all of its processes
AFRESH.set_forkserver_preload(["test_recorder"])


def run(path, origin, said, heard=None):
    """Record forty cases, told of each before it is measured, and waiting for a word if asked to."""
    recorder.provenance, recorder.odd_input = (lambda *_: origin), lambda _: {}
    recorder.measure_ceilings = lambda *_, **__: ceilings()

    def slow(cases, ceilings, **_):
        said.send(cases[0].ids)
        if heard:
            heard.recv()
        time.sleep(0.005)
        return fake(cases, ceilings)

    recorder.measure_cases = slow
    recorder.record(path, MANY, **MADE)


@contextmanager
def running(path, *more):
    """Record in a process of its own; gives it, and what it says."""
    hear, said = AFRESH.Pipe(duplex=False)
    process = AFRESH.Process(target=run, args=(path, origin_here(), said, *more))
    process.start()
    said.close()
    try:
        yield process, hear
    finally:
        process.kill()
        process.join()


def said_by(hear):
    """Give all that was said by a process that has ended."""
    with suppress(EOFError):
        while True:
            yield hear.recv()


def test_a_run_killed_at_ten_random_moments_loses_at_most_the_group_in_progress(tmp_path):
    """Each time what is on disk can be read; the last run completes it, and nothing is done twice."""
    path, moments, kept, chosen = tmp_path / "mine.json", 10, [], Random(0)
    for _ in range(moments):
        with running(path) as (process, hear):
            begun = [hear.recv() for _ in range(chosen.randint(1, 3))]
            time.sleep(chosen.uniform(0, 0.02))
            process.kill()
            process.join()
            begun += said_by(hear)
        before, kept = kept, read_recording(path)["cases"]
        assert kept[: len(before)] == before
        done = [result["ids"] for result in kept[len(before) :]]
        assert done in (begun, begun[:-1])
        assert len(kept) < len(MANY)
    assert not read_recording(path)["complete"]
    with running(path) as (process, hear):
        process.join(60)
        assert process.exitcode == 0
        assert len([*said_by(hear)]) == len(MANY) - len(kept)
    whole = read_recording(path)
    assert whole["complete"]
    assert whole["cases"][: len(kept)] == kept
    assert [result["ids"] for result in whole["cases"]] == list(range(1, 41))
    assert [file.name for file in tmp_path.iterdir() if file.name[0] != "."] == [path.name]


def test_two_runs_at_once_do_not_mix(path):
    """The second is refused in words, and the first does not notice."""
    heard, word = AFRESH.Pipe(duplex=False)
    with running(path, heard) as (process, hear):
        hear.recv()
        with pytest.raises(ValueError, match="another run is recording into this folder"):
            record(path, MANY, fake, **MADE)
        for _ in MANY:
            word.send("go on")
        process.join(60)
        assert process.exitcode == 0
    assert [result["ids"] for result in read_recording(path)["cases"]] == list(range(1, 41))


def test_a_gpu_is_recorded_and_may_be_lost(path, monkeypatch):
    """On the stand-in for a GPU, whose assertions spoil the process: a new one goes on."""
    origin = provenance("cpu", MADE["command"], COMMIT)
    origin |= {"kind": "cuda", "driver": "580.95.05", "cuda": "13.0"}
    monkeypatch.setattr(recorder, "provenance", lambda *_: origin)
    swept = [case._replace(vocab_size=50, form=form) for case in SWEPT for form in FORMS]
    with stand_in() as gpu:

        def asserts(case, inputs):
            gpu.lost = case.ids == 3
            return contender(case, inputs)

        monkeypatch.setattr(measure, "contender", asserts)
        with pytest.raises(DeviceLost, match="device-side assert"):
            record(path, swept, **MADE | {"device": "cuda"})
    left = read_recording(path)
    assert [result["ids"] for result in left["cases"]] == [1, 1, 2, 2]
    monkeypatch.setattr(measure, "contender", contender)
    with stand_in():
        whole = record(path, swept, **MADE | {"device": "cuda"})
    assert whole["complete"]
    assert [result["ids"] for result in whole["cases"]] == [1, 1, 2, 2, 3, 3, 4, 4]
    assert not [result["skipped"] for result in whole["cases"] if "skipped" in result]
    assert all(result["launch_s"] > 0 and result["clock_hz"] > 1e9 for result in whole["cases"])


@pytest.mark.parametrize(
    ("options", "said", "name"),
    [
        (["--quick"], "It works; leave --quick out", "a-device-r-2-threads-quick.json"),
        ([], "To share it: git add", "a-device-r-2-threads.json"),
        (["--minutes", "0.001"], "Cases are left: run it again", "a-device-r-2-threads.json"),
    ],
)
def test_the_command_makes_a_recording_and_says_what_to_do(
    path, capsys, monkeypatch, options, said, name
):
    """Of the sweep of the device, or the quick one, in a file that is named for the machine."""
    asked, origin = [], origin_here() | {"device": "A device (R)", "threads": 2}
    for module in (recorder, __main__):
        monkeypatch.setattr(module, "provenance", lambda *_, **__: origin)
    monkeypatch.setattr(__main__.torch, "get_num_threads", lambda: 2)
    monkeypatch.setattr(__main__, "sweep", lambda name: asked.append(name) or SWEPT)
    command = ["x", *options, "--device", "cpu", "--out", str(path.parent), "--commit", COMMIT]
    monkeypatch.setattr(sys, "argv", command)
    path.parent.mkdir()
    (path.parent / "a-device-r-2-threads-quick.json").write_text("an old trial, replaced")
    with mock.patch.object(
        recorder, "measure_cases", lambda group, ceilings, **_: fake(group, ceilings)
    ):
        __main__.main()
    assert said in capsys.readouterr().out
    found = read_recording(path.parent / name)
    assert asked == ["quick" if "--quick" in options else "cpu"]
    assert found["provenance"]["quick"] == ("--quick" in options)
    assert len(found["cases"]) == (0 if "--minutes" in options else 4)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--commit", "x"], "commit is 'x', expected 40 hexadecimal digits"),
        (["--commit", COMMIT, "--device", "cuda"], None),
    ],
)
def test_the_command_refuses_in_words(tmp_path, monkeypatch, options, said):
    """In a line, not in a traceback."""
    monkeypatch.setattr(sys, "argv", ["x", "--device", "cpu", "--out", str(tmp_path), *options])
    if said is None:
        said = "the GPU answers no more"
        monkeypatch.setattr(__main__, "provenance", mock.Mock(side_effect=DeviceLost(said)))
    with pytest.raises(SystemExit) as ended:
        __main__.main()
    assert str(ended.value).startswith(said)
    assert "\n" not in str(ended.value)
    assert not list(tmp_path.iterdir())
