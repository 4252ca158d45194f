"""Criteria: samples in, dissimilarities out."""
