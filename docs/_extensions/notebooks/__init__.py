"""The notebook of each executed page, and the wheel that notebooks install."""
