"""The same pages as a site with an address and a repository, and as a site without either."""

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
GROUP = """# The *other* & page

```{toctree}
inner
```
"""


def build_both(root):
    """Build both sites unless they are there, and return their folders by their addresses."""
    published, plain = root / "build" / "html", root / "build" / "plain"
    if not root.exists():
        root.mkdir()
        copy = Copy(root)
        (root / "docs" / "tutorials").mkdir(exist_ok=True)
        no_source = PROSE.replace("---\n", '---\nexcused: {source: "it has none"}\n', 1)
        copy.write("index", PAGE)
        copy.write("other", OTHER, head=PROSE)
        copy.write("tutorials/other", GROUP, head=no_source)
        for name in ("before", "inner"):
            copy.write(f"tutorials/{name}", f"# {name.title()}\n", head=no_source)
        build = copy.run(*SPHINX, "-D", f"html_baseurl={BASE}", "-A", "repository=owner/name")
        assert build.returncode == 0, build.stderr
        shutil.copytree(published, plain)
        build = copy.run(*SPHINX[:-1], str(plain))
        assert build.returncode == 0, build.stderr
    return {BASE: published, "": plain}
