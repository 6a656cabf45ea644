"""Accessible HTML, style sheets, scripts and metadata of pages, without third parties."""
