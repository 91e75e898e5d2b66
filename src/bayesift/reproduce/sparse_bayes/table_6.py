"""Table 6: sparse and dense models, probit and logistic."""

from dataclasses import replace

from bayesift.reproduce.experiment import Alternative, Experiment, Extent
from bayesift.reproduce.sparse_bayes.columns import f1_grid, variations
from bayesift.reproduce.sparse_bayes.setting import (
    EARLY,
    GAUSSIAN,
    LAPLACE,
    LOGISTIC_GAUSSIAN,
    LOGISTIC_LAPLACE,
    Setting,
)

COLUMNS = {
    "Probit Gaussian": GAUSSIAN,
    "Probit Laplace": LAPLACE,
    "Logistic Gaussian": LOGISTIC_GAUSSIAN,
    "Logistic Laplace": LOGISTIC_LAPLACE,
}


def _idf_choices(setting: Setting) -> dict[str, Setting]:
    return {
        "as in the table: IDF ln(N/n)": setting,
        "IDF log2(N/n)": replace(setting, idf="log2"),
        "IDF ln(N/n), documents of length one": replace(setting, idf="cosine"),
        "no IDF": replace(setting, idf="none"),
    }


def _alternatives(extent: Extent) -> list[Alternative]:
    dense = {
        "as in the table": GAUSSIAN,
        EARLY: replace(GAUSSIAN, stop="early"),
        "the intercept under the same prior": replace(GAUSSIAN, intercept="prior"),
        "threshold at probability 1/2": replace(GAUSSIAN, threshold="zero"),
        "IDF ln(N/n)": replace(GAUSSIAN, idf="ln"),
    }
    return [
        *variations("Probit Gaussian", dense, extent),
        *variations("Logistic Gaussian", _idf_choices(LOGISTIC_GAUSSIAN), extent),
        *variations("Logistic Laplace", _idf_choices(LOGISTIC_LAPLACE), extent),
    ]


EXPERIMENT = Experiment("sparse-bayes:table-6", lambda extent: f1_grid(COLUMNS, extent), _alternatives)
