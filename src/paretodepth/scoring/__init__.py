"""A score, how sure it is, and why."""
