"""Pages in a second language: their words come from ``docs/locale``, all else is the same.

The catalogs hold a page's messages, those of its drawings among them; ``sphinx.po`` holds the words
of the frame. ``nox -s translate`` updates them, and CONTRIBUTING says how to translate a page.
"""
