"""Commands of ``noxfile.py``, and the recorder of texts; no page is built with their help."""
