"""Sparse rows times a table: read once from any notation, then summed as an embedding bag."""
