"""Describe what people know about words: beliefs, descriptions, and files of them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from scipy import sparse

from bayesift.errors import DataError

# Chosen by `python -m benchmarks.learning_curves choose`, on training documents of categories not
# used in results.
KEYWORD_STRENGTH = 1.0
DESCRIPTION_STRENGTH = 4.0

_SIGNS = {"+": 1, "-": -1}
_NAMES = {1: "+", -1: "-"}


@dataclass(frozen=True, slots=True)
class Belief:
    """A belief about the weight of one word for one category.

    Parameters
    ----------
    strength : how many log odds a text that contains the word, with its typical weight, gains;
        negative values are evidence against the category
    mode : the most probable weight, instead of a strength
    scale : the standard deviation of the weight; None keeps that of the model's prior
    sign : 1 forbids negative weights, -1 positive ones, 0 neither

    Examples
    --------
    >>> beliefs = Belief(strength=3.0), Belief(sign=-1), Belief(mode=4.0, scale=0.5)
    >>> tuple(belief.as_plain() for belief in beliefs)
    (3.0, '-', {'mode': 4.0, 'scale': 0.5})
    """

    strength: float | None = None
    mode: float | None = None
    scale: float | None = None
    sign: int = 0

    def __post_init__(self) -> None:
        for name in ("strength", "mode", "scale"):
            if getattr(self, name) is not None and not _is_number(getattr(self, name)):
                raise DataError(
                    f"{name} must be a finite number, got {getattr(self, name)!r:.40}"
                )
        if self.scale is not None and self.scale <= 0:
            raise DataError(f"scale must be positive, got {self.scale!r}")
        if self.sign not in (-1, 0, 1):
            raise DataError(f"sign must be 1, -1 or 0, got {self.sign!r:.40}")
        if self.strength is not None and self.mode is not None:
            raise DataError("strength and mode say the same thing; give one of them")
        if self.sign * (self.strength or self.mode or 0.0) < 0:
            raise DataError(
                f"sign {_NAMES[self.sign]!r} contradicts {self.strength or self.mode!r}"
            )
        if (self.strength, self.mode, self.scale, self.sign) == (None, None, None, 0):
            raise DataError("an empty belief: give a strength, a mode, a scale or a sign")

    @classmethod
    def of_plain(cls, value: Any) -> Belief:
        """Read a belief from a strength, from "+" or "-", or from a mapping of the fields."""
        if isinstance(value, Belief):
            return value
        if isinstance(value, str):
            return cls(sign=_sign(value))
        if not isinstance(value, dict):
            if value is not None:
                return cls(strength=value)
            return cls()
        unknown = [key for key in value if key not in ("strength", "mode", "scale", "sign")]
        if unknown:
            raise DataError(f"no {unknown[0]!r:.40}; there are: strength, mode, scale, sign")
        return cls(
            **{key: _sign(field) if key == "sign" else field for key, field in value.items()}
        )

    def as_plain(self) -> Any:
        """Return what `of_plain` reads."""
        fields = {name: getattr(self, name) for name in ("strength", "mode", "scale")}
        given = {name: float(value) for name, value in fields.items() if value is not None}
        if self.sign:
            if given:
                return {**given, "sign": _NAMES[self.sign]}
            return _NAMES[self.sign]
        if list(given) == ["strength"]:
            return given["strength"]
        return given


@dataclass(frozen=True, slots=True)
class Description:
    """A description of a category in plain text.

    Parameters
    ----------
    text : the description
    strength : of a word that occurs once in the text and in one document; others have less, by
        their IDF

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
        """Read a description from a text, or from a mapping of text and strength."""
        if isinstance(value, Description):
            return value
        if not isinstance(value, dict):
            return cls(value)
        if "text" not in value or not set(value) <= {"text", "strength"}:
            raise DataError("a description is a text, or has a text and a strength")
        return cls(**value)

    def as_plain(self) -> Any:
        """Return what `of_plain` reads."""
        if self.strength == DESCRIPTION_STRENGTH:
            return self.text
        return {"text": self.text, "strength": float(self.strength)}


def _sign(value: Any) -> int:
    if isinstance(value, str) and value in _SIGNS:
        return _SIGNS[value]
    raise DataError(f"not a strength, '+' or '-': {value!r:.40}")


def _is_number(value: Any) -> bool:
    return (
        isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    )


Plain = dict[str, Any]
Statement = TypeVar("Statement", Belief, Description)


