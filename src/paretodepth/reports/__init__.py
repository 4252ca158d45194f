"""The whole job on a table: detect, fit, score and explain; the findings, and the report."""
