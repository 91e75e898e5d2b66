"""Table 8: sparse and dense models on RCV1."""

from dataclasses import replace

from bayesift.reproduce.experiment import Alternative, Experiment, Extent
from bayesift.reproduce.sparse_bayes import rcv1
from bayesift.reproduce.sparse_bayes.columns import f1_grid, variations
from bayesift.reproduce.sparse_bayes.setting import AVERAGES

COLUMNS = {
    "Probit Jeffreys 300": rcv1.JEFFREYS,
    "Probit Laplace γ = 25 300": rcv1.LAPLACE,
    "Probit Gaussian σ² = 0.001 300": rcv1.GAUSSIAN,
    "Logistic Laplace γ = 25 300": rcv1.LOGISTIC_LAPLACE,
    "Logistic Laplace γ = 25 3,000": rcv1.LOGISTIC_LAPLACE_3000,
    "Logistic Gaussian σ² = 0.01 3,000": rcv1.LOGISTIC_GAUSSIAN_3000,
}


def _alternatives(extent: Extent) -> list[Alternative]:
    choice = f"vectors {rcv1.LONGER:g} times as long, about the length of log TF"
    longer = {name: replace(setting, scale=rcv1.LONGER) for name, setting in COLUMNS.items() if "Jeffreys" not in name}
    return [other for name, setting in longer.items() for other in variations(name, {choice: setting}, extent)]


EXPERIMENT = Experiment(
    "sparse-bayes:table-8", lambda extent: f1_grid(rcv1.without_em(COLUMNS, extent), extent, AVERAGES), _alternatives
)
