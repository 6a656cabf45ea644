"""The index of the site, which the search page and the page of symptoms read.

To make a section match a query, edit its page: write another wording of an error as a literal with
the class ``says`` in its entry, and the terms that readers use with ``{index}`` below the heading.
Words that have one meaning on all pages, and their Chinese translations, are in ``synonyms.txt``.
"""
