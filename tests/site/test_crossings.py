"""Records of other libraries: scripts are short and pinned, and changes are named."""

import json
import re

import pytest
from _tools.record_crossing import RECORDS, SCRIPTS, find_changes, read_requirements

NAMES = sorted(path.stem for path in SCRIPTS.glob("*.py"))


@pytest.mark.parametrize("name", NAMES)
def test_record_is_that_of_its_script(name):
    """The record has the versions that the script pins, and its date and machine."""
    script = (SCRIPTS / f"{name}.py").read_text("utf-8")
    record = json.loads((RECORDS / f"{name}.json").read_text("utf-8"))
    assert len(script.splitlines()) <= 60
    for requirement in read_requirements(script):
        package, version = re.sub(r"\[.*?\]", "", requirement).split("==")
        assert record["versions"][package].partition("+")[0] == version
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", record["date"])
    assert record["machine"]
    assert record["results"]
    assert not re.search(r'[ "](/\w+){2}', json.dumps(record)), "a path of the machine"


def test_every_record_has_a_script():
    """A record whose script was deleted cannot be repeated."""
    assert sorted(path.stem for path in RECORDS.glob("*.json")) == NAMES


def test_requirements_without_a_version_are_refused():
    """They would install something else next year."""
    head = "# /// script\n# dependencies = {}\n# ///\n"
    assert read_requirements(head.format('["torch==2.13.0"]')) == ["torch==2.13.0"]
    with pytest.raises(SystemExit, match="requires onnx, expected a version"):
        read_requirements(head.format('["torch==2.13.0", "onnx"]'))


def test_changes_are_named():
    """Values that are new, gone or different, each by its path."""
    before = {"date": "a", "results": {"same": 1, "gone": 2, "other": [1]}}
    after = {"date": "a", "results": {"same": 1, "other": [2], "new": None, "more": "x"}}
    assert [*find_changes(before, after)] == [
        "/results/gone: 2 became null",
        "/results/other: [1] became [2]",
        '/results/more: null became "x"',
    ]
    assert not [*find_changes(before, before)]
