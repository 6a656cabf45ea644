"""Pages in other languages, with messages from ``docs/locale`` and otherwise the same content.

Each translated page has a catalog with its messages, those of its figures included; ``sphinx.po``
holds the messages of templates and scripts. ``nox -s translate`` updates the catalogs, and
CONTRIBUTING describes how to translate a page, AUTHORING how to add a language.
"""
