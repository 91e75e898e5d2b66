"""Text in, categories out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from bayesift.classifier.explanation import CategoryExplanation, Explanation, TermContribution, sureness_of
from bayesift.classifier.knowing import informed
from bayesift.classifier.labels import LabelForm, form_of
from bayesift.errors import DataError
from bayesift.features import SelectTerms
from bayesift.knowledge import Coverage, TermKnowledge
from bayesift.model_file import load_model, save_model
from bayesift.models import LEARNERS, make_learner
from bayesift.records import Corpus
from bayesift.text import TermVectorizer
from bayesift.thresholds import ThresholdedClassifier, ThresholdRule

Array = np.ndarray[Any, Any]

_EXPLAINED = 5


class TextClassifier(ClassifierMixin, BaseEstimator):
    """Vectorizer, term selection, model and decision rule in one: text in, decided and explained categories out.

    Labels are given as one name a text, as a collection of names a text, or as an indicator matrix; predictions come
    in the same form. Corpora that consist of vectors instead of text work too.

    Parameters
    ----------
    model : a name of `bayesift.models.MODELS`, or a classifier
    vectorizer : a `TermVectorizer`; None takes the weighting the model wants
    selection : a `SelectTerms`; None keeps all terms. With `per_category` a model that takes `supports` uses for each
        category the terms selected for it, other models use all that are selected for any
    threshold : a name of `bayesift.thresholds.THRESHOLD_RULES`, or a rule; "auto" is "bayes" for probabilities and
        "sign" for scores
    threshold_cv : folds of cross-validated scores to fit the rule on; None takes the training scores
    random_state : deals the folds
    knowledge : what people know of words, for models with a prior of weights; None for nothing

    Attributes
    ----------
    categories_ : in the order of columns of probabilities
    vectorizer_, selection_, estimator_ : the fitted parts; `estimator_.estimator_` is the model
    coverage_ : how much of the knowledge met the vocabulary; None without knowledge
    corpus_ : name, fingerprint and size of the training corpus, if `fit_corpus` was used

    Examples
    --------
    >>> texts = ["wheat and corn", "corn exports", "crude oil prices", "oil tankers"]
    >>> classifier = TextClassifier().fit(texts, ["grain", "grain", "crude", "crude"])
    >>> classifier.predict(["corn prices", "oil"]).tolist()
    ['grain', 'crude']
    >>> classifier.explain("oil").categories[0].terms[0].term
    'oil'
    """

    def __init__(
        self,
        *,
        model: str | Any = "naive-bayes",
        vectorizer: TermVectorizer | None = None,
        selection: SelectTerms | None = None,
        threshold: str | ThresholdRule = "auto",
        threshold_cv: int | None = None,
        random_state: int | None = 0,
        knowledge: TermKnowledge | None = None,
    ) -> None:
        self.model = model
        self.vectorizer = vectorizer
        self.selection = selection
        self.threshold = threshold
        self.threshold_cv = threshold_cv
        self.random_state = random_state
        self.knowledge = knowledge

    def fit(self, texts: Any, labels: Any, *, categories: Iterable[str] | None = None) -> Self:
        """Learn from labelled texts; `categories` names the columns of an indicator matrix."""
        form = form_of(labels, categories)
        if self.knowledge is not None:
            self.knowledge.check_categories(form.categories)
        y = form.encode(labels)
        model = make_learner(self.model, multilabel=form.multilabel) if isinstance(self.model, str) else self.model
        vectorizer = None if _are_vectors(texts) else self._new_vectorizer()
        X = texts if vectorizer is None else vectorizer.fit_transform(texts)
        if X.shape[0] != y.shape[0]:
            raise DataError(f"{X.shape[0]:,} texts, but {y.shape[0]:,} labels")
        selection = None if self.selection is None else clone(self.selection).fit(X, y)
        model, coverage = informed(model, self.knowledge, form, X, vectorizer, selection)
        estimator = ThresholdedClassifier(
            model,
            rule=self.threshold,
            cv=self.threshold_cv,
            random_state=self.random_state,
        )
        terms = own_terms(model, selection, multilabel=form.multilabel)
        estimator.fit(X if selection is None else selection.transform(X), y, **terms)
        self._form, self.vectorizer_, self.selection_, self.estimator_ = form, vectorizer, selection, estimator
        self.coverage_: Coverage | None = coverage
        self.corpus_: dict[str, Any] | None = None
        return self

    @classmethod
    def assembled(
        cls,
        form: LabelForm,
        estimator: ThresholdedClassifier,
        vectorizer: TermVectorizer | None = None,
        selection: SelectTerms | None = None,
    ) -> Self:
        """The classifier of parts that are fitted already.

        Examples
        --------
        >>> fitted = TextClassifier().fit(["corn", "oil"], ["grain", "crude"])
        >>> parts = fitted._form, fitted.estimator_, fitted.vectorizer_
        >>> TextClassifier.assembled(*parts).predict(["oil"]).tolist()
        ['crude']
        """
        classifier = cls()
        classifier._form, classifier.estimator_ = form, estimator
        classifier.vectorizer_, classifier.selection_ = vectorizer, selection
        classifier.coverage_, classifier.corpus_ = None, None
        return classifier

    def fit_corpus(self, corpus: Corpus) -> Self:
        """Learn from the documents of a corpus."""
        if not any(document.categories for document in corpus):
            raise DataError("no document has a category; is the right column named?")
        texts = corpus.texts if corpus.vectors is None else corpus.vectors
        if corpus.is_single_label:
            self.fit(texts, corpus.labels)
        else:
            self.fit(texts, [document.categories for document in corpus], categories=corpus.categories)
        self.corpus_ = {"name": corpus.name, "documents": len(corpus), "fingerprint": corpus.fingerprint}
        return self

    @property
    def categories_(self) -> tuple[str, ...]:
        """The categories, in the order of columns of probabilities."""
        check_is_fitted(self)
        return self._form.categories

    @property
    def classes_(self) -> Array:
        """The categories as scikit-learn names them."""
        return np.array(self.categories_, dtype=object)

    @property
    def multilabel_(self) -> bool:
        """Whether a text may have none or several categories."""
        check_is_fitted(self)
        return self._form.multilabel

    @property
    def has_probabilities_(self) -> bool:
        """Whether the scores are probabilities."""
        check_is_fitted(self)
        return hasattr(self.estimator_.estimator_, "predict_proba")

    def predict(self, texts: Any) -> Any:
        """The decided categories, in the form labels were given."""
        X = self.vectors(texts)
        return self._form.decode(self.estimator_.predict(X))

    def decide(self, texts: Any) -> tuple[Array, Array]:
        """Decisions (boolean) and scores, both texts x categories, from one pass over the texts."""
        scores = self.scores_of(self.vectors(texts))
        if self.multilabel_:
            return self.estimator_.rule_.decide(scores), scores
        chosen = self.estimator_.choose(scores[:, 1:] if len(self.categories_) == 2 else scores)
        return chosen[:, None] == np.arange(len(self.categories_)), scores

    def predict_proba(self, texts: Any) -> Array:
        """Probabilities, texts x categories."""
        probabilities: Array = self.estimator_.predict_proba(self.vectors(texts))
        return probabilities

    def vectors(self, texts: Any) -> sparse.csr_array:
        """The vectors of texts as the model reads them."""
        check_is_fitted(self)
        if _are_vectors(texts) != (self.vectorizer_ is None):
            given = "vectors" if self.vectorizer_ is not None else "texts"
            raise DataError(f"the model was not trained on {given}")
        X = texts if self.vectorizer_ is None else self.vectorizer_.transform(texts)
        return X if self.selection_ is None else self.selection_.transform(X)

    def scores_of(self, X: Any) -> Array:
        """Probabilities of vectors, or scores where the model has no probabilities, texts x categories."""
        model = self.estimator_.estimator_
        if self.has_probabilities_:
            probabilities: Array = np.asarray(model.predict_proba(X))
            return probabilities
        scores = self.estimator_.decision_scores(X)
        return np.column_stack([-scores, scores]) if scores.shape[1] == 1 and not self.multilabel_ else scores

    def terms(self) -> list[str]:
        """The terms the model knows, in the order of its columns."""
        check_is_fitted(self)
        if self.vectorizer_ is None:
            n_terms = self.estimator_.n_features_in_ if self.selection_ is None else self.selection_.n_features_in_
            names = [f"term {j}" for j in range(n_terms)]
        else:
            names = self.vectorizer_.vocabulary_.names
        if self.selection_ is None:
            return names
        return [names[j] for j in np.flatnonzero(self.selection_.get_support())]

    def explain(self, text: str, *, categories: Sequence[str] | None = None, top: int = 10) -> Explanation:
        """Why a text gets its categories.

        Parameters
        ----------
        text : the text
        categories : which to explain; without, the (five most probable) assigned ones, and the most probable one in
            any case
        top : how many terms to list for each category
        """
        X = self.vectors([text])
        model = self.estimator_.estimator_
        if not hasattr(model, "contributions"):
            raise DataError(f"a {type(model).__name__} cannot explain its decisions")
        decisions, scores = self.decide([text])
        names = self._to_explain(categories, decisions[0], scores[0])
        thresholds = self._thresholds(scores)
        explained = []
        for name in sorted(names, key=lambda name: -scores[0, self.categories_.index(name)]):
            j = self.categories_.index(name)
            key = j if self.multilabel_ else name
            contributions, prior = model.contributions(X, key)
            sure = sureness_of(model, X, j, key)
            terms = self._largest(X, contributions, sure.deviations, top)
            score, assigned = float(scores[0, j]), bool(decisions[0, j])
            explained.append(
                CategoryExplanation(
                    name, score, thresholds[j], assigned, float(prior[0]), terms, sure.integrated, sure.interval
                )
            )
        return self._with_unseen(text, tuple(explained))

    def _to_explain(self, categories: Sequence[str] | None, decisions: Array, scores: Array) -> list[str]:
        if categories is None:
            assigned = sorted(np.flatnonzero(decisions), key=lambda j: -scores[j])[:_EXPLAINED]
            return [self.categories_[j] for j in {*assigned, np.argmax(scores)}]
        for name in categories:
            if name not in self.categories_:
                raise DataError(f"no category {name!r}; there are: {', '.join(self.categories_[:20])}")
        return list(categories)

    def _thresholds(self, scores: Array) -> list[float | None]:
        """The threshold of each category; None where the largest score decides."""
        if not self.multilabel_:
            return [None] * len(self.categories_)
        thresholds = np.broadcast_to(self.estimator_.rule_.thresholds_for(scores), scores.shape)[0]
        return [float(threshold) for threshold in thresholds]

    def _largest(
        self, X: sparse.csr_array, contributions: sparse.csr_array, deviations: Array | None, top: int
    ) -> tuple[TermContribution, ...]:
        names = self.terms()
        order = np.argsort(-np.abs(contributions.data), kind="stable")[:top]
        return tuple(
            TermContribution(
                names[X.indices[i]],
                float(X.data[i]),
                float(contributions.data[i]),
                None if deviations is None else float(deviations[i]),
            )
            for i in order
        )

    def _with_unseen(self, text: str, explained: tuple[CategoryExplanation, ...]) -> Explanation:
        assert self.vectorizer_ is not None
        known = set(self.terms())
        counts = self.vectorizer_.term_counts(text)
        unseen = {term: n for term, n in counts.items() if term not in known}
        return Explanation(explained, sum(counts.values()) - sum(unseen.values()), sum(unseen.values()), tuple(unseen))

    def save(self, path: str | Path) -> None:
        """Write the model: one zip if the path ends in .zip, else a folder."""
        from bayesift.classifier.saving import content_of

        save_model(content_of(self), path)

    @classmethod
    def load(cls, path: str | Path, *, mapped: bool = False) -> Self:
        """Read a model that was saved; nothing in the file is executed. `mapped` as in `load_model`."""
        from bayesift.classifier.saving import classifier_of

        content = load_model(path, mapped=mapped)
        try:
            return classifier_of(cls, content)
        except DataError as error:
            raise DataError(f"damaged model: {error}", file=path) from error

    def _new_vectorizer(self) -> TermVectorizer:
        if self.vectorizer is None:
            return TermVectorizer(weighting=LEARNERS[self.model].weighting if isinstance(self.model, str) else "tf")
        vectorizer: TermVectorizer = clone(self.vectorizer)
        return vectorizer

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "estimator_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.classifier_tags.multi_label = True
        return tags


def _are_vectors(texts: Any) -> bool:
    return sparse.issparse(texts) or (isinstance(texts, np.ndarray) and texts.ndim == 2)


def own_terms(model: Any, selection: SelectTerms | None, *, multilabel: bool) -> dict[str, Any]:
    """The terms of each category among those that were kept, for a model that asks for them."""
    if selection is None or not selection.per_category or not has_fit_parameter(model, "supports"):
        return {}
    supports = sparse.csr_array(sparse.csc_array(selection.supports_)[:, np.flatnonzero(selection.get_support())])
    # Of two classes the second has the only model.
    return {"supports": supports if multilabel or len(selection.classes_) > 2 else supports[[1]]}
