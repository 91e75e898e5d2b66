"""The audit trail: who signed in, and what was set, exported, and done to models, by whom.

Decisions and judgements are not in it, so that it tells a reviewer nothing of another's.
"""

from __future__ import annotations

SIGNED_IN = "signed in"
SIGNED_OUT = "signed out"
REFUSED = "sign-in refused"
USER_CHANGED = "user changed"
EXPORTED = "exported"
SETTINGS = "settings changed"
