"""Finding things: one index of the site for the search page and for the box for errors.

What is found for an error or a question is written on the pages: another wording of an error as a
literal with the class ``says`` in its entry, a reader's own words with ``{index}`` below a heading.
"""
