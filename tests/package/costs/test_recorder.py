"""A recording is on disk all along: interrupted, out of time or without room, the next run goes on."""

import sys
import time
from pathlib import Path
from unittest import mock

import pytest
from cuda_stand_in import stand_in
from made_up_recording import CASES, COMMIT, ORIGIN, ceilings, measured

from lookup_matmul.costs import Case, __main__, measure, recorder
from lookup_matmul.costs.contenders import forms_of
from lookup_matmul.costs.measure import DeviceLost
from lookup_matmul.costs.recorder import record, sweep, write_recording
from lookup_matmul.costs.recordings import read_recording

SWEPT = [CASES[0]._replace(ids=n) for n in (1, 2, 3, 4)]
MADE = {"device": "cpu", "command": "python -m lookup_matmul.costs", "commit": COMMIT}


def fake(cases, *, ceilings, **_):
    """Measure a group at once."""
    return [measured(case, ceilings) for case in cases]


def kept(path):
    """Read what is on disk, as a machine without jsonschema does."""
    return read_recording(path, form=False)


def ids_in(found):
    """Name the cases of a recording by their number of ids."""
    return [result["ids"] for result in found["cases"]]


@pytest.fixture
def path(tmp_path, monkeypatch):
    """Where the recording goes; measuring takes no time, and jsonschema is not there."""
    monkeypatch.setitem(sys.modules, "jsonschema", None)
    monkeypatch.setattr(recorder, "measure_ceilings", lambda *_, **__: ceilings())
    monkeypatch.setattr(recorder, "measure_cases", fake)
    monkeypatch.setattr(recorder, "provenance", lambda *_: ORIGIN)
    return tmp_path / "recordings" / "mine.json"


def test_a_recording_goes_on_where_it_was_interrupted(path, monkeypatch):
    """Before any case; nothing is measured twice, nothing is lost, and what is complete stays."""
    log, stops = [], [*SWEPT]

    def counted(cases, **given):
        if cases[0] in stops[:1]:
            raise DeviceLost if cases[0] == SWEPT[1] else KeyboardInterrupt
        log.extend(cases)
        return fake(cases, **given)

    monkeypatch.setattr(recorder, "measure_cases", counted)
    for k in range(4):
        with pytest.raises((DeviceLost, KeyboardInterrupt)):
            record(path, SWEPT, **MADE)
        assert ids_in(kept(path)) == [1, 2, 3, 4][:k]
        assert not kept(path)["complete"]
        del stops[0]
    whole = record(path, SWEPT, **MADE)
    assert log == SWEPT
    assert whole == kept(path)
    assert whole["complete"]
    assert ids_in(whole) == [1, 2, 3, 4]
    monkeypatch.setattr(recorder, "measure_ceilings", None)  # not even these are measured again
    assert record(path, SWEPT, **MADE) == whole


def test_forms_that_share_their_inputs_are_measured_together(path, monkeypatch):
    """In turns, so they arrive as one group."""
    asked = []
    both = [case._replace(form=f) for case in SWEPT[:2] for f in ("lookup", "multiplication alone")]
    noting = lambda cases, **given: asked.append(cases) or fake(cases, **given)  # noqa: E731
    monkeypatch.setattr(recorder, "measure_cases", noting)
    record(path, both, **MADE)
    assert asked == [both[:2], both[2:]]


def test_ceilings_are_measured_at_the_start_in_the_middle_and_at_the_end(path, monkeypatch):
    """So that a machine that slows down shows; predictions hold to the first."""
    order = []

    def noting(cases, **given):
        order.append(cases[0].ids)
        return fake(cases, **given)

    def limits(device, **_):
        order.append(device)
        return ceilings(1.0 + 0.01 * len(order))

    monkeypatch.setattr(recorder, "measure_cases", noting)
    monkeypatch.setattr(recorder, "measure_ceilings", limits)
    whole = record(path, SWEPT, **MADE)
    assert order == ["cuda", 1, 2, 3, "cuda", 4, "cuda"]
    assert whole["ceilings"] == [ceilings(1.01), ceilings(1.05), ceilings(1.07)]


def test_ceilings_of_a_busy_machine_are_measured_again(path, monkeypatch):
    """And if it stays busy, the run ends, the file stays sound, and a later run goes on."""
    shown = [ceilings(factor) for factor in (1, 0.02, 1.1, 0.02, 0.01, 0.02)]
    monkeypatch.setattr(recorder, "measure_ceilings", lambda *_, **__: shown.pop(0))
    with pytest.raises(ValueError, match=r"The machine seems busy: run it again later to go on\."):
        record(path, SWEPT, **MADE)
    assert not shown
    left = kept(path)
    assert left["ceilings"] == [ceilings(), ceilings(1.1)]
    assert len(left["cases"]) == 4
    shown.append(ceilings(0.9))
    assert record(path, SWEPT, **MADE)["complete"]


def test_time_runs_out_and_a_rerun_goes_on(path, monkeypatch):
    """The minutes given end a run between two groups, with ceilings measured once more."""
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])

    def slow(cases, **given):
        now[0] += 60
        return fake(cases, **given)

    monkeypatch.setattr(recorder, "measure_cases", slow)
    part = record(path, SWEPT, minutes=2, **MADE)
    assert ids_in(part) == [1, 2]
    assert not part["complete"]
    assert len(part["ceilings"]) == 3
    assert now[0] == 120
    whole = record(path, SWEPT, minutes=9, **MADE | {"command": "another"})
    assert whole["complete"]
    assert ids_in(whole) == [1, 2, 3, 4]
    assert not record(path.with_name("none.json"), SWEPT, minutes=0, **MADE)["cases"]


