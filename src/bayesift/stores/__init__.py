"""Where events, documents and people are kept: SQLite by default, PostgreSQL by its address; the same code for both.

`open_store` opens a `Store`. It knows kinds of events, JSON and numbers, and nothing of the filter.
"""

from bayesift.stores.database import open_store
from bayesift.stores.migrations import MIGRATIONS
from bayesift.stores.reading import Reading
from bayesift.stores.rows import DocumentRow, EventRow, JudgementRow, ProfileRow, SessionRow, UserRow, WordRow
from bayesift.stores.store import Store, StoreFailure
from bayesift.stores.writing import Writing

__all__ = [
    "MIGRATIONS",
    "DocumentRow",
    "EventRow",
    "JudgementRow",
    "ProfileRow",
    "Reading",
    "SessionRow",
    "Store",
    "StoreFailure",
    "UserRow",
    "WordRow",
    "Writing",
    "open_store",
]
