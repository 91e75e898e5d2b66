"""A text classifier as the content of a model file, and back."""

from __future__ import annotations

import math
from importlib.metadata import version
from typing import Any, TypeVar

import numpy as np

import bayesift
from bayesift.classifier.labels import FORMS, LabelForm
from bayesift.classifier.text_classifier import TextClassifier
from bayesift.errors import DataError
from bayesift.features import SelectTerms
from bayesift.knowledge import Coverage, TermKnowledge
from bayesift.model_file import ModelContent
from bayesift.models import STORABLE
from bayesift.text import TermVectorizer
from bayesift.thresholds import THRESHOLD_RULES, ThresholdedClassifier, ThresholdRule

Array = np.ndarray[Any, Any]
Classifier = TypeVar("Classifier", bound=TextClassifier)

KIND = "text-classifier"
_PACKAGES = ("numpy", "scipy", "scikit-learn")
_NEVER, _ALWAYS = "never", "always"


def content_of(classifier: TextClassifier) -> ModelContent:
    """What a model file of this classifier holds.

    Examples
    --------
    >>> content = content_of(TextClassifier().fit(["corn", "oil"], ["grain", "crude"]))
    >>> content.header["categories"], content.lists
    (['crude', 'grain'], {'vocabulary': ['corn', 'oil']})
    """
    model, arrays = _model_state(classifier.estimator_.estimator_)
    header: dict[str, Any] = {
        "kind": KIND,
        "bayesift": bayesift.__version__,
        "versions": {package: version(package) for package in _PACKAGES},
        "categories": list(classifier.categories_),
        "labels": classifier._form.form,
        "corpus": classifier.corpus_,
        "model": model,
        "thresholds": _describe_rule(classifier.estimator_),
        "knowledge": _describe_knowledge(classifier),
        "vectorizer": None,
        "selection": None,
    }
    lists: dict[str, list[str]] = {}
    if classifier.vectorizer_ is not None:
        header["vectorizer"], more, lists["vocabulary"] = classifier.vectorizer_.get_state()
        arrays.update(_prefixed("vectorizer", more))
    if classifier.selection_ is not None:
        header["selection"], more = classifier.selection_.get_state()
        arrays.update(_prefixed("selection", more))
    return ModelContent(header, arrays, lists)


def classifier_of(cls: type[Classifier], content: ModelContent) -> Classifier:
    """The classifier of `content_of`, with identical probabilities; refuses what does not fit together."""
    header = content.header
    if header.get("kind") != KIND:
        raise DataError(f"it holds a {header.get('kind')!r}, not a {KIND!r}")
    form = _form(header)
    classifier = cls.assembled(
        form,
        _estimator(content, form),
        None if header.get("vectorizer") is None else _vectorizer(content),
        None if header.get("selection") is None else _selection(content),
    )
    classifier.corpus_ = header.get("corpus")
    classifier.knowledge, classifier.coverage_ = _knowledge(header.get("knowledge"))
    _check_widths(classifier)
    return classifier


def _model_state(model: Any) -> tuple[dict[str, Any], dict[str, Array]]:
    kind = next((kind for kind, stored in STORABLE.items() if type(model) is stored), None)
    if kind is None:
        raise DataError(f"a {type(model).__name__} cannot be saved; these can: {', '.join(STORABLE)}")
    parameters, arrays = model.get_state()
    return {"kind": kind, "parameters": parameters}, _prefixed("model", arrays)


def _prefixed(part: str, arrays: dict[str, Array]) -> dict[str, Array]:
    return {f"{part}.{name}": array for name, array in arrays.items()}


def _part(content: ModelContent, name: str) -> dict[str, Array]:
    """The arrays of one part of the classifier."""
    prefix = f"{name}."
    return {key.removeprefix(prefix): array for key, array in content.arrays.items() if key.startswith(prefix)}


def _form(header: dict[str, Any]) -> LabelForm:
    form, categories = header.get("labels"), header.get("categories")
    if form not in FORMS or not isinstance(categories, list) or not all(isinstance(c, str) for c in categories):
        raise DataError("no categories are listed")
    if len(set(categories)) != len(categories):
        raise DataError("a category is listed twice")
    return LabelForm(form, tuple(categories))


