"""What is believed of one word, or said of one category, and how files spell it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from bayesift.errors import DataError

# Chosen by `python -m benchmarks.learning_curves choose`: training documents of categories no result is reported for.
KEYWORD_STRENGTH = 1.0
DESCRIPTION_STRENGTH = 4.0

_SIGNS = {"+": 1, "-": -1}
_NAMES = {1: "+", -1: "-"}


@dataclass(frozen=True, slots=True)
class Belief:
    """What is believed of the weight of one word for one category.

    Parameters
    ----------
    strength : how much a text that holds the word, weighted as it typically is, gains in log odds; negative speaks
        against the category
    mode : the most probable weight itself, instead of a strength
    scale : the standard deviation of the weight about it; None leaves that of the model's prior
    sign : 1 keeps the weight from being negative, -1 from being positive, 0 leaves it free

    Examples
    --------
    >>> Belief(strength=3.0).as_plain(), Belief(sign=-1).as_plain(), Belief(mode=4.0, scale=0.5).as_plain()
    (3.0, '-', {'mode': 4.0, 'scale': 0.5})
    """

    strength: float | None = None
    mode: float | None = None
    scale: float | None = None
    sign: int = 0

    def __post_init__(self) -> None:
        for name in ("strength", "mode", "scale"):
            if getattr(self, name) is not None and not _is_number(getattr(self, name)):
                raise DataError(f"{name} must be a finite number, got {getattr(self, name)!r:.40}")
        if self.scale is not None and self.scale <= 0:
            raise DataError(f"scale must be positive, got {self.scale!r}")
        if self.sign not in (-1, 0, 1):
            raise DataError(f"sign must be 1, -1 or 0, got {self.sign!r:.40}")
        if self.strength is not None and self.mode is not None:
            raise DataError("strength and mode say the same thing; give one of them")
        if self.sign * (self.strength or self.mode or 0.0) < 0:
            raise DataError(f"sign {_NAMES[self.sign]!r} contradicts {self.strength or self.mode!r}")
        if (self.strength, self.mode, self.scale, self.sign) == (None, None, None, 0):
            raise DataError("nothing is said: give a strength, a mode, a scale or a sign")

    @classmethod
    def of_plain(cls, value: Any) -> Belief:
        """The belief a file spells as a strength, as "+" or "-", or as a mapping of the fields.

        Examples
        --------
        >>> Belief.of_plain({"strength": 2, "sign": "+"})
        Belief(strength=2, mode=None, scale=None, sign=1)
        """
        if isinstance(value, Belief):
            return value
        if isinstance(value, str):
            return cls(sign=_sign(value))
        if not isinstance(value, dict):
            return cls(strength=value) if value is not None else cls()
        unknown = [key for key in value if key not in ("strength", "mode", "scale", "sign")]
        if unknown:
            raise DataError(f"no {unknown[0]!r:.40}; there are: strength, mode, scale, sign")
        return cls(**{key: _sign(field) if key == "sign" else field for key, field in value.items()})

    def as_plain(self) -> Any:
        """The inverse of `of_plain`."""
        fields = {name: getattr(self, name) for name in ("strength", "mode", "scale")}
        said = {name: float(value) for name, value in fields.items() if value is not None}
        if self.sign:
            if not said:
                return _NAMES[self.sign]
            return {**said, "sign": _NAMES[self.sign]}
        return said["strength"] if list(said) == ["strength"] else said


@dataclass(frozen=True, slots=True)
class Description:
    """What a category is about, in words.

    Parameters
    ----------
    text : the description
    strength : of a word that stands in it once and in one document; others have less, by their IDF

    Examples
    --------
    >>> Description("Crude oil").as_plain(), Description("Crude oil", 2.0).as_plain()
    ('Crude oil', {'text': 'Crude oil', 'strength': 2.0})
    """

    text: str
    strength: float = DESCRIPTION_STRENGTH

    def __post_init__(self) -> None:
        if not isinstance(self.text, str):
            raise DataError(f"a description must be text, got {self.text!r:.40}")
        if not _is_number(self.strength):
            raise DataError(f"strength must be a finite number, got {self.strength!r:.40}")

    @classmethod
    def of_plain(cls, value: Any) -> Description:
        """The description a file spells as a text, or as a mapping of text and strength."""
        if isinstance(value, Description):
            return value
        if not isinstance(value, dict):
            return cls(value)
        if "text" not in value or not set(value) <= {"text", "strength"}:
            raise DataError("a description is a text, or has a text and a strength")
        return cls(**value)

    def as_plain(self) -> Any:
        """The inverse of `of_plain`."""
        if self.strength == DESCRIPTION_STRENGTH:
            return self.text
        return {"text": self.text, "strength": float(self.strength)}


def _sign(value: Any) -> int:
    if isinstance(value, str) and value in _SIGNS:
        return _SIGNS[value]
    raise DataError(f"not a strength, '+' or '-': {value!r:.40}")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
