"""The database of the service: SQLite by default, PostgreSQL by its URL, with the same code.

`database.open_store` opens a `Store`. It knows event types, JSON and numbers, and nothing of the
filter.
"""
