"""People say what words are worth."""

from __future__ import annotations

from bayesift.errors import DataError
from bayesift.service import kinds
from bayesift.service.errors import ConflictError
from bayesift.service.live import Turn
from bayesift.stores import WordRow

MOST_WORDS = 500


def teach(turn: Turn, profile: str, word: str, strength: float) -> WordRow | None:
    """Say what a word is worth to a profile; 0 takes back what was said of it."""
    taught = turn.profile(profile).taught
    if strength and word not in taught and len(taught) >= MOST_WORDS:
        raise ConflictError(f"{MOST_WORDS} words were taught already, the most that are allowed")
    check_word(turn, word)
    if taught.get(word, 0.0) != strength:
        turn.engine.teach(profile, word, strength)
        turn.note_change(kinds.TAUGHT, profile, word=word, strength=strength)
    if not strength:
        turn.tx.drop_word(profile, word)
        return None
    row = WordRow(profile, word, strength, turn.user, turn.at)
    turn.tx.put_word(row)
    return row


def check_word(turn: Turn, word: str) -> None:
    """Refuse what holds no word, before anything is changed."""
    if not turn.engine.space.forms_of(word):
        raise DataError(f"{word!r:.60} holds no word that documents are read for")
