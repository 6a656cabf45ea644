"""A recording is sound or it is refused, by an error that names the file, the field, the remedy."""

import copy
import json
import math
import os
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from unittest import mock

import pytest

from lookup_matmul.costs import (
    Case,
    describe,
    parts,
    predicted_s,
    read_recordings,
    recording,
    select,
)
from lookup_matmul.costs.predict import key_of
from lookup_matmul.costs.recording import checksum, read_recording, write_recording

REMEDY = "Record again with python -m lookup_matmul.costs, or take the file from its source."
CASES = [
    Case("lookup", "forward", 4096, 64, 1024, "uniform", "float32", "hot"),
    Case("lookup", "forward", 4096, 64, 1024, "uniform", "float32", "cold"),
    Case("lookup", "forward", 64, 64, 1024, "equal", "float32", "hot"),
    Case("multiplication alone", "forward", 4096, 64, 1024, "uniform", "float32", "hot"),
    Case("embedding bag", "forward", 1000, 64, 1024, "zipf", "float32", "hot", 64),
    Case("lookup", "backward", 4096, 64, 1024, "uniform", "float32", "hot"),
    Case("SGD, dense", "step", 4096, 64, 1024, "uniform", "float32", "hot"),
]


def around(value: float) -> list[float]:
    """Give quartiles of a ceiling that was measured with little noise."""
    return [0.9 * value, value, 1.1 * value]


def ceilings(factor: float = 1.0) -> dict:
    """Give what a machine allows that does all so many times faster."""
    prices = {key_of(case): around(2e-6 / factor) for case in CASES}
    return {
        "fixed_s": {"hot": prices, "cold": {name: around(2e-5 / factor) for name in prices}},
        "row_s": {cache: {name: [0.0, 0.0, 1e-9] for name in prices} for cache in ("hot", "cold")},
        "bandwidth": [
            {"working_set": 2**15, "bytes_per_s": around(1e11 * factor)},
            {"working_set": 2**28, "bytes_per_s": around(2e10 * factor)},
        ],
        "first_touch": [
            {"allocated": 2**20, "s_per_byte": 3 * [0.0]},
            {"allocated": 2**25, "s_per_byte": around(1e-10)},
        ],
        "rate": {"float32": {"random": around(1e11 * factor), "zeros": around(1.1e11 * factor)}},
    }


def measured(case: Case, first: dict, slower: float = 1.2) -> dict:
    """Give a case that took a little longer than predicted."""
    distinct = recording._drawn(case.draw, case.ids, case.vocab_size)[0] or case.ids
    predicted = predicted_s(case, distinct, first)
    low, median, high = (slower * predicted * quartile for quartile in (0.95, 1.0, 1.1))
    return {
        **case._asdict(),
        "distinct": distinct,
        "predicted_s": predicted,
        "median_s": median,
        "low_s": low,
        "high_s": high,
        "rounds": 9,
        "calls": 100,
        "launch_s": 4e-6,
        "clock_hz": 1.98e9,
        "peak_bytes": sum(part.allocated_bytes for part in parts(case, distinct)),
        "repeats_bitwise": True,
        "max_error": 0.0,
        "relative_error": 0.0,
        "error_bound": 0.0,
    }


def left_out(case: Case, first: dict) -> dict:
    """Give a case that was not measured."""
    whole = measured(case, first)
    asked = {name: whole[name] for name in (*Case._fields, "distinct", "predicted_s")}
    return asked | {"skipped": {"kind": "does not fit", "says": "needs 9.0 GB, 1.0 GB are free"}}


def sound() -> dict:
    """Give a recording such as a GPU would make."""
    first = ceilings()
    return {
        "version": 2,
        "complete": True,
        "provenance": {
            "kind": "cuda",
            "device": "A device",
            "device_memory_bytes": 10**9,
            "driver": "580.95.05",
            "cuda": "13.0",
            "torch": "2.13.0+cu130",
            "triton": None,
            "cpu": "A processor",
            "threads": 2,
            "date": "2026-01-31",
            "command": "python -m lookup_matmul.costs",
            "commit": "0123456789" * 4,
            "quick": False,
        },
        "ceilings": [first, ceilings(0.9), ceilings(0.8)],
        "behaviour": {
            "nan_in_another_row": {"lookup": "0 of 3 rows are NaN"},
            "id_out_of_range": {"lookup": "AcceleratorError: device-side assert triggered"},
        },
        "cases": [
            *(measured(case, first) for case in CASES),
            left_out(CASES[0]._replace(vocab_size=2**22), first),
        ],
    }


