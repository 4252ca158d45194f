"""Compiled loops.

Each file is closed: it imports numpy and numba only, because numba's cache does not notice
an edit in another file.
"""
