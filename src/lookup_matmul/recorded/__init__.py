"""Recordings that pages read: a JSON file for each machine.

``gpu/`` has, by page, the results of cells that need a GPU,
``torchrec/`` has results of TorchRec, and ``others/`` has times that other projects published,
with source, commit and license. All are part of the package, so that notebooks find them, too.
"""

from pathlib import Path

FOLDER = Path(__file__).parent
