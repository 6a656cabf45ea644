"""The sessions: one nox at a time in a clone."""

import shutil
import subprocess
import sys
from pathlib import Path

from filelock import FileLock
from scratch import LIMIT_S
from served import ROOT


def test_the_second_nox_waits_and_says_so_and_a_list_does_not(tmp_path: Path) -> None:
    """Two that make the same environment at once would leave neither whole."""
    for name in ("noxfile.py", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / "tests" / "site").mkdir(parents=True)
    (tmp_path / "tests" / "site" / "anywhere.py").write_text("print('it ran')")
    (tmp_path / ".nox").mkdir()
    call = [sys.executable, "-m", "nox"]
    with FileLock(tmp_path / ".nox" / "lock"):
        listed = subprocess.run([*call, "-l"], cwd=tmp_path, capture_output=True, timeout=LIMIT_S)
        assert listed.returncode == 0
        waiting = subprocess.Popen(
            [*call, "-s", "anywhere"], cwd=tmp_path, stdout=subprocess.PIPE, text=True
        )
        assert waiting.stdout is not None
        assert "Another nox is at work" in waiting.stdout.readline()
        assert waiting.poll() is None
    rest, _ = waiting.communicate(timeout=LIMIT_S)
    assert waiting.returncode == 0
    assert "it ran" in rest
