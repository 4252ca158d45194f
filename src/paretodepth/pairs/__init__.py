"""Dissimilarities of pairs of training samples, nearest neighbors, capped fronts, memory limits."""
