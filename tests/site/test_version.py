"""The version of the package, which names the wheel of the site."""

import re
import runpy
import shutil
import subprocess

import pytest
from served import ROOT

find_version = runpy.run_path(str(ROOT / "version.py"))["find_version"]
GIT = ["git", "-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "tag.gpgSign=false"]


@pytest.fixture
def commit(tmp_path):
    """Return a function that commits a changed file, with a tag if it has a name."""
    if not shutil.which("git"):
        pytest.skip("git is missing")
    subprocess.run([*GIT, "init", "--quiet"], cwd=tmp_path, check=True)

    def commit_change(name, tag=None):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"{path.read_text() if path.exists() else ''}x")
        tagging = [["tag", tag]] if tag else []
        for command in (["add", "."], ["commit", "--quiet", "--no-gpg-sign", "-m", name], *tagging):
            subprocess.run([*GIT, *command], cwd=tmp_path, check=True)
        return find_version(tmp_path)

    return commit_change


def test_commits_of_the_package_change_the_version_and_those_of_pages_do_not(commit):
    """So the notebooks stay as they are while pages are written."""
    versions = [commit("src/a.py"), commit("docs/a.md"), commit("pyproject.toml")]
    assert versions[0] == versions[1]
    assert re.fullmatch(r"0\.1\.0\.dev1\+g[0-9a-f]{8,}", versions[0])
    assert re.fullmatch(r"0\.1\.0\.dev2\+g[0-9a-f]{8,}", versions[2])


def test_a_tag_is_the_version_until_the_package_changes(commit):
    """The next version follows it; other tags do not count."""
    commit("src/a.py")
    assert commit("docs/a.md", tag="v1.2.9") == "1.2.9"
    assert commit("docs/a.md", tag="vowels") == "1.2.9"
    assert commit("src/a.py").startswith("1.2.10.dev1+g")


def test_without_commits_the_version_is_that_of_the_source_distribution(tmp_path):
    """An archive of the sources has none."""
    assert find_version(tmp_path) == "0+unknown"
    (tmp_path / "PKG-INFO").write_text("Name: a\nVersion: 1.2.3\n")
    assert find_version(tmp_path) == "1.2.3"


def test_a_repository_without_commits_has_no_version(tmp_path):
    """Nor has one whose git fails."""
    (tmp_path / ".git").mkdir()
    assert find_version(tmp_path) == "0+unknown"
