"""A recording is sound or it is refused, by an error that names the file, the field, the remedy."""

import copy
import json
import math
import os
import re
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from unittest import mock

import pytest

from lookup_matmul.timings import (
    FORWARD,
    check_recording,
    checksum,
    read_recording,
    record,
    write_recording,
)
from lookup_matmul.timings.lock import only_writer

CASE = {
    "form": "lookup",
    "direction": "forward",
    "vocab_size": 4,
    "dim": 5,
    "ids": 3,
    "bags": 0,
    "draw": "uniform",
    "dtype": "float32",
    "cache": "hot",
    "distinct": 2,
    "predicted_s": 1e-7,
}
MEASURED = {
    "median_s": 2e-6,
    "low_s": 1e-6,
    "high_s": 3e-6,
    "rounds": 9,
    "calls": 100,
    "peak_bytes": 60,
    "launch_s": None,
    "max_error": 0.0,
    "stored_error": 0.0,
    "repeats_bitwise": True,
    "reason": None,
}
SOUND = {
    "version": 1,
    "complete": True,
    "provenance": {
        "kind": "cuda",
        "device": "A device",
        "device_memory_bytes": 10**9,
        "driver": "1.2",
        "cuda": "13.0",
        "torch": "2.13.0",
        "triton": None,
        "cpu": "A processor",
        "threads": 2,
        "date": "2026-01-31",
        "command": "nox -s timings",
        "commit": "0123456789" * 4,
        "quick": False,
    },
    "ceilings": {"copy_bytes_per_s": 1e9, "operations_per_s": {"float32": 1e10}},
    "behaviour": {
        "nan_in_another_row": dict.fromkeys(FORWARD, "0 of 3 rows are NaN"),
        "id_out_of_range": dict.fromkeys(FORWARD, "IndexError: too large"),
    },
    "cases": [CASE | MEASURED, CASE | {"form": "index_select", "skipped": "needs 9 GB"}],
}


@pytest.fixture
def path(tmp_path):
    """Where a recording lies."""
    return tmp_path / "recordings" / "a-device.json"


def test_what_is_written_can_be_read(path):
    """All of it, with its checksum, and nothing is left beside it."""
    write_recording(path, SOUND)
    assert read_recording(path) == SOUND | {"checksum": checksum(SOUND)}
    assert [file.name for file in path.parent.iterdir()] == [path.name]


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


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such lock")
def test_one_recording_has_one_writer(path):
    """The second is refused in words, another file is free, and so is this one afterwards."""
    with only_writer(path):
        with pytest.raises(ValueError, match=r"a-device\.json: somebody else is recording into"):
            record(path, [], device="cpu", command="a test", commit=40 * "0", quick=True)
        with only_writer(path.with_name("another.json")):
            pass
    by_another_way = path.parent / ".." / path.parent.name / path.name
    with (
        only_writer(path),
        pytest.raises(ValueError, match="somebody else"),
        only_writer(by_another_way),
    ):
        pass
    with only_writer(path):
        pass


def changed(place: str, value: object) -> dict:
    """Copy the sound recording, with one member changed, or removed by ``...``."""
    recording = copy.deepcopy(SOUND)
    *parents, last = place.split(".")
    parent = recording
    for name in parents:
        parent = parent[int(name) if name.isdigit() else name]
    key = int(last) if last.isdigit() else last
    if value is ...:
        del parent[key]
    else:
        parent[key] = value
    return recording | {"checksum": checksum(recording)}


