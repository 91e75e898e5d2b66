"""Table 5: 300 and 1,000 terms."""

from dataclasses import replace

from bayesift.reproduce.experiment import Experiment
from bayesift.reproduce.sparse_bayes.columns import f1_grid
from bayesift.reproduce.sparse_bayes.setting import JEFFREYS, LAPLACE

COLUMNS = {
    "Jeffreys 300 features": JEFFREYS,
    "Jeffreys 1000 features": replace(JEFFREYS, terms=1000),
    "Laplace γ = 10 300 features": LAPLACE,
    "Laplace γ = 10 1000 features": replace(LAPLACE, terms=1000),
}
EXPERIMENT = Experiment("sparse-bayes:table-5", lambda extent: f1_grid(COLUMNS, extent))
