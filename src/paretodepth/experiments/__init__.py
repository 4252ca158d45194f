"""The paper's experiments, one file per table or figure."""
