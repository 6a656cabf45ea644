"""Paths that several rooms share."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
SECOND_LANGUAGE = "zh"  # folder of the site with the pages in the second language
