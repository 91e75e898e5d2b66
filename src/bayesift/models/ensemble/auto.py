"""The default learner: a few linear models, compared and stacked by documents held out."""

from __future__ import annotations

import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Self, get_args

import numpy as np
from scipy import sparse
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from bayesift.arrays import BoolArray, FloatArray, IntArray, SparseRows, inner
from bayesift.errors import DataError, DataWarning
from bayesift.features import BlockKind, Design, FeatureBlock
from bayesift.folds import latest_documents
from bayesift.models.base import LogOddsMixin, check_documents, models_of
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
from bayesift.models.ensemble.plan import Plan, Prospect, usual_seconds
from bayesift.models.ensemble.stacking import (
    Candidate,
    CrossFitting,
    Progress,
    StackChoice,
    Stacker,
    has_many_weights,
    most_documents,
)
from bayesift.models.linear import GaussianPrior
from bayesift.state import expect_array, storable
from bayesift.validation import check_times

Effort = Literal["quick", "normal", "thorough"]

_INTERCEPT_PRIOR = GaussianPrior(variance=10.0)
_N_FOLDS: dict[Effort, int] = {"quick": 3, "normal": 5, "thorough": 10}
# Documents x categories of held-out probabilities that are kept, at most.
_MAX_KEPT_CELLS = 2_500_000
# Documents that are held out where there is no time to hold out all; more where documents may have
# several categories, each of which needs a threshold.
_ENOUGH_DOCUMENTS = 2_000
_ENOUGH_FOR_THRESHOLDS = 3_500
# Documents from which on a second prior of words and vectors pays.
_MIN_DOCUMENTS_FOR_TWO_PRIORS = 1000
# Loss with word pairs relative to that without, up to which more members are given them.
_PAIRS_WORTH_TRYING = 1.02
# Loss of the stack with naive Bayes of characters relative to that without.
_CHARACTERS_WORTH_TRYING = 0.999
# The share of the time that one candidate of classes together may take; else each is against the
# rest, and the weights of the stack make them classes.
_SHARE_OF_SOFTMAX = 0.5


class _Worth(NamedTuple):
    """When a kind of blocks beside the words is used.

    `ratio` is the loss of the whole stack relative to that without them, up to which they are;
    `prior_odds` is the log prior odds that they help: a few documents cannot tell that vectors do
    not.
    """

    ratio: float
    prior_odds: float


# In the order in which they are tried.
_WORTH: dict[BlockKind, _Worth] = {
    "columns": _Worth(0.995, 0.0),
    "vectors": _Worth(0.995, 3.0),
    "characters": _Worth(0.995, 0.0),
    "pairs": _Worth(0.99, 0.0),
}


def _candidates(
    effort: Effort,
    main: type[SoftmaxMember] | type[LogisticMember],
    *,
    exclusive: bool,
    kinds: Sequence[BlockKind],
    n_documents: int,
) -> list[Candidate]:
    """List the candidates, with what each may bring relative to the first.

    `main` is the kind of the most useful member of classes that exclude one another.
    """
    words, pairs = _members_of_words(effort, main, exclusive=exclusive)
    candidates = [Candidate(member, ("words",), gain) for member, gain in words]
    for kind in _WORTH:
        if kind in kinds and kind not in ("pairs", "characters"):
            candidates.append(Candidate(main(30.0), ("words", kind), 0.3))
    if "vectors" in kinds and n_documents >= _MIN_DOCUMENTS_FOR_TWO_PRIORS:
        candidates.append(Candidate(main(3.0), ("words", "vectors"), 0.1))
    if "characters" in kinds:
        candidates += [
            Candidate(NaiveBayesMember(0.5), ("characters",), 0.3),
            Candidate(NaiveBayesMember(0.9), ("characters",), 0.3),
            Candidate(NBLogisticMember(10.0), ("characters",), 0.5),
            Candidate(LogisticMember(3.0), ("characters",), 0.1),
        ]
    if "pairs" in kinds:
        candidates += [Candidate(member, ("words", "pairs"), gain) for member, gain in pairs]
    return candidates