WRONG = {
    "other version": ("version", 2, "version is 2, expected 1"),
    "no version": ("version", ..., "data must contain ['version'] properties"),
    "no provenance": ("provenance", ..., "data must contain ['provenance'] properties"),
    "no driver": ("provenance.driver", ..., "data.provenance must contain ['driver'] properties"),
    "driver is null": ("provenance.driver", None, "data.provenance.driver is None on kind 'cuda'"),
    "cuda on a CPU": ("provenance.kind", "cpu", "data.provenance.driver is '1.2' on kind 'cpu'"),
    "device is empty": ("provenance.device", "", "data.provenance.device must be longer"),
    "date without day": ("provenance.date", "2026-01", "data.provenance.date must match pattern"),
    "no such day": (
        "provenance.date",
        "2026-02-30",
        "data.provenance.date is '2026-02-30', expected a day that exists",
    ),
    "commit unknown": ("provenance.commit", "unknown", "data.provenance.commit must match pattern"),
    "driver unknown": ("provenance.driver", "unknown", "data.provenance.driver must match pattern"),
    "peak of more than there is": (
        "cases.0.peak_bytes",
        10**19,
        "data.cases[0].peak_bytes is 10000000000000000000, expected a finite number below 2**63",
    ),
    "huge integer": (
        "ceilings.copy_bytes_per_s",
        10**400,
        "data.ceilings.copy_bytes_per_s is",
    ),
    "date as number": ("provenance.date", 2026, "data.provenance.date must be string"),
    "no threads": (
        "provenance.threads",
        0,
        "data.provenance.threads must be bigger than or equal to 1",
    ),
    "unknown kind": (
        "provenance.kind",
        "tpu",
        "data.provenance.kind must be one of ['cpu', 'cuda']",
    ),
    "foreign member": (
        "provenance.host",
        "x",
        "data.provenance must not contain {'host'} properties",
    ),
    "no ceilings": ("ceilings", {}, "data.ceilings must contain"),
    "ceiling of zero": (
        "ceilings.copy_bytes_per_s",
        0,
        "data.ceilings.copy_bytes_per_s must be bigger than 0",
    ),
    "no float32 ceiling": (
        "ceilings.operations_per_s",
        {},
        "data.ceilings.operations_per_s must contain",
    ),
    "cases no list": ("cases", {}, "data.cases must be array"),
    "negative time": (
        "cases.0.median_s",
        -1e-6,
        "data.cases[0].median_s must be bigger than 0",
    ),
    "time is text": (
        "cases.0.median_s",
        "1",
        "data.cases[0].median_s must be number",
    ),
    "unknown form": (
        "cases.0.form",
        "magic",
        "data.cases[0].form must be one of",
    ),
    "no spread": ("cases.0.low_s", ..., "data.cases[0] must contain ['low_s'] properties"),
    "measured and skipped": (
        "cases.0.skipped",
        "no",
        "data.cases[0] must not contain",
    ),
    "two rounds": ("cases.0.rounds", 2, "data.cases[0].rounds must be bigger than or equal to 3"),
    "median below": (
        "cases.0.low_s",
        2.5e-6,
        "data.cases[0].median_s is not between its quartiles",
    ),
    "median above": (
        "cases.0.high_s",
        1.5e-6,
        "data.cases[0].median_s is not between its quartiles",
    ),
    "too many distinct": (
        "cases.0.distinct",
        4,
        "data.cases[0].distinct is 4, more than ids or rows",
    ),
    "form without backward": (
        "cases.1.direction",
        "backward",
        "data.cases[1].form is 'index_select', which has no backward pass",
    ),
    "bags that share no ids evenly": (
        "cases.0",
        CASE | MEASURED | {"form": "embedding bag", "bags": 2},
        "data.cases[0].ids is 3, expected a multiple of the 2 bags",
    ),
    "form without bags": (
        "cases.1.bags",
        3,
        "data.cases[1].form is 'index_select', which has no forward pass of bags",
    ),
    "whether it repeats is text": (
        "cases.0.repeats_bitwise",
        "yes",
        "data.cases[0].repeats_bitwise must be boolean",
    ),
    "a form not tried": (
        "behaviour.id_out_of_range.lookup",
        ...,
        "data.behaviour.id_out_of_range must contain",
    ),
    "no behaviour": ("behaviour", ..., "data must contain ['behaviour'] properties"),
    "twice the same": ("cases.1.form", "lookup", "data.cases[1] is Case("),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_member_is_named(path, name):
    """Both on writing and on reading, though the checksum fits."""
    place, value, fault = WRONG[name]
    recording = changed(place, value)
    with pytest.raises(ValueError) as refused:  # noqa: PT011 - the text is compared below
        write_recording(path, recording)
    assert str(refused.value).startswith(f"{path}: {fault}")
    assert not path.exists()
    path.parent.mkdir()
    path.write_text(json.dumps(recording), "utf-8")
    with pytest.raises(ValueError) as refused:  # noqa: PT011
        read_recording(path)
    assert str(refused.value).startswith(f"{path}: {fault}")
    assert str(refused.value).endswith(
        "Record again with nox -s timings, or take the file from its source."
    )


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
}
TEXTS = [
    "provenance.device",
    "provenance.cuda",
    "provenance.torch",
    "provenance.triton",
    "provenance.cpu",
    "provenance.command",
    "behaviour.nan_in_another_row.lookup",
    "behaviour.id_out_of_range.lookup",
    "cases.0.reason",
    "cases.1.skipped",
]


@pytest.mark.parametrize("place", TEXTS)
@pytest.mark.parametrize("kind", HOSTILE)
def test_text_that_could_be_markup_is_refused(path, place, kind):
    """On writing and on reading, in every member that is free text; the words stay on one line."""
    recording = changed(place, HOSTILE[kind])
    name = "data." + re.sub(r"\.(\d)", r"[\1]", place)
    said = f"{path}: {name} is {HOSTILE[kind]!a:.60}, expected one line of at most 300 characters, "
    with pytest.raises(ValueError) as refused:  # noqa: PT011 - the text is compared below
        write_recording(path, recording)
    assert str(refused.value).startswith(said + "without control characters and < > { } | `.")
    assert "\n" not in str(refused.value)
    path.parent.mkdir()
    path.write_text(json.dumps(recording), "utf-8")
    with pytest.raises(ValueError) as refused:  # noqa: PT011
        read_recording(path)
    assert str(refused.value).startswith(said)


@pytest.mark.parametrize("place", TEXTS)
def test_text_has_an_end(path, place):
    """Three hundred characters of any script are taken, one more is not."""
    write_recording(path, changed(place, "é漢 " * 100))
    with pytest.raises(ValueError, match="must be shorter than or equal to 300 characters"):
        write_recording(path, changed(place, "é漢 " * 100 + "."))


