"""The version of the package, which Hatchling asks for: two wheels that differ have two versions.

It is that of the last commit that changed the package, so commits of pages alone leave the wheel
and the notebooks that name it as they are.
"""

import re
import subprocess
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).parent
PACKAGE = ["src", "pyproject.toml"]
FIRST_VERSION = "0.1.0"  # what commits lead to before there is a tag
UNKNOWN = "0+unknown"  # of an archive of the sources, which has no commits


def find_version(root: Path = ROOT) -> str:
    """Return the version of the last tag ``v*``, or of the last commit that changed the package.

    A source distribution has its version in ``PKG-INFO``.
    """
    if not (root / ".git").exists():
        packed = root / "PKG-INFO"
        lines = packed.read_text("utf-8").splitlines() if packed.exists() else []
        versions = [line.partition(": ")[2] for line in lines if line.startswith("Version: ")]
        return versions[0] if versions else UNKNOWN
    tag = _git(root, "describe", "--tags", "--abbrev=0", "--match=v[0-9]*").strip()
    since_tag = [f"{tag}.."] if tag else []
    commits = _git(root, "log", "--format=%h", "--abbrev=8", *since_tag, "--", *PACKAGE).split()
    if not commits:
        return tag.removeprefix("v") or UNKNOWN
    following = FIRST_VERSION
    if tag:
        following = re.sub(r"\d+$", lambda last: str(int(last[0]) + 1), tag.removeprefix("v"))
    return f"{following}.dev{len(commits)}+g{commits[0]}"


def _git(root: Path, *arguments: str) -> str:
    """Return what git prints, or nothing if it fails or is missing."""
    command = ["git", "-C", str(root), *arguments]
    with suppress(OSError, subprocess.CalledProcessError):
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return ""
