"""A page that is light, private and accessible."""
