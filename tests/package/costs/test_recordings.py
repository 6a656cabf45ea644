"""Recordings are read and described, or refused with file, field and remedy."""

import json
import re
from copy import deepcopy

import pytest

from lookup_matmul.costs import Case, describe, escaped, in_unit, read_recordings, vocabulary_curves
from lookup_matmul.recorded import FOLDER

FORMS = {"lookup": 1.0, "one-hot built and multiplied": 4.0, "multiplication alone": 2.0}


def make_result(form, vocab_size, factor, **fields):
    """Make up the result of a case on a GPU, as long as its vocabulary is large."""
    spread = {"low_s": factor * 1.5e-6, "median_s": factor * 2e-6, "high_s": factor * 4.5e-6}
    case = Case(form, "forward", vocab_size=vocab_size, dim=128, ids=16_384)
    plain = {name: 10 * seconds for name, seconds in spread.items()}
    measured = {"largest_error": 0.0, "rounds": 9, "graph": spread}
    return case._asdict() | plain | measured | fields


GPU = {
    "complete": True,
    "provenance": {
        "kind": "cuda", "device": "A GPU", "driver": "570.86.15", "cuda": "13.0",
        "torch": "2.13.0", "triton": "3.5.0", "package": "0.1.0", "python": "3.12.1",
        "threads": 8, "date": "2026-01-31", "quick": False,
    },
    "cases": [
        *(make_result(form, V, f) for V in (1024, 2) for form, f in FORMS.items()),
        make_result("compiled one-hot", 1024, 1.0),
        make_result("lookup", 131_072, 5.0, dtype="bfloat16"),
        Case("sparse product", "forward", 2, 128, 16_384)._asdict() | {"skipped": "no memory"},
    ],
}  # fmt: skip


def write(folder, recording, name="gpu"):
    path = folder / f"{name}.json"
    path.write_text(json.dumps(recording), "utf-8")
    return path


def test_a_gpu_s_file_is_read_and_described(tmp_path):
    """By the calls of the page; those of GPUs come before those of processors."""
    processor = GPU | {"provenance": GPU["provenance"] | {"kind": "cpu"}}
    write(tmp_path, processor, "a")
    write(tmp_path, GPU, "b")
    assert [*read_recordings(tmp_path).items()] == [("b", GPU), ("a", processor)]
    assert describe(GPU) == (
        "A GPU, driver 570.86.15, CUDA 13.0, torch 2.13.0, Triton 3.5.0, 2026-01-31"
    )
    assert "Triton 3.5.0, threads: 8, 2026" in describe(processor)
    rows, curves = vocabulary_curves(GPU, direction="forward", dtype="float32", dim=128, bags=0)
    assert rows == [2, 1024]
    assert curves.keys() == FORMS.keys()  # compiled, it was measured at one size only
    for form, factor in FORMS.items():  # as graphs
        expected = pytest.approx((1.5 * factor, 2 * factor, 4.5 * factor))
        assert curves[form] == [expected, expected]


def test_without_all_graphs_the_calls_are_compared():
    """A graph beside a call would compare a launch with none."""
    recording = deepcopy(GPU)
    del recording["cases"][0]["graph"]
    _, curves = vocabulary_curves(recording, dtype="float32")
    assert curves["lookup"] == [pytest.approx((15, 20, 45))] * 2
    assert vocabulary_curves(recording, dtype="float16") == ([], {})


def test_a_description_escapes_markup_and_names_an_incomplete_recording():
    """The name of a device may be anything."""
    recording = deepcopy(GPU) | {"complete": False}
    recording["provenance"] |= {"device": "<b>![x](y)", "quick": True, "triton": None}
    text = describe(recording)
    assert text.startswith(r"\<b\>\!\[x\](y), driver 570.86.15")
    assert text.endswith("a trial with few rounds, incomplete")
    assert "Triton" not in text


DELETE = object()
MALFORMED = [
    (("complete",), "yes", "complete is 'yes', expected bool"),
    (("provenance", "device"), None, "provenance.device is None, expected str"),
    (("provenance", "driver"), 5, "provenance.driver is 5, expected str | None"),
    (("cases", 1), [], "cases[1].form is 'missing', expected str"),
    (("cases", 0, "form"), "product", "cases[0].form is 'product', expected"),
    (("cases", 0, "vocab_size"), "2", "cases[0].vocab_size is '2', expected int"),
    (("cases", 0, "median_s"), 1.0, "cases[0].median_s is 1.0, expected from 1.5e-05 to"),
    (("cases", 0, "median_s"), float("nan"), "cases[0].median_s is nan, expected from"),
    (("cases", 0, "largest_error"), DELETE, "cases[0].largest_error is 'missing', expected float"),
    (("cases", 0, "median_s"), DELETE, "cases[0].median_s is 'missing', expected float"),
    (("cases", 0, "low_s"), 0.0, "expected from 0.0 to"),
    (("cases", 0, "graph"), 1.0, "cases[0].graph.low_s is 'missing', expected float"),
    (("cases", 0, "graph", "median_s"), 1.0, "cases[0].graph.median_s is 1.0"),
    (("cases", -1, "skipped"), None, "skipped is None, expected str"),
]


@pytest.mark.parametrize("content", [b"", b"{", b"\xff", b"[]", b"3"])
def test_a_file_without_a_recording_is_refused(tmp_path, content):
    """Whether it is JSON or not."""
    write(tmp_path, GPU).write_bytes(content)
    with pytest.raises(ValueError, match=r"gpu\.json: .* Record again with"):
        read_recordings(tmp_path)


@pytest.mark.parametrize(("place", "value", "message"), MALFORMED)
def test_a_malformed_file_is_refused(tmp_path, place, value, message):
    """With the file, the field and the remedy."""
    parent = recording = deepcopy(GPU)
    *parents, last = place
    for name in parents:
        parent = parent[name]
    parent[last] = value
    if value is DELETE:
        del parent[last]
    write(tmp_path, recording)
    with pytest.raises(ValueError, match=rf"gpu\.json: .*{re.escape(message)}.* Record again with"):
        read_recordings(tmp_path)


def test_the_recordings_of_the_package_are_well_formed():
    """Each complete, small, and of one thread or more."""
    for name, recording in read_recordings(FOLDER).items():
        assert recording["complete"]
        assert recording["provenance"]["threads"] >= 1
        assert (FOLDER / f"{name}.json").stat().st_size <= 40_000


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0 s"), (1e-12, "0.00100 ns"), (9.996e-7, "1.00 µs"), (0.9999, "1.00 s"), (9.9996, "10.0 s")],
)  # fmt: skip
def test_a_time_has_three_digits_and_a_unit(seconds, text):
    """Rounded before the unit is chosen."""
    assert in_unit(seconds) == text


@pytest.mark.parametrize(
    ("text", "markdown"),
    [
        ("![](https://example.org/a.png)", r"\!\[\](https://example.org/a.png)"),
        ("{raw}`<b>x</b>`", r"\{raw\}\`\<b\>x\</b\>\`"),
        ("$x$ a | b ~~c~~ **d** _e_", r"\$x\$ a \| b \~\~c\~\~ \*\*d\*\* \_e\_"),
        (r"\\ &lt; [^1]", r"\\\\ \&lt; \[\^1\]"),
        ("a\n\n# b", "a # b"),
    ],
)
def test_escaped_text_is_shown_as_it_is(text, markdown):
    """Each character that could be markup follows a backslash, on one line."""
    assert escaped(text) == markdown
    assert re.sub(r"\\(\W|_)", r"\1", markdown) == " ".join(text.split())
