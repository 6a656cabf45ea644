"""The picture in README is drawn by the package, and its example runs.

``python tests/site/test_readme.py`` draws the picture anew.
"""

import re

import torch
from served import ROOT

from lookup_matmul.figures import draw_equality

PICTURE = ROOT / "docs" / "_static" / "lookup.svg"


def draw_picture():
    """Return the drawing of the first tutorial in fixed colors, since an image has no scheme."""
    torch.manual_seed(123)
    weight = torch.nn.Embedding(4, 5).weight.detach()
    svg = draw_equality(torch.tensor([2, 3, 1]), weight).svg
    return re.sub(r"var\(--[\w-]+, (#[0-9a-f]{6})\)", r"\1", svg) + "\n"


def test_the_picture_is_what_the_package_draws():
    """Changed drawings need a new picture."""
    message = "draw it anew: python tests/site/test_readme.py"
    assert PICTURE.read_text("utf-8") == draw_picture(), message


def test_the_example_runs():
    """Its assertions hold."""
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
    exec(compile(code, "README.md", "exec"), {})


if __name__ == "__main__":
    PICTURE.write_text(draw_picture(), "utf-8")
