"""Pages in other languages, with messages from ``docs/locale`` and otherwise the same content.

A translated page has a catalog with its messages and those of its figures; ``sphinx.po`` holds the
messages of templates and scripts.
"""
