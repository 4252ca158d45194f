"""The pairs of training samples, and who is nearest."""
