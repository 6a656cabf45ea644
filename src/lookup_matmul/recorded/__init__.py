"""Recordings that pages read: a JSON file for each machine, and one of TorchRec.

They are in the package so that a page that is run as a notebook can read them.
"""

from pathlib import Path

FOLDER = Path(__file__).parent
