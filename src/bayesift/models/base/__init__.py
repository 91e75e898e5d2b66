"""What estimators share: one model per category, names, and state for files."""
