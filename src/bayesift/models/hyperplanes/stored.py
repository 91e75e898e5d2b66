"""Hyperplanes and how they are stored."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from bayesift.errors import DataError
from bayesift.models.linear.linear_scores import LinearScores
from bayesift.models.linear.weights import compact, from_arrays, to_arrays
from bayesift.models.state import Arrays, Parameters, are_sorted, classes_of, describe_classes, expect
from bayesift.validation import Targets

Array = np.ndarray[Any, Any]


class StoredHyperplanes(LinearScores):
    """Hyperplanes that a file can hold; a class that learns supplies `fit`, which ends with `_keep`."""

    def get_state(self) -> tuple[Parameters, Arrays]:
        """All that `from_state` needs: parameters that JSON can hold, and arrays."""
        check_is_fitted(self)
        parameters: Parameters = {
            "settings": self._settings(),
            "classes": describe_classes(self.classes_),
            "multilabel": self.multilabel_,
        }
        return parameters, to_arrays(self.coef_, self.intercept_)

    @classmethod
    def from_state(cls, parameters: Parameters, arrays: Arrays) -> Self:
        """The classifier of `get_state`, with identical scores; refuses what does not fit together."""
        settings = expect(parameters, "settings", dict)
        try:
            model = cls(**cls._constructed(settings))
        except TypeError as error:
            raise DataError(f"not the settings of a {cls.__name__}: {error}") from error
        model.multilabel_ = expect(parameters, "multilabel", bool)
        model.coef_, model.intercept_ = from_arrays(arrays)
        n_hyperplanes, model.n_features_in_ = model.coef_.shape
        n_classes = 2 if n_hyperplanes == 1 and not model.multilabel_ else n_hyperplanes
        model.classes_ = classes_of(expect(parameters, "classes", dict), n_classes)
        if not (model.multilabel_ or are_sorted(model.classes_)):
            raise DataError("its classes are not sorted")
        return model

    def _settings(self) -> Parameters:
        """The constructor's parameters as JSON can hold them."""
        settings: Parameters = self.get_params(deep=False)  # type: ignore[attr-defined]
        return settings

    @classmethod
    def _constructed(cls, settings: Parameters) -> Parameters:
        """The inverse of `_settings`."""
        return settings

    def _keep(self, targets: Targets, weights: Any, intercepts: Array) -> Self:
        self.classes_, self.multilabel_ = targets.classes, targets.multilabel
        self.coef_ = weights if sparse.issparse(weights) else compact(weights)
        self.intercept_ = intercepts
        return self
