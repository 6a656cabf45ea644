"""The pages of a site that is built with an address and a repository, and without either."""

from scratch import HEAD, PROSE

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

```{code-cell} ipython3
---
mystnb:
  figure:
    caption: Three cuts.
    name: fig-cuts
---
from _figures.on_many_machines import draw_cuts

draw_cuts(2, 2)
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
.. autofunction:: check_ids
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
# Each page with its front matter.
PAGES = {
    "index": HEAD + PAGE,
    "other": PROSE + OTHER,
    "tutorials/other": PROSE + GROUP,
    "tutorials/before": f"{PROSE}# Before\n",
    "tutorials/inner": f"{PROSE}# Inner\n",
}
