"""The picture in README is drawn by the package, its example runs, and a workflow is safe.

``PYTHONPATH=tests/package:tests/site python tests/site/test_readme.py`` draws the picture anew.
"""

import re

import torch
import yaml
from drawings import with_colors
from served import ROOT

from lookup_matmul.figures import draw_equality

PICTURE = ROOT / "docs" / "_static" / "lookup.svg"


def draw_picture():
    """Return the drawing of the first tutorial in fixed colors, since an image has no scheme."""
    torch.manual_seed(123)
    weight = torch.nn.Embedding(4, 5).weight.detach()
    svg = with_colors(draw_equality(torch.tensor([2, 3, 1]), weight).svg)
    return re.sub(r"var\(--[\w-]+, (#[0-9a-f]{6})\)", r"\1", svg) + "\n"


def test_the_picture_is_what_the_package_draws():
    """Changed drawings need a new picture."""
    message = f"draw it anew: {__doc__}"
    assert PICTURE.read_text("utf-8") == draw_picture(), message


def test_the_example_runs():
    """Its assertions hold."""
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
    exec(compile(code, "README.md", "exec"), {})


def test_unpinned_packages_run_without_write_permission():
    """Only the job that reads the report may open an issue, and it runs no code of the project."""
    workflow = ROOT / ".github" / "workflows" / "newest.yml"
    jobs = yaml.safe_load(workflow.read_text("utf-8"))["jobs"]
    say = jobs.pop("say")
    assert say["permissions"] == {"issues": "write"}
    assert not any("checkout" in step.get("uses", "") for step in say["steps"])
    assert all(job["permissions"] == {"contents": "read"} for job in jobs.values())


if __name__ == "__main__":
    PICTURE.write_text(draw_picture(), "utf-8")
