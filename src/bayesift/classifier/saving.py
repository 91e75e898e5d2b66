"""The model file of a `TextClassifier`: its parts, laid out in a header, arrays and lists."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any, cast

import numpy as np

import bayesift
from bayesift.classifier.abstention import Abstention
from bayesift.classifier.features import TextFeatures
from bayesift.classifier.labels import LabelForm
from bayesift.classifier.quality import ExpectedQuality, Repeats
from bayesift.classifier.table_columns import TableColumns
from bayesift.errors import DataError
from bayesift.knowledge import Coverage, TermKnowledge
from bayesift.model_file import ModelContent
from bayesift.models import STORABLE, is_storable
from bayesift.state import (
    Arrays,
    Parameters,
    decode,
    decode_fitted,
    encode,
    expect,
    fits,
    storable,
)
from bayesift.tables import Columns, TableLayout
from bayesift.text import TermVectorizer, TextEmbedder, WordVectors
from bayesift.thresholds import ThresholdedClassifier, ThresholdRule

storable("columns")(Columns)
storable("table-layout")(TableLayout)

KIND = "text-classifier"
_PACKAGES = ("numpy", "scipy", "scikit-learn")
# The lists that hold the terms of vectorizers.
_TERMS = {"vectorizer": "vocabulary", "characters": "characters"}


def content_of(classifier: Any, *, bundle_vectors: bool = False) -> ModelContent:
    """Return the content of the model file of a fitted `TextClassifier`.

    With `bundle_vectors` it holds the word vectors that the model needs too.
    """
    model = classifier.model_
    if not is_storable(model):
        raise DataError(
            f"a {type(model).__name__} cannot be saved; these can: {', '.join(STORABLE)}"
        )
    arrays = Arrays()
    lists: dict[str, list[str]] = {}
    features = classifier.features_
    header: dict[str, Any] = {
        "kind": KIND,
        "bayesift": bayesift.__version__,
        "versions": {package: version(package) for package in _PACKAGES},
        "categories": list(classifier.categories_),
        "labels": encode(classifier.label_form_),
        "text_columns": encode(classifier.text_columns_),
        "corpus": classifier.corpus_,
        "layout": encode(classifier.layout_),
        "model": encode(model, arrays, "model"),
        "thresholds": encode(classifier.estimator_.rule_),
        "knowledge": _describe_knowledge(classifier),
        "vectorizer": _store_vectorizer(features.vectorizer, "vectorizer", arrays, lists),
        "selection": encode(features.selection, arrays, "selection"),
        "abstention": encode(classifier.abstention_, arrays, "abstention"),
        "expected_quality": encode(classifier.expected_quality_, arrays, "expected_quality"),
        "repeats": encode(classifier.repeats_),
        "embedder": encode(features.embedder, arrays, "embedder"),
        "characters": _store_vectorizer(features.characters, "characters", arrays, lists),
        "table": encode(features.table, arrays, "table"),
    }
    if bundle_vectors and features.embedder is not None:
        vectors = features.embedder.vectors_
        held, texts = vectors.bundle(features.embedder.needed_rows())
        arrays |= {f"vectors.{name}": array for name, array in held.items()}
        lists |= {f"vectors-{name}": lines for name, lines in texts.items()}
    return ModelContent(header, arrays, lists)


def _store_vectorizer(
    vectorizer: TermVectorizer | None, part: str, arrays: Arrays, lists: dict[str, list[str]]
) -> Parameters | None:
    """Put the arrays and the terms of a vectorizer into the content; returns its parameters."""
    if vectorizer is None:
        return None
    parameters, own, lists[_TERMS[part]] = vectorizer.get_state()
    for name, array in own.items():
        arrays[f"{part}.{name}"] = array
    return parameters


def classifier_of(cls: Any, content: ModelContent) -> Any:
    """Make the `TextClassifier`, or an object of a subclass, that `content_of` described.

    Parts that do not fit together are refused. A model that uses word vectors which are not in the
    file gets them by `attach_vectors`.
    """
    header = content.header
    if header.get("kind") != KIND:
        raise DataError(f"it holds a {header.get('kind')!r}, not a {KIND!r}")
    form = _stored_form(header)
    features = _stored_features(content)
    estimator = _estimator(content, form)
    classifier = cls.assembled(form, estimator, features.vectorizer, features.selection)
    classifier.features_ = features
    classifier.corpus_ = header.get("corpus")
    classifier.text_columns_ = _text_columns(header)
    if header.get("layout") is not None:
        classifier.layout_ = decode_fitted(header["layout"], {}, TableLayout)
    classifier.knowledge, classifier.coverage_ = _knowledge(header.get("knowledge"))
    if header.get("abstention") is not None:
        classifier.abstention_ = decode_fitted(
            header["abstention"], content.arrays, Abstention, "abstention"
        )
    if header.get("expected_quality") is not None:
        classifier.expected_quality_ = decode_fitted(
            header["expected_quality"], content.arrays, ExpectedQuality, "expected_quality"
        )
    if header.get("repeats") is not None:
        classifier.repeats_ = decode_fitted(header["repeats"], {}, Repeats)
    _check_widths(features, estimator)
    return classifier


def _stored_features(content: ModelContent) -> TextFeatures:
    header, arrays = content.header, content.arrays
    selection = None
    if header.get("selection") is not None:
        from bayesift.features import SelectTerms

        selection = decode_fitted(header["selection"], arrays, SelectTerms, "selection")
    embedder = None
    if header.get("embedder") is not None:
        embedder = _stored_embedder(content)
    table = None
    if header.get("table") is not None:
        table = decode_fitted(header["table"], arrays, TableColumns, "table")
    return TextFeatures(
        vectorizer=_stored_vectorizer(content, "vectorizer"),
        selection=selection,
        embedder=embedder,
        characters=_stored_vectorizer(content, "characters"),
        table=table,
    )


def _stored_embedder(content: ModelContent) -> TextEmbedder:
    embedder = decode_fitted(
        content.header["embedder"], content.arrays, TextEmbedder, "embedder"
    )
    if "vectors.table" in content.arrays:
        arrays = _part(content.arrays, "vectors.")
        lists = _part(content.lists, "vectors-")
        found = WordVectors.unbundle(
            arrays, lists, source=embedder.source_, digest=embedder.digest_
        )
        embedder.attach(found)
    return embedder


def _stored_vectorizer(content: ModelContent, part: str) -> TermVectorizer | None:
    if content.header.get(part) is None:
        return None
    if _TERMS[part] not in content.lists:
        raise DataError("the vocabulary is missing")
    own = _part(content.arrays, f"{part}.")
    return TermVectorizer.from_state(content.header[part], own, content.lists[_TERMS[part]])


def attach_vectors(embedder: TextEmbedder, vectors: WordVectors | None) -> None:
    """Give a loaded embedder the vectors it was fitted with.

    They are those given, those in the file, or those of the extra `embeddings`.
    """
    if vectors is None and hasattr(embedder, "vectors_"):
        return
    vectors = vectors or WordVectors.installed()
    if vectors is None:
        install = 'pip install "bayesift[embeddings]"'
        raise DataError(
            f"the model needs the word vectors {embedder.source_}; give them, or run: {install}"
        )
    embedder.attach(vectors)


def _part(parts: dict[str, Any], prefix: str) -> dict[str, Any]:
    return {
        name.removeprefix(prefix): part
        for name, part in parts.items()
        if name.startswith(prefix)
    }


def _stored_form(header: dict[str, Any]) -> LabelForm:
    labels, categories = header.get("labels"), expect(header, "categories", list[str])
    if len(set(categories)) != len(categories):
        raise DataError("a category is listed twice")
    form = decode(labels) if isinstance(labels, dict) else None
    if not isinstance(form, LabelForm) or form.categories != tuple(categories):
        raise DataError("the labels are not those of the categories")
    return form


def _text_columns(header: dict[str, Any]) -> tuple[str, ...] | None:
    columns = decode(header.get("text_columns"))
    if not fits(columns, tuple[str, ...] | None):
        raise DataError("the columns of text must be names")
    return cast("tuple[str, ...] | None", columns)


def _estimator(content: ModelContent, form: LabelForm) -> ThresholdedClassifier:
    code = expect(content.header, "model", dict)
    kind = code.get("kind")
    if not isinstance(kind, str) or kind not in STORABLE:
        raise DataError(f"unknown kind of model {kind!r:.40}; is it from a newer bayesift?")
    model: Any = decode_fitted(code, content.arrays, STORABLE[kind], "model")
    expected = list(range(len(form.categories))) if form.multilabel else list(form.classes)
    if model.classes_.tolist() != expected:
        raise DataError("the categories of the model are not those that are listed")
    rule = _stored_rule(content.header.get("thresholds"), form)
    return ThresholdedClassifier.assembled(model, rule, multilabel=form.multilabel)


def _stored_rule(code: Any, form: LabelForm) -> ThresholdRule:
    rule: ThresholdRule = decode_fitted(code, {}, ThresholdRule)
    try:
        rule.decide(np.full((1, form.n_scores), 0.5))
    except (ArithmeticError, TypeError, ValueError, AttributeError, LookupError) as error:
        raise DataError(f"the thresholds do not fit ({error})") from error
    return rule


def _describe_knowledge(classifier: Any) -> dict[str, Any] | None:
    if not classifier.knowledge or classifier.coverage_ is None:
        return None
    missing = {
        category: list(words) for category, words in classifier.coverage_.missing.items()
    }
    return {
        "used": classifier.coverage_.used,
        "missing": missing,
        **classifier.knowledge.as_dict(),
    }


def _knowledge(description: Any) -> tuple[TermKnowledge | None, Coverage | None]:
    if description is None:
        return None, None
    try:
        parts = dict(description)
        used, missing = (
            parts.pop("used"),
            {str(c): tuple(map(str, words)) for c, words in parts.pop("missing").items()},
        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise DataError(f"not knowledge of words ({error})") from error
    if not isinstance(used, int):
        raise DataError("not knowledge of words: the number of words that were used is missing")
    return TermKnowledge.from_dict(parts), Coverage(used, missing)


def _check_widths(features: TextFeatures, estimator: ThresholdedClassifier) -> None:
    """Refuse a vectorizer, a selection and a model with different numbers of columns."""
    n_terms = None
    if features.vectorizer is not None:
        n_terms = len(features.vectorizer.vocabulary_)
    if features.selection is not None:
        support = features.selection.get_support()
        if n_terms is not None and n_terms != len(support):
            raise DataError("the selection does not fit the vocabulary")
        n_terms = int(np.count_nonzero(support))
    if n_terms is None:
        return
    n_others = sum(features.block_sizes().values())
    if n_terms + n_others != estimator.n_features_in_:
        raise DataError("the model does not fit the vocabulary")