def _members_of_words(
    effort: Effort, main: type[SoftmaxMember] | type[LogisticMember], *, exclusive: bool
) -> tuple[list[tuple[Member, float]], list[tuple[Member, float]]]:
    """Return the members that use words alone, and those that use word pairs too; with gains."""
    if effort == "quick":
        return [
            (main(30.0), 1.0),
            (NaiveBayesMember(0.5), 0.2),
            (NaiveBayesMember(0.9), 0.2),
        ], []
    words: list[tuple[Member, float]] = [
        (main(100.0), 1.0),
        (NaiveBayesMember(0.5), 0.2),
        (NaiveBayesMember(0.9), 0.2),
        (LogisticMember(3.0), 0.1),
        (NBLogisticMember(10.0), 0.2 if exclusive else 3.0),
    ]
    pairs: list[tuple[Member, float]] = [
        (main(100.0), 0.2),
        (NaiveBayesMember(0.5), 0.05),
        (NBLogisticMember(10.0), 0.2),
    ]
    if effort == "thorough":
        words += [
            (main(10.0), 0.05),
            (SVMMember(1.0), 0.05),
            (SVMMember(0.3), 0.05),
            (NBLogisticMember(10.0, 0.5), 0.05),
            (PerceptronMember(), 0.05),
        ]
        pairs += [
            (LogisticMember(3.0), 0.05),
            (main(10.0), 0.05),
            (SVMMember(1.0), 0.05),
        ]
    return words, pairs


@dataclass(frozen=True, eq=False)
class HeldOutProbabilities:
    """Probabilities of training documents by members that were fitted without them.

    Parameters
    ----------
    documents : their positions in the training documents
    labels : documents x categories, boolean; one column for two classes
    probabilities : in the same shape, by stacking weights that were fitted without the documents
    weights : one per document
    groups : the group of each document; None if each is on its own
    alone : the share of training documents that could not be held out, as a category has no other
        document, or none of another group
    """

    documents: IntArray
    labels: BoolArray
    probabilities: FloatArray
    weights: FloatArray
    groups: IntArray | None = None
    alone: float = 0.0


