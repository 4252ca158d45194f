"""Vectors in, fronts and depths out; knows no samples."""
