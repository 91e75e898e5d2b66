"""Learning from batch after batch: `partial_fit` of a `TextClassifier`."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from inspect import signature
from typing import Any

import numpy as np
from sklearn.base import clone

from bayesift.arrays import FloatArray
from bayesift.classifier.features import TextFeatures
from bayesift.classifier.labels import (
    LabelForm,
    Labels,
    check_lengths,
    labels_of,
    read_labels,
    warn_of_missing,
)
from bayesift.classifier.model_options import vectorizer_for
from bayesift.classifier.texts import Texts, read_texts
from bayesift.errors import DataError
from bayesift.models import LEARNERS, is_storable
from bayesift.records import Corpus
from bayesift.thresholds import ThresholdedClassifier, ThresholdRule


def learns_in_batches(model: Any) -> bool:
    """Whether a model is one of bayesift that learns batch after batch, with new terms in each."""
    return is_storable(model) and hasattr(model, "partial_fit")


def learners_that_grow() -> list[str]:
    """Return the names of the learners that learn batch after batch."""
    return [name for name, learner in LEARNERS.items() if learns_in_batches(learner.make())]


def learn_batch(classifier: Any, X: Any, y: Any, classes: Any, sample_weight: Any) -> None:
    """Fit a `TextClassifier` further; a refused batch changes nothing."""
    columns = classifier.text_columns_ if _is_fitted(classifier) else None
    texts = read_texts(X, columns=columns).whole()
    labels = read_labels(y, categories=_label_columns(classifier, y, classes))
    weights = check_lengths(texts, labels, sample_weight)
    texts.refuse_labels(labels)
    warn_of_missing(labels)
    if columns is None:
        texts.warn_of_columns()
    labels = labels.where(texts.have_text())
    _learn(classifier, texts, labels, classes, weights)


def learn_corpus(classifier: Any, corpus: Corpus, *, multilabel: bool) -> None:
    """Fit a `TextClassifier` further to the documents of a corpus."""
    if multilabel:
        so_far = classifier.label_form_.classes if _is_fitted(classifier) else ()
        corpus = corpus.with_categories(dict.fromkeys([*so_far, *corpus.categories]))
    labels = labels_of(corpus, multilabel=multilabel)
    warn_of_missing(labels)
    if len(labels.rows):
        _learn(classifier, read_texts(corpus), labels, None, None)
        classifier.layout_ = corpus.layout


def _is_fitted(classifier: Any) -> bool:
    return hasattr(classifier, "estimator_")


def _learn(
    classifier: Any, texts: Texts, labels: Labels, classes: Any, weights: FloatArray | None
) -> None:
    rule = _unlearned_rule(classifier)
    vectorizer = _growing_vectorizer(classifier, texts)
    if len(labels.rows) < labels.n_given:
        texts = texts.take(labels.rows)
        weights = None if weights is None else weights[labels.rows]
    if _is_fitted(classifier):
        model = classifier.model_
    else:
        model = clone(classifier.new_model(multilabel=labels.form.multilabel))
    options = _fit_options(model, labels, classes, weights)
    # If the model refuses the batch, the vectorizer forgets the words that it has just learned.
    with nullcontext() if vectorizer is None else vectorizer.undone_if_refused():
        rows = (
            texts.values
            if vectorizer is None
            else vectorizer.partial_fit_transform(texts.values)
        )
        model.partial_fit(rows, labels.y, **options)
    form = _grown_form(labels.form, model)
    rule.fit(np.zeros((1, form.n_scores)), None)
    classifier.estimator_ = ThresholdedClassifier.assembled(
        model, rule, multilabel=form.multilabel
    )
    classifier.features_ = TextFeatures(vectorizer)
    classifier.label_form_ = form
    classifier.text_columns_ = texts.column_names
    classifier.coverage_ = None
    classifier.corpus_ = None
    classifier.layout_ = None


def _label_columns(classifier: Any, y: Any, classes: Any) -> Any:
    """Return the columns of collections of labels: those so far, then `classes`, then others."""
    form = read_labels(y).form
    if form.form != "sets":
        return classes if form.multilabel else None
    so_far = classifier.label_form_.classes if _is_fitted(classifier) else ()
    further = () if classes is None else classes
    return list(dict.fromkeys([*so_far, *further, *form.classes]))


def _unlearned_rule(classifier: Any) -> ThresholdRule:
    """Return the decision rule, unfitted; refuse what needs all texts at once."""
    if _is_fitted(classifier):
        selection = classifier.selection_
        has_blocks = bool(classifier.features_.kinds)
    else:
        selection = classifier.selection
        has_blocks = (
            classifier.embedder not in ("auto", None)
            or classifier.characters not in ("auto", False)
            or bool(classifier.columns)
        )
    parts = (selection, classifier.knowledge or None, classifier.class_weight)
    if has_blocks or any(part is not None for part in parts):
        raise DataError(
            "partial_fit takes no selection, knowledge, class_weight, embedder, characters or "
            "columns; use fit on all texts"
        )
    if _is_fitted(classifier):
        rule: ThresholdRule = clone(classifier.estimator_.rule_)
    else:
        rule = ThresholdedClassifier(
            classifier.current_model, rule=classifier.threshold
        ).new_rule()
    if rule.needs_scores:
        raise DataError(
            f"partial_fit cannot fit a {type(rule).__name__} rule, which needs all texts: use fit"
        )
    return rule


def _growing_vectorizer(classifier: Any, texts: Texts) -> Any:
    if not _is_fitted(classifier):
        if texts.are_vectors:
            return None
        return vectorizer_for(classifier.model, classifier.vectorizer)
    if texts.are_vectors != (classifier.vectorizer_ is None):
        kind = "vectors" if texts.are_vectors else "texts"
        raise DataError(f"the model was not trained on {kind}")
    return classifier.vectorizer_


def _fit_options(
    model: Any, labels: Labels, classes: Any, weights: FloatArray | None
) -> dict[str, Any]:
    """Return the further arguments of the model's `partial_fit`."""
    options: dict[str, Any] = {}
    if weights is not None:
        options["sample_weight"] = weights
    if classes is not None and not labels.form.multilabel:
        options["classes"] = read_labels(list(classes)).y
    for name in options:
        if name not in signature(model.partial_fit).parameters:
            raise DataError(f"a {type(model).__name__} takes no {name} in partial_fit")
    return options


def _grown_form(form: LabelForm, model: Any) -> LabelForm:
    """Return the form of the labels with all classes so far."""
    if form.multilabel:
        return form
    known = np.asarray(model.classes_)
    dtype = "str" if known.dtype.kind == "U" else known.dtype.name
    return replace(form, classes=tuple(known.tolist()), dtype=dtype)
