"""Sparse rows times a table: read once from any notation, then summed as an embedding bag.

``bags`` is the common notation and ``checks`` says what is bad in it, ``read`` and ``csr`` lead
from CSR to it and back, ``sums`` adds up rows, or writes all zeros out as the baseline.
"""
