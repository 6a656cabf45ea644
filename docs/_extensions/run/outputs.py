"""Outputs of cells: errors of this build, effects that no page may have, and merged streams."""

import json
from pathlib import Path
from typing import Any

from nbformat import NotebookNode
from nbformat import v4 as nbformat_v4

v4: Any = nbformat_v4  # its functions have no types
MAX_OUTPUT_CHARACTERS = 500_000  # of a cell; a large figure has 50,000


def error_output(name: str, message: str) -> NotebookNode:
    output: NotebookNode = v4.new_output("error", ename=name, evalue=message, traceback=[])
    return output


def unwanted_effect(cell: NotebookNode, working_directory: Path) -> str | None:
    """Return what is wrong with the outputs of a cell or with the files that it left."""
    size = sum(len(json.dumps(output)) for output in cell.outputs)
    if size > MAX_OUTPUT_CHARACTERS:
        return f"its output has {size:,} characters, at most {MAX_OUTPUT_CHARACTERS:,}; show less"
    if names := sorted(path.name for path in working_directory.iterdir()):
        return f"it left {', '.join(names)} behind; write files into a TemporaryDirectory"
    return None


def merge_streams(outputs: list[NotebookNode]) -> list[NotebookNode]:
    """Merge the pieces of each stream into one output, at the place of the first piece.

    MyST-NB and nbclient do it in a time that grows with the square of a line's length.
    """
    merged, streams = list[NotebookNode](), dict[str, NotebookNode]()
    for output in outputs:
        if output.output_type != "stream":
            merged.append(output)
        elif output.name in streams:
            streams[output.name].text += output.text
        else:
            merged.append(output)
            streams[output.name] = output
    for stream in streams.values():
        # A carriage return starts the line again, as progress bars do.
        lines = (line.rpartition("\r")[2] for line in stream.text.rstrip().split("\n"))
        stream.text = "\n".join(lines) + "\n"
    return merged
