"""Sparse rows times a table, computed as an embedding bag."""
