"""Saved detectors and streams: data in a file, checked before any of it is used."""
