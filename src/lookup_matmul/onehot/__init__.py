"""Ids as rows of zeros with a single one: a lookup is a product.

``forms`` computes both, ``layers`` moves a table between Embedding and Linear, ``one_hot_linear``
is a Linear that takes ids, ``swap`` puts it into whole models, ``checks`` says which layers fit.
"""
