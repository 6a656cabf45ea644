"""Drawings of single pages; each module has the name of its page, and may have a script."""
