"""The page on GPUs builds without a recording and with some, says its verdicts, and is measured."""

import re
from copy import deepcopy

import nbformat
import pytest
import torch
from _extensions.notebooks.first_cells import needs, settings
from _extensions.notebooks.gpu_notebook import NAME
from _extensions.run.pages import read
from bs4 import BeautifulSoup
from made_up_recording import SOUND, around, ceilings, left_out, measured
from scratch import PROSE, Copy
from served import DOCS
from test_notebooks import FIRST, run_away

from lookup_matmul.costs import Case
from lookup_matmul.costs.predict import key_of
from lookup_matmul.costs.recorder import sweep, write_recording
from lookup_matmul.costs.recordings import read_recording

RECORDED = "src/lookup_matmul/recorded"
COMMAND = "lookup_matmul.costs --minutes 2 --out recordings --commit"
NAMED = "tutorials/is-the-product-ever-faster"
PAGE = DOCS / f"{NAMED}.md"
SWEPT = [
    Case(form, "forward", vocab_size, 128, ids, "uniform", dtype, "hot")
    for vocab_size in (16, 300, 1024)
    for ids in (64, 2**17)  # in float32, a result of 67 MB
    for dtype in ("float32", "bfloat16")
    for form in ("lookup", "one-hot built and multiplied", "multiplication alone")
]


def recorded(slower=lambda _: 1.2) -> dict:
    """Make up a recording of a GPU, in which each case is so much slower than predicted."""
    first = ceilings()
    first["fixed_s"] = {
        cache: dict.fromkeys(map(key_of, SWEPT), around(1e-7)) for cache in ("hot", "cold")
    }
    first["row_s"] = {"hot": {}, "cold": {}}
    cases = [measured(case, first, slower(case)) for case in SWEPT]
    return deepcopy(SOUND) | {"ceilings": [first, first], "cases": cases}


CONFIRMING = recorded()
# Lookups slower than any product.
REFUTING = recorded(lambda case: 500 if case.form == "lookup" else 1.2)
for result in REFUTING["cases"]:
    result["launch_s"] = 1e-9


@pytest.fixture(scope="module")
def said() -> dict:
    """Return what the page's own cells define, those that the notebook has too."""
    names: dict = {}
    for cell in read(PAGE, NAMED).cells:
        if "notebook" in cell.metadata.get("tags", []):
            exec(cell.source, names)
    return names


def test_what_no_case_tells_of_is_not_decided(said):
    """After a run that ended early, and by a recording of a processor, whatever it holds."""
    for predicted in said["PREDICTIONS"].values():
        assert said["verdict"](CONFIRMING | {"cases": []}, predicted).startswith("not decided")
    on_cpu = CONFIRMING | {"provenance": CONFIRMING["provenance"] | {"kind": "cpu"}}
    assert "`x`" not in said["verdicts"]({"x": on_cpu})


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    """Return a copy of the site with this page alone, and without recordings."""
    copy = Copy(tmp_path_factory.mktemp("gpu"), NAMED)
    copy.leave_out("html", "search")
    for path in (copy.root / RECORDED).glob("*.json"):
        path.unlink()
    page = copy.root / "docs" / f"{NAMED}.md"
    text = re.sub(r"(?<!!)\[([^]\n]*)\]\((?!gpu-|who-)[^)\n]+\)", r"\1", page.read_text("utf-8"))
    page.write_text(re.sub(r"\{term\}`([^`<]*?)( <[^`]*)?`", r"\1", text), "utf-8")
    toctree = f"# Index\n\n```{{toctree}}\n{NAMED}\n```\n\n```{{bibliography}}\n:all:\n```\n"
    copy.write("index", toctree, head=PROSE)
    return copy


def built(copy: Copy) -> BeautifulSoup:
    """Build and read the page."""
    done = copy.build(CUDA_VISIBLE_DEVICES="")
    assert done.returncode == 0, done.stderr
    return BeautifulSoup(copy.html(NAMED), "html.parser")


