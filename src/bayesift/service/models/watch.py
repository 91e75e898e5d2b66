"""Watch what a served model is asked: counts, times, and whether new texts are like the training.

**Drift** is reported by two Kolmogorov-Smirnov tests, each at half of the level, so that while
nothing changes a look reports drift at most once in a thousand times:

- words: the share of unknown words in the newest texts against that in documents held out of the
  training, which the model file keeps (`Abstention`). It must differ by more than `TOLERANCE`,
  because the held-out documents were read with the words of fewer documents: on SMS messages,
  questions and newsgroup posts (100 to 3,000 training texts) that alone made .03 to .14.
- probabilities: the highest probability of the newest texts against that of the first texts that
  were answered since the model was loaded. Held-out documents do not serve here: models of fewer
  documents are less sure, which made up to .31.
"""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from scipy.stats import ks_2samp, kstwobign

from bayesift.arrays import FloatArray
from bayesift.classifier.abstention import Abstention, Doubts

NEWEST = 1_000  # texts that are compared, and first texts that they are compared with
LEAST = 100  # texts from which on they are
TOLERANCE = 0.1  # of the distance between distributions, up to which words have not changed
LEVEL = 0.001  # probability of a false alarm of one look, both tests together


@dataclass(frozen=True)
class Drift:
    """The comparison of the newest texts with the training and with the first texts.

    Parameters
    ----------
    n_texts : the newest, that were compared
    words : p-value of the share of unknown words; None if no documents were held out
    probabilities : p-value of the highest probability; None while there are too few texts
    """

    n_texts: int
    words: float | None
    probabilities: float | None

    @property
    def found(self) -> bool:
        """Whether either differs by more than chance explains."""
        known = [p for p in (self.words, self.probabilities) if p is not None]
        return min(known, default=1.0) < LEVEL / 2


class ModelWatch:
    """Counts of one version of a model since it was loaded."""

    def __init__(self, abstention: Abstention | None) -> None:
        self._abstention = abstention
        self._first: list[float] = []
        self._best: deque[float] = deque(maxlen=NEWEST)
        self._unseen: deque[float] = deque(maxlen=NEWEST)
        self.n_requests = 0
        self.n_texts = 0
        self.n_unsure = 0
        self.seconds = 0.0
        self.categories: Counter[str] = Counter()

    def count(self, categories: Sequence[Sequence[str]], n_unsure: int) -> None:
        """Count the answers to a request."""
        self.n_requests += 1
        self.n_texts += len(categories)
        self.n_unsure += n_unsure
        for assigned in categories:
            self.categories.update(assigned)

    def compare(self, doubts: Doubts) -> None:
        """Keep what is compared."""
        best = doubts.best.tolist()
        n_first = NEWEST - len(self._first)
        self._first += best[:n_first]
        self._best.extend(best[n_first:])
        self._unseen.extend(doubts.unseen.tolist())

    def drift(self) -> Drift | None:
        """Compare the newest texts; None while they are few."""
        if len(self._unseen) < LEAST:
            return None
        words = probabilities = None
        if self._abstention is not None:
            words = _p_value(self._abstention.unseen, self._unseen, TOLERANCE)
        if len(self._best) >= LEAST:
            probabilities = _p_value(self._first, self._best, 0.0)
        return Drift(len(self._unseen), words, probabilities)


def _p_value(
    expected: FloatArray | Sequence[float], newest: Sequence[float], tolerance: float
) -> float:
    """Compute the asymptotic p-value of a distance beyond the tolerance."""
    n = len(expected)
    m = len(newest)
    distance = float(ks_2samp(expected, newest).statistic)
    return float(kstwobign.sf(math.sqrt(n * m / (n + m)) * max(0.0, distance - tolerance)))


def model_metrics(watches: dict[str, ModelWatch]) -> list[Metric]:
    """Return the metrics of models by name, for Prometheus."""
    requests = CounterMetricFamily(
        "bayesift_model_requests", "Requests answered.", labels=["model"]
    )
    texts = CounterMetricFamily("bayesift_model_texts", "Texts classified.", labels=["model"])
    unsure = CounterMetricFamily(
        "bayesift_model_unsure", "Texts the model abstained on.", labels=["model"]
    )
    seconds = CounterMetricFamily(
        "bayesift_model_seconds", "Seconds until answers, all requests.", labels=["model"]
    )
    given = CounterMetricFamily(
        "bayesift_model_categories", "Texts given a category.", labels=["model", "category"]
    )
    drift = GaugeMetricFamily(
        "bayesift_model_drift_p",
        "P-value of new texts against held-out ones; small if they differ.",
        labels=["model", "of"],
    )
    for name, watch in watches.items():
        requests.add_metric([name], watch.n_requests)
        texts.add_metric([name], watch.n_texts)
        unsure.add_metric([name], watch.n_unsure)
        seconds.add_metric([name], watch.seconds)
        for category, count in watch.categories.items():
            given.add_metric([name, category], count)
        found = watch.drift()
        if found is not None:
            for of, p in (("words", found.words), ("probabilities", found.probabilities)):
                if p is not None:
                    drift.add_metric([name, of], p)
    return [requests, texts, unsure, seconds, given, drift]
