"""What a report says, as plain values: the pages are made of these alone."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fact:
    """A line of what the evaluation is about.

    Examples
    --------
    >>> Fact("documents", "3,299").value
    '3,299'
    """

    name: str
    value: str


@dataclass(frozen=True, slots=True)
class Measure:
    """One number of an evaluation and what it means.

    Parameters
    ----------
    name : of the measure
    value : None where it cannot be measured
    meaning : one plain sentence
    headline : whether it is shown large
    rising : whether more is better

    Examples
    --------
    >>> Measure("micro F1", 0.84, "Precision and recall in one number.", headline=True).rising
    True
    """

    name: str
    value: float | None
    meaning: str
    headline: bool = False
    rising: bool = True


@dataclass(frozen=True, slots=True)
class CategoryRow:
    """The scores of one category.

    Examples
    --------
    >>> CategoryRow("corn", documents=56, assigned=60, precision=0.8, recall=0.86, f1=0.83).documents
    56
    """

    category: str
    documents: int
    assigned: int
    precision: float
    recall: float
    f1: float
    average_precision: float | None = None


@dataclass(frozen=True, slots=True)
class Curve:
    """Precision at each recall, recall rising; and where the decisions lie on it.

    Examples
    --------
    >>> Curve("corn", recall=(0.5, 1.0), precision=(1.0, 0.67), average_precision=0.83).decided is None
    True
    """

    name: str
    recall: tuple[float, ...]
    precision: tuple[float, ...]
    average_precision: float
    decided: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """Forecasts of about the same probability, and the share of them that came true, with its interval.

    Examples
    --------
    >>> ReliabilityBin(probability=0.72, share=0.65, lower=0.6, upper=0.7, forecasts=310).forecasts
    310
    """

    probability: float
    share: float
    lower: float
    upper: float
    forecasts: int


@dataclass(frozen=True, slots=True)
class Confusion:
    """How often a document of one category (row) was put into another (column).

    Parameters
    ----------
    categories : names of the rows and columns shown
    counts : rows x columns
    n_categories : how many there are in all

    Examples
    --------
    >>> Confusion(("ham", "spam"), ((9, 1), (0, 5)), n_categories=2).counts[0][1]
    1
    """

    categories: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]
    n_categories: int


@dataclass(frozen=True, slots=True)
class WordWeight:
    """A word and how much it says for a category; negative speaks against.

    Parameters
    ----------
    word, weight : the word and its weight
    deviation : the standard deviation of the weight, where the model knows how sure it is

    Examples
    --------
    >>> WordWeight("wheat", 1.5).weight
    1.5
    """

    word: str
    weight: float
    deviation: float | None = None


@dataclass(frozen=True, slots=True)
class CategoryWords:
    """The words that say most for a category, the strongest first.

    Examples
    --------
    >>> CategoryWords("grain", (WordWeight("wheat", 1.5),)).words[0].word
    'wheat'
    """

    category: str
    words: tuple[WordWeight, ...]


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a text and what its words added to the log odds.

    Examples
    --------
    >>> Span("wheat", 1.5).contribution
    1.5
    """

    text: str
    contribution: float = 0.0


@dataclass(frozen=True, slots=True)
class Mistake:
    """A wrong decision the model was sure of.

    Parameters
    ----------
    document : its id
    category : the category that was wrongly assigned or missed
    assigned : whether it was assigned (else it was missed)
    truth, decided : the categories of the document, and those the model gave it
    confidence : of the wrong decision, a probability; None without probabilities
    excerpt : the beginning of the text
    words : what they added to the log odds of the category, the largest in size first
    prior : the log odds of the category before any word is read; None where the decision was not explained
    unseen_share : the share of the text the model does not know

    Examples
    --------
    >>> Mistake("17", "spam", True, ("ham",), ("spam",), 0.99, (Span("Free lunch?"),)).assigned
    True
    """

    document: str
    category: str
    assigned: bool
    truth: tuple[str, ...]
    decided: tuple[str, ...]
    confidence: float | None
    excerpt: tuple[Span, ...]
    words: tuple[WordWeight, ...] = ()
    prior: float | None = None
    unseen_share: float = 0.0


@dataclass(frozen=True, slots=True)
class EvaluationContent:
    """All that the report of one evaluated model shows; what is empty or None is left out.

    Examples
    --------
    >>> EvaluationContent("Spam", (), (Measure("accuracy", 0.98, "Decided right."),), ()).curves
    ()
    """

    title: str
    facts: tuple[Fact, ...]
    measures: tuple[Measure, ...]
    categories: tuple[CategoryRow, ...]
    curves: tuple[Curve, ...] = ()
    reliability: tuple[ReliabilityBin, ...] = ()
    confusion: Confusion | None = None
    words: tuple[CategoryWords, ...] = ()
    mistakes: tuple[Mistake, ...] = ()


@dataclass(frozen=True, slots=True)
class System:
    """One of several compared systems and its measures, in an order that all systems share.

    Examples
    --------
    >>> System("naive-bayes", (Measure("micro F1", 0.8, "Pooled."),)).measures[0].value
    0.8
    """

    name: str
    measures: tuple[Measure, ...]


@dataclass(frozen=True, slots=True)
class ComparisonContent:
    """All that the report of several systems shows.

    Parameters
    ----------
    title, facts : what was compared, and on what
    systems : at least one
    symbols : what the micro and the macro sign test say of a row's system against a column's; may be empty
    note : how the tests were made

    Examples
    --------
    >>> ComparisonContent("Two smoothings", (), (System("a", ()),)).symbols
    ()
    """

    title: str
    facts: tuple[Fact, ...]
    systems: tuple[System, ...]
    symbols: tuple[tuple[tuple[str, str], ...], ...] = ()
    note: str = ""
