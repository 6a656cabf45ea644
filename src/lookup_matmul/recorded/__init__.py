"""Recordings that pages read: a JSON file for each machine.

``gpu/`` has, by page, the results of cells that need a GPU, ``torchrec/`` has results of TorchRec,
``crossings/`` those of other libraries, which no wheel has,
and ``others/`` has times and texts that other projects published, with source and license.
"""

import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent


def read_recorded(name: str) -> Any:
    """Return the content of a file in this folder, such as ``"gpu/nvidia-h200"``."""
    return json.loads((FOLDER / f"{name}.json").read_text("utf-8"))