SOUND = sound()


@pytest.fixture
def path(tmp_path):
    """Where a recording lies."""
    return tmp_path / "a-device.json"


def changed(place: str, value: object, found: dict = SOUND) -> dict:
    """Copy a recording, with one member changed, or removed by ``...``."""
    found = copy.deepcopy(found)
    *parents, last = (int(name) if name.isdigit() else name for name in place.split("."))
    parent = found
    for name in parents:
        parent = parent[name]
    if value is ...:
        del parent[last]
    else:
        parent[last] = value
    return found


def refusal(path, found: object) -> str:
    """Write without any check, read, and give what is said of the field."""
    if isinstance(found, dict):
        found = found | {"checksum": checksum(found)}
    path.write_text(json.dumps(found), "utf-8")
    with pytest.raises(ValueError) as refused:  # noqa: PT011 - the text is compared by the caller
        read_recording(path)
    said = str(refused.value)
    assert said.startswith(f"{path}: ")
    assert said.endswith(f". {REMEDY}")
    assert "\n" not in said
    return said.removeprefix(f"{path}: ").removesuffix(f". {REMEDY}")


def faster(k: int, factor: float, found: dict = SOUND) -> dict:
    """Copy a recording with one case made so many times faster."""
    found = copy.deepcopy(found)
    for name in ("low_s", "median_s", "high_s"):
        found["cases"][k][name] /= factor
    return found


def test_what_is_written_can_be_read(path):
    """All of it, with its checksum, and nothing is left beside it."""
    write_recording(path, SOUND)
    assert read_recording(path) == SOUND | {"checksum": checksum(SOUND)}
    assert [file.name for file in path.parent.iterdir()] == [path.name]
    assert len(path.read_text("utf-8").splitlines()) == 3 + len(SOUND["cases"])  # one line each


def test_a_trial_without_cases_is_sound(path):
    """What a run leaves that is killed before its first case."""
    begun = SOUND | {"complete": False, "cases": [], "behaviour": {}, "ceilings": [ceilings()]}
    write_recording(path, begun)
    assert read_recording(path)["cases"] == []