@pytest.mark.parametrize("place", ["provenance.date", "provenance.driver"])
def test_numbers_are_written_with_the_digits_of_ascii(path, place):
    """Others would pass for them in a pattern."""
    value = "٢٠٢٦-٠١-٣١" if place.endswith("date") else "١.٢"
    with pytest.raises(ValueError, match=f"data.{place} must match pattern"):
        write_recording(path, changed(place, value))


@pytest.mark.parametrize("seconds", [5e-9, 1e-8])
def test_faster_than_the_machine_needs_a_reason(path, seconds):
    """124 compulsory bytes in 10 ns are 12.4 GB/s, where a copy reaches 1."""
    faster = {"median_s": seconds, "low_s": seconds, "high_s": seconds}
    recording = copy.deepcopy(SOUND)
    recording["cases"][0] |= faster
    with pytest.raises(
        ValueError, match=r"data.cases\[0\].median_s means .* GB/s of compulsory bytes"
    ):
        write_recording(path, recording)
    recording["cases"][0]["reason"] = "stays in a cache"
    write_recording(path, recording)


def test_no_reason_explains_the_impossible(path):
    """A hundred times the copy is no cache but a wrong clock."""
    recording = copy.deepcopy(SOUND)
    recording["cases"][0] |= dict.fromkeys(("median_s", "low_s", "high_s"), 1e-9)
    recording["cases"][0]["reason"] = "stays in a cache"
    with pytest.raises(ValueError, match=r"GB/s of compulsory bytes, .* this is not possible"):
        write_recording(path, recording)


def test_more_operations_than_the_machine_needs_a_reason(path):
    """120 operations in 2 µs are 60 MFLOP/s, where a product reaches 10."""
    recording = copy.deepcopy(SOUND)
    recording["cases"][0] |= {"form": "multiplication alone"}
    write_recording(path, recording)
    recording["ceilings"]["operations_per_s"]["float32"] = 1e7
    with pytest.raises(
        ValueError,
        match=r"means 0.06 GFLOP/s, where a square product of random numbers reaches 0.01",
    ):
        write_recording(path, recording)


@pytest.mark.parametrize("name", ["NaN", "Infinity", "-Infinity"])
def test_no_number(path, name):
    """JSON has none of these, though Python writes them."""
    write_recording(path, SOUND)
    path.write_text(path.read_text("utf-8").replace("2e-06", name), "utf-8")
    with pytest.raises(
        ValueError,
        match=r"a-device.json: data.cases\[0\].median_s is -?(nan|inf), expected a finite",
    ):
        read_recording(path)


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_no_number_is_written(path, value):
    """Before a byte is on disk."""
    recording = copy.deepcopy(SOUND)
    recording["cases"][0]["max_error"] = value
    with pytest.raises(
        ValueError, match=r"data.cases\[0\].max_error is (nan|inf), expected a finite number"
    ):
        write_recording(path, recording)
    assert not path.exists()


def test_a_number_too_large_for_a_float(path):
    """1e999 is read as infinity."""
    write_recording(path, SOUND)
    path.write_text(
        path.read_text("utf-8").replace('"max_error": 0.0', '"max_error": 1e999'), "utf-8"
    )
    with pytest.raises(
        ValueError, match=r"data.cases\[0\].max_error is inf, expected a finite number"
    ):
        read_recording(path)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("2e-06", "2.1e-06"),
        ("A device", "Another device"),
        ('"complete": true', '"complete": false'),
    ],
)
def test_an_edited_file_is_refused(path, old, new):
    """However likely the new value is."""
    write_recording(path, SOUND)
    path.write_text(path.read_text("utf-8").replace(old, new), "utf-8")
    with pytest.raises(ValueError, match="checksum does not match: the file was edited"):
        read_recording(path)


def test_a_truncated_file_is_refused_wherever_it_ends(path):
    """At any length."""
    write_recording(path, SOUND)
    whole = path.read_bytes()
    for length in range(0, len(whole) - 1, 37):
        path.write_bytes(whole[:length])
        with pytest.raises(ValueError, match="the file is not JSON"):
            read_recording(path)


def test_what_json_allows_and_nobody_can_read_is_refused(path):
    """Thousands of digits, and a thousand brackets, in words that name the file."""
    path.parent.mkdir()
    for content in ("1" * 5000, "[" * 100_000):
        path.write_text(content, "utf-8")
        with pytest.raises(ValueError, match=r"a-device\.json: the file is not JSON"):
            read_recording(path)


@pytest.mark.parametrize("content", [b"[]", b"null", b'"text"', b"\xff\xfe"])
def test_another_kind_of_file_is_refused(path, content):
    """JSON or not."""
    path.parent.mkdir()
    path.write_bytes(content)
    with pytest.raises(
        ValueError, match=r"a-device.json: (data must be object|the file is not JSON)"
    ):
        read_recording(path)


def test_the_sound_one_passes():
    """So that the refusals above mean something."""
    check_recording("x.json", SOUND | {"checksum": checksum(SOUND)})
