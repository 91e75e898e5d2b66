"""fastText: embeddings of words averaged, then a linear layer; a loss a category, or softmax for classes."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from bayesift.reproduce.leaderboard.contenders import Contender
from bayesift.reproduce.leaderboard.contenders.documents import InRandomOrder, indicator_of, pairs_of

Array = np.ndarray[Any, Any]
_LABEL = "__label__"


class FastText:
    """fastText on counts: a word stands as often as it is counted, weights that are no counts stand once."""

    def __init__(self, multilabel: bool, **setting: Any) -> None:
        self.multilabel = multilabel
        self.setting = setting

    def fit(self, X: Any, y: Array) -> FastText:
        """Write the documents as lines and train on one thread, which makes it the same every time."""
        import fasttext

        Y = indicator_of(y, self.multilabel)
        self.n_categories_ = Y.shape[1]
        labels = [" ".join(f"{_LABEL}{c}" for c in np.flatnonzero(row)) for row in Y]
        loss = "ova" if self.multilabel else "softmax"
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "train.txt"
            path.write_text("".join(f"{a} {b}\n" for a, b in zip(labels, _lines(X), strict=True) if a))
            self.model_ = fasttext.train_supervised(str(path), loss=loss, thread=1, verbose=0, **self.setting)
        self.arrays_ = [self.model_.get_input_matrix(), self.model_.get_output_matrix()]
        return self

    def predict_proba(self, X: Any) -> Array:
        """Probabilities of categories."""
        probabilities = np.zeros((X.shape[0], self.n_categories_))
        for row, line in enumerate(_lines(X)):
            # Asked for many lines at once, fastText 0.9.2 gives the first probability for every category.
            for value, name in self.model_.f.predict(f"{line}\n", -1, 0.0, "strict"):
                probabilities[row, int(name.removeprefix(_LABEL))] = min(value, 1.0)
        return probabilities if self.multilabel else probabilities / probabilities.sum(axis=1, keepdims=True)


def _lines(X: Any) -> list[str]:
    return [" ".join(f"w{j}" for j, x in pairs for _ in range(max(1, int(x + 1e-9)))) for pairs in pairs_of(X)]


CONTENDER = Contender(
    "fastText",
    "fasttext",
    lambda setting, multilabel: InRandomOrder(FastText(multilabel, **setting)),
    [{"lr": rate, "epoch": 25, "dim": 50, "minCount": 1} for rate in (0.1, 0.5)],
    weighting="tf",
    module="fasttext",
)
