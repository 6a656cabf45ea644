"""Entries of the symptom pages, and the error messages of several torch versions."""