def shown(page: BeautifulSoup) -> str:
    """Return what cells put out, without their code."""
    return " ".join(output.get_text(" ", strip=True) for output in page.select(".cell_output"))


def test_no_recording_then_two(copy: Copy) -> None:
    """Each build shows what there is, and names it at every number."""
    page = built(copy)
    text = shown(page)
    assert "No GPU has been recorded yet." in text
    assert [len(page.select(kind)) for kind in ("svg.drawing", "table")] == [2, 0]
    link = page.select_one("a.sd-btn[download]")
    assert link["href"] == f"{NAME}.ipynb"
    notebook = copy.root / "build" / "html" / "tutorials" / link["href"]
    assert f"!{{sys.executable}} -m {COMMAND} COMMIT" in notebook.read_text("utf-8")  # no clone

    # What a recording may hold, and Markdown would read as an image, a link and more.
    markup = "![p](https://example.org/p.png) [a](b) *x* $y$ # &lt; ~~z~~"
    marked = deepcopy(REFUTING)
    marked["provenance"]["device"] = markup
    skipped = left_out(SWEPT[0]._replace(ids=5), marked["ceilings"][0])
    skipped["skipped"]["says"] = markup
    marked["cases"].append(skipped)
    folder = copy.root / RECORDED
    write_recording(folder / "good-device.json", CONFIRMING)
    write_recording(folder / "bad-device.json", marked)
    page = built(copy)
    text = shown(page)
    assert "No GPU has been recorded yet." not in text
    assert (
        "A device, driver 580.95.05, CUDA 13.0, torch 2.13.0+cu130, recorded on 2026-01-31" in text
    )
    assert page.get_text().count(markup) == 2
    assert "example.org" not in str(page.select("img, a"))
    verdicts = [item.get_text(" ", strip=True) for item in page.select("li li")]
    for name, answer in (("good-device", "confirmed"), ("bad-device", "refuted")):
        found = [words.split()[2] for words in verdicts if words.startswith(name)]
        assert found == [answer] * 3
    assert len(page.select("svg.drawing")) == 2 + 4  # two precisions of each
    assert len(page.select("details table tbody tr")) == 2 * len(SWEPT)


def test_the_notebook_measures_and_says_its_verdicts(site, tmp_path, monkeypatch) -> None:
    """Below what it needs it looks for a GPU; run here on the processor, in an empty folder."""
    made = nbformat.read(site / "tutorials" / f"{NAME}.ipynb", as_version=4)
    nbformat.validate(made)
    cells = [cell for cell in made.cells if cell.cell_type == "code"]
    code = [cell.source for cell in cells]
    (wheel,) = site.glob("*.whl")
    assert code[:FIRST] == [needs(code, wheel.name), settings()]
    look, measure = cells[FIRST : FIRST + 2]
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(RuntimeError, match="finds no NVIDIA GPU here, so nothing is measured"):
        exec(look.source, {})
    made.cells.remove(look)
    quick = f"-m lookup_matmul.costs --quick --device cpu --out recordings --commit {40 * '0'}"
    measure.source, found = re.subn(rf"-m {COMMAND} \S+$", quick, measure.source)
    assert found == 1
    last = run_away(made, tmp_path, site).cells[-2]
    assert "No recording of a GPU has been made yet" in last.outputs[-1].data["text/markdown"]
    (left,) = (tmp_path / "empty" / "recordings").glob("*.json")
    assert left.name.endswith("-threads-quick.json")
    found = read_recording(left)
    assert found["complete"]
    assert found["provenance"]["command"].startswith("python -m lookup_matmul.costs --quick")
    recorded = {tuple(case[name] for name in Case._fields) for case in found["cases"]}
    assert recorded == set(sweep("quick"))
    reasons = {case["skipped"]["kind"] for case in found["cases"] if "skipped" in case}
    assert reasons <= {"takes too long"}  # as on a busy machine, nothing wrong
