"""The parts of a text classifier: before they are fitted, as they learn in batches, and as a model file holds them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from importlib.metadata import version
from inspect import signature
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from scipy import sparse
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.utils import compute_sample_weight, get_tags
from sklearn.utils.validation import has_fit_parameter

import bayesift
from bayesift.arrays import Array
from bayesift.classifier.abstention import Abstention
from bayesift.classifier.blocks import Blocks, TableColumns
from bayesift.classifier.inputs import (
    FORMS,
    LabelForm,
    Labels,
    Texts,
    labels_of,
    read_labels,
    read_texts,
)
from bayesift.errors import DataError, DataWarning
from bayesift.knowledge import Coverage, TermKnowledge
from bayesift.model_file import ModelContent
from bayesift.models import STORABLE, is_storable, make_learner, weighting_of
from bayesift.models.linear import BlockScales
from bayesift.records import Corpus
from bayesift.state import Arrays, decode, decode_fitted, encode, expect, fits
from bayesift.text import TermVectorizer, TextEmbedder, WordVectors
from bayesift.thresholds import ThresholdedClassifier, ThresholdRule
from bayesift.validation import check_sample_weight

if TYPE_CHECKING:
    from bayesift.features import SelectTerms


def model_for(model: Any, *, multilabel: bool) -> Any:
    """The model by name or as it is.

    One that takes no indicator matrix is to be fitted to each category in turn.
    """
    if isinstance(model, str):
        return make_learner(model, multilabel=multilabel)
    able = isinstance(model, MetaEstimatorMixin) or get_tags(model).classifier_tags.multi_label
    if able or not multilabel:
        return model
    from sklearn.multiclass import OneVsRestClassifier

    return OneVsRestClassifier(model)


def vectorizer_for(model: Any, vectorizer: TermVectorizer | None) -> TermVectorizer:
    """An unfitted copy of the vectorizer with the weighting that the model wants, unless it has its own."""
    made: TermVectorizer = TermVectorizer() if vectorizer is None else clone(vectorizer)
    return made if made.weighting is not None else made.set_params(weighting=weighting_of(model))


def may_use_pairs(model: Any, vectorizer: TermVectorizer) -> bool:
    """Whether a model can try word pairs, and the vectorizer makes plain words of texts."""
    plain = (
        vectorizer.analyzer == "word"
        and vectorizer.tokenizer is None
        and tuple(vectorizer.ngram_range) == (1, 1)
    )
    able = has_fit_parameter(model, "ngram_lengths") and model.effort != "quick"
    return plain and able and vectorizer.weighting == "sublinear-tf-idf"


def used_columns(model: Any, ngram_lengths: Array) -> Array:
    """Which columns a model that was given their numbers of words uses."""
    used: Array = np.isin(np.minimum(ngram_lengths, 2), model.column_kinds_)
    return used


def with_block_scales(model: Any, blocks: tuple[tuple[str, int], ...]) -> Any:
    """The model with a prior scale for each of these blocks, if it asks for such scales and names no blocks."""
    rule = getattr(model, "prior_scale", None)
    rule = BlockScales() if rule == "blocks" else rule
    if not isinstance(rule, BlockScales) or rule.blocks:
        return model
    return clone(model).set_params(
        prior_scale=replace(rule, blocks=tuple(block for block in blocks if block[1]))
    )


def feature_masks(
    model: Any, selection: SelectTerms | None, *, multilabel: bool, n_others: int = 0
) -> dict[str, Any]:
    """The `feature_mask` argument of `fit`, for a model that accepts it and a selection per category.

    All categories use the `n_others` columns behind the terms.
    """
    if (
        selection is None
        or not selection.per_category
        or not has_fit_parameter(model, "feature_mask")
    ):
        return {}
    kept = np.flatnonzero(selection.get_support())
    feature_mask = sparse.csr_array(sparse.csc_array(selection.feature_mask_)[:, kept])
    if n_others:
        others = np.ones((feature_mask.shape[0], n_others), dtype=feature_mask.dtype)
        feature_mask = sparse.csr_array(sparse.hstack([feature_mask, sparse.csr_array(others)]))
    # Two classes share one model, that of the second.
    return {
        "feature_mask": feature_mask
        if multilabel or len(selection.classes_) > 2
        else feature_mask[[1]]
    }


def weigh_classes(
    model: Any,
    class_weight: Mapping[Any, float] | str | None,
    target: Labels,
    weights: Array | None,
) -> tuple[Any, Array | None]:
    """The model and the weights of the texts, with the weights of the classes in the one or the other."""
    if isinstance(class_weight, Mapping):
        unknown = [label for label in class_weight if label not in target.form.classes]
        if unknown:
            raise DataError(f"class_weight names {unknown[0]!r}, which no text has for a label")
    if class_weight is not None and "class_weight" in model.get_params(deep=False):
        return clone(model).set_params(class_weight=class_weight), weights
    takes_weights = has_fit_parameter(model, "sample_weight")
    if class_weight is not None:
        if target.form.multilabel or not takes_weights:
            raise DataError(f"a {type(model).__name__} takes no class_weight")
        of_classes = compute_sample_weight(class_weight, target.y)
        weights = of_classes if weights is None else weights * of_classes
    if weights is not None and not takes_weights:
        raise DataError(f"a {type(model).__name__} takes no sample_weight")
    return model, weights


def check_lengths(given: Texts, target: Labels, sample_weight: Any) -> Array | None:
    """The sample weights as an array; refuses texts, labels and weights of different numbers."""
    if given.n_texts is not None and given.n_texts != target.n_given:
        raise DataError(f"{given.n_texts:,} texts, but {target.n_given:,} labels")
    return None if sample_weight is None else check_sample_weight(sample_weight, target.n_given)


def missing_message(target: Labels) -> str:
    """What is said of texts without a label."""
    texts = f"{target.n_missing:,} {'text' if target.n_missing == 1 else 'texts'} without a label"
    if len(target.rows) == target.n_given:
        return f"{texts} kept as texts of no category"
    return f"{texts} left out; multilabel=True (--multilabel) keeps them as texts of no category"


KIND = "text-classifier"
_PACKAGES = ("numpy", "scipy", "scikit-learn")


def content_of(classifier: Any, *, bundle_vectors: bool = False) -> ModelContent:
    """The content of the model file of a fitted `TextClassifier`, with `bundle_vectors` also the vectors it needs."""
    model, arrays = classifier.estimator_.estimator_, Arrays()
    if not is_storable(model):
        raise DataError(
            f"a {type(model).__name__} cannot be saved; these can: {', '.join(STORABLE)}"
        )
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
        "embedder": encode(classifier.blocks_.embedder, arrays, "embedder"),
        "table": encode(classifier.blocks_.table, arrays, "table"),
    }
    if classifier.blocks_.characters is not None:
        header["characters"], own, lists["characters"] = classifier.blocks_.characters.get_state()
        arrays |= {f"characters.{name}": array for name, array in own.items()}
    embedder = classifier.blocks_.embedder
    if bundle_vectors and embedder is not None:
        held, texts = embedder.vectors_.bundle(embedder.needed_rows())
        arrays |= {f"vectors.{name}": array for name, array in held.items()}
        lists |= {f"vectors-{name}": lines for name, lines in texts.items()}
    return ModelContent(header, arrays, lists)


def classifier_of(cls: Any, content: ModelContent) -> Any:
    """The inverse of `content_of`, for `TextClassifier` or a subclass.

    Refuses parts that do not fit together.

    A model that uses word vectors which are not in the file gets them by `attach_vectors`.
    """
    header = content.header
    if header.get("kind") != KIND:
        raise DataError(f"it holds a {header.get('kind')!r}, not a {KIND!r}")
    form = _stored_form(header)
    selection = None
    if header.get("selection") is not None:
        from bayesift.features import SelectTerms

        selection = decode_fitted(header["selection"], content.arrays, SelectTerms, "selection")
    vectorizer = None if header.get("vectorizer") is None else _stored_vectorizer(content)
    classifier = cls.assembled(form, _estimator(content, form), vectorizer, selection)
    classifier.corpus_ = header.get("corpus")
    classifier.text_columns_ = _text_columns(header)
    classifier.knowledge, classifier.coverage_ = _knowledge(header.get("knowledge"))
    if header.get("abstention") is not None:
        classifier.abstention_ = decode_fitted(
            header["abstention"], content.arrays, Abstention, "abstention"
        )
    classifier.blocks_ = _blocks(content)
    _check_widths(classifier)
    return classifier


def _blocks(content: ModelContent) -> Blocks:
    header, characters = content.header, None
    if header.get("characters") is not None:
        characters = _stored_vectorizer(content, "characters", "characters")
    table = header.get("table")
    return Blocks(
        None if header.get("embedder") is None else _embedder(content),
        characters,
        None if table is None else decode_fitted(table, content.arrays, TableColumns, "table"),
    )


def _embedder(content: ModelContent) -> TextEmbedder:
    embedder = decode_fitted(content.header["embedder"], content.arrays, TextEmbedder, "embedder")
    if "vectors.table" in content.arrays:
        arrays, lists = _part(content.arrays, "vectors."), _part(content.lists, "vectors-")
        found = WordVectors.unbundle(
            arrays, lists, source=embedder.source_, digest=embedder.digest_
        )
        embedder.attach(found)
    return embedder


def attach_vectors(embedder: TextEmbedder, vectors: WordVectors | None) -> None:
    """Give a loaded embedder the vectors it was fitted with: those given, in the file, or of the extra `embeddings`."""
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
        name.removeprefix(prefix): part for name, part in parts.items() if name.startswith(prefix)
    }


def _stored_form(header: dict[str, Any]) -> LabelForm:
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


def _stored_vectorizer(
    content: ModelContent, part: str = "vectorizer", vocabulary: str = "vocabulary"
) -> TermVectorizer:
    if vocabulary not in content.lists:
        raise DataError("the vocabulary is missing")
    own = _part(content.arrays, f"{part}.")
    return TermVectorizer.from_state(content.header[part], own, content.lists[vocabulary])


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
    missing = {category: list(words) for category, words in classifier.coverage_.missing.items()}
    return {"used": classifier.coverage_.used, "missing": missing, **classifier.knowledge.as_dict()}


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
    if width is not None:
        width += sum(classifier.blocks_.sizes.values())
    if width is not None and width != classifier.estimator_.n_features_in_:
        raise DataError("the model does not fit the vocabulary")


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
    if target.n_missing:
        warnings.warn(missing_message(target), DataWarning, stacklevel=3)
    _learn(classifier, given, target, classes, weights)


def learn_corpus(classifier: Any, corpus: Corpus, *, multilabel: bool) -> None:
    """Fit a `TextClassifier` further to the documents of a corpus."""
    if multilabel:
        so_far = classifier.label_form_.classes if hasattr(classifier, "label_form_") else ()
        corpus = corpus.with_categories(dict.fromkeys([*so_far, *corpus.categories]))
    target = labels_of(corpus, multilabel=multilabel)
    if target.n_missing:
        warnings.warn(missing_message(target), DataWarning, stacklevel=3)
    if len(target.rows):
        _learn(classifier, read_texts(corpus), target, None, None)


def _learn(
    classifier: Any, given: Texts, target: Labels, classes: Any, weights: Array | None
) -> None:
    started = hasattr(classifier, "estimator_")
    rule, vectorizer = _unlearned_rule(classifier), _growing_vectorizer(classifier, given)
    if len(target.rows) < target.n_given:
        given, weights = given.take(target.rows), None if weights is None else weights[target.rows]
    model = (
        classifier.current_model
        if started
        else clone(classifier.new_model(multilabel=target.form.multilabel))
    )
    more = _more(model, target, classes, weights)
    X = given.values if vectorizer is None else vectorizer.partial_fit_transform(given.values)
    model.partial_fit(X, target.y, **more)
    form = _grown_form(target.form, model)
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


def _unlearned_rule(classifier: Any) -> ThresholdRule:
    """The decision rule, unfitted; refuses what needs all texts at once."""
    started = hasattr(classifier, "estimator_")
    selection = classifier.selection_ if started else classifier.selection
    if started:
        blocks = bool(classifier.blocks_)
    else:
        blocks = classifier.embedder not in ("auto", None) or bool(
            classifier.characters or classifier.columns
        )
    if blocks or any(
        part is not None
        for part in (selection, classifier.knowledge or None, classifier.class_weight)
    ):
        raise DataError(
            "partial_fit takes no selection, knowledge, class_weight, embedder, characters or columns; "
            "use fit on all texts"
        )
    if started:
        rule: ThresholdRule = clone(classifier.estimator_.rule_)
    else:
        rule = ThresholdedClassifier(classifier.current_model, rule=classifier.threshold).new_rule()
    if rule.needs_scores:
        raise DataError(
            f"partial_fit cannot fit a {type(rule).__name__} rule, which needs all texts: use fit"
        )
    return rule


def _growing_vectorizer(classifier: Any, given: Texts) -> Any:
    if not hasattr(classifier, "estimator_"):
        return (
            None if given.are_vectors else vectorizer_for(classifier.model, classifier.vectorizer)
        )
    if given.are_vectors != (classifier.vectorizer_ is None):
        raise DataError(
            f"the model was not trained on {'vectors' if given.are_vectors else 'texts'}"
        )
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


def _grown_form(form: LabelForm, model: Any) -> LabelForm:
    """The form of the labels with all classes so far."""
    if form.multilabel:
        return form
    known = np.asarray(model.classes_)
    return replace(
        form,
        classes=tuple(known.tolist()),
        dtype="str" if known.dtype.kind == "U" else known.dtype.name,
    )
