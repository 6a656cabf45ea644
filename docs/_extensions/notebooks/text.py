"""Write the cells of a page as one Markdown text, for readers and programs without a browser."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

IMAGE = re.compile(r'<img alt="([^"]*)"[^>]*>')


def to_text(cells: Iterable[Any]) -> str:
    """Return Markdown with code and outputs as blocks; pictures and checks are described only."""
    blocks = [block for cell in cells for block in _to_blocks(cell)]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _to_blocks(cell: Any) -> Iterator[str]:
    if cell["cell_type"] == "markdown":
        yield IMAGE.sub(r"*\1*", cell["source"])
        return
    if "check" in cell["metadata"].get("tags", []):
        yield f"*{cell['source'].partition(chr(10))[0].removeprefix('# ')}*"
        return
    yield f"```python\n{cell['source']}\n```"
    for output in cell["outputs"]:
        data = output.get("data", {})
        if markdown := data.get("text/markdown", ""):
            yield markdown.strip()
        elif text := _read_output(output, data).rstrip():
            yield f"```text\n{text}\n```"


def _read_output(output: Any, data: Any) -> str:
    if output["output_type"] == "error":
        return f"{output['ename']}: {output['evalue']}"
    return str(output.get("text", data.get("text/plain", "")))
