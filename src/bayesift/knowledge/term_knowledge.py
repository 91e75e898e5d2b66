"""What people know of words, before any text is read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from scipy import sparse

from bayesift.errors import DataError
from bayesift.knowledge.beliefs import DESCRIPTION_STRENGTH, KEYWORD_STRENGTH, Belief, Description

Plain = dict[str, Any]
Said = TypeVar("Said", Belief, Description)


@dataclass(frozen=True)
class TermKnowledge:
    """What people know of words for each category: beliefs about single words, and descriptions in plain text.

    Words are written as people write them; the vectorizer of the model turns them into terms. Knowledge is read from
    and written to YAML or JSON (`read`, `write`), joined by `|` (the right one wins where both speak of a word), and
    becomes the prior of a linear model by `prior_for`, or by `TextClassifier(knowledge=...)`.

    Parameters
    ----------
    words : category -> word -> `Belief`, or as files spell it: a strength, "+", "-", or a mapping
    descriptions : category -> `Description`, or its text

    Examples
    --------
    >>> knowledge = TermKnowledge.from_keywords({"corn": {"corn": 3, "maize": 2}, "gold": ["gold", "-oil"]})
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
        cls, keywords: Mapping[str, Mapping[str, Any] | Iterable[str]], *, strength: float = KEYWORD_STRENGTH
    ) -> TermKnowledge:
        """Knowledge of single words.

        Parameters
        ----------
        keywords : category -> words with their strengths (or "+", "-", or a mapping of a `Belief`'s fields), or a
            list of words, where "+word" may not speak against the category and "-word" not for it
        strength : of words in lists without a sign
        """
        return cls(words={category: _spelled(category, given, strength) for category, given in keywords.items()})

    @classmethod
    def from_descriptions(
        cls, descriptions: Mapping[str, str], *, strength: float = DESCRIPTION_STRENGTH
    ) -> TermKnowledge:
        """Knowledge from descriptions of categories; a rare word of a description counts for more than a common one.

        The strength of a word that stands f times in the description and in n of the N training documents is

            strength (1 + ln f) ln(N / n) / ln N,

        so that the idea of TFIDF modes (Dayanik, Lewis, Madigan, Menkov & Genkin 2006) keeps a bounded scale.
        """
        return cls(descriptions={category: Description(text, strength) for category, text in descriptions.items()})

    @classmethod
    def from_model(cls, classifier: Any, *, inflate: float = 1.0, terms: int | None = 1000) -> TermKnowledge:
        """The posterior of an earlier model: its means become modes, its standard deviations scales.

        Parameters
        ----------
        classifier : a fitted `TextClassifier` whose linear model keeps its posterior (`posterior="normal"`)
        inflate : multiplies the variances: more than 1 where the new texts may differ from the old
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
        model = classifier.estimator_.estimator_
        if not hasattr(model, "posteriors_"):
            raise ValueError(
                f"this {type(model).__name__} keeps no posterior; fit a linear model with posterior='normal'"
            )
        if not inflate > 0:
            raise ValueError(f"inflate must be positive, got {inflate!r}")
        names, words = classifier.terms(), {}
        for row, posterior in enumerate(model.posteriors_):
            means = sparse.csr_array(model.coef_[[row]]).toarray()[0]
            deviations = np.sqrt(inflate * posterior.variances[:-1])
            largest = np.sort(np.argsort(-np.abs(means[posterior.terms]), kind="stable")[:terms])
            category = classifier.categories_[row if len(model.posteriors_) > 1 else -1]
            words[category] = {
                names[posterior.terms[i]]: Belief(mode=float(means[posterior.terms[i]]), scale=float(deviations[i]))
                for i in largest
                if deviations[i] > 0
            }
        return cls(words=words)

    @classmethod
    def read(cls, path: str | Path) -> TermKnowledge:
        """Read a YAML or (by its suffix) JSON file; says what is wrong with file, category and word."""
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
        """The inverse of `as_dict`; lists of words are taken too.

        Examples
        --------
        >>> TermKnowledge.from_dict({"words": {"corn": {"maize": "much"}}})
        Traceback (most recent call last):
        bayesift.errors.DataError: category 'corn', word 'maize': not a strength, '+' or '-': 'much'
        """
        if not isinstance(plain, dict) or not set(plain) <= {"words", "descriptions"}:
            raise DataError("knowledge has two parts, 'words' and 'descriptions', each with categories")
        words, descriptions = plain.get("words") or {}, plain.get("descriptions") or {}
        if not isinstance(words, dict) or not isinstance(descriptions, dict):
            raise DataError("'words' and 'descriptions' must map categories to what is known of them")
        return cls(words, descriptions)

    def as_dict(self) -> Plain:
        """For JSON and YAML."""
        words = {c: {word: belief.as_plain() for word, belief in w.items()} for c, w in self.words.items()}
        descriptions = {category: text.as_plain() for category, text in self.descriptions.items()}
        parts = {"words": words, "descriptions": descriptions}
        return {name: part for name, part in parts.items() if part}

    def __or__(self, other: TermKnowledge) -> TermKnowledge:
        words = {c: {**self.words.get(c, {}), **other.words.get(c, {})} for c in {**self.words, **other.words}}
        return TermKnowledge(words, {**self.descriptions, **other.descriptions})

    def __bool__(self) -> bool:
        return any(self.words.values()) or bool(self.descriptions)

    @property
    def categories(self) -> tuple[str, ...]:
        """The categories something is known of."""
        return tuple({**self.words, **self.descriptions})

    def check_categories(self, known: Iterable[str]) -> None:
        """Refuse knowledge of a category there is not, and name the nearest one.

        Examples
        --------
        >>> TermKnowledge.from_keywords({"wheet": ["wheat"]}).check_categories(["corn", "wheat"])
        Traceback (most recent call last):
        bayesift.errors.DataError: knowledge of category 'wheet', which there is not; did you mean 'wheat'?
        """
        names = list(known)
        for category in self.categories:
            if category not in names:
                nearest = get_close_matches(category, names, n=1, cutoff=0.5)
                advice = f"did you mean {nearest[0]!r}?" if nearest else f"there are: {', '.join(names[:20])}"
                raise DataError(f"knowledge of category {category!r}, which there is not; {advice}")


def _spelled(category: str, given: Any, strength: float) -> Mapping[str, Any]:
    """The words of a category as a mapping; those of a list have the default strength, or a sign in front."""
    if isinstance(given, Mapping):
        return given
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise DataError(f"category {category!r}: expected a list or a mapping of words, got {given!r:.40}")
    words: dict[str, Any] = {}
    for word in given:
        if not isinstance(word, str):
            raise DataError(f"category {category!r}: a word must be text, got {word!r:.40}; quote it")
        sign = word[:1] if word[:1] in ("+", "-") else ""
        words[word.removeprefix(sign).strip()] = sign or strength
    return words


def _read_words(words: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Belief]]]:
    for category, given in words.items():
        _check_category(category)
        beliefs = {}
        for word, value in _spelled(category, given, KEYWORD_STRENGTH).items():
            if not isinstance(word, str) or not word.strip():
                raise DataError(f"category {category!r}: a word must be text, got {word!r:.40}; quote it")
            beliefs[word] = _read(Belief, value, f"category {category!r}, word {word!r}")
        yield category, beliefs


def _read_descriptions(descriptions: Mapping[str, Any]) -> Iterator[tuple[str, Description]]:
    for category, value in descriptions.items():
        _check_category(category)
        yield category, _read(Description, value, f"description of category {category!r}")


def _read(kind: type[Said], value: Any, place: str) -> Said:
    try:
        said: Said = kind.of_plain(value)
    except DataError as error:
        raise DataError(f"{place}: {error}") from error
    return said


def _check_category(category: Any) -> None:
    if not isinstance(category, str):
        raise DataError(f"a category must be text, got {category!r:.40}; quote it")
