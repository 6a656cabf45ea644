"""What equal means: the same bits, or a bound on how far a sum can be off.

``assertions`` compares, ``rounding`` bounds the error of a sum, ``storage`` finds tensors on one
memory and the rows of a table that a step has changed.
"""
