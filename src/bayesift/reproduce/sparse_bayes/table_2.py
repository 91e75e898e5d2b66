"""Table 2: raw and logarithmic term frequencies."""

from dataclasses import replace

from bayesift.reproduce.experiment import Experiment
from bayesift.reproduce.sparse_bayes.columns import f1_grid
from bayesift.reproduce.sparse_bayes.setting import JEFFREYS, LAPLACE

COLUMNS = {
    "Jeffreys raw TF": replace(JEFFREYS, weighting="tf"),
    "Jeffreys log TF": JEFFREYS,
    "Laplace γ = 10 raw TF": replace(LAPLACE, weighting="tf"),
    "Laplace γ = 10 log TF": LAPLACE,
}
EXPERIMENT = Experiment("sparse-bayes:table-2", lambda extent: f1_grid(COLUMNS, extent))
