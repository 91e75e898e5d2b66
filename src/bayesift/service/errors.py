"""What the service refuses, by what the caller can do about it."""

from __future__ import annotations

from bayesift.errors import BayesiftError, DataError


class NotFoundError(DataError):
    """Something that is not there."""


class ConflictError(DataError):
    """Something that cannot be done as things stand."""


class BusyError(BayesiftError):
    """More than can be done now; come again after some seconds."""

    def __init__(self, message: str, *, seconds: int = 1) -> None:
        super().__init__(message)
        self.seconds = seconds


class UnknownCallerError(BayesiftError):
    """Somebody without a valid token or session."""


class NotAllowedError(BayesiftError):
    """Something this person may not do."""


class TooLargeError(DataError):
    """More than is taken at once."""


class UnavailableError(BayesiftError):
    """The store could not be written; nothing was acknowledged."""
