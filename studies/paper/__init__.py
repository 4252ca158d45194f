"""The paper's tables, figures and theorems."""