@dataclass(frozen=True)
class TermKnowledge:
    """Knowledge about the words of each category: beliefs about words, and descriptions.

    Words are given as people write them; the vectorizer of the model turns them into terms.
    Knowledge is read from and written to YAML or JSON (`read`, `write`), joined by `|` (the right
    one wins where both mention a word), and becomes the prior of a linear model by `prior_for`, or
    by `TextClassifier(knowledge=...)`.

    Parameters
    ----------
    words : category -> word -> `Belief`, or as in files: a strength, "+", "-", or a mapping
    descriptions : category -> `Description`, or its text

    Examples
    --------
    >>> words = {"corn": {"corn": 3, "maize": 2}, "gold": ["gold", "-oil"]}
    >>> knowledge = TermKnowledge.from_keywords(words)
    >>> knowledge.as_dict()
    {'words': {'corn': {'corn': 3.0, 'maize': 2.0}, 'gold': {'gold': 1.0, 'oil': '-'}}}
    >>> (knowledge | TermKnowledge.from_descriptions({"ship": "Shipping"})).categories
    ('corn', 'gold', 'ship')
    """

    words: Mapping[str, Mapping[str, Belief]] = field(default_factory=dict)
    descriptions: Mapping[str, Description] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "words", dict(_read_words(self.words)))
        object.__setattr__(self, "descriptions", dict(_read_descriptions(self.descriptions)))

    @classmethod
    def from_keywords(
        cls,
        keywords: Mapping[str, Mapping[str, Any] | Iterable[str]],
        *,
        strength: float = KEYWORD_STRENGTH,
    ) -> TermKnowledge:
        """Make knowledge about single words.

        Parameters
        ----------
        keywords : category -> words with their strengths (or "+", "-", or a mapping of a `Belief`'s
            fields), or a list of words, where the weight of "+word" may not be negative and that of
            "-word" not positive
        strength : of words in lists without a sign
        """
        return cls(
            words={
                category: _word_mapping(category, given, strength)
                for category, given in keywords.items()
            }
        )

    @classmethod
    def from_descriptions(
        cls, descriptions: Mapping[str, str], *, strength: float = DESCRIPTION_STRENGTH
    ) -> TermKnowledge:
        """Make knowledge from descriptions of categories.

        A rare word of a description counts for more than a common one.

        The strength of a word that occurs f times in the description and in n of the N training
        documents is

            strength (1 + ln f) ln(N / n) / ln N,

        a bounded form of the TFIDF modes of Dayanik, Lewis, Madigan, Menkov & Genkin (2006).
        """
        return cls(
            descriptions={
                category: Description(text, strength) for category, text in descriptions.items()
            }
        )

    @classmethod
    def from_model(
        cls, classifier: Any, *, inflate: float = 1.0, terms: int | None = 1000
    ) -> TermKnowledge:
        """Take the posterior of an earlier model: means become modes, deviations become scales.

        Parameters
        ----------
        classifier : a fitted `TextClassifier` whose linear model keeps its posterior
            (`posterior="normal"`)
        inflate : factor of the variances, more than 1 where the new texts may differ from the old
        terms : the most weights of a category to keep, the largest in size; None for all

        Examples
        --------
        >>> from bayesift.classifier import TextClassifier
        >>> from bayesift.models import make_learner
        >>> model = make_learner("logistic-gaussian", posterior="normal")
        >>> first = TextClassifier(model=model).fit(["corn", "gold"], ["grain", "metal"])
        >>> knowledge = TermKnowledge.from_model(first, inflate=2.0)
        >>> {word: belief.mode > 0 for word, belief in knowledge.words["metal"].items()}
        {'corn': False, 'gold': True}
        """
        model = classifier.model_
        if not hasattr(model, "posteriors_"):
            raise ValueError(
                f"this {type(model).__name__} keeps no posterior; fit a linear model with "
                "posterior='normal'"
            )
        if not inflate > 0:
            raise ValueError(f"inflate must be positive, got {inflate!r}")
        names = classifier.terms()
        words = {}
        for row, posterior in enumerate(model.posteriors_):
            means = sparse.csr_array(model.coef_[[row]]).toarray()[0]
            deviations = np.sqrt(inflate * posterior.variances[:-1])
            largest = np.sort(
                np.argsort(-np.abs(means[posterior.terms]), kind="stable")[:terms]
            )
            category = classifier.categories_[row if len(model.posteriors_) > 1 else -1]
            words[category] = {
                names[posterior.terms[i]]: Belief(
                    mode=float(means[posterior.terms[i]]), scale=float(deviations[i])
                )
                for i in largest
                if deviations[i] > 0 and posterior.terms[i] < len(names)
            }
        return cls(words=words)

    @classmethod
    def read(cls, path: str | Path) -> TermKnowledge:
        """Read a YAML file, or a JSON file if its name ends in .json.

        Errors name file, category and word.
        """
        from bayesift.knowledge.files import read_plain

        plain = read_plain(Path(path))
        try:
            return cls.from_dict(plain)
        except DataError as error:
            raise DataError(error.message, file=path) from error

    def write(self, path: str | Path) -> None:
        """Write a file that `read` reads: JSON if its name ends in .json, else YAML."""
        from bayesift.knowledge.files import write_plain

        write_plain(self.as_dict(), Path(path))

    @classmethod
    def from_dict(cls, plain: Any) -> TermKnowledge:
        """Read what `as_dict` returns; lists of words are accepted, too."""
        if not isinstance(plain, dict) or not set(plain) <= {"words", "descriptions"}:
            raise DataError(
                "knowledge has two parts, 'words' and 'descriptions', each with categories"
            )
        words = plain.get("words") or {}
        descriptions = plain.get("descriptions") or {}
        if not isinstance(words, dict) or not isinstance(descriptions, dict):
            raise DataError(
                "'words' and 'descriptions' must map categories to what is known about them"
            )
        return cls(words, descriptions)

    def as_dict(self) -> Plain:
        """Return a dictionary for JSON and YAML."""
        words = {
            c: {word: belief.as_plain() for word, belief in w.items()}
            for c, w in self.words.items()
        }
        descriptions = {
            category: text.as_plain() for category, text in self.descriptions.items()
        }
        parts = {"words": words, "descriptions": descriptions}
        return {name: part for name, part in parts.items() if part}

    def __or__(self, other: TermKnowledge) -> TermKnowledge:
        words = {
            c: {**self.words.get(c, {}), **other.words.get(c, {})}
            for c in {**self.words, **other.words}
        }
        return TermKnowledge(words, {**self.descriptions, **other.descriptions})

    def __bool__(self) -> bool:
        return any(self.words.values()) or bool(self.descriptions)

    @property
    def categories(self) -> tuple[str, ...]:
        """The categories with any knowledge."""
        return tuple({**self.words, **self.descriptions})

    def check_categories(self, known: Iterable[str]) -> None:
        """Refuse knowledge of unknown categories, and name the nearest known one."""
        names = list(known)
        for category in self.categories:
            if category not in names:
                nearest = get_close_matches(category, names, n=1, cutoff=0.5)
                if nearest:
                    advice = f"did you mean {nearest[0]!r}?"
                else:
                    advice = f"there are: {', '.join(names[:20])}"
                raise DataError(
                    f"knowledge of category {category!r}, which there is not; {advice}"
                )


