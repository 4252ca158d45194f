"""How good scores and p-values are, and what they cost."""