@pytest.mark.parametrize("name", ["device", "torch", "quick"])
def test_another_machine_or_version_does_not_go_on(path, monkeypatch, name):
    """Numbers of two never stand in one file, nor those of a trial in a recording."""
    record(path, SWEPT[:1], **MADE)
    quick, before = name == "quick", path.read_bytes()
    monkeypatch.setattr(recorder, "provenance", lambda *_: ORIGIN | {name: "other"})
    fault = f"provenance.{name} is .*, and now it is .*; move the file away to record anew"
    with pytest.raises(ValueError, match=fault):
        record(path, SWEPT, quick=quick, **MADE)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("text", "says"),
    [("{", "the file is not JSON"), ("{}", r"KeyError\('complete'\)\. Record again")],
)
def test_a_damaged_file_is_not_overwritten(path, text, says):
    """It may hold what somebody needs; without jsonschema it is refused, too."""
    path.parent.mkdir()
    path.write_text(text, "utf-8")
    with pytest.raises(ValueError, match=rf"mine\.json: .*{says}"):
        record(path, SWEPT, **MADE)
    assert path.read_text("utf-8") == text


def test_a_recording_is_replaced_whole(path, monkeypatch):
    """Whoever reads while it is written finds the old one, until the new one is all there."""
    old, found, replace = record(path, SWEPT[:2], **MADE), [], Path.replace

    def read_before(partial, target):
        found.extend([kept(target), kept(partial)["complete"]])
        return replace(partial, target)

    monkeypatch.setattr(Path, "replace", read_before)
    write_recording(path, old | {"complete": False})
    assert found == [old, False]
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_what_is_measured_has_the_form_of_a_recording(path, monkeypatch):
    """On the stand-in for a GPU, of forms that share their inputs, and read with the schema."""
    both = ("lookup", "multiplication alone")
    swept = [SWEPT[0]._replace(vocab_size=50, form=form) for form in both]
    monkeypatch.setattr(recorder, "measure_cases", measure.measure_cases)
    with stand_in():
        whole = record(path, swept, **MADE | {"device": "cuda"})
    assert all(result["launch_s"] > 0 and result["clock_hz"] > 1e9 for result in whole["cases"])
    monkeypatch.undo()
    pytest.importorskip("jsonschema", reason="it checks the form of a recording")
    assert read_recording(path) == whole


SWEEPS = {name: list(sweep(name)) for name in ("quick", "cpu", "cuda")}


@pytest.mark.parametrize("name", SWEEPS)
def test_each_case_stands_once_and_beside_those_it_shares_its_inputs_with(name):
    """Or a group would be measured in two halves, hours apart."""
    cases = SWEEPS[name]
    assert len(set(cases)) == len(cases)
    groups = [key for k, key in enumerate(c[1:] for c in cases) if not k or cases[k - 1][1:] != key]
    assert len(set(groups)) == len(groups)
    for case in cases:
        assert case.form in forms_of(case.direction, case.bags)
        assert case.ids % max(case.bags, 1) == 0
        assert case.direction == "forward" or case.cache == "hot"  # right after what came before


def run_command(monkeypatch, path, *options):
    """Run the command for a made-up machine."""
    for module in (recorder, __main__):
        monkeypatch.setattr(module, "provenance", lambda *_, **__: ORIGIN | {"device": "A (R) b"})
    monkeypatch.setattr(__main__.torch, "get_num_threads", lambda: 2)
    monkeypatch.setattr(__main__, "sweep", lambda name: SWEPT if name == "quick" else SWEPT[:2])
    command = ["x", "--device", "cpu", "--out", str(path.parent), "--commit", COMMIT, *options]
    monkeypatch.setattr(sys, "argv", command)
    __main__.main()


@pytest.mark.parametrize(
    ("options", "said", "name", "count"),
    [
        (["--quick"], "It works; leave --quick out", "a-r-b-2-threads-quick.json", 4),
        ([], "To share it: git add", "a-r-b-2-threads.json", 2),
        (["--minutes", "0.001"], "Cases are left: run it again", "a-r-b-2-threads.json", 0),
    ],
)
def test_the_command_makes_a_recording_and_says_what_to_do(
    path, capsys, monkeypatch, options, said, name, count
):
    """Of the sweep of the device, or the quick one, in a file that is named for the machine."""
    path.parent.mkdir()
    (path.parent / "a-r-b-2-threads-quick.json").write_text("an old trial, replaced")
    run_command(monkeypatch, path, *options)
    printed = capsys.readouterr().out
    assert said in printed
    assert ("and run it again to go on" in printed) == ("--quick" not in options)
    found = kept(path.parent / name)
    assert found["provenance"]["quick"] == ("--quick" in options)
    assert len(found["cases"]) == count
    assert {Case(*(result[field] for field in Case._fields)) for result in found["cases"]} == set(
        SWEPT[:count]
    )


@pytest.mark.parametrize("minutes", ["0", "-1", "nan"])
def test_a_run_without_time_is_refused(path, capsys, monkeypatch, minutes):
    """Before anything is measured or written."""
    with pytest.raises(SystemExit):
        run_command(monkeypatch, path, f"--minutes={minutes}")
    assert f"--minutes is {minutes}, expected more than 0" in capsys.readouterr().err
    assert not path.parent.exists()


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ValueError("commit is 'x'"), "commit is 'x'"),
        (DeviceLost("the GPU answers no more"), "the GPU answers no more"),
    ],
)
def test_the_command_ends_in_a_line(path, monkeypatch, error, said):
    """Not in a traceback."""
    monkeypatch.setattr(recorder, "write_recording", mock.Mock(side_effect=error))
    with pytest.raises(SystemExit, match=f"^{said}.*$"):
        run_command(monkeypatch, path)
