"""Sparse rows times a table, computed as an embedding bag.

``bags`` defines and checks the common format, ``formats`` converts CSR matrices to it and back, and
``sums`` has the weighted sum of rows and its dense baseline.
"""
