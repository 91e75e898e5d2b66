"""Figure 1: the probit model with its hierarchical prior and latent variables, drawn, and tried by drawing from it."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats

from bayesift.report.curves import Diagram
from bayesift.reproduce.experiment import Experiment, Extent, Grid, PlotReading, Task, reading

GAMMA, DRAWS, SCORES = 10.0, 200_000, (-2.0, -0.5, 0.0, 1.0, 2.5)


def draw_from_the_model(*, quick: bool, seed: int) -> dict[str, Any]:
    """How far draws from the hierarchy lie from the Laplace prior and the probit it should amount to."""
    generator = np.random.default_rng(seed)
    n_draws = DRAWS // 10 if quick else DRAWS
    tau = generator.exponential(2 / GAMMA, n_draws)
    beta = generator.normal(0, np.sqrt(tau))
    laplace = stats.laplace(scale=1 / np.sqrt(GAMMA))
    prior = stats.kstest(beta, laplace.cdf)
    labels = [np.mean(generator.normal(score, 1.0, n_draws) > 0) for score in SCORES]
    gaps = np.abs(np.array(labels) - stats.norm.cdf(SCORES))
    return {"prior": float(prior.statistic), "label": float(gaps.max()), "draws": n_draws}


def _task(extent: Extent) -> Task:
    return Task.of(draw_from_the_model, "sparse Bayes: draws from the hierarchy", **extent.settings)


def _grid(extent: Extent) -> Grid:
    task = _task(extent)
    return {
        ("largest gap of the distribution of β to Laplace's", "draws"): reading(task, "prior"),
        ("largest gap of P(z > 0) to Φ(βᵀx)", "draws"): reading(task, "label"),
        ("how many draws", "draws"): reading(task, "draws"),
    }


def _diagram(result: Any) -> Diagram:
    nodes = {
        "γ*": (70.0, 40.0),
        "τ": (70.0, 120.0),
        "β": (70.0, 200.0),
        "x*": (260.0, 60.0),
        "z": (260.0, 150.0),
        "y*": (260.0, 240.0),
    }
    arrows = [("γ*", "τ"), ("τ", "β"), ("β", "z"), ("x*", "z"), ("z", "y*")]
    plates = {"terms j = 1 … d": (20.0, 88.0, 120.0, 150.0), "documents i = 1 … n": (195.0, 25.0, 145.0, 260.0)}
    return Diagram("Probit model with hierarchical prior and latent variables (filled: known)", nodes, arrows, plates)


EXPERIMENT = Experiment("sparse-bayes:figure-1", _grid, plots=lambda extent: [PlotReading((_task(extent),), _diagram)])