def _word_mapping(category: str, given: Any, strength: float) -> Mapping[str, Any]:
    """Return the words of a category as a mapping.

    Words of a list have the default strength, or a sign in front.
    """
    if isinstance(given, Mapping):
        return given
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise DataError(
            f"category {category!r}: expected a list or a mapping of words, got {given!r:.40}"
        )
    words: dict[str, Any] = {}
    for word in given:
        if not isinstance(word, str):
            raise DataError(
                f"category {category!r}: a word must be text, got {word!r:.40}; quote it"
            )
        sign = word[:1] if word[:1] in ("+", "-") else ""
        words[word.removeprefix(sign).strip()] = sign or strength
    return words


def _read_words(words: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Belief]]]:
    for category, given in words.items():
        _check_category(category)
        beliefs = {}
        for word, value in _word_mapping(category, given, KEYWORD_STRENGTH).items():
            if not isinstance(word, str) or not word.strip():
                raise DataError(
                    f"category {category!r}: a word must be text, got {word!r:.40}; quote it"
                )
            beliefs[word] = _read(Belief, value, f"category {category!r}, word {word!r}")
        yield category, beliefs


def _read_descriptions(descriptions: Mapping[str, Any]) -> Iterator[tuple[str, Description]]:
    for category, value in descriptions.items():
        _check_category(category)
        yield category, _read(Description, value, f"description of category {category!r}")


def _read(kind: type[Statement], value: Any, where: str) -> Statement:
    try:
        statement: Statement = kind.of_plain(value)
    except DataError as error:
        raise DataError(f"{where}: {error}") from error
    return statement


def _check_category(category: Any) -> None:
    if not isinstance(category, str):
        raise DataError(f"a category must be text, got {category!r:.40}; quote it")
