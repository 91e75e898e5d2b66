"""Learning from one batch of texts after the other: `TextClassifier.partial_fit`."""

from __future__ import annotations

import warnings
from dataclasses import replace
from inspect import signature
from typing import Any

import numpy as np
from sklearn.base import clone

from bayesift.classifier.labels import LabelForm, Labels, read_labels
from bayesift.classifier.parts import check_lengths, missing_message, vectorizer_for
from bayesift.classifier.texts import Texts, read_texts
from bayesift.errors import DataError, DataWarning
from bayesift.models import is_storable
from bayesift.thresholds import ThresholdedClassifier, ThresholdRule


def can_grow(model: Any) -> bool:
    """Whether a model is one of ours that learns from batch after batch, with new terms in each."""
    return is_storable(model) and hasattr(model, "partial_fit")


def learn_batch(classifier: Any, texts: Any, labels: Any, classes: Any, sample_weight: Any) -> None:
    """Fit a `TextClassifier` further; everything is checked before anything changes."""
    started = hasattr(classifier, "estimator_")
    given = read_texts(texts, columns=classifier.text_columns_ if started else None).whole()
    target = read_labels(labels, categories=_columns(classifier, labels, classes))
    weights = check_lengths(given, target, sample_weight)
    given.refuse_labels(target)
    rule, vectorizer = _rule(classifier), _vectorizer(classifier, given)
    if target.n_missing:
        warnings.warn(missing_message(target), DataWarning, stacklevel=3)
    if len(target.rows) < target.n_given:
        given, weights = given.take(target.rows), None if weights is None else weights[target.rows]
    model = classifier.current_model if started else clone(classifier.new_model(multilabel=target.form.multilabel))
    more = _more(model, target, classes, weights)
    X = given.values if vectorizer is None else vectorizer.partial_fit(given.values).transform(given.values)
    model.partial_fit(X, target.y, **more)
    form = _form(target.form, model)
    rule.fit(np.zeros((1, form.n_scores)), None)
    classifier.estimator_ = ThresholdedClassifier.assembled(model, rule, multilabel=form.multilabel)
    classifier.label_form_, classifier.vectorizer_, classifier.selection_ = form, vectorizer, None
    classifier.text_columns_ = given.column_names
    classifier.coverage_, classifier.corpus_ = None, None


def _columns(classifier: Any, labels: Any, classes: Any) -> Any:
    """The columns of collections of labels: those so far, then `classes`, then others."""
    form = read_labels(labels).form
    if form.form != "sets":
        return classes if form.multilabel else None
    so_far = classifier.label_form_.classes if hasattr(classifier, "label_form_") else ()
    return list(dict.fromkeys([*so_far, *(() if classes is None else classes), *form.classes]))


def _rule(classifier: Any) -> ThresholdRule:
    """The decision rule, unfitted; refuses what needs all texts at once."""
    started = hasattr(classifier, "estimator_")
    selection = classifier.selection_ if started else classifier.selection
    embedder = classifier.embedder_ if started else None if classifier.embedder == "auto" else classifier.embedder
    if any(part is not None for part in (selection, classifier.knowledge or None, classifier.class_weight, embedder)):
        raise DataError("partial_fit takes no selection, knowledge, class_weight or embedder; use fit on all texts")
    if started:
        rule: ThresholdRule = clone(classifier.estimator_.rule_)
    else:
        rule = ThresholdedClassifier(classifier.current_model, rule=classifier.threshold).new_rule()
    if rule.needs_scores:
        raise DataError(f"partial_fit cannot fit a {type(rule).__name__} rule, which needs all texts: use fit")
    return rule


def _vectorizer(classifier: Any, given: Texts) -> Any:
    if not hasattr(classifier, "estimator_"):
        return None if given.are_vectors else vectorizer_for(classifier.model, classifier.vectorizer)
    if given.are_vectors != (classifier.vectorizer_ is None):
        raise DataError(f"the model was not trained on {'vectors' if given.are_vectors else 'texts'}")
    return classifier.vectorizer_


def _more(model: Any, target: Labels, classes: Any, weights: Any) -> dict[str, Any]:
    """The further arguments of the model's `partial_fit`."""
    more = {} if weights is None else {"sample_weight": weights}
    if classes is not None and not target.form.multilabel:
        more["classes"] = read_labels(list(classes)).y
    for name in more:
        if name not in signature(model.partial_fit).parameters:
            raise DataError(f"a {type(model).__name__} takes no {name} in partial_fit")
    return more


def _form(form: LabelForm, model: Any) -> LabelForm:
    """The form of the labels with all classes so far."""
    if form.multilabel:
        return form
    known = np.asarray(model.classes_)
    return replace(form, classes=tuple(known.tolist()), dtype="str" if known.dtype.kind == "U" else known.dtype.name)