@storable("auto")
class AutoClassifier(LogOddsMixin, ClassifierMixin, BaseEstimator):
    """The default learner: a few linear models, stacked by their scores of held-out documents.

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
        machine. None is what the size of the documents suggests, at least 8 seconds and at most
        600, counted by a model of costs, not by a clock
    random_state : seed of the folds
    n_jobs : threads over categories; -1 for all cores
    progress : called with the milliseconds spent and expected in all. Once it returns True, the
        best model so far is fitted
    tell : called with what is tried next, in words

    Attributes
    ----------
    members_, weights_, offset_ : the members of the model, their weights in the score, and b
    kinds_ : the kinds of blocks whose columns it uses, "words" first
    tried_ : what was tried and the held-out log loss of the stack with it, a mean over documents:
        (and categories, where they may have several): of words alone, and of words with each kind
        of blocks; empty in a model that was loaded
    calibration_ : what corrects the log odds of an indicator matrix; None for class labels, whose
        weights calibrate
    shares_ : the root mean square that each member adds to the score
    held_out_ : the held-out probabilities, `HeldOutProbabilities`; None in a model that was loaded,
        or where there were none
    later_ : those of the latest documents by a model of the others; None without `times`
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
        *LogOddsMixin.FITTED,
        "members_",
        "weights_",
        "shares_",
        "offset_",
        "kinds_",
        "calibration_",
    )
    UNSTORED = ("progress", "tell")

    members_: tuple[Member, ...]
    weights_: FloatArray
    shares_: FloatArray
    offset_: float
    kinds_: tuple[BlockKind, ...]
    tried_: dict[BlockKind, float]
    calibration_: BetaCalibration | None
    held_out_: HeldOutProbabilities | None
    later_: HeldOutProbabilities | None

    def __init__(
        self,
        *,
        effort: Effort = "normal",
        budget: float | None = None,
        random_state: int | None = 0,
        n_jobs: int | None = None,
        progress: Progress | None = None,
        tell: Callable[[str], None] | None = None,
    ) -> None:
        self.effort = effort
        self.budget = budget
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress
        self.tell = tell

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        blocks: Sequence[FeatureBlock] | None = None,
        groups: Any = None,
        times: Any = None,
        begun: float | None = None,
    ) -> Self:
        """Compare the members on documents held out, then fit those of the model to all documents.

        Documents of weight 0 are left out. `blocks` tells which columns are words; the others are
        used only where they lower the loss. Without it all columns are words. Documents of one of
        the `groups` are held out together. With `times`, numbers or dates of the documents, the
        members are also judged by the latest fifth of them, fitted to the others (`later_`).
        `begun` is when the work began that the `budget` is for, by `time.perf_counter`.
        """
        start = time.perf_counter() if begun is None else begun
        self._check_parameters()
        rows, targets, weights = check_documents(self, X, y, sample_weight, groups)
        seconds = check_times(times, targets.n_documents)
        design = Design.checked(rows, blocks)
        used = np.flatnonzero(weights)
        size = _typical_length(design.only({"words"}).rows)
        labels = sparse.csr_array(models_of(targets).T)
        whole = Sample(Design(rows / size, design.blocks), labels, weights, targets.groups)
        sample = whole.take(used)
        exclusive = not targets.multilabel and labels.shape[1] > 2
        fitting, plan = self._prepared(sample, start, exclusive=exclusive)
        stacker = Stacker(fitting.held_out, exclusive=exclusive, random_state=self.random_state)
        self._score_candidates(fitting, stacker, plan)
        choice = self._choose(stacker, fitting.candidates)
        self._keep(choice, fitting.candidates)
        scores = choice.scores
        self.calibration_ = None
        if targets.multilabel and len(scores):
            self.calibration_, scores = stacker.correct(scores, BetaCalibration.fit)
        self.held_out_ = None
        if len(scores):
            held_out = stacker.held_out
            self.held_out_ = HeldOutProbabilities(
                used[held_out.documents],
                held_out.labels,
                _probabilities(scores, exclusive=exclusive),
                held_out.weights,
                held_out.groups,
                fitting.alone,
            )
        self.later_ = None
        if seconds is not None:
            latest = latest_documents(seconds[used], sample.groups)
            if len(latest):
                self.later_ = self._judge_by(latest, fitting, choice, used, exclusive=exclusive)
        self._tell("fitting the chosen models to all texts")
        linear, _ = fitting.combine(choice.weights)
        plan.finish()
        return self._set_hyperplanes(
            targets, linear.weights / size, linear.intercepts + self.offset_
        )

    def _prepared(
        self, sample: Sample, start: float, *, exclusive: bool
    ) -> tuple[CrossFitting, Plan]:
        """Return the candidates, ready to be fitted to folds, and the plan of which are tried.

        Where there is no time to hold out all documents, some folds are.
        """
        words = sample.size_of({"words"})
        one_fit = LogisticMember(100.0).seconds(words)
        seconds = self.budget or usual_seconds(one_fit, words.n_entries)
        prospects = self._prospects(sample, seconds, exclusive=exclusive)
        n_folds = _N_FOLDS[self.effort]
        whole = (n_folds + 1) * sum(prospect.seconds for prospect in prospects)
        if whole > seconds:
            prospects = _cheapest_pairs_first(prospects)
        n_categories = sample.labels.shape[1]
        enough = most_documents(n_categories, _MAX_KEPT_CELLS)
        if whole > seconds:
            has_thresholds = not exclusive and n_categories > 1
            fewer = _ENOUGH_FOR_THRESHOLDS if has_thresholds else _ENOUGH_DOCUMENTS
            enough = min(enough, fewer)
        fitting = CrossFitting(
            [prospect.candidate for prospect in prospects],
            sample,
            Settings(1e-2, self.random_state, self.n_jobs, _INTERCEPT_PRIOR),
            n_folds=n_folds,
            enough=enough,
            some_folds=whole > seconds,
        )
        plan = Plan(
            prospects,
            fitting.n_fits,
            seconds,
            begun=None if self.budget is None else start,
            progress=self.progress,
        )
        fitting.fitted = plan.fitted
        if self.budget is not None and plan.shortest > plan.left():
            warnings.warn(
                f"a budget of {self.budget:g} s is too short: even the quickest model takes "
                f"about {plan.shortest:.0f} s more",
                DataWarning,
                stacklevel=3,
            )
        return fitting, plan

    def _prospects(self, sample: Sample, seconds: float, *, exclusive: bool) -> list[Prospect]:
        """Return the candidates with their costs, for about so many seconds."""
        softmax = SoftmaxMember(100.0).seconds(sample.size_of({"words"}))
        is_affordable = 2 * softmax <= _SHARE_OF_SOFTMAX * seconds
        main: type[SoftmaxMember] | type[LogisticMember] = LogisticMember
        if exclusive and is_affordable and not has_many_weights(sample):
            main = SoftmaxMember
        kinds = sample.design.kinds
        n_documents = sample.labels.shape[0]
        prospects = []
        candidates = _candidates(
            self.effort, main, exclusive=exclusive, kinds=kinds, n_documents=n_documents
        )
        for candidate in candidates:
            cost = candidate.member.seconds(sample.size_of(candidate.kinds))
            prospects.append(Prospect(candidate, cost))
        return prospects

    def _score_candidates(self, fitting: CrossFitting, stacker: Stacker, plan: Plan) -> None:
        """Score candidates by documents held out, in the order of the plan.

        Of those with word pairs or characters only the first, unless it pays.
        """
        loss = ""
        while len(fitting.used_folds) and (index := plan.next()) is not None:
            candidate = fitting.candidates[index]
            if not _may_pay(stacker, fitting.candidates, plan.scored, index):
                plan.leave_out(candidate.kinds)
                continue
            self._tell(f"{candidate.describe()}{loss}")
            if not fitting.score(index, plan.goes_on):
                continue
            plan.keep(index)
            if self.tell is not None:
                mean = stacker.judge(plan.scored).loss / stacker.n_judgements
                loss = f" (so far: log loss {mean:#.3g})"

    def _tell(self, what: str) -> None:
        if self.tell is not None:
            self.tell(what)

    def _keep(self, choice: StackChoice, candidates: Sequence[Candidate]) -> None:
        """Keep what is in the model: members, their weights, and the kinds of blocks they use."""
        kept = np.flatnonzero(choice.weights)
        used = [candidates[int(index)] for index in kept]
        self.members_ = tuple(candidate.member for candidate in used)
        self.weights_ = choice.weights[kept]
        self.shares_ = choice.shares[kept]
        self.offset_ = choice.offset
        kinds = {"words", *(kind for candidate in used for kind in candidate.kinds)}
        self.kinds_ = tuple(kind for kind in get_args(BlockKind) if kind in kinds)

    def _judge_by(
        self,
        documents: IntArray,
        fitting: CrossFitting,
        choice: StackChoice,
        used: IntArray,
        *,
        exclusive: bool,
    ) -> HeldOutProbabilities:
        """Return the probabilities of documents by the chosen members, fitted to the others."""
        scores = fitting.scores_without(documents, choice.weights) + choice.offset
        if self.calibration_ is not None:
            scores = self.calibration_(scores)
        part = fitting.whole.take(documents)
        labels: BoolArray = part.labels.toarray() != 0
        return HeldOutProbabilities(
            used[documents],
            labels,
            _probabilities(scores, exclusive=exclusive),
            part.weights,
            part.groups,
        )

    def _choose(self, stacker: Stacker, candidates: Sequence[Candidate]) -> StackChoice:
        """Choose the stack of words and of the blocks that lower its loss, or the best member.

        Each kind of blocks is compared with words alone, so that one does not keep out another.
        Where blocks other than pairs are used, a single member is one of those that use them.
        """
        scores = stacker.held_out.scores
        self.tried_ = {}
        tried = [index for index, of_member in enumerate(scores) if np.any(of_member)]
        if not tried:
            return _choose_by_prior_odds(candidates, scores[0])
        total = stacker.n_judgements
        words = [index for index in tried if candidates[index].kinds == ("words",)] or tried[:1]
        plain = stacker.judge(words)
        self.tried_["words"] = plain.loss / total
        choices: list[StackChoice] = []
        helpful: list[int] = []
        singles: list[int] = []
        for kind, worth in _WORTH.items():
            of_kind = [index for index in tried if kind in candidates[index].kinds]
            if not of_kind:
                continue
            choice = stacker.judge(words + of_kind)
            self.tried_[kind] = choice.loss / total
            if choice.loss < worth.ratio * plain.loss + worth.prior_odds:
                choices.append(choice)
                helpful += of_kind
                if kind != "pairs":
                    singles += of_kind
        if len(choices) > 1:
            choices.append(stacker.judge(words + helpful))
        if len(words + helpful) > 1:
            choices += [stacker.judge([index]) for index in singles or words + helpful]
        if not helpful:
            choices.append(plain)
        return min(choices, key=lambda choice: choice.loss)

    def contributions(
        self, X: Any, category: Any, *, against: Any = None
    ) -> tuple[SparseRows, FloatArray]:
        """Return what each term adds to the score of a category, and the remainder.

        The remainder is the intercept and the calibration.
        """
        terms, intercepts = super().contributions(X, category, against=against)
        if self.calibration_ is None:
            return terms, intercepts
        whole = self._scores(X)[:, self._place(category)[0]]
        return terms, whole - terms.sum(axis=1)

    def scores_checked(self, rows: SparseRows) -> FloatArray:
        """Return scores of checked rows, documents x hyperplanes."""
        scores = super().scores_checked(rows)
        if self.calibration_ is not None:
            scores = self.calibration_(scores)
        return scores

    def keep_columns(self, columns: IntArray) -> Self:
        """Forget all other columns, whose weights are 0."""
        self.coef_ = self.coef_[:, columns]
        self.n_features_in_ = len(columns)
        return self

    def describe(self) -> str:
        """Describe the kinds of members in words, each with its share of the score.

        Examples
        --------
        >>> AutoClassifier().fit([[1, 0], [0, 1]], ["grain", "crude"]).describe()
        'logistic regression'
        """
        check_is_fitted(self)
        if not self.members_:
            return "the shares of the categories alone"
        text = self.members_[0].kind
        if len(self.members_) > 1:
            text = f"a stack of {self._shares_of_kinds()}"
        names = ["word pairs" if kind == "pairs" else kind for kind in self.kinds_]
        if len(names) == 1:
            return text
        return f"{text}; {', '.join(names[:-1])} and {names[-1]}"

    def _shares_of_kinds(self) -> str:
        of_kind: dict[str, float] = defaultdict(float)
        shares = 100 * self.shares_ / self.shares_.sum()
        for member, share in zip(self.members_, shares, strict=True):
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
        self.later_ = None
        self.tried_ = {}


def _probabilities(scores: FloatArray, *, exclusive: bool) -> FloatArray:
    probabilities: FloatArray = softmax(scores, axis=1) if exclusive else expit(scores)
    return probabilities


def _typical_length(rows: SparseRows) -> float:
    """Return the root mean square length of documents that have terms.

    Priors are stated for documents of length one.
    """
    n_documents = np.count_nonzero(np.diff(rows.indptr))
    if not n_documents:
        return 1.0
    return float(np.sqrt(inner(rows.data, rows.data) / n_documents))


def _cheapest_pairs_first(prospects: list[Prospect]) -> list[Prospect]:
    """Return the prospects with those of word pairs at the end, the cheapest of them first.

    The first tells whether the others are tried.
    """
    with_pairs = [each for each in prospects if "pairs" in each.candidate.kinds]
    others = [each for each in prospects if "pairs" not in each.candidate.kinds]
    return others + sorted(with_pairs, key=lambda each: each.seconds)


def _may_pay(
    stacker: Stacker, candidates: Sequence[Candidate], scored: Sequence[int], index: int
) -> bool:
    """Whether the first candidate with the same blocks as another makes that worth a try.

    With word pairs it must be about as good as the same without them, with characters it must
    lower the loss of the stack.
    """
    kinds = candidates[index].kinds
    first = [candidate.kinds for candidate in candidates].index(kinds)
    if index == first or not {"pairs", "characters"}.intersection(kinds):
        return True
    if first not in scored:
        return False
    if "pairs" in kinds:
        # The same member with words alone.
        plain = [candidate.member for candidate in candidates].index(candidates[first].member)
        if plain not in scored:
            return False
        return stacker.judge([first]).loss < _PAIRS_WORTH_TRYING * stacker.judge([plain]).loss
    others = [place for place in scored if candidates[place].kinds != kinds]
    with_first = stacker.judge([*others, first]).loss
    return with_first < _CHARACTERS_WORTH_TRYING * stacker.judge(others).loss


def _choose_by_prior_odds(candidates: Sequence[Candidate], scores: FloatArray) -> StackChoice:
    """Choose one candidate where no document could be held out."""
    weights = np.zeros(len(candidates))
    chosen = 0
    for index, candidate in enumerate(candidates):
        if any(_WORTH[kind].prior_odds > 0 for kind in candidate.kinds[1:]):
            chosen = index
            break
    weights[chosen] = 1.0
    return StackChoice(weights, weights, 0.0, scores, np.nan)
