"""Ids as rows of zeros with a single one: lookup, product, and the layers that do each."""
