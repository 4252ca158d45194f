"""How unlike: samples in, dissimilarities out."""
