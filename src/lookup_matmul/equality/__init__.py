"""What equal means: the same bits, or a bound on how far a sum can be off."""
