"""Rules for the text, the numbers and the code of pages; ``lint.py`` lists them."""
