"""The same few pages as a site that knows its address and its repository, and as one that does not."""

import shutil

from scratch import PROSE, SPHINX, Copy

BASE = "https://example.org/site/"
PAGE = """# A table has rows

You look up $\\text{id} < V$, with *a* `code|x` and a_name, 2*3, [1] and 2 < 3.
See [below](#the-end), [another page](other.md), {term}`row`, {func}`lookup_matmul.lookup`,
{class}`torch.nn.Embedding` and {cite}`ieee754`.

```{code-cell} ipython3
:tags: [setup]
from myst_nb import glue
import sklearn

seen = 3
glue("number", 2.5, display=False)
```

There are {glue:text}`number:.2f` of them.

```{code-cell} ipython3
:tags: [check]
assert seen == 3
```

:::{note}
- one
- two

  ```sh
  nox -s docs
  ```
:::

:::{dropdown} Solution for $V < 3$ in `one` step
| a | b |
|---|---|
| x | $y$ |
:::

```{math}
:label: sum
y = 1
```

## The end

Equation {eq}`sum`.

```{toctree}
other
Before <tutorials/before>
A *short* & `plain` title <tutorials/other>
```
"""
OTHER = """# Other

```{glossary}
row
  A line of a table.
```

```{eval-rst}
.. module:: lookup_matmul
.. autofunction:: lookup
.. autofunction:: check_inputs
```

```{bibliography}
:all:
```
"""
TITLED = """# The *other* & page

```{toctree}
inner
```
"""


def build_both(root):
    """Return the folder of each site by its address; the second is built where the first was."""
    html, plain = root / "build" / "html", root / "build" / "plain"
    both = {BASE: html, "": plain}
    if root.exists():
        return both
    root.mkdir()
    copy = Copy(root)
    (root / "docs" / "tutorials").mkdir(exist_ok=True)
    copy.write("index", PAGE)
    copy.write("other", OTHER, head=PROSE)
    excused = PROSE.replace("---\n", '---\nexcused: {source: "it has none"}\n', 1)
    copy.write("tutorials/other", TITLED, head=excused)
    for name in ("before", "inner"):
        copy.write(f"tutorials/{name}", f"# {name.title()}\n", head=excused)
    names = ["-D", f"html_baseurl={BASE}", "-A", "repository=owner/name"]
    built = copy.run(*SPHINX, *names)
    assert built.returncode == 0, built.stderr
    shutil.copytree(html, plain)
    built = copy.run(*SPHINX[:-1], str(plain))
    assert built.returncode == 0, built.stderr
    return both
