"""Table 7: sparse models on RCV1 beside the systems of Lewis et al."""

from dataclasses import replace

from bayesift.reproduce.experiment import Alternative, Experiment, Extent
from bayesift.reproduce.sparse_bayes.columns import f1_grid, variations
from bayesift.reproduce.sparse_bayes.rcv1 import JEFFREYS, LAPLACE, LOGISTIC_LAPLACE_3000, LONGER, PEERS, without_em
from bayesift.reproduce.sparse_bayes.setting import AVERAGES

COLUMNS = {
    **PEERS,
    "Probit Jeffreys 300 features": JEFFREYS,
    "Probit Laplace γ = 25 300 features": LAPLACE,
    "Logistic Laplace γ = 25 3,000 features": LOGISTIC_LAPLACE_3000,
}


def _alternatives(extent: Extent) -> list[Alternative]:
    others: list[Alternative] = []
    for name in ("Probit Laplace γ = 25 300 features", "Logistic Laplace γ = 25 3,000 features"):
        choice = f"vectors {LONGER:g} times as long, about the length of log TF"
        others += variations(name, {choice: replace(COLUMNS[name], scale=LONGER)}, extent)
    return others


EXPERIMENT = Experiment(
    "sparse-bayes:table-7", lambda extent: f1_grid(without_em(COLUMNS, extent), extent, AVERAGES), _alternatives
)
