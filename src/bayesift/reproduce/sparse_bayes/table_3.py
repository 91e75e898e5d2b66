"""Table 3: priors, and what EM stopped early or with its E-step as printed gives."""

from dataclasses import replace

from bayesift.reproduce.experiment import Alternative, Experiment, Extent
from bayesift.reproduce.sparse_bayes.columns import f1_grid, variations
from bayesift.reproduce.sparse_bayes.setting import EARLY, GAMMAS, JEFFREYS, PRIORS


def _alternatives(extent: Extent) -> list[Alternative]:
    others = variations("Jeffreys", {EARLY: replace(JEFFREYS, stop="early")}, extent)
    for gamma, setting in GAMMAS.items():
        # with ω = γ/|β| in the E-step EM seeks the mode for γ squared
        squared = replace(setting, parameter=gamma**2)
        choices = {
            "the mode, as in the table": setting,
            EARLY: replace(setting, stop="early"),
            "ω = γ/|β|, as the E-step is printed": squared,
            "both": replace(squared, stop="early"),
        }
        others += variations(f"Laplace γ = {gamma:g}", choices, extent)
    return others


EXPERIMENT = Experiment("sparse-bayes:table-3", lambda extent: f1_grid(PRIORS, extent), _alternatives)
