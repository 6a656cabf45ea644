"""Sparse rows times a table, computed as an embedding bag.

``bags`` defines the common format and ``checks`` validates it; ``read`` converts CSR matrices to
it and ``csr`` converts it back; ``sums`` has the weighted sum of rows and its dense baseline.
"""
