"""Ids as rows of zeros with a single one: a lookup is a product."""
