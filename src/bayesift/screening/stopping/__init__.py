"""Decide when to stop screening: estimates, proofs by a random sample, and rules to compare.

`RankDecay` estimates the number of relevant documents among the unseen from how quickly finds
become rarer, `Forecast` from the texts; `SampleCheck` proves a bound by reading at random;
`STOPPING_RULES` has these and others, each with the statement it makes, what it assumes and what it
costs.
"""

from bayesift.screening.stopping.decay import RankDecay, StoppingEstimate, learn_tail_shares
from bayesift.screening.stopping.remaining import (
    Forecast,
    RemainingRelevant,
    allowed_missing,
    remaining_relevant,
)
from bayesift.screening.stopping.rules import (
    STOPPING_RULES,
    CallaghanMuellerHansen,
    Chao,
    InARow,
    Knee,
    PointProcess,
    PosteriorRule,
    QuantileBinomial,
    Safe,
    SampleRule,
    StoppingRule,
    StopPoint,
)
from bayesift.screening.stopping.sampling import SampleCheck, recall_p_value, sample_size

__all__ = [
    "STOPPING_RULES",
    "CallaghanMuellerHansen",
    "Chao",
    "Forecast",
    "InARow",
    "Knee",
    "PointProcess",
    "PosteriorRule",
    "QuantileBinomial",
    "RankDecay",
    "RemainingRelevant",
    "Safe",
    "SampleCheck",
    "SampleRule",
    "StopPoint",
    "StoppingEstimate",
    "StoppingRule",
    "allowed_missing",
    "learn_tail_shares",
    "recall_p_value",
    "remaining_relevant",
    "sample_size",
]
