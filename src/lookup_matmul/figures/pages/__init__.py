"""Drawings of single pages; each module has the name of its page."""
