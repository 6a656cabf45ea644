"""The ``glue`` of MyST-NB for the kernels of pages, which lack MyST-NB as a reader's kernel does.

MyST-NB's own module would import Sphinx into each kernel.
"""

from typing import Any

from IPython.core.formatters import format_display_data
from IPython.display import display as show

PREFIX = "application/papermill.record/"  # of the types of a value that its cell does not show


def glue(name: str, variable: Any, display: bool = True) -> None:
    """Give a value to the prose, under a name."""
    data, metadata = format_display_data(variable)  # type: ignore[no-untyped-call]
    prefix = "" if display else PREFIX
    metadata["scrapbook"] = {"name": name, "mime_prefix": prefix}
    values = {prefix + kind: value for kind, value in data.items()}
    show(values, raw=True, metadata=metadata)  # type: ignore[no-untyped-call]