WRONG = {
    "other version": ("version", 1, "data.version is 1, expected a whole number from 2 to 2"),
    "no version": ("version", ..., "data.version is missing"),
    "no provenance": ("provenance", ..., "data.provenance is missing"),
    "no driver": ("provenance.driver", ..., "data.provenance.driver is missing"),
    "driver is null": ("provenance.driver", None, "data.provenance.driver is None, expected null on a CPU only"),
    "a GPU passed off as a CPU": ("provenance.kind", "cpu", "data.provenance.driver is '580.95.05', expected null"),
    "unknown kind": ("provenance.kind", "tpu", "data.provenance.kind is 'tpu', expected cpu|cuda"),
    "driver unknown": ("provenance.driver", "unknown", "data.provenance.driver is 'unknown', expected"),
    "device is empty": ("provenance.device", "", "data.provenance.device is '', expected 1 to 300"),
    "torch of no version": ("provenance.torch", "nightly", "data.provenance.torch is 'nightly', expected"),
    "date without day": ("provenance.date", "2026-01", "data.provenance.date is '2026-01', expected 20"),
    "date as number": ("provenance.date", 2026, "data.provenance.date is 2026, expected 20"),
    "no such day": ("provenance.date", "2026-02-30", "data.provenance.date is '2026-02-30', expected a day that has been"),
    "another command": ("provenance.command", "sleep 1", "data.provenance.command is 'sleep 1', expected python -m"),
    "commit unknown": ("provenance.commit", "unknown", "data.provenance.commit is 'unknown', expected [0-9a-f]{40}"),
    "commit cut short": ("provenance.commit", "0123456", "data.provenance.commit is '0123456', expected"),
    "a whole number with a point": ("cases.0.rounds", 9.0, "data.cases[0].rounds is 9.0, expected a whole number"),
    "threads are true": ("provenance.threads", True, "data.provenance.threads is True, expected a whole number"),
    "no threads": ("provenance.threads", 0, "data.provenance.threads is 0, expected a whole number from 1 to 4095"),
    "foreign member": ("provenance.host", "x", "data.provenance.host is 'x', expected no such member"),
    "whether it is a trial is text": ("provenance.quick", "no", "data.provenance.quick is 'no', expected true or false"),
    "no ceilings": ("ceilings", [], "data.ceilings is 0, expected 2 sets"),
    "ceilings measured once": ("ceilings", [ceilings()], "data.ceilings is 1, expected 2 sets"),
    "no bandwidth": ("ceilings.0.bandwidth", ..., "data.ceilings[0].bandwidth is missing"),
    "bandwidth of zero": ("ceilings.0.bandwidth.0.bytes_per_s.0", 0, "data.ceilings[0].bandwidth[0].bytes_per_s[0] is 0, expected"),
    "quartiles out of order": ("ceilings.1.rate.float32.zeros", [3e11, 2e11, 1e11], "data.ceilings[1].rate.float32.zeros is"),
    "two quartiles": ("ceilings.0.rate.float32.random", [1e11, 1e11], "data.ceilings[0].rate.float32.random is"),
    "a ceiling that the end lacks": ("ceilings.2.fixed_s.hot", {"forward x": around(2e-6)}, "data.cases[0] needs a ceiling that is not there: 'forward lookup'"),
    "rates that do not go together": ("ceilings.2.rate.float32.random", around(1e13), "data.ceilings is ["),
    "an absurd quartile": ("ceilings.0.bandwidth.1.bytes_per_s.2", 9e13, "data.ceilings is ["),
    "cases no list": ("cases", {}, "data.cases is {}, expected a list"),
    "a case no object": ("cases.0", 1, "data.cases[0] is 1, expected an object"),
    "negative time": ("cases.0.median_s", -1e-6, "data.cases[0].median_s is -1e-06, expected a number from"),
    "time is text": ("cases.0.median_s", "1", "data.cases[0].median_s is '1', expected a number from"),
    "time is true": ("cases.0.median_s", True, "data.cases[0].median_s is True, expected a number from"),
    "huge integer": ("cases.0.peak_bytes", 10**400, "data.cases[0].peak_bytes is 1"),
    "more than the device has": ("cases.0.peak_bytes", 2 * 10**9, "data.cases[0].peak_bytes is 2000000000, expected at most 1000000000"),
    "unknown form": ("cases.0.form", "magic", "data.cases[0].form is 'magic', expected one of lookup"),
    "form without this direction": ("cases.3.direction", "step", "data.cases[3].form is 'multiplication alone', expected one of SGD, dense"),
    "form without bags": ("cases.0.bags", 64, "data.cases[0].form is 'lookup', expected one of embedding bag"),
    "bags that share no ids evenly": ("cases.4.bags", 63, "data.cases[4].ids is 1024, expected a multiple of the 63 bags"),
    "another draw": ("cases.0.draw", "zipf", "data.cases[0].distinct is"),
    "fewer distinct than drawn": ("cases.0.distinct", 900, "data.cases[0].distinct is 900, expected"),
    "too many distinct": ("cases.7.distinct", 1025, "data.cases[7].distinct is 1025, expected at most the ids"),
    "another number of ids": ("cases.0.ids", 2048, "data.cases[0].distinct is"),
    "another dimension": ("cases.0.dim", 128, "data.cases[0].predicted_s is"),
    "another dtype": ("cases.0.dtype", "bfloat16", "data.cases[0].predicted_s is"),
    "a better prediction": ("cases.0.predicted_s", SOUND["cases"][0]["median_s"], "data.cases[0].predicted_s is"),
    "a prediction times 100": ("cases.0.predicted_s", 100 * SOUND["cases"][0]["predicted_s"], "data.cases[0].predicted_s is"),
    "no spread": ("cases.0.low_s", ..., "data.cases[0].low_s is missing"),
    "median below": ("cases.0.low_s", 1.1 * SOUND["cases"][0]["median_s"], "data.cases[0].median_s is"),
    "median above": ("cases.0.high_s", 0.9 * SOUND["cases"][0]["median_s"], "data.cases[0].median_s is"),
    "two rounds": ("cases.0.rounds", 2, "data.cases[0].rounds is 2, expected a whole number from 3"),
    "error over its bound": ("cases.3.max_error", 123.0, "data.cases[3].max_error is 123.0, expected a rounding of its sums"),
    "a bound of its own": ("cases.3.error_bound", 1.0, "data.cases[3].error_bound is 1.0, expected"),
    "a result of zeros": ("cases.3.relative_error", 1.0, "data.cases[3].relative_error is 1.0, expected"),
    "whether it repeats is text": ("cases.0.repeats_bitwise", "yes", "data.cases[0].repeats_bitwise is 'yes', expected true or"),
    "measured and skipped": ("cases.0.skipped", {"kind": "does not fit", "says": "x"}, "data.cases[0].median_s is"),
    "skipped without a reason": ("cases.7.skipped", {"kind": "does not fit"}, "data.cases[7].skipped.says is missing"),
    "a reason of its own": ("cases.7.skipped.kind", "bad luck", "data.cases[7].skipped.kind is 'bad luck', expected does not fit|"),
    "twice the same": ("cases.1.cache", "hot", "data.cases[1].predicted_s is"),
    "no behaviour": ("behaviour", ..., "data.behaviour is missing"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_member_is_named(path, name):
    """With the file, what was expected and the remedy, though the checksum fits."""
    place, value, fault = WRONG[name]
    assert refusal(path, changed(place, value)).startswith(fault)


def test_a_case_that_stands_twice_is_refused(path):
    """Also with other times."""
    twice = copy.deepcopy(SOUND)
    twice["cases"].append(measured(CASES[0], twice["ceilings"][0], slower=1.3))
    assert "expected a case that was not there before" in refusal(path, twice)


def test_the_future_is_refused(path):
    """From tomorrow on, which no clock of the reader can be behind by accident for long."""
    today = datetime.now(UTC).date()
    write_recording(path, changed("provenance.date", today.isoformat()))
    read_recording(path)
    later = changed("provenance.date", (today + timedelta(days=2)).isoformat())
    assert "expected a day that has been" in refusal(path, later)


@pytest.mark.parametrize("k", range(len(CASES)), ids=lambda k: f"{CASES[k].form}-{CASES[k].cache}")
def test_a_case_made_fifteen_times_faster_is_refused(path, k):
    """By the ceilings of the same run, at the level of cache that its data live in."""
    assert refusal(path, faster(k, 15)).startswith(f"data.cases[{k}].median_s is")


def test_a_lookup_made_faster_with_everything_computed_anew_is_refused(path):
    """Whoever changes a time can compute predictions and checksum, but not the other ceilings."""
    forged = faster(0, 15)
    for limits in forged["ceilings"]:
        limits["fixed_s"]["hot"]["forward lookup"] = around(1e-12)
    for result in forged["cases"]:
        case = Case(*(result[name] for name in Case._fields))
        result["predicted_s"] = predicted_s(case, result["distinct"], forged["ceilings"][0])
    assert refusal(path, forged).startswith("data.cases[0].median_s is")


def test_data_of_a_cache_may_be_faster_than_memory_but_not_than_the_cache(path):
    """Each is held against its own level: what a hot case may reach, a cold one may not."""
    alike = copy.deepcopy(SOUND)
    for limits in alike["ceilings"]:
        for cache in ("hot", "cold"):
            limits["fixed_s"][cache] = dict.fromkeys(limits["fixed_s"][cache], around(1e-9))
    small = Case("lookup", "forward", 64, 64, 64, "uniform", "float32", "hot")
    hot, cold = (measured(small._replace(cache=c), alike["ceilings"][0]) for c in ("hot", "cold"))
    same = {name: hot[name] for name in ("low_s", "median_s", "high_s")}
    write_recording(path, alike | {"cases": [hot, cold]})
    read_recording(path)
    assert refusal(path, alike | {"cases": [hot, cold | same]}).startswith(
        "data.cases[1].median_s is"
    )


def test_a_time_a_thousand_times_the_prediction_is_refused(path):
    """A machine that slept, or a digit too many."""
    assert refusal(path, faster(0, 1 / 1000)).startswith("data.cases[0].median_s is")
    write_recording(path, faster(0, 1 / 500))
    read_recording(path)


def test_ceilings_that_lack_what_a_case_needs_are_named(path):
    """No number could be compared."""
    lacking = copy.deepcopy(SOUND)
    for limits in lacking["ceilings"]:
        del limits["fixed_s"]["hot"]["backward lookup"]
    said = refusal(path, lacking)
    assert said.startswith("data.cases[5] needs a ceiling that is not there")


HOSTILE = {
    "script": "NVIDIA H200 <script>alert(1)</script>",
    "directive": "NVIDIA H200\n\n```{literalinclude} /secret\n```",
    "role": "{raw}`x`",
    "column": "a | b",
    "line": "a\nb",
    "carriage return": "a\rb",
    "line separator": "a\u2028b",
    "bell": "a\x07b",
    "null": "a\x00b",
    "delete": "a\x7fb",
    "escape sequence": "a\x9bb",
    "turned around": "a\u202eb",
    "no width": "a\u200bb",
    "half a character": "a\ud800b",
    "last line": "a\n",
    "too long": "é漢 " * 100 + ".",
}
TEXTS = [
    "provenance.device",
    "provenance.cpu",
    "provenance.command",
    "behaviour.id_out_of_range.lookup",
    "cases.7.skipped.says",
]


@pytest.mark.parametrize("place", TEXTS)
@pytest.mark.parametrize("kind", HOSTILE)
def test_text_that_could_be_markup_is_refused(path, place, kind):
    """In every member that is free text; the words stay on one line."""
    field = "data." + re.sub(r"\.(\d)", r"[\1]", place)
    said = refusal(path, changed(place, HOSTILE[kind]))
    assert (
        said
        == f"{field} is {HOSTILE[kind]!a:.60}, expected 1 to 300 characters without < > {{ }} | ` and controls"
    )


def test_a_name_that_could_be_markup_is_refused(path):
    """Names of members reach pages too."""
    said = refusal(path, changed("behaviour.<b>", {}))
    assert said.startswith("the name of a member of data.behaviour is '<b>', expected")


@pytest.mark.parametrize("place", ["provenance.date", "provenance.driver", "provenance.cuda"])
def test_numbers_are_written_with_the_digits_of_ascii(path, place):
    """Others would pass for them in a pattern."""
    assert refusal(path, changed(place, "٢٠٢٦-٠١-٣١")).startswith(f"data.{place} is")


@pytest.mark.parametrize("name", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_no_number(path, name):
    """JSON has none of these, though Python reads them."""
    write_recording(path, SOUND)
    text = path.read_text("utf-8").replace('"rounds": 9', f'"rounds": {name}', 1)
    path.write_text(text.replace('"max_error": 0.0', f'"max_error": {name}', 1), "utf-8")
    with pytest.raises(ValueError, match=r"data\.cases\[0\]\.\w+ is -?(nan|inf), expected"):
        read_recording(path)


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_no_number_is_written(path, value):
    """Nothing is left on disk."""
    with pytest.raises(ValueError, match="Out of range float values are not JSON compliant"):
        write_recording(path, changed("cases.0.max_error", value))
    assert not list(path.parent.iterdir())


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"calls": 100', '"calls": 101'),
        ("A device", "Another device"),
        ('"complete": true', '"complete": false'),
    ],
)
def test_an_edited_file_is_refused(path, old, new):
    """However likely the new value is."""
    write_recording(path, SOUND)
    path.write_text(path.read_text("utf-8").replace(old, new, 1), "utf-8")
    with pytest.raises(ValueError, match=r"data\.checksum is .*, expected another: the file was"):
        read_recording(path)


def test_a_truncated_file_is_refused_wherever_it_ends(path):
    """At any length."""
    write_recording(path, SOUND)
    whole = path.read_bytes().rstrip()
    for length in range(0, len(whole), 97):
        path.write_bytes(whole[:length])
        with pytest.raises(
            ValueError, match=r"a-device\.json: the file is not JSON: .*Record again"
        ):
            read_recording(path)


@pytest.mark.parametrize(
    "content", [b"1" * 5000, b"[" * 100_000, b"\xff\xfe", b"[]", b"null", b'"a"']
)
def test_another_kind_of_file_is_refused(path, content):
    """JSON or not."""
    path.write_bytes(content)
    with pytest.raises(
        ValueError, match=r"a-device\.json: (data is .*, expected an|.*not JSON|Exceeds)"
    ):
        read_recording(path)


def test_writers_do_not_meet_in_one_file(path):
    """Whoever reads while many write finds a whole recording; nothing is left beside it."""
    write_recording(path, SOUND)
    stop, read = threading.Event(), []

    def write(number):
        for turn in range(20):
            write_recording(path, changed("provenance.threads", 10 * number + turn % 9 + 1))

    def look():
        while not stop.is_set():
            read.append(read_recording(path)["provenance"]["threads"])

    with ThreadPoolExecutor() as pool:
        reader = pool.submit(look)
        try:
            for writer in [pool.submit(write, number) for number in range(6)]:
                writer.result(timeout=60)
        finally:
            stop.set()
        reader.result(timeout=60)
    assert read
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_a_failed_write_leaves_the_old_recording(path, monkeypatch):
    """A full disk, say: the file stays as it was, and what was begun is gone."""
    write_recording(path, SOUND)
    full = OSError(28, "No space left on device")
    monkeypatch.setattr(os, "fsync", mock.Mock(side_effect=full))
    with pytest.raises(OSError, match="No space left"):
        write_recording(path, changed("provenance.threads", 9))
    assert read_recording(path)["provenance"]["threads"] == 2
    assert [file.name for file in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize(
    "name", ["a b", "a`b", "a\nb", "<b>", "é", ".hidden", "-o", "a" * 81, "![](x)", "a|b"]
)
def test_a_file_needs_a_plain_name(tmp_path, name):
    """Pages show it; so a name is refused before the file is read."""
    (tmp_path / f"{name}.json").write_text("not read")
    with pytest.raises(ValueError, match=r"the name of the file is .*; rename the file\.$") as said:
        read_recordings(tmp_path)
    assert "\n" not in str(said.value)
    assert str(said.value).isascii()


def test_recordings_of_a_folder_are_read_gpus_first(tmp_path):
    """By plain names, such as the command gives, and what people may call a machine."""
    on_cpu = copy.deepcopy(SOUND)
    on_cpu["provenance"] |= {"kind": "cpu", "driver": None, "cuda": None}
    for result in on_cpu["cases"]:
        result |= {} if "skipped" in result else {"launch_s": None, "clock_hz": None}
    names = ["nvidia-h200", "My_GPU.2", "a" * 80]
    for name in names:
        write_recording(tmp_path / f"{name}.json", SOUND)
    write_recording(tmp_path / "amd-epyc-2-threads.json", on_cpu)
    assert list(read_recordings(tmp_path)) == [*sorted(names), "amd-epyc-2-threads"]


def asked(**members):
    """Give a measured case, with other members than the usual ones where named."""
    return Case("lookup", "forward", 4, 5, 3, "uniform", "float32", "hot")._asdict() | members


def test_what_was_skipped_is_not_selected():
    """It has no time; the others come by vocabulary size, then by number of ids."""
    cases = [
        asked(skipped={}),
        asked(ids=9),
        asked(vocab_size=3, ids=20),
        asked(ids=8),
        asked(form="x"),
    ]
    assert select(cases, form="lookup") == [cases[2], cases[3], cases[1]]
    assert select(cases, form="lookup", ids=9) == [cases[1]]


def test_what_describes_a_recording_is_escaped():
    """A file that came by another way than reading shows its markup, and does not use it."""
    names = ("device", "driver", "cuda", "torch")
    said = describe(
        SOUND | {"provenance": SOUND["provenance"] | dict.fromkeys(names, "![](x) <b>")}
    )
    assert said.count(r"\!\[\](x) \<b\>") == 4
    assert "<b>" not in said.replace(r"\<b\>", "")


def test_a_recording_says_what_it_lacks():
    """A changed source, few rounds, cases that are still missing; a CPU has no driver to tell."""
    origin = {
        "device": "A device",
        "driver": None,
        "cuda": None,
        "torch": "2.13.0",
        "date": "2026-01-31",
        "commit": "0123456789" * 4 + "-changed",
        "quick": True,
    }
    said = describe({"provenance": origin, "complete": False})
    assert said == (
        "A device, torch 2.13.0, recorded on 2026-01-31 at commit 0123456, changed since; "
        "a trial with few rounds; not complete"
    )


def test_a_file_in_the_place_of_a_folder_is_refused(tmp_path):
    """Its folder holds no recordings, which would be an answer; a path may be a text."""
    (file := tmp_path / "mine.json").touch()
    with pytest.raises(ValueError, match=r"mine\.json is a file, expected a folder of recordings"):
        read_recordings(str(file))
    assert read_recordings(str(tmp_path / "none")) == {}
