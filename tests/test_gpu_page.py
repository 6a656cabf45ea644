"""The page on GPUs builds with no recording, with one and with two, and with none that is damaged."""

import re
import subprocess
from copy import deepcopy as copy_of
from pathlib import Path

import pytest
import torch
from bs4 import BeautifulSoup
from test_build import Copy

from lookup_matmul.timings import (
    Recording,
    behaviour,
    measure,
    measure_cases,
    sweep,
    write_recording,
)

SPHINX = ("sphinx", "-q", "-d", "build/doctrees", "-b", "html", "docs", "build/html")
PREDICTED = ("svg.drawing", "table")  # what the page draws and lists from data sheets, one of each
CEILINGS = {"copy_bytes_per_s": 1e13, "operations_per_s": {"float32": 1e15, "tf32": 2e15}}


@pytest.fixture(scope="module")
def recording() -> Recording:
    """Give a recording such as a GPU would make, measured on this CPU and labelled as a test."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(measure, "FLUSHED_BYTES", 1000)
        swept = sweep(quick=True, cuda=True)
        cases = measure_cases(swept, ceilings=CEILINGS, device="cpu", rounds=3)
    for case in cases:
        case["launch_s"] = 4e-6
    provenance = {
        "kind": "cuda",
        "device": "Test device",
        "device_memory_bytes": 10**9,
        "driver": "1.2",
        "cuda": "13.0",
        "torch": "2.13.0",
        "triton": "3.6.0",
        "cpu": "A processor",
        "threads": 2,
        "date": "2026-01-31",
        "command": "pytest",
        "commit": "0123456789" * 4,
        "quick": True,
    }
    return {
        "version": 1,
        "complete": True,
        "provenance": provenance,
        "ceilings": CEILINGS,
        "behaviour": behaviour("cuda", quick=True),
        "cases": cases,
    }


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    """Give a copy of the site with this page alone, and without recordings."""
    copy = Copy(tmp_path_factory.mktemp("gpu"))
    page = copy.root / "docs" / "tutorials" / "on-a-gpu.md"
    for other in (copy.root / "docs").rglob("*.md"):
        if other != page:
            other.unlink()
    for path in (copy.root / "docs").glob("recordings/*.json"):
        path.unlink()
    text = re.sub(r"(?<!!)\[([^]\n]*)\]\([^)\n]*\)", r"\1", page.read_text("utf-8"))
    page.write_text(text, "utf-8")
    toctree = "# Index\n\n```{toctree}\ntutorials/on-a-gpu\n```\n\n```{bibliography}\n:all:\n```\n"
    (copy.root / "docs" / "index.md").write_text(toctree, "utf-8")
    return copy


def built(copy: Copy) -> tuple[subprocess.CompletedProcess[str], BeautifulSoup]:
    """Build and read the page."""
    done = copy.run(*SPHINX, CUDA_VISIBLE_DEVICES="")
    return done, BeautifulSoup(copy.html("tutorials/on-a-gpu"), "html.parser")


def recorded(copy: Copy, name: str) -> Path:
    """Say where a recording lies in the copy."""
    return copy.root / "docs" / "recordings" / f"{name}.json"


def test_no_recording_then_one_then_two_then_a_damaged_one(
    copy: Copy, recording: Recording
) -> None:
    """Each build shows what there is, names it at every number, and a damaged file stops it."""
    done, page = built(copy)
    assert done.returncode == 0, done.stderr
    text = page.get_text(" ", strip=True)
    assert "There is no recording of a GPU yet" in text
    assert "nox -s timings" in text
    said = [output.get_text(" ", strip=True) for output in page.select(".cell_output")]
    assert sum("No recording holds" in output for output in said) == 9
    assert [len(page.select(kind)) for kind in PREDICTED] == [1, 1]

    write_recording(recorded(copy, "test-device"), recording)
    done, page = built(copy)
    assert done.returncode == 0, done.stderr
    text = page.get_text(" ", strip=True)
    assert "There is no recording of a GPU yet" not in text
    assert "Test device, driver 1.2, CUDA 13.0, torch 2.13.0, recorded on 2026-01-31" in text
    assert not page.select(".cell_output :-soup-contains('No recording holds')")
    assert "a trial with few rounds" in text
    assert len(page.select("svg.drawing")) == 1 + 2
    assert len(page.select("table")) == 1 + 10

    # What a recording may hold, and Markdown would read as an image, a link and more.
    markup = "![p](https://example.org/p.png) [a](b) *x* $y$ # &lt; ~~z~~"
    second = copy_of(recording)
    second["provenance"]["device"] = second["behaviour"]["id_out_of_range"]["lookup"] = markup
    write_recording(recorded(copy, "second-device"), second)
    done, page = built(copy)
    assert done.returncode == 0, done.stderr
    assert page.get_text().count(markup) == 2
    assert "example.org" not in str(page.select("img, a"))
    assert len(page.select("svg.drawing")) == 1 + 4
    assert (
        page.get_text().count("In test-device:") == page.get_text().count("In second-device:") == 8
    )
    ceilings = page.select_one("table:-soup-contains('copy [GB/s]')")
    named = {row.select("td")[0].get_text() for row in ceilings.select("tbody tr")}
    assert named == {"test-device", "second-device"}

    whole = recorded(copy, "second-device").read_text("utf-8")
    recorded(copy, "second-device").write_text(whole[:-20], "utf-8")
    done = copy.run(*SPHINX, "-W", CUDA_VISIBLE_DEVICES="")
    assert done.returncode != 0
    assert "second-device.json: the file is not JSON" in done.stderr


@pytest.mark.skipif(not torch.cuda.is_available(), reason="measures on a GPU")
def test_a_build_with_a_gpu_measures_on_it(copy: Copy) -> None:
    """Without any recording the page has the numbers of this build's own device."""
    for path in (copy.root / "docs").glob("recordings/*.json"):
        path.unlink()
    done = copy.run(*SPHINX)
    assert done.returncode == 0, done.stderr
    page = BeautifulSoup(copy.html("tutorials/on-a-gpu"), "html.parser")
    text = page.get_text(" ", strip=True)
    assert f"This build has a GPU, {torch.cuda.get_device_name()}" in text
    assert "In measured in this build :" in text
    assert not page.select(".cell_output :-soup-contains('No recording holds')")