def _vectorizer(content: ModelContent) -> TermVectorizer:
    if "vocabulary" not in content.lists or not isinstance(content.header["vectorizer"], dict):
        raise DataError("the vocabulary is missing")
    return TermVectorizer.from_state(
        content.header["vectorizer"], _part(content, "vectorizer"), content.lists["vocabulary"]
    )


def _selection(content: ModelContent) -> SelectTerms:
    if not isinstance(content.header["selection"], dict):
        raise DataError("the selection has no parameters")
    return SelectTerms.from_state(content.header["selection"], _part(content, "selection"))


def _estimator(content: ModelContent, form: LabelForm) -> ThresholdedClassifier:
    description = content.header.get("model")
    if not isinstance(description, dict) or not isinstance(description.get("parameters"), dict):
        raise DataError("the model has no parameters")
    kind, parameters = description.get("kind"), description["parameters"]
    if not isinstance(kind, str) or kind not in STORABLE:
        raise DataError(f"unknown kind of model {kind!r:.40}; is it from a newer bayesift?")
    model: Any = STORABLE[kind].from_state(parameters, _part(content, "model"))
    expected = list(range(len(form.categories))) if form.multilabel else list(form.categories)
    if model.classes_.tolist() != expected:
        raise DataError("the categories of the model are not those that are listed")
    return ThresholdedClassifier.assembled(
        model, _rule(content.header.get("thresholds"), form), multilabel=form.multilabel
    )


def _describe_rule(estimator: ThresholdedClassifier) -> dict[str, Any]:
    """The rule with everything it learned; thresholds that no score passes, or every one does, in words."""
    rule = estimator.rule_
    name = next((name for name, kind in THRESHOLD_RULES.items() if type(rule) is kind), None)
    if name is None:
        raise DataError(f"a rule of your own, {type(rule).__name__}, cannot be saved")
    learned = {key: _plain(value) for key, value in vars(rule).items() if key.endswith("_")}
    return {"rule": name, "parameters": {k: _plain(v) for k, v in rule.get_params().items()}, "learned": learned}


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return [_plain(item) for item in value.tolist()]
    if isinstance(value, float) and math.isinf(value):
        return _NEVER if value > 0 else _ALWAYS
    return value.item() if isinstance(value, np.generic) else value


def _rule(description: Any, form: LabelForm) -> ThresholdRule:
    try:
        rule = THRESHOLD_RULES[description["rule"]](**description["parameters"])
        for name, value in description["learned"].items():
            if not name.isidentifier() or not name.endswith("_") or name.startswith("_"):
                raise DataError(f"a rule learns no {name!r}")
            setattr(rule, name, np.array([_number(v) for v in value]) if isinstance(value, list) else _number(value))
        n_scores = 1 if not form.multilabel and len(form.categories) == 2 else len(form.categories)
        rule.decide(np.full((1, n_scores), 0.5))
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise DataError(f"the thresholds do not fit ({error})") from error
    return rule


def _number(value: Any) -> float:
    if value in (_NEVER, _ALWAYS):
        return math.inf if value == _NEVER else -math.inf
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise DataError(f"{value!r:.40} is no threshold")
    return value


def _describe_knowledge(classifier: TextClassifier) -> dict[str, Any] | None:
    if not classifier.knowledge or classifier.coverage_ is None:
        return None
    missing = {category: list(words) for category, words in classifier.coverage_.missing.items()}
    return {"used": classifier.coverage_.used, "missing": missing, **classifier.knowledge.as_dict()}


def _knowledge(description: Any) -> tuple[TermKnowledge | None, Coverage | None]:
    if description is None:
        return None, None
    try:
        parts = dict(description)
        used, missing = parts.pop("used"), {str(c): tuple(map(str, words)) for c, words in parts.pop("missing").items()}
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise DataError(f"not knowledge of words ({error})") from error
    if not isinstance(used, int):
        raise DataError("not knowledge of words: how many were used is no number")
    return TermKnowledge.from_dict(parts), Coverage(used, missing)


def _check_widths(classifier: TextClassifier) -> None:
    """The columns that one part gives are those the next one takes."""
    width = None if classifier.vectorizer_ is None else len(classifier.vectorizer_.vocabulary_)
    if classifier.selection_ is not None:
        support = classifier.selection_.get_support()
        if width is not None and width != len(support):
            raise DataError("the selection does not fit the vocabulary")
        width = int(np.count_nonzero(support))
    if width is not None and width != classifier.estimator_.n_features_in_:
        raise DataError("the model does not fit the vocabulary")
