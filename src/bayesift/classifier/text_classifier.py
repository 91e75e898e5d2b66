"""Text in, categories out: vectorizer, term selection, model and decision rule in one estimator."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, overload

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from bayesift.arrays import Array, BoolArray, FloatArray, IntArray, SparseRows
from bayesift.classifier.abstention import Abstention, Doubts, abstention_from_fit, unsure_texts
from bayesift.classifier.explanation import Explanation, explain_texts
from bayesift.classifier.features import TextFeatures, characters_for, embedder_for, table_for
from bayesift.classifier.incremental import (
    learn_batch,
    learn_corpus,
    learners_that_grow,
    learns_in_batches,
)
from bayesift.classifier.labels import (
    LabelForm,
    Labels,
    check_lengths,
    labels_of,
    read_labels,
    warn_of_missing,
)
from bayesift.classifier.model_options import (
    fit_options,
    makes_plain_words,
    model_for,
    offered_unless,
    scale_blocks,
    takes_blocks,
    tries_blocks,
    vectorizer_for,
    weigh_classes,
)
from bayesift.classifier.notebook import classifier_html
from bayesift.classifier.quality import ExpectedQuality, Repeats, expected_quality
from bayesift.classifier.saving import attach_vectors, classifier_of, content_of
from bayesift.classifier.table_columns import read_numbers
from bayesift.classifier.texts import Texts, read_texts
from bayesift.classifier.top_terms import CategoryWords, top_terms
from bayesift.errors import DataError
from bayesift.features import Design
from bayesift.folds import join_groups
from bayesift.knowledge import Coverage, TermIndex, TermKnowledge, apply_knowledge
from bayesift.model_file import load_model, save_model
from bayesift.models import LEARNERS, make_learner
from bayesift.records import Corpus, Document
from bayesift.records.document import RECORDS
from bayesift.text import TermVectorizer, TextEmbedder, WordVectors
from bayesift.text.near_copies import group_copies, group_equal_rows
from bayesift.thresholds import ThresholdedClassifier, ThresholdRule
from bayesift.thresholds.classifier import with_groups
from bayesift.validation import check_groups, check_times

# The part of a budget that words may take, so that n-grams of characters are tried too.
_LARGE_PART = 0.1

if TYPE_CHECKING:
    from bayesift.features import SelectTerms
    from bayesift.tables import TableLayout


def _lacks_probabilities(classifier: TextClassifier) -> str | None:
    """Return why there is no `predict_proba`, if so."""
    model = classifier.current_model
    if hasattr(model, "predict_proba"):
        return None
    return f"a {type(model).__name__} has no probabilities; decision_function gives its scores"


def _lacks_batches(classifier: TextClassifier) -> str | None:
    """Return why there is no `partial_fit`, if so."""
    model = classifier.current_model
    if learns_in_batches(model):
        return None
    able = ", ".join(learners_that_grow())
    return f"{type(model).__name__} has no partial_fit; models that have: {able}"


class TextClassifier(ClassifierMixin, BaseEstimator):
    """Classifies texts by a vectorizer, a term selection, a model and a decision rule.

    Texts are strings in any form of `read_texts`, or term vectors. Labels are one or a collection
    per text, or an indicator matrix, in any form of `read_labels`; predictions have the form and
    type of the labels.

    Parameters
    ----------
    model : a name of `bayesift.models.LEARNERS`, or a classifier
    vectorizer : a `TermVectorizer`; None is one with default parameters. One without a weighting
        gets that of the model
    selection : a `SelectTerms`; None keeps all terms. With `per_category`, a model that accepts
        `feature_mask` uses for each category the terms selected for it; other models use the terms
        selected for any category
    threshold : a name of `bayesift.thresholds.THRESHOLD_RULES`, or a rule; "auto" is "bayes" for
        probabilities and "sign" for other scores
    threshold_cv : number of folds of the cross-validated scores to fit the rule on; None uses the
        training scores
    random_state : seed of the folds
    knowledge : what people know about words, for models with a prior of weights
    class_weight : weights of the labels as a dictionary, or "balanced"; for models that have
        `class_weight`, or for one label per text take sample weights
    embedder : a `TextEmbedder`, whose columns stand beside those of the terms; None for terms only.
        "auto" is one with the vectors of the extra `embeddings`, where that is installed and the
        model is "auto", which uses them where they lower the loss of documents held out
    characters : n-grams of two to five characters within words, for endings, misspellings, emoji
        and punctuation: True puts them beside the terms, False does not, and "auto" lets the model
        "auto" try them from 300 texts on, which uses them where they lower the loss; or a
        `TermVectorizer` of characters
    columns : names of columns of a table, numbers or categories, whose values stand beside the
        terms; the model "auto" uses them where they lower the loss

    Attributes
    ----------
    categories_ : the names of the categories, in the order of the columns of probabilities
    classes_ : the labels as they were given, in the same order
    label_form_ : the form of the labels
    text_columns_ : the columns of text, if the texts were a table
    features_ : the transformers that make the columns of the model, a `TextFeatures`
    vectorizer_, selection_, embedder_ : those of words, of the choice of words, and of word
        vectors; None where the model does not use one
    estimator_ : the model and its decision rule, a `ThresholdedClassifier`
    model_ : the fitted model
    coverage_ : how many words of the knowledge are in the vocabulary; None without knowledge
    corpus_ : name, fingerprint and size of the training corpus after `fit_corpus`, else None
    layout_ : the columns of the table that the training corpus was read from, a
        `bayesift.tables.TableLayout`: commands read the next table by them; None without a table
    expected_quality_ : the quality to expect on new documents, an `ExpectedQuality`; None if no
        documents were held out, which only "auto" does, or terms were selected by the labels of all
    repeats_ : how many texts repeat others, `Repeats`; None if neither the model nor the rule holds
        documents out
    abstention_ : how unsure the model was of documents held out, an `Abstention`; None if no
        documents were

    Examples
    --------
    >>> texts = ["wheat and corn", "corn exports", "crude oil prices", "oil tankers"]
    >>> classifier = TextClassifier().fit(texts, ["grain", "grain", "crude", "crude"])
    >>> classifier.predict(["corn prices", "oil"]).tolist()
    ['grain', 'crude']
    >>> classifier.explain("oil").categories[0].terms[0].term
    'oil'
    """

    abstention_: Abstention | None = None
    layout_: TableLayout | None = None
    expected_quality_: ExpectedQuality | None = None
    repeats_: Repeats | None = None

    def __init__(
        self,
        *,
        model: str | Any = "auto",
        vectorizer: TermVectorizer | None = None,
        selection: SelectTerms | None = None,
        threshold: str | ThresholdRule = "auto",
        threshold_cv: int | None = None,
        random_state: int | None = 0,
        knowledge: TermKnowledge | None = None,
        class_weight: Mapping[Any, float] | str | None = None,
        embedder: TextEmbedder | str | None = "auto",
        characters: TermVectorizer | bool | str = "auto",
        columns: Sequence[str] = (),
    ) -> None:
        self.model = model
        self.vectorizer = vectorizer
        self.selection = selection
        self.threshold = threshold
        self.threshold_cv = threshold_cv
        self.random_state = random_state
        self.knowledge = knowledge
        self.class_weight = class_weight
        self.embedder = embedder
        self.characters = characters
        self.columns = columns

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        sample_weight: Any = None,
        categories: Iterable[Any] | None = None,
        multilabel: bool | None = None,
        groups: Any = None,
        times: Any = None,
    ) -> Self:
        """Fit to labelled texts.

        Texts that repeat one another, or nearly, are held out together wherever some are held out.

        Parameters
        ----------
        X, y : texts and labels, in any form of `read_texts` and `read_labels`. Texts that are
            missing or blank are left out with a `DataWarning`, and so are texts without a label
            (None, NaN, blank), unless texts may have several labels: then they have no category.
            A `DataWarning` names columns of a table that are joined to one text or not used
        sample_weight : one weight per text, for models that take it; decision rules do not
        categories : names of the columns of an indicator matrix, or all labels that collections may
            hold
        multilabel : True lets texts have none or several labels, False one; None decides by the
            form of the labels
        groups : the group of each text, such as its author or thread, None or NaN for none; texts
            of one group are held out together
        times : the date of each text; the model "auto" then tells how good a model of the earlier
            texts is on the later ones (`expected_quality_.later`)
        """
        # 1. Read texts, labels and weights, in whatever form they are.
        texts = read_texts(X, besides=_names(self.columns)).whole()
        labels = read_labels(y, categories=categories, multilabel=multilabel)
        weights = check_lengths(texts, labels, sample_weight)
        known_groups = check_groups(groups, labels.n_given)
        known_times = check_times(times, labels.n_given)
        texts.refuse_labels(labels)
        texts.warn_of_columns(_names(self.columns))
        warn_of_missing(labels)
        labels = labels.where(texts.have_text())
        if len(labels.rows) < labels.n_given:
            texts = texts.take(labels.rows)
            weights = None if weights is None else weights[labels.rows]
            known_groups = None if known_groups is None else known_groups[labels.rows]
            known_times = None if known_times is None else known_times[labels.rows]
        return self._fit(texts, labels, weights, known_groups, known_times)

    def _fit(
        self,
        texts: Texts,
        labels: Labels,
        weights: FloatArray | None,
        groups: IntArray | None = None,
        times: FloatArray | None = None,
    ) -> Self:
        """Fit to texts and labels that were read: features, model, rule, held-out quality."""
        begun = time.perf_counter()
        form = labels.form
        if self.knowledge is not None:
            self.knowledge.check_categories(form.categories)
        model = self.new_model(multilabel=form.multilabel)
        model, weights = weigh_classes(model, self.class_weight, labels, weights)

        # 2. Features: words, and the blocks that stand beside them.
        features = self._new_features(model, texts)
        if features.kinds:
            texts = texts.whole()  # an iterator can be read only once, and each block reads it
        words = features.fit_words(texts)
        if self.characters == "auto" and _is_short(model, time.perf_counter() - begun):
            features = replace(features, characters=None)
        design = features.fit_blocks(words, texts, labels.y)
        repeats = None
        if self._holds_out(model):
            copies = _copies_in(words, design, are_vectors=texts.are_vectors)
            repeats = Repeats.of(copies, labels)
            if repeats.n_repeated:
                groups = join_groups(groups, copies)
        model = scale_blocks(model, design)
        model, coverage = self._apply_knowledge(model, form, features, design)

        # 3. Model, with its prior and its weights of classes.
        estimator = ThresholdedClassifier(
            model, rule=self.threshold, cv=self.threshold_cv, random_state=self.random_state
        )
        estimator.check_rule()
        options = fit_options(
            model, features.selection, design, weights, multilabel=form.multilabel
        )
        told = dict(with_groups(model, options, groups))
        if times is not None and has_fit_parameter(model, "times"):
            told["times"] = times
        if has_fit_parameter(model, "begun"):
            told["begun"] = begun
        fitted = clone(model).fit(design.rows, labels.y, **told)

        # 4. Rule: thresholds on the scores that the model gives.
        estimator.fit_rule(fitted, design.rows, labels.y, groups, **options)
        if takes_blocks(fitted):
            # The model keeps only the blocks that lower its loss.
            fitted.keep_columns(design.columns_of(fitted.kinds_))
            features = features.only(fitted.kinds_)
            design = design.only(fitted.kinds_)

        self.label_form_ = form
        self.features_ = features
        self.estimator_ = estimator
        self.text_columns_ = texts.column_names
        self.coverage_ = coverage
        self.corpus_: dict[str, Any] | None = None
        self.layout_ = None

        # 5. Held-out quality: how good and how unsure the model is on documents it has not seen.
        self.repeats_ = repeats
        self.expected_quality_ = None
        if features.selection is None:
            # Terms that were selected by all labels know those of the documents held out.
            self.expected_quality_ = expected_quality(self, repeats)
        self.abstention_ = self._held_out_abstention(texts, design)
        return self

    def _new_features(self, model: Any, texts: Texts) -> TextFeatures:
        """Return the unfitted transformers that the parameters ask for."""
        tries = tries_blocks(model)
        vectorizer = None
        tries_pairs = False
        if not texts.are_vectors:
            vectorizer = vectorizer_for(self.model, self.vectorizer)
            tries_pairs = tries and self.selection is None and makes_plain_words(vectorizer)
            if tries_pairs:
                vectorizer.set_params(ngram_range=(1, 2), separate_ngrams=True)
        return TextFeatures(
            vectorizer=vectorizer,
            selection=None if self.selection is None else clone(self.selection),
            embedder=embedder_for(self.embedder, texts, is_tried=tries),
            characters=characters_for(self.characters, texts, vectorizer, is_tried=tries_pairs),
            table=table_for(_names(self.columns), texts),
            tries_pairs=tries_pairs,
        )

    def _apply_knowledge(
        self, model: Any, form: LabelForm, features: TextFeatures, design: Design
    ) -> tuple[Any, Coverage | None]:
        """Put what people know of words into the prior of the model."""
        if not self.knowledge:
            return model, None
        if features.vectorizer is None:
            raise DataError("knowledge of words needs texts; the documents are vectors")
        n_terms = len(features.term_names(0))
        terms = TermIndex.of(
            features.vectorizer,
            design.rows[:, :n_terms],
            None if features.selection is None else features.selection.get_support(),
            design.rows.shape[1] - n_terms,
        )
        one_model = not form.multilabel and len(form.categories) == 2
        return apply_knowledge(
            model, self.knowledge, form.categories, terms, one_model=one_model
        )

    def _held_out_abstention(self, texts: Texts, design: Design) -> Abstention | None:
        if not hasattr(self.model_, "held_out_"):
            return None
        rows = self.features_.known_words(design.rows)
        n_terms = np.diff(rows.indptr)
        is_counted = self.features_.knows_all_training_words or texts.n_texts is None
        if self.vectorizer_ is not None and not is_counted:
            n_terms = np.maximum(self.features_.count_words(texts), n_terms)
        return abstention_from_fit(self.model_, rows, n_terms, multilabel=self.multilabel_)

    def fit_abstention(self, X: Any) -> Self:
        """Learn from texts like those to come how unsure the model usually is.

        It must not have been fitted to them.

        They need no labels. The default model has done so with documents that it held out; others
        have not.
        """
        self.abstention_ = Abstention.of(self.doubts(X))
        return self

    @offered_unless(_lacks_batches)
    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> Self:
        """Learn from more labelled texts, for models that do; new words become new terms.

        Parameters
        ----------
        X, y : texts and labels as in `fit`, labels always in the same form
        classes : all labels that may come; naive Bayes takes new ones at any time, others know
            those of the first call
        sample_weight : one weight per text, for models that take it
        """
        learn_batch(self, X, y, classes, sample_weight)
        return self

    @offered_unless(_lacks_batches)
    def partial_fit_corpus(self, corpus: Corpus, *, multilabel: bool = False) -> Self:
        """Learn from the documents of one more corpus, such as a chunk of a large file.

        Documents without a category are left out with a `DataWarning`, unless they may have several
        (`multilabel`).

        Examples
        --------
        >>> from bayesift import Document
        >>> chunk = Corpus((Document("1", "wheat and corn", categories=("grain",)),), ("grain",))
        >>> classifier = TextClassifier(model="naive-bayes").partial_fit_corpus(chunk)
        >>> chunk = Corpus((Document("2", "oil tankers", categories=("crude",)),), ("crude",))
        >>> classifier.partial_fit_corpus(chunk).predict(["corn"]).tolist()
        ['grain']
        """
        learn_corpus(self, corpus, multilabel=multilabel)
        return self

    @classmethod
    def assembled(
        cls,
        form: LabelForm,
        estimator: ThresholdedClassifier,
        vectorizer: TermVectorizer | None = None,
        selection: SelectTerms | None = None,
    ) -> Self:
        """Make a classifier of fitted parts."""
        classifier = cls(model=estimator.estimator_, vectorizer=vectorizer, selection=selection)
        classifier.label_form_ = form
        classifier.estimator_ = estimator
        classifier.features_ = TextFeatures(vectorizer, selection)
        classifier.coverage_ = None
        classifier.corpus_ = None
        classifier.text_columns_ = None
        return classifier

    def fit_corpus(self, corpus: Corpus, *, multilabel: bool | None = None) -> Self:
        """Fit to the documents of a corpus.

        Documents without a category are left out with a `DataWarning`, unless they may have
        several: then they are documents of no category. `multilabel` says which; None asks
        `corpus.is_multilabel`. Groups and dates of the documents are the `groups` and `times` of
        `fit`.
        """
        if not corpus.n_labels.any():
            are_records = any(note.what == RECORDS for note in corpus.notes)
            cure = "name the column of labels with --label"
            if are_records:
                cure = "bayesift screen ranks records without any"
            raise DataError(f"no document has a category; {cure}")
        several = corpus.is_multilabel if multilabel is None else multilabel
        labels = labels_of(corpus, multilabel=several)
        texts = read_texts(corpus)
        # A file has no types: cells that are numbers throughout are numbers.
        texts = replace(texts, table=tuple(map(read_numbers, texts.table)))
        groups = check_groups(corpus.groups, labels.n_given)
        times = check_times(corpus.times, labels.n_given)
        warn_of_missing(labels)
        if len(labels.rows) < labels.n_given:
            texts = texts.take(labels.rows)
            groups = None if groups is None else groups[labels.rows]
            times = None if times is None else times[labels.rows]
        self._fit(texts, labels, None, groups, times)
        self.layout_ = corpus.layout
        if corpus.layout is not None and self.features_.table is None:
            # The model does without the columns beside the text, and so may the next table.
            columns = replace(corpus.layout.columns, others=())
            self.layout_ = replace(corpus.layout, columns=columns)
        self.corpus_ = {
            "name": corpus.name,
            "documents": len(labels.rows),
            "fingerprint": corpus.fingerprint,
        }
        return self

    @property
    def categories_(self) -> tuple[str, ...]:
        """The names of the categories, in the order of the columns of probabilities."""
        self._check_fitted()
        return self.label_form_.categories

    @property
    def classes_(self) -> Array:
        """The labels as they were given, in the order of the columns of probabilities."""
        self._check_fitted()
        return self.label_form_.classes_array

    @property
    def multilabel_(self) -> bool:
        """Whether a text may have none or several categories."""
        self._check_fitted()
        return self.label_form_.multilabel

    @property
    def model_(self) -> Any:
        """The fitted model, without its decision rule."""
        self._check_fitted()
        return self.estimator_.estimator_

    @property
    def vectorizer_(self) -> TermVectorizer | None:
        """The fitted vectorizer; None if the model was fitted to term vectors."""
        self._check_fitted()
        return self.features_.vectorizer

    @property
    def selection_(self) -> SelectTerms | None:
        """The fitted selection of terms; None where all are kept."""
        self._check_fitted()
        return self.features_.selection

    @property
    def embedder_(self) -> TextEmbedder | None:
        """The fitted `TextEmbedder`; None where the model does not use word vectors."""
        self._check_fitted()
        return self.features_.embedder

    @property
    def n_features_in_(self) -> int:
        """Number of terms, if the model was fitted to term vectors."""
        self._check_fitted()
        if self.vectorizer_ is not None:
            raise AttributeError("the model was fitted to texts, which have no columns")
        return int(
            (self.estimator_ if self.selection_ is None else self.selection_).n_features_in_
        )

    @property
    def has_probabilities_(self) -> bool:
        """Whether the scores are probabilities."""
        self._check_fitted()
        return hasattr(self.model_, "predict_proba")

    def predict(self, X: Any, *, abstain: float | None = None) -> Any:
        """Predict the labels of texts, in the form and of the type of the training labels.

        Single labels come as an array, collections as a list of collections of the same kind, an
        indicator matrix as an array, a sparse array or a DataFrame. With `abstain`, texts that the
        model is unsure of get None: about this share of documents like the training documents, and
        more of others (see `uncertainty`).
        """
        texts = self.read(X)
        if abstain is not None:
            texts = texts.whole()  # read once for the vectors, once for the words
        vectors = self.features_.transform(texts)
        scores = self.scores_of(vectors)
        answers = self.label_form_.decode(self.decisions_of(scores), index=texts.index)
        if abstain is None:
            return answers
        unsure = unsure_texts(self._doubts(texts, vectors, scores), abstain, self.abstention_)
        return self.label_form_.without(answers, unsure)

    def uncertainty(self, X: Any) -> FloatArray:
        """Return how unsure the model is of each text, from 0 to 1.

        It is the share of held-out documents that the model is surer of.

        For models without such documents (`abstention_` is None) it is 1 - p (1 - u), p the highest
        probability and u the share of the text's terms that the model does not know.
        """
        doubts = self.doubts(X)
        if self.abstention_ is None:
            plain: FloatArray = 1.0 - doubts.best * (1.0 - doubts.unseen)
            return plain
        return self.abstention_.uncertainty(doubts)

    def doubts(self, X: Any) -> Doubts:
        """Return what speaks against deciding on texts: probabilities, and unknown words."""
        texts = self.read(X).whole()
        vectors = self.features_.transform(texts)
        return self._doubts(texts, vectors, self.scores_of(vectors))

    def _doubts(self, texts: Texts, vectors: SparseRows, scores: FloatArray) -> Doubts:
        if not self.has_probabilities_:
            raise DataError(
                f"a {type(self.model_).__name__} has no probabilities to be unsure by"
            )
        n_known = self.features_.count_known_words(vectors)
        n_terms = n_known
        if self.vectorizer_ is not None:
            n_terms = np.maximum(self.features_.count_words(texts), n_known)
        return Doubts(scores, n_terms, n_known)

    def decide(self, texts: Any) -> tuple[BoolArray, FloatArray]:
        """Return decisions and scores, both texts x categories, from one pass over the texts."""
        return self._decide(self.read(texts))

    def _decide(self, texts: Texts) -> tuple[BoolArray, FloatArray]:
        if texts.n_texts == 0:
            nothing = np.zeros((0, len(self.categories_)))
            return nothing > 0, nothing
        scores = self.scores_of(self.features_.transform(texts))
        return self.decisions_of(scores), scores

    def decisions_of(self, scores: FloatArray) -> BoolArray:
        """Boolean decisions, texts x categories, by the scores of texts."""
        if self.multilabel_:
            decisions: BoolArray = self.estimator_.rule_.decide(scores)
            return decisions
        chosen = self.estimator_.choose(scores[:, 1:] if len(self.categories_) == 2 else scores)
        return np.asarray(chosen[:, None] == np.arange(len(self.categories_)))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy: the share of texts whose predicted labels are exactly theirs.

        Where texts may have several labels all of them must be right, as in scikit-learn;
        `evaluate` gives F1 and other measures. Texts without a label are left out.
        """
        texts = self.read(X)
        labels = read_labels(y, multilabel=self.multilabel_ or None)
        weights = check_lengths(texts, labels, sample_weight)
        decisions, _ = self._decide(texts)
        if len(decisions) != labels.n_given:
            raise DataError(f"{len(decisions):,} texts, but {labels.n_given:,} labels")
        right = self.label_form_.right(decisions, labels)
        return float(
            np.average(right, weights=None if weights is None else weights[labels.rows])
        )

    @offered_unless(_lacks_probabilities)
    def predict_proba(self, X: Any) -> FloatArray:
        """Probabilities, texts x categories."""
        vectors = self.vectors(X)
        probabilities: FloatArray = self.estimator_.predict_proba(vectors)
        return probabilities

    @offered_unless(_lacks_probabilities)
    def predict_log_proba(self, X: Any) -> FloatArray:
        """Logarithms of the probabilities, texts x categories."""
        vectors = self.vectors(X)
        model = self.model_
        if hasattr(model, "predict_log_proba"):
            return np.asarray(model.predict_log_proba(vectors))
        with np.errstate(divide="ignore"):
            logarithms: FloatArray = np.log(model.predict_proba(vectors))
        return logarithms

    def decision_function(self, X: Any) -> FloatArray:
        """Scores minus thresholds, texts x categories.

        For two classes one number per text, positive for the second.
        """
        vectors = self.vectors(X)
        return self.estimator_.decision_function(vectors)

    def vectors(self, texts: Any) -> SparseRows:
        """Return the vectors of texts as the model gets them."""
        given = self.read(texts)
        return self.features_.transform(given)

    def read(self, texts: Any) -> Texts:
        """Read texts in any form of `read_texts`, by the columns that the model was fitted to."""
        self._check_fitted()
        table = self.features_.table
        besides = [] if table is None else [column.name for column in table.columns]
        read = read_texts(texts, columns=self.text_columns_, besides=besides)
        if isinstance(texts, Corpus) and read.are_vectors and self.vectorizer_ is None:
            read = read.with_width(self.n_features_in_)
        if self.text_columns_ is None:
            read.warn_of_columns(besides)
        return read

    def _holds_out(self, model: Any) -> bool:
        """Whether documents are held out to fit the model or the rule."""
        return self.threshold_cv is not None or has_fit_parameter(model, "groups")

    def scores_of(self, X: Any) -> FloatArray:
        """Return probabilities of vectors, or scores if the model has none, texts x categories."""
        if not X.shape[0]:
            return np.zeros((0, len(self.categories_)))
        model = self.model_
        if self.has_probabilities_:
            probabilities: FloatArray = np.asarray(model.predict_proba(X))
            return probabilities
        scores = self.estimator_.decision_scores(X)
        if scores.shape[1] == 1 and not self.multilabel_:
            return np.column_stack([-scores, scores])
        return scores

    def terms(self) -> list[str]:
        """Return the terms of the model, in the order of their columns.

        Columns of other blocks come after them: see `get_feature_names_out`.
        """
        self._check_fitted()
        fitted = self.estimator_ if self.selection_ is None else self.selection_
        return self.features_.term_names(fitted.n_features_in_)

    def get_feature_names_out(self) -> Array:
        """Return the names of all columns of the model: terms, then the blocks beside them.

        Examples
        --------
        >>> classifier = TextClassifier(model="naive-bayes")
        >>> _ = classifier.fit(["corn", "oil"], ["grain", "crude"])
        >>> classifier.get_feature_names_out().tolist()
        ['corn', 'oil']
        """
        names = self.terms()
        for block in self.features_.block_names().values():
            names = names + block
        return np.array(names, dtype=object)

    def top_terms(self, n: int = 10) -> list[CategoryWords]:
        """Return the n most informative words of each category, in the order of `categories_`.

        Examples
        --------
        >>> texts = ["wheat and corn", "corn exports", "crude oil prices", "oil tankers"]
        >>> classifier = TextClassifier().fit(texts, ["grain", "grain", "crude", "crude"])
        >>> [(found.category, found.words[0].word) for found in classifier.top_terms(n=1)]
        [('crude', 'oil'), ('grain', 'corn')]
        """
        self._check_fitted()
        return top_terms(self, n)

    @overload
    def explain(
        self,
        text: str | Mapping[str, Any] | Document,
        *,
        categories: Sequence[Any] | None = ...,
        top: int = ...,
    ) -> Explanation: ...
    @overload
    def explain(
        self, text: Iterable[Any], *, categories: Sequence[Any] | None = ..., top: int = ...
    ) -> list[Explanation]: ...
    def explain(
        self, text: Any, *, categories: Sequence[Any] | None = None, top: int = 10
    ) -> Explanation | list[Explanation]:
        """Explain categories of a text, or of each text of a list, by their `top` terms.

        One text is a string, a row of a table (dictionary) or a `Document`; anything else is read
        as `predict` reads it and gives a list. By default the categories are the five most probable
        assigned ones and the most probable one.

        Examples
        --------
        >>> texts = ["wheat and corn", "corn exports", "crude oil prices", "oil tankers"]
        >>> classifier = TextClassifier(model="naive-bayes")
        >>> _ = classifier.fit(texts, ["grain", "grain", "crude", "crude"])
        >>> classifier.explain("corn prices today")
        Explanation('grain' 0.6 assigned: corn +1.10, prices -0.69; 1 of 3 tokens are not known)
        >>> len(classifier.explain(["corn", "oil"]))
        2
        """
        if isinstance(text, str | Mapping | Document):
            (explanation,) = explain_texts(
                self, self.read([text]), categories=categories, top=top
            )
            return explanation
        return explain_texts(self, self.read(text), categories=categories, top=top)

    def save(self, path: str | Path, *, bundle_vectors: bool = False) -> None:
        """Save the model: to one zip file if the path ends in .zip, else to a folder.

        A model that uses word vectors knows them by their digest and needs the same ones again,
        unless `bundle_vectors` puts them into the file: of vectors of whole words those of the
        training texts.
        """
        save_model(content_of(self, bundle_vectors=bundle_vectors), path)

    @classmethod
    def load(
        cls, path: str | Path, *, mapped: bool = False, vectors: WordVectors | None = None
    ) -> Self:
        """Load a saved model; no code in the file is executed. `mapped` as in `load_model`.

        `vectors` are the word vectors that it was fitted with, if they are neither in the file nor
        of the extra `embeddings`; others are refused.
        """
        content = load_model(path, mapped=mapped)
        try:
            classifier: Self = classifier_of(cls, content)
        except DataError as error:
            raise DataError(f"damaged model: {error}", file=path) from error
        if classifier.embedder_ is not None:
            try:
                attach_vectors(classifier.embedder_, vectors)
            except DataError as error:
                raise DataError(str(error), file=path) from error
        return classifier

    @property
    def current_model(self) -> Any:
        """The fitted model, or before `fit` the one that would be fitted."""
        if hasattr(self, "estimator_"):
            return self.model_
        return self.new_model()

    def new_model(self, *, multilabel: bool = False) -> Any:
        """Return the unfitted model, for labels or for an indicator matrix."""
        return model_for(self.model, multilabel=multilabel)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters.

        `deep` adds those of the parts, also of a model by name and of the default
        vectorizer.
        """
        parameters: dict[str, Any] = super().get_params(deep=deep)
        if deep:
            for name, part in self._default_parts().items():
                parameters |= {
                    f"{name}__{key}": value for key, value in part.get_params().items()
                }
        return parameters

    def set_params(self, **params: Any) -> Self:
        """Set parameters.

        `model__` and `vectorizer__` reach those of a model by name and of the default
        vectorizer.
        """
        own = {name: value for name, value in params.items() if "__" not in name}
        super().set_params(**own)
        rest = {name: value for name, value in params.items() if "__" in name}
        for name, part in self._default_parts().items():
            if any(parameter.startswith(f"{name}__") for parameter in rest):
                setattr(self, name, part)
        super().set_params(**rest)
        return self

    def _default_parts(self) -> dict[str, Any]:
        """Return the model of a name and the default vectorizer, where these are the parameters."""
        parts: dict[str, Any] = (
            {} if self.vectorizer is not None else {"vectorizer": TermVectorizer()}
        )
        if isinstance(self.model, str) and self.model in LEARNERS:
            parts["model"] = make_learner(self.model)
        return parts

    def __dir__(self) -> list[str]:
        return [
            name for name in super().__dir__() if name.startswith("_") or hasattr(self, name)
        ]

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        """Return the parameters, and as a comment the quality to expect of a fitted classifier."""
        written: str = super().__repr__(N_CHAR_MAX)
        if self.expected_quality_ is None:
            return written
        return f"{written}  # expected {self.expected_quality_}"

    def _repr_html_inner(self) -> str:
        return self._learned_html() + str(super()._repr_html_inner())

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] = self._learned_html() + bundle["text/html"]
        return bundle

    def _learned_html(self) -> str:
        """Return what notebooks show of a fitted classifier above the diagram of its parameters."""
        return classifier_html(self) if hasattr(self, "estimator_") else ""

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "estimator_")

    def _check_fitted(self) -> None:
        # scikit-learn's check asks for the tags, which takes long where one text is classified.
        if not hasattr(self, "estimator_"):
            check_is_fitted(self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.sparse = True
        if not isinstance(self.model, str) or self.model in LEARNERS:
            tags.input_tags.positive_only = get_tags(self.new_model()).input_tags.positive_only
        tags.classifier_tags.multi_label = True
        return tags


def _copies_in(words: Design, design: Design, *, are_vectors: bool) -> IntArray:
    """Return the group of each row; copies have nearly the same words, and equal columns.

    Vectors that were given are copies only where they are equal: they need not be of words.
    """
    if are_vectors:
        return group_equal_rows(words.rows)
    copies = group_copies(words.only({"words"}).rows)
    if "columns" not in design.kinds:
        return copies
    values = design.rows[:, design.columns_of({"columns"})].toarray()
    apart = np.column_stack([copies, values])
    groups: IntArray = np.unique(apart, axis=0, return_inverse=True)[1].ravel()
    return groups


def _is_short(model: Any, seconds: float) -> bool:
    """Whether the model has a budget of which words took a large part: characters take longer."""
    budget = getattr(model, "budget", None)
    return budget is not None and seconds > _LARGE_PART * budget


def _names(columns: Sequence[str] | str) -> list[str]:
    """Return the names of columns, or the one name."""
    return [columns] if isinstance(columns, str) else list(columns)
