"""A folder for ``PYTHONPATH`` of kernels, which import ``sitecustomize`` and ``disturb``."""
