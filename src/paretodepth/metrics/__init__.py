"""Dissimilarities by name, one module a kind of data; `registry` lists them all."""
