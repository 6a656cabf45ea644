"""Checks of a page, the sentences that they prove, and the list of all checks."""
