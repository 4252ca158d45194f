"""The whole job on tables, and what is told of it."""
