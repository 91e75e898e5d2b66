"""Settings on RCV1: the vectors come weighted (log TF x IDF, length one), so that text processing is not ours."""

from collections.abc import Mapping
from dataclasses import replace

from bayesift.reproduce.experiment import Extent
from bayesift.reproduce.sparse_bayes.setting import Setting

LAPLACE = Setting(corpus="rcv1-sample", parameter=25.0)
JEFFREYS = replace(LAPLACE, prior="jeffreys", stop="early")  # EM under this prior takes minutes
GAUSSIAN = replace(LAPLACE, prior="gaussian", parameter=0.001)
LOGISTIC_LAPLACE = replace(LAPLACE, model="logit")
LOGISTIC_LAPLACE_3000 = replace(LOGISTIC_LAPLACE, terms=3000)
LOGISTIC_GAUSSIAN_3000 = replace(LOGISTIC_LAPLACE_3000, prior="gaussian", parameter=0.01)
PEERS = {name: Setting(corpus="rcv1-sample", model=name, terms=0) for name in ("SVM", "kNN", "Rocchio")}
# documents of log TF are about ten times as long as those of length one, and a prior on weights means as much more
LONGER = 10.0


def without_em(columns: Mapping[str, Setting], extent: Extent) -> dict[str, Setting]:
    """The columns of a run; a quick one leaves EM out."""
    return {name: setting for name, setting in columns.items() if not (extent.quick and setting.prior == "jeffreys")}
