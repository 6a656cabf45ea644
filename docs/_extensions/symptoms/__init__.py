"""Entries of the symptom pages, and how versions of torch word their errors."""
