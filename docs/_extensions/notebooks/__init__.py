"""The notebook of each executed page, its Markdown source, and the wheel that notebooks install."""
