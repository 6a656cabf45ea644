"""README's picture is the package's own drawing, and its example runs.

``python tests/site/test_readme.py`` draws the picture anew.
"""

import re

import torch
from served import ROOT

from lookup_matmul.figures import draw_equality

PICTURE = ROOT / "docs" / "_static" / "lookup.svg"


def picture() -> str:
    """Draw both forms, as the first tutorial does, on its plate, since an image cannot follow the page."""
    torch.manual_seed(123)
    weight = torch.nn.Embedding(4, 5).weight.detach()
    svg = draw_equality(torch.tensor([2, 3, 1]), weight).svg
    return re.sub(r"var\(--[\w-]+, (#[0-9a-f]{6})\)", r"\1", svg) + "\n"


def test_picture_is_the_drawing_of_the_first_tutorial():
    """The committed file is what the package draws today."""
    assert PICTURE.read_text("utf-8") == picture(), "draw it anew: python tests/site/test_readme.py"


def test_example_runs():
    """The Python in README does what it says."""
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
    exec(compile(code, "README.md", "exec"), {})


if __name__ == "__main__":
    PICTURE.write_text(picture(), "utf-8")
