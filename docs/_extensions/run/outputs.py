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
    merged, pieces = list[NotebookNode](), dict[str, list[str]]()
    for output in outputs:
        if output.output_type != "stream":
            merged.append(output)
        elif output.name in pieces:
            pieces[output.name].append(output.text)
        else:
            merged.append(output)
            pieces[output.name] = [output.text]
    for output in merged:
        if output.output_type == "stream":
            lines = "".join(pieces[output.name]).rstrip().split("\n")
            # A carriage return starts the line again, as progress bars do.
            output.text = "".join(line.rpartition("\r")[2] + "\n" for line in lines)
    return merged
