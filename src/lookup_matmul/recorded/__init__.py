"""Recordings that pages read: a JSON file for each machine, and what TorchRec gave.

They lie in the package, so that a page that was taken away as a notebook finds them too.
"""

from pathlib import Path

FOLDER = Path(__file__).parent
