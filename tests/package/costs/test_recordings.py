"""A recording is sound or it is refused, by an error that names the file, the field, the remedy."""

import json
from copy import deepcopy

import pytest
from made_up_recording import CASES, ORIGIN, SOUND, around, ceilings

from lookup_matmul.costs import describe, read_recordings, select
from lookup_matmul.costs.recorder import write_recording
from lookup_matmul.costs.recordings import read_recording
from lookup_matmul.recorded import FOLDER

REMEDY = ". Record again with python -m lookup_matmul.costs, or take the file from its source."
jsonschema = pytest.importorskip("jsonschema", reason="it checks the form of a recording")


@pytest.fixture
def path(tmp_path):
    """Where a recording lies."""
    return tmp_path / "a-device.json"


def changed(place: str, value: object) -> dict:
    """Copy the sound recording, with one member changed, or removed by ``...``."""
    found = deepcopy(SOUND)
    *parents, last = (int(name) if name.isdigit() else name for name in place.split("."))
    parent = found
    for name in parents:
        parent = parent[name]
    if value is ...:
        del parent[last]
    else:
        parent[last] = value
    return found


def refusal(path) -> str:
    """Read a file and return what is said of it, without the file and the remedy."""
    with pytest.raises(ValueError) as refused:  # noqa: PT011 - the text is compared by the caller
        read_recordings(path.parent)
    said = str(refused.value)
    assert said.startswith(f"{path}: ")
    assert said.endswith(REMEDY)
    assert "\n" not in said
    return said.removeprefix(f"{path}: ").removesuffix(REMEDY)


def test_what_is_written_can_be_read(path):
    """All of it, a line for each case, and nothing is left beside it."""
    write_recording(path, SOUND)
    assert read_recording(path) == SOUND
    assert len(path.read_text("utf-8").splitlines()) == 3 + len(SOUND["cases"])
    assert [file.name for file in path.parent.iterdir()] == [path.name]
    write_recording(path, SOUND | {"complete": False, "cases": []})
    assert read_recording(path)["cases"] == []  # as a run leaves it that ends before its first case


def test_the_recordings_of_the_site_are_sound():
    """Each file in the package, among them one from before there was a schema."""
    found = read_recordings(FOLDER)
    assert len(found["amd-epyc-2-threads"]["cases"]) == 448
    assert found["amd-epyc-2-threads"]["cases"][0]["median_s"] == 2.3057019071919577e-05


ONCE = SOUND["cases"][0]
WRONG = {
    "other version": ("version", 1, "$.version: 2 was expected"),
    "no provenance": ("provenance", ..., "$: 'provenance' is a required property"),
    "two quartiles": ("ceilings.0.rate.float32.random", [1e11, 1e11], "$.ceilings[0].rate.float32.random:"),
    "negative time": ("cases.0.low_s", -1e-6, "$.cases[0].low_s: -1e-06 is less than"),
    "a reason of its own": ("cases.4.skipped.kind", "bad luck", "$.cases[4].skipped.kind: 'bad luck' is not one of"),
    "a long text": ("provenance.device", "x" * 301, "$.provenance.device: "),
    "complete without cases": ("cases", [], "complete is true, and there are no cases"),
    "twice the same": ("cases.1", ONCE, "cases[1] stands there before"),
    "median too low": ("cases.0.low_s", 1.1 * ONCE["median_s"], "cases[0] has times ["),
    "unknown form": ("cases.0.form", "magic", "cases[0]: form is 'magic', expected one of lookup"),
    "another count": ("cases.0.distinct", 1, "cases[0] has predicted_s"),
    "a prediction too low": ("cases.0.predicted_s", ONCE["predicted_s"] / 1.02, "cases[0] has predicted_s"),
    "a prediction too high": ("cases.0.predicted_s", ONCE["predicted_s"] * 1.02, "cases[0] has predicted_s"),
    "a price that is missing": ("ceilings.2.fixed_s.hot", {"forward x": around(2e-6)}, "cases[0]: it needs a ceiling that is not there, 'forward lookup'"),
    "a machine that slowed down": ("ceilings.2", ceilings(0.02), "cases[0] is predicted to take ["),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_member_is_named(path, name):
    """With the file, what was expected and the remedy, on one line."""
    place, value, fault = WRONG[name]
    path.write_text(json.dumps(changed(place, value)), "utf-8")
    assert refusal(path).startswith(fault)


def test_little_differences_are_none(path):
    """Another order of sums, a machine three times as slow at the end; in a trial even slower."""
    trial = changed("ceilings.2", ceilings(0.02)) | {"provenance": ORIGIN | {"quick": True}}
    later = changed("ceilings.2", ceilings(0.3))
    for found in (changed("cases.0.predicted_s", ONCE["predicted_s"] * 1.009), later, trial):
        write_recording(path, found)
        assert read_recording(path) == found


FILES = {
    "cut off": (lambda path: path.write_text(json.dumps(SOUND)[:-9]), "the file is not JSON: "),
    "not UTF-8": (lambda path: path.write_bytes(b"\xff\xfe"), "the file is not JSON: 'utf-8' codec"),
    "no number": (lambda path: path.write_text('{"max_error": NaN}'), "NaN stands in the place of a number"),
    "a dangling link": (lambda path: path.symlink_to("gone"), "[Errno 2] No such file"),
}  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_another_kind_of_file_is_refused(path, name):
    """In a line that names it, where a page or an extension reads a folder."""
    make, fault = FILES[name]
    make(path)
    assert refusal(path).startswith(fault)


def test_recordings_of_a_folder_are_read_gpus_first(tmp_path):
    """Then by name; a folder that is not there has none."""
    on_cpu = SOUND | {"provenance": ORIGIN | {"kind": "cpu", "driver": None, "cuda": None}}
    for name, found in {"z": SOUND, "b": SOUND, "a-cpu": on_cpu}.items():
        write_recording(tmp_path / f"{name}.json", found)
    assert list(read_recordings(str(tmp_path))) == ["b", "z", "a-cpu"]
    assert read_recordings(tmp_path / "none") == {}


def test_what_was_skipped_is_not_selected():
    """It has no time; the others come by vocabulary size, then by number of ids."""
    first = CASES[0]._asdict() | {"ids": 3, "vocab_size": 4}
    others = {"skipped": {}}, {"ids": 9}, {"vocab_size": 3, "ids": 20}, {"ids": 8}, {"form": "x"}
    cases = [first | more for more in others]
    assert select(cases, form="lookup") == [cases[2], cases[3], cases[1]]
    assert select(cases, form="lookup", ids=9) == [cases[1]]


def test_a_recording_says_what_it_is_and_what_it_lacks():
    """A changed source, few rounds, missing cases; a CPU has no driver, and no markup is used."""
    origin = ORIGIN | {"device": "![](x) <b>", "driver": None, "cuda": None, "quick": True}
    origin |= {"commit": ORIGIN["commit"] + "-changed"}
    assert describe({"provenance": origin, "complete": False}) == (
        r"\!\[\](x) \<b\>, torch 2.13.0+cu130, recorded on 2026-01-31 at commit 0123456, "
        "changed since; a trial with few rounds; not complete"
    )
