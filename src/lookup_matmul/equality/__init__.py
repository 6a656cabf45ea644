"""Comparison of tensors: by their bits, within the error bound of a sum, or by their storage."""
