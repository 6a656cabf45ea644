"""What equal means: the same bits, or a bound on how far a sum can be off.

``assertions`` compares, ``rounding`` bounds the error of a sum, ``movement`` finds the rows that
a step has changed, ``storage`` finds tensors on one memory.
"""
