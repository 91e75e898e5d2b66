"""A text classifier as the content of a model file, and back."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any, cast

import numpy as np

import bayesift
from bayesift.classifier.abstention import Abstention
from bayesift.classifier.labels import FORMS, LabelForm
from bayesift.errors import DataError
from bayesift.features import SelectTerms
from bayesift.knowledge import Coverage, TermKnowledge
from bayesift.model_file import ModelContent
from bayesift.models import STORABLE, is_storable
from bayesift.state import Arrays, decode, decode_fitted, encode, expect, fits
from bayesift.text import TermVectorizer, TextEmbedder, WordVectors
from bayesift.thresholds import ThresholdedClassifier, ThresholdRule

KIND = "text-classifier"
_PACKAGES = ("numpy", "scipy", "scikit-learn")


def content_of(classifier: Any, *, bundle_vectors: bool = False) -> ModelContent:
    """The content of the model file of a fitted `TextClassifier`, with `bundle_vectors` also the vectors it needs."""
    model, arrays = classifier.estimator_.estimator_, Arrays()
    if not is_storable(model):
        raise DataError(f"a {type(model).__name__} cannot be saved; these can: {', '.join(STORABLE)}")
    vectorizer, lists = None, {}
    if classifier.vectorizer_ is not None:
        vectorizer, own, lists["vocabulary"] = classifier.vectorizer_.get_state()
        arrays |= {f"vectorizer.{name}": array for name, array in own.items()}
    header: dict[str, Any] = {
        "kind": KIND,
        "bayesift": bayesift.__version__,
        "versions": {package: version(package) for package in _PACKAGES},
        "categories": list(classifier.categories_),
        "labels": encode(classifier.label_form_),
        "text_columns": encode(classifier.text_columns_),
        "corpus": classifier.corpus_,
        "model": encode(model, arrays, "model"),
        "thresholds": encode(classifier.estimator_.rule_),
        "knowledge": _describe_knowledge(classifier),
        "vectorizer": vectorizer,
        "selection": encode(classifier.selection_, arrays, "selection"),
        "abstention": encode(classifier.abstention_, arrays, "abstention"),
        "embedder": encode(classifier.embedder_, arrays, "embedder"),
    }
    if bundle_vectors and classifier.embedder_ is not None:
        embedder = classifier.embedder_
        held, texts = embedder.vectors_.bundle(embedder.needed_rows())
        arrays |= {f"vectors.{name}": array for name, array in held.items()}
        lists |= {f"vectors-{name}": lines for name, lines in texts.items()}
    return ModelContent(header, arrays, lists)


def classifier_of(cls: Any, content: ModelContent) -> Any:
    """The inverse of `content_of`, for `TextClassifier` or a subclass; refuses parts that do not fit together.

    A model that uses word vectors which are not in the file gets them by `attach_vectors`.
    """
    header = content.header
    if header.get("kind") != KIND:
        raise DataError(f"it holds a {header.get('kind')!r}, not a {KIND!r}")
    form = _form(header)
    selection = None
    if header.get("selection") is not None:
        selection = decode_fitted(header["selection"], content.arrays, SelectTerms, "selection")
    vectorizer = None if header.get("vectorizer") is None else _vectorizer(content)
    classifier = cls.assembled(form, _estimator(content, form), vectorizer, selection)
    classifier.corpus_ = header.get("corpus")
    classifier.text_columns_ = _text_columns(header)
    classifier.knowledge, classifier.coverage_ = _knowledge(header.get("knowledge"))
    if header.get("abstention") is not None:
        classifier.abstention_ = decode_fitted(header["abstention"], content.arrays, Abstention, "abstention")
    if header.get("embedder") is not None:
        classifier.embedder_ = _embedder(content)
    _check_widths(classifier)
    return classifier


def _embedder(content: ModelContent) -> TextEmbedder:
    embedder = decode_fitted(content.header["embedder"], content.arrays, TextEmbedder, "embedder")
    if "vectors.table" in content.arrays:
        arrays, lists = _part(content.arrays, "vectors."), _part(content.lists, "vectors-")
        found = WordVectors.unbundle(arrays, lists, source=embedder.source_, digest=embedder.digest_)
        embedder.attach(found)
    return embedder


def attach_vectors(embedder: TextEmbedder, vectors: WordVectors | None) -> None:
    """Give a loaded embedder the vectors it was fitted with: those given, in the file, or of the extra `embeddings`."""
    if vectors is None and hasattr(embedder, "vectors_"):
        return
    vectors = vectors or WordVectors.installed()
    if vectors is None:
        install = 'pip install "bayesift[embeddings]"'
        raise DataError(f"the model needs the word vectors {embedder.source_}; give them, or run: {install}")
    embedder.attach(vectors)


def _part(parts: dict[str, Any], prefix: str) -> dict[str, Any]:
    return {name.removeprefix(prefix): part for name, part in parts.items() if name.startswith(prefix)}


def _form(header: dict[str, Any]) -> LabelForm:
    labels, categories = header.get("labels"), expect(header, "categories", list[str])
    if len(set(categories)) != len(categories):
        raise DataError("a category is listed twice")
    if isinstance(labels, dict):
        form = decode(labels)
        if not isinstance(form, LabelForm) or form.categories != tuple(categories):
            raise DataError("the labels are not those of the categories")
        return form
    if labels not in FORMS:  # files of 0.1 and 0.2 name the form only; their labels are text
        raise DataError("no form of labels is named")
    return LabelForm(cast(Any, labels), tuple(categories))


def _text_columns(header: dict[str, Any]) -> tuple[str, ...] | None:
    columns = decode(header.get("text_columns"))
    if not fits(columns, tuple[str, ...] | None):
        raise DataError("the columns of text must be names")
    return cast("tuple[str, ...] | None", columns)


def _vectorizer(content: ModelContent) -> TermVectorizer:
    if "vocabulary" not in content.lists:
        raise DataError("the vocabulary is missing")
    own = {name.removeprefix("vectorizer."): array for name, array in content.arrays.items()}
    return TermVectorizer.from_state(content.header["vectorizer"], own, content.lists["vocabulary"])


def _estimator(content: ModelContent, form: LabelForm) -> ThresholdedClassifier:
    code = expect(content.header, "model", dict)
    kind = code.get("kind")
    if not isinstance(kind, str) or kind not in STORABLE:
        raise DataError(f"unknown kind of model {kind!r:.40}; is it from a newer bayesift?")
    model: Any = decode_fitted(code, content.arrays, STORABLE[kind], "model")
    expected = list(range(len(form.categories))) if form.multilabel else list(form.classes)
    if model.classes_.tolist() != expected:
        raise DataError("the categories of the model are not those that are listed")
    rule = _rule(content.header.get("thresholds"), form)
    return ThresholdedClassifier.assembled(model, rule, multilabel=form.multilabel)


def _rule(code: Any, form: LabelForm) -> ThresholdRule:
    rule: ThresholdRule = decode_fitted(code, {}, ThresholdRule)
    try:
        rule.decide(np.full((1, form.n_scores), 0.5))
    except (ArithmeticError, TypeError, ValueError, AttributeError, LookupError) as error:
        raise DataError(f"the thresholds do not fit ({error})") from error
    return rule


def _describe_knowledge(classifier: Any) -> dict[str, Any] | None:
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


def _check_widths(classifier: Any) -> None:
    """Check that vectorizer, selection and model have the same number of columns."""
    width = None if classifier.vectorizer_ is None else len(classifier.vectorizer_.vocabulary_)
    if classifier.selection_ is not None:
        support = classifier.selection_.get_support()
        if width is not None and width != len(support):
            raise DataError("the selection does not fit the vocabulary")
        width = int(np.count_nonzero(support))
    if width is not None and classifier.embedder_ is not None:
        width += len(classifier.embedder_.centre_)
    if width is not None and width != classifier.estimator_.n_features_in_:
        raise DataError("the model does not fit the vocabulary")
