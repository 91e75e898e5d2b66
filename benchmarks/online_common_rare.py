"""Combine a Bayesian model of common categories with margins for rare ones.

Run with `python -m benchmarks.online_common_rare`; both parts are measured alone as well.

Reuters-21578, ModApte, all words, ltc. The perceptron learns in one epoch, with variances only and
priors scaled by likelihood ratios (counted again in every fold); the linear SVM takes them as they
are. Both decide by MaxF1 thresholds set on their training scores. The boundary is chosen by
three-fold cross-validation on the training documents, once for each criterion.
"""

from __future__ import annotations

import time
from typing import Any

from bayesift.evaluation import evaluate_decisions
from bayesift.features import SelectTerms
from bayesift.models.baselines import LinearSVM
from bayesift.models.ensemble import CommonRareClassifier
from bayesift.models.online import OnlinePerceptron
from bayesift.thresholds import ThresholdedClassifier
from papers.online import Reuters, data_of


def parts() -> tuple[Any, Any]:
    """Return the unfitted classifiers of common and of rare categories."""
    perceptron = OnlinePerceptron(
        covariance="diagonal", n_epochs=1, shuffle=False, prior_variance=4.0
    )
    return ThresholdedClassifier(perceptron), ThresholdedClassifier(
        LinearSVM(loss="hinge", C="scale")
    )


def prior_scales(X: Any, Y: Any) -> Any:
    """How far the weight of each term of a category may go."""
    return (
        SelectTerms(by="likelihood-ratio", per_category=True, soft=50.0).fit(X, Y).feature_mask_
    )


def report(name: str, model: Any, data: Reuters) -> str:
    """Test micro and macro F1 of a fitted model."""
    measured = evaluate_decisions(data.Y_test, model.predict(data.X_test))
    return f"{name}: micro {100 * measured.micro.f1:.2f}, macro {100 * measured.macro.f1:.2f}"


def main() -> None:
    """Fit and print both parts, then the combined classifier by each criterion."""
    data = data_of("SVMa-1", quick=False)
    X, Y = data.X, data.Y
    common, rare = parts()
    print(
        report("perceptron alone", common.fit(X, Y, feature_mask=prior_scales(X, Y)), data),
        flush=True,
    )
    print(report("SVM alone", rare.fit(X, Y), data), flush=True)
    for criterion in ("macro", "micro"):
        start = time.process_time()
        model = CommonRareClassifier(*parts(), criterion=criterion, cv=3).fit(
            X, Y, feature_mask=prior_scales
        )
        kept = (
            f"boundary {model.boundary_} documents, {int(model.is_common_.sum())} common "
            "categories"
        )
        print(
            f"{report(criterion, model, data)}; {kept}; {time.process_time() - start:.0f} CPU s",
            flush=True,
        )


if __name__ == "__main__":
    main()
