"""The default learner: a few strong linear models, stacked by what they say of documents they have not seen."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self, get_args

import numpy as np
from scipy import sparse
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from bayesift.arrays import Array, inner
from bayesift.errors import DataError
from bayesift.models.base import LogOddsMixin, models_of
from bayesift.models.ensemble.calibration import BetaCalibration
from bayesift.models.ensemble.members import (
    LogisticMember,
    Member,
    NaiveBayesMember,
    NBLogisticMember,
    PerceptronMember,
    Sample,
    Settings,
    SoftmaxMember,
    SVMMember,
)
from bayesift.models.ensemble.stacking import (
    CHARACTERS,
    PAIRS,
    TABLE,
    VECTORS,
    WORDS,
    Candidate,
    Choice,
    CrossFitting,
    OutOfFold,
    Progress,
    Stacker,
    most_documents,
)
from bayesift.models.linear import GaussianPrior
from bayesift.state import expect_array, storable
from bayesift.validation import check_sample_weight, check_targets, check_terms

Effort = Literal["quick", "normal", "thorough"]

_INTERCEPT = GaussianPrior(variance=10.0)
_FOLDS: dict[str, int] = {"quick": 3, "normal": 5, "thorough": 10}
_KEPT_CELLS = 20_000_000  # documents x categories of held-out probabilities that are kept, at most
_ENOUGH = 1000  # documents for which a second prior of words and vectors pays
_WORTH_A_TRY = (
    1.02  # loss with word pairs relative to that without, up to which more members are given them
)
# By the kind of richer columns, in the order in which they are tried: the loss of the whole stack
# relative to that without them, up to which the model uses them, and the log prior odds that they
# help. A few documents cannot say that vectors do not.
_WORTH = {TABLE: (0.995, 0.0), VECTORS: (0.995, 3.0), CHARACTERS: (0.995, 0.0), PAIRS: (0.99, 0.0)}
_NAMES = {PAIRS: "word pairs", VECTORS: "vectors", CHARACTERS: "characters", TABLE: "columns"}


def _candidates(
    effort: Effort, *, exclusive: bool, kinds: Array, n_documents: int
) -> list[Candidate]:
    """The candidates, the most useful first.

    Classes that exclude one another share a softmax model.
    """
    words = _word_candidates(effort, exclusive=exclusive, pairs=PAIRS in kinds)
    main = SoftmaxMember if exclusive else LogisticMember
    first = sum(PAIRS not in candidate.kinds for candidate in words)
    richer = [
        Candidate(main(30.0), (WORDS, kind)) for kind in _WORTH if kind in kinds and kind != PAIRS
    ]
    if VECTORS in kinds and n_documents >= _ENOUGH:
        richer.append(Candidate(main(3.0), (WORDS, VECTORS)))
    return words[:first] + richer + words[first:]


def _word_candidates(effort: Effort, *, exclusive: bool, pairs: bool) -> list[Candidate]:
    main = SoftmaxMember if exclusive else LogisticMember
    if effort == "quick":
        return [
            Candidate(m, (WORDS,))
            for m in (main(30.0), NaiveBayesMember(0.5), NaiveBayesMember(0.9))
        ]
    words: list[Member] = [
        main(100.0),
        NaiveBayesMember(0.5),
        NaiveBayesMember(0.9),
        LogisticMember(3.0),
        NBLogisticMember(10.0),
    ]
    both: list[Member] = [main(100.0), NaiveBayesMember(0.5), NBLogisticMember(10.0)]
    if effort == "thorough":
        words += [
            main(10.0),
            SVMMember(1.0),
            SVMMember(0.3),
            NBLogisticMember(10.0, 0.5),
            PerceptronMember(),
        ]
        both += [LogisticMember(3.0), main(10.0), SVMMember(1.0)]
    return [Candidate(m, (WORDS,)) for m in words] + [
        Candidate(m, (WORDS, PAIRS)) for m in both if pairs
    ]


@dataclass(frozen=True, eq=False)
class HeldOut:
    """What the model says of training documents by members that were fitted without them.

    Parameters
    ----------
    documents : their places in the training documents
    labels : documents x categories, boolean; one column for two classes
    probabilities : in the same shape, by stacking weights that were fitted without the documents
    weights : one per document
    """

    documents: Array
    labels: Array
    probabilities: Array
    weights: Array


@storable("auto")
class AutoClassifier(LogOddsMixin, ClassifierMixin, BaseEstimator):
    """The default learner: a few linear models, stacked by their scores of documents that they were fitted without.

        z(d, c) = sum_m w_m s_m(d, c) + b,    w_m >= 0

    The members are logistic regressions under a weak and a strong Gaussian prior, one of them a
    softmax model where classes exclude one another, logistic regression with the prior of naive
    Bayes, and naive Bayes itself. All are fitted to shared folds. Their weights are those of a
    `StackedClassifier` with weights of at least 0, which also calibrate: z are log odds, or for
    classes the logarithms of probabilities. Where the stack is not better than the best calibrated
    member, by the loss of documents that neither members nor weights have seen, that member is the
    model. In the end it is one linear model, as quick as any. Meant for term weights such as
    `sublinear-tf-idf`.

    Parameters
    ----------
    effort : "quick", "normal" or "thorough": how many members and folds
    budget : seconds to stay within, by fewer members; the result then depends on the speed of the
        machine
    random_state : seed of the folds
    n_jobs : threads over categories; -1 for all cores
    progress : called with the number of fits done and their total

    Attributes
    ----------
    members_, weights_, offset_ : the members of the model, their weights in the score, and b
    uses_pairs_, uses_vectors_, uses_characters_, uses_table_ : whether it uses columns of several
        words, of vectors, of n-grams of characters, and of a table
    calibration_ : what corrects the log odds of an indicator matrix; None for class labels, whose
        weights calibrate
    shares_ : the root mean square that each member adds to the score
    held_out_ : the held-out probabilities, a `HeldOut`; None in a model that was loaded, or where
        there were none
    classes_, multilabel_, coef_, intercept_ : as in `LinearScoresMixin`

    References
    ----------
    Wolpert (1992), Stacked generalization. Breiman (1996), Stacked regressions (weights of at least
    0). Wang & Manning (2012), Baselines and bigrams.

    Examples
    --------
    >>> X, y = [[2, 1, 0], [1, 0, 0], [0, 1, 3], [0, 0, 1]], ["grain", "grain", "crude", "crude"]
    >>> model = AutoClassifier().fit(X, y)
    >>> model.predict([[1, 0, 0], [0, 0, 1]]).tolist()
    ['grain', 'crude']
    """

    FITTED = (
        *(*LogOddsMixin.FITTED, "members_", "weights_", "shares_", "offset_"),
        *("uses_pairs_", "uses_vectors_", "uses_characters_", "uses_table_", "calibration_"),
    )

    members_: tuple[Member, ...]
    weights_: Array
    shares_: Array
    offset_: float
    uses_pairs_: bool
    uses_vectors_: bool
    uses_characters_: bool
    uses_table_: bool
    calibration_: BetaCalibration | None
    held_out_: HeldOut | None

    def __init__(
        self,
        *,
        effort: Effort = "normal",
        budget: float | None = None,
        random_state: int | None = 0,
        n_jobs: int | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.effort = effort
        self.budget = budget
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress

    def fit(self, X: Any, y: Any, sample_weight: Any = None, ngram_lengths: Any = None) -> Self:
        """Compare the members on documents held out, then fit those of the model to all documents.

        Documents of weight 0 are left out. `ngram_lengths` has the number of words that each column
        joins; columns of several words, of vectors (0), of n-grams of characters (-1) and of a
        table (-2, numbers and categories beside the texts) are used only where they lower the loss.
        Without it all columns are words.
        """
        self._check_parameters()
        start = time.perf_counter()
        targets = check_targets(y)
        weights = check_sample_weight(sample_weight, targets.n_documents, some_positive=True)
        rows = check_terms(self, X, n_documents=targets.n_documents)
        labels = sparse.csr_array(models_of(targets).T)
        exclusive = not targets.multilabel and labels.shape[1] > 2
        lengths = _lengths_of(ngram_lengths, rows.shape[1])
        size = _typical_length(rows if lengths is None else rows[:, np.flatnonzero(lengths == 1)])
        used = np.flatnonzero(weights)
        kinds = np.array([WORDS]) if lengths is None else np.unique(np.minimum(lengths, PAIRS))
        candidates = _candidates(
            self.effort, exclusive=exclusive, kinds=kinds, n_documents=len(used)
        )
        fitting = CrossFitting(
            candidates,
            Sample(rows / size, labels, weights).take(used),
            Settings(1e-2, self.random_state, self.n_jobs, _INTERCEPT),
            n_folds=_FOLDS[self.effort],
            enough=most_documents(labels.shape[1], _KEPT_CELLS),
            ngram_lengths=lengths,
            progress=self.progress,
            deadline=None if self.budget is None else start + self.budget,
        )
        stacker = Stacker(fitting.held_out, exclusive=exclusive, random_state=self.random_state)
        pairs = np.array([PAIRS in candidate.kinds for candidate in candidates])
        for place in range(len(candidates)):
            if pairs[place] and not _pairs_may_pay(stacker, pairs):
                break
            fitting.score(place)
        choice = _choose(stacker, candidates)
        linear, _ = fitting.combine(choice.weights)
        kept = np.flatnonzero(choice.weights)
        self.members_ = tuple(candidates[place].member for place in kept)
        used_kinds = {kind for place in kept for kind in candidates[place].kinds}
        self.uses_pairs_, self.uses_vectors_ = PAIRS in used_kinds, VECTORS in used_kinds
        self.uses_characters_, self.uses_table_ = CHARACTERS in used_kinds, TABLE in used_kinds
        self.weights_, self.shares_, self.offset_ = (
            choice.weights[kept],
            choice.shares[kept],
            choice.offset,
        )
        self.calibration_, scores = None, choice.scores
        if targets.multilabel and len(scores):
            self.calibration_, scores = stacker.correct(scores, BetaCalibration.fit)
        self.held_out_ = _kept(scores, stacker.held_out, used, exclusive=exclusive)
        return self._set_hyperplanes(
            targets, linear.weights / size, linear.intercepts + self.offset_
        )

    def contributions(
        self, X: Any, category: Any, *, against: Any = None
    ) -> tuple[sparse.csr_array, Array]:
        """What each term adds to the score of a category, and the remainder: the intercept and the calibration."""
        terms, intercepts = super().contributions(X, category, against=against)
        if self.calibration_ is None:
            return terms, intercepts
        whole = self._scores(X)[:, self._place(category)[0]]
        return terms, whole - terms.sum(axis=1)

    def _scores(self, X: Any) -> Array:
        scores = super()._scores(X)
        return scores if self.calibration_ is None else self.calibration_(scores)

    @property
    def column_kinds_(self) -> tuple[int, ...]:
        """The kinds of columns that the model uses, as in the `ngram_lengths` of `fit`.

        2 for all of several words.
        """
        check_is_fitted(self)
        used = {
            PAIRS: self.uses_pairs_,
            VECTORS: self.uses_vectors_,
            CHARACTERS: self.uses_characters_,
            TABLE: self.uses_table_,
        }
        return (WORDS, *(kind for kind, is_used in used.items() if is_used))

    def keep_columns(self, columns: Array) -> Self:
        """Forget all other columns, whose weights are 0."""
        self.coef_, self.n_features_in_ = self.coef_[:, columns], len(columns)
        return self

    def describe(self) -> str:
        """The kinds of members in words, each with its share of the score; `members_` has them all.

        Examples
        --------
        >>> AutoClassifier().fit([[1, 0], [0, 1]], ["grain", "crude"]).describe()
        'logistic regression'
        """
        check_is_fitted(self)
        text = (
            self.members_[0].kind
            if len(self.members_) == 1
            else f"a stack of {self._shares_of_kinds()}"
        )
        columns = ["words", *(_NAMES[kind] for kind in self.column_kinds_[1:])]
        return f"{text}; {', '.join(columns[:-1])} and {columns[-1]}" if len(columns) > 1 else text

    def _shares_of_kinds(self) -> str:
        of_kind: dict[str, float] = defaultdict(float)
        for member, share in zip(
            self.members_, 100 * self.shares_ / self.shares_.sum(), strict=True
        ):
            of_kind[member.kind] += share
        largest = sorted(of_kind.items(), key=lambda kind: -kind[1])
        return ", ".join(f"{kind} {share:.0f}%" for kind, share in largest if share >= 0.5)

    def _check_parameters(self) -> None:
        if self.effort not in get_args(Effort):
            raise ValueError(
                f"effort must be one of {', '.join(get_args(Effort))}, got {self.effort!r}"
            )
        if self.budget is not None and not self.budget > 0:
            raise ValueError(f"budget must be a number of seconds above 0, got {self.budget!r}")

    def _post_load(self) -> None:
        super()._post_load()
        self._check_parameters()
        for name in ("weights_", "shares_"):
            expect_array(getattr(self, name), name, np.float64, (len(self.members_),))
        if not all(isinstance(member, Member) for member in self.members_):
            raise DataError("its members are not models of an ensemble")
        self.held_out_ = None


def _kept(scores: Array, of: OutOfFold, places: Array, *, exclusive: bool) -> HeldOut | None:
    if not len(scores):
        return None
    probabilities = softmax(scores, axis=1) if exclusive else expit(scores)
    return HeldOut(places[of.documents], of.labels, probabilities, of.weights)


def _lengths_of(ngram_lengths: Any, n_columns: int) -> Array | None:
    """The number of words that each column joins; None where all are single words, or none is."""
    if ngram_lengths is None:
        return None
    lengths = np.asarray(ngram_lengths)
    if lengths.shape != (n_columns,):
        raise ValueError(f"ngram_lengths must be one number for each of the {n_columns} columns")
    return lengths if 0 < np.count_nonzero(lengths == 1) < n_columns else None


def _typical_length(rows: sparse.csr_array) -> float:
    """The root mean square length of documents that have terms: priors are stated for documents of length one."""
    n_documents = np.count_nonzero(np.diff(rows.indptr))
    return float(np.sqrt(inner(rows.data, rows.data) / n_documents)) if n_documents else 1.0


def _choose(stacker: Stacker, candidates: Sequence[Candidate]) -> Choice:
    """The stack of members by words, and by richer columns that lower its loss.

    Or the best of its members.

    Each kind of columns is compared with words alone, so that one does not keep out another. Where
    columns other than pairs are used, a member alone is one of those that use them.
    """
    scores = stacker.held_out.scores
    tried = [place for place, member in enumerate(scores) if np.any(member)]
    if not tried:  # no document could be held out: the prior odds decide
        helpful = [
            any(_WORTH[kind][1] > 0 for kind in candidate.kinds[1:]) for candidate in candidates
        ]
        weights = np.zeros(len(candidates))
        weights[int(np.argmax(helpful))] = 1.0
        return Choice(weights, weights, 0.0, scores[0], np.nan)
    words = [place for place in tried if candidates[place].kinds == (WORDS,)]
    plain, more, richer = stacker.judge(np.array(words)), [], []
    choices = []
    for kind, (worth, odds) in _WORTH.items():
        of_kind = [place for place in tried if kind in candidates[place].kinds]
        if (
            of_kind
            and (choice := stacker.judge(np.array(words + of_kind))).loss
            < worth * plain.loss + odds
        ):
            choices.append(choice)
            more += of_kind
            richer += of_kind if kind != PAIRS else []
    if len(choices) > 1:
        choices.append(stacker.judge(np.array(words + more)))
    alone = (richer or words + more) if len(words + more) > 1 else []
    choices += [stacker.judge(np.array([place])) for place in alone]
    return min([*choices, *[plain] * (not more)], key=lambda choice: choice.loss)


def _pairs_may_pay(stacker: Stacker, pairs: Array) -> bool:
    """Whether the first candidate with word pairs, once tried, is about as good as the same without them."""
    first = int(np.flatnonzero(pairs)[0])
    if not np.any(stacker.held_out.scores[first]):
        return True
    return stacker.judge(np.array([first])).loss < _WORTH_A_TRY * stacker.judge(np.array([0])).loss
