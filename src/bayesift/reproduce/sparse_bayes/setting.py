"""The settings of Eyheramendy et al. (2003): what the paper fixes, and what it leaves open as parameters.

Fixed: stop words and punctuation left out; log TF; terms chosen for each category by |Pearson|; the threshold with the
fewest training errors. Open, and here as their defaults: words are runs of letters, without stems; the intercept has no
prior; the mode is exact; of equally good thresholds the one in the widest gap.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

TEN = ("earn", "acq", "money-fx", "grain", "crude", "trade", "interest", "wheat", "ship", "corn")
AVERAGES = ("macro-average", "micro-average")
CHANGE, CUT = 1e-2, 1e-3  # where an impatient EM stops, as a share of the largest weight, and what it then takes for 0
EARLY = f"EM stopped at a change of {CHANGE:g}, weights below {CUT:g} cut"


@dataclass(frozen=True)
class Setting:
    """One column of one of the paper's tables, or a variation of it.

    Parameters
    ----------
    model : "probit", "logit"; "naive Bayes", "SVM", "kNN" and "Rocchio" have no prior
    prior, parameter : "jeffreys", "laplace" (gamma) or "gaussian" (variance)
    terms, by : how many terms a category, by which score; 0 for all
    weighting : "log-tf", "tf" or "binary"
    idf : "none", "ln" or "log2" of (documents / those with the term); "cosine" is "ln", then documents of length one
    corpus : "reuters-labelled" (the ten largest categories), "reuters" (the same, with documents of no category), or
        "rcv1-sample" (all categories, vectors as they come)
    characters, stop_words, stemmer : the words, as `TermVectorizer` says
    intercept : "flat", or "prior" for that of the other weights
    stop : "mode", or "early" for an EM that stops at a change of `CHANGE` and cuts at `CUT`
    threshold : the one with the fewest training errors in the "widest" gap, the "highest" or "lowest" of these; "zero";
        "scut", the best F1 on documents held out
    scale : what the vectors are multiplied by

    Examples
    --------
    >>> Setting(prior="jeffreys").terms
    300
    """

    model: str = "probit"
    prior: Literal["jeffreys", "laplace", "gaussian"] = "laplace"
    parameter: float = 10.0
    terms: int = 300
    by: str = "pearson"
    weighting: Literal["log-tf", "tf", "binary"] = "log-tf"
    idf: Literal["none", "ln", "log2", "cosine"] = "none"
    corpus: Literal["reuters-labelled", "reuters", "rcv1-sample"] = "reuters-labelled"
    characters: Literal["letters", "words"] = "letters"
    stop_words: str | None = "english"
    stemmer: str | None = None
    intercept: Literal["flat", "prior"] = "flat"
    stop: Literal["mode", "early"] = "mode"
    threshold: Literal["widest", "highest", "lowest", "zero", "scut"] = "widest"
    scale: float = 1.0


LAPLACE = Setting()
JEFFREYS = Setting(prior="jeffreys")
GAUSSIAN = Setting(prior="gaussian", parameter=0.01)
LOGISTIC_GAUSSIAN = replace(GAUSSIAN, model="logit", idf="ln")
LOGISTIC_LAPLACE = replace(LAPLACE, model="logit", idf="ln")
GAMMAS = {gamma: replace(LAPLACE, parameter=gamma) for gamma in (0.1, 0.3, 1.0, 3.0, 10.0, 30.0)}
PRIORS = {"Jeffreys": JEFFREYS} | {f"Laplace γ = {gamma:g}": setting for gamma, setting in GAMMAS.items()}
