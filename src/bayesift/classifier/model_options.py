"""What the parameters of a `TextClassifier` mean for its model: which one, and how it is fitted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MethodType
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
from scipy import sparse
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.utils import compute_sample_weight, get_tags
from sklearn.utils.validation import has_fit_parameter

from bayesift.arrays import FloatArray
from bayesift.classifier.labels import Labels
from bayesift.errors import DataError
from bayesift.features import Design
from bayesift.models import make_learner, weighting_of
from bayesift.models.linear import BlockScales
from bayesift.text import TermVectorizer

if TYPE_CHECKING:
    from bayesift.features import SelectTerms


Method = TypeVar("Method", bound=Callable[..., Any])


def offered_unless(reason: Callable[[Any], str | None]) -> Callable[[Method], Method]:
    """Offer a method unless there is a reason against it, which is the message of the error.

    scikit-learn's `available_if` hides the message behind one that names the attribute alone.
    """

    def offered(method: Method) -> Method:
        # To type checkers it is the method itself.
        return cast(Method, _OfferedMethod(method, reason))

    return offered


class _OfferedMethod:
    def __init__(self, method: Callable[..., Any], reason: Callable[[Any], str | None]) -> None:
        self._method = method
        self._reason = reason
        self.__doc__ = method.__doc__
        self.__name__ = method.__name__

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self._method
        try:
            reason = self._reason(instance)
        except ValueError as error:  # the name of the model is not known
            raise AttributeError(str(error)) from error
        if reason is not None:
            raise AttributeError(reason)
        return MethodType(self._method, instance)


def model_for(model: Any, *, multilabel: bool) -> Any:
    """Make the model of a name, or take the one given.

    One that takes no indicator matrix is fitted to each category in turn.
    """
    if isinstance(model, str):
        return make_learner(model, multilabel=multilabel)
    is_able = (
        isinstance(model, MetaEstimatorMixin) or get_tags(model).classifier_tags.multi_label
    )
    if is_able or not multilabel:
        return model
    from sklearn.multiclass import OneVsRestClassifier

    return OneVsRestClassifier(model)


def vectorizer_for(model: Any, vectorizer: TermVectorizer | None) -> TermVectorizer:
    """Make an unfitted copy of the vectorizer; without a weighting it gets that of the model."""
    made: TermVectorizer = TermVectorizer() if vectorizer is None else clone(vectorizer)
    if made.weighting is None:
        made.set_params(weighting=weighting_of(model))
    return made


def takes_blocks(model: Any) -> bool:
    """Whether a model takes the blocks of columns, and uses those that lower its loss."""
    return bool(has_fit_parameter(model, "blocks"))


def tries_blocks(model: Any) -> bool:
    """Whether a model takes the time to try blocks that the user did not ask for."""
    return takes_blocks(model) and model.effort != "quick"


def makes_plain_words(vectorizer: TermVectorizer) -> bool:
    """Whether word pairs may be tried beside the terms of a vectorizer."""
    return (
        vectorizer.analyzer == "word"
        and vectorizer.tokenizer is None
        and tuple(vectorizer.ngram_range) == (1, 1)
        and vectorizer.weighting == "sublinear-tf-idf"
    )


def scale_blocks(model: Any, design: Design) -> Any:
    """Tell the blocks to a model that wants a prior scale for each and names none itself."""
    rule = getattr(model, "prior_scale", None)
    if rule == "blocks":
        rule = BlockScales()
    if not isinstance(rule, BlockScales) or rule.blocks:
        return model
    blocks = tuple((block.name, block.size) for block in design.blocks if block.size)
    return clone(model).set_params(prior_scale=replace(rule, blocks=blocks))


def fit_options(
    model: Any,
    selection: SelectTerms | None,
    design: Design,
    weights: FloatArray | None,
    *,
    multilabel: bool,
) -> dict[str, Any]:
    """Return the further arguments of the model's `fit`."""
    options: dict[str, Any] = {}
    is_masked = selection is not None and selection.per_category
    if selection is not None and is_masked and has_fit_parameter(model, "feature_mask"):
        options["feature_mask"] = _feature_mask(selection, design, multilabel=multilabel)
    if weights is not None:
        options["sample_weight"] = weights
    if takes_blocks(model):
        options["blocks"] = design.blocks
    return options


def _feature_mask(
    selection: SelectTerms, design: Design, *, multilabel: bool
) -> sparse.csr_array:
    """Return the words selected for each category; all categories use the other blocks."""
    kept = np.flatnonzero(selection.get_support())
    mask = sparse.csr_array(sparse.csc_array(selection.feature_mask_)[:, kept])
    n_others = design.rows.shape[1] - len(kept)
    if n_others:
        others = np.ones((mask.shape[0], n_others), dtype=mask.dtype)
        mask = sparse.csr_array(sparse.hstack([mask, sparse.csr_array(others)]))
    if multilabel or len(selection.classes_) > 2:
        return mask
    return mask[[1]]  # two classes share one model, that of the second


def weigh_classes(
    model: Any,
    class_weight: Mapping[Any, float] | str | None,
    labels: Labels,
    weights: FloatArray | None,
) -> tuple[Any, FloatArray | None]:
    """Put the weights of the classes into the model, or else into the weights of the texts."""
    if isinstance(class_weight, Mapping):
        for label in class_weight:
            if label not in labels.form.classes:
                raise DataError(f"class_weight names {label!r}, which no text has for a label")
    if class_weight is not None and "class_weight" in model.get_params(deep=False):
        return clone(model).set_params(class_weight=class_weight), weights
    takes_weights = has_fit_parameter(model, "sample_weight")
    if class_weight is not None:
        if labels.form.multilabel or not takes_weights:
            raise DataError(f"a {type(model).__name__} takes no class_weight")
        of_classes = compute_sample_weight(class_weight, labels.y)
        weights = of_classes if weights is None else weights * of_classes
    if weights is not None and not takes_weights:
        raise DataError(f"a {type(model).__name__} takes no sample_weight")
    return model, weights
