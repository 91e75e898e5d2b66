"""Qiu, Huang & Wu: one file a table."""
