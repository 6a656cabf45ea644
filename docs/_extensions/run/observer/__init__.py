"""A folder for ``PYTHONPATH`` of kernels; Python imports ``sitecustomize`` from it."""
