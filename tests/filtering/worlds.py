"""Small streams about a topic that a filter can learn, and slow, plain versions of its results."""

import numpy as np
from scipy import sparse
from scipy.stats import norm

from bayesift.filtering import Filter, FilterEngine, ProfileSettings, Strategy, VectorSpace
from bayesift.filtering.engine import replay_events
from bayesift.records import Document

TOPIC = ["wheat", "corn", "barley", "harvest", "tonnes"]
OTHER = [
    "oil",
    "crude",
    "barrel",
    "opec",
    "rig",
    "bank",
    "rate",
    "loan",
    "share",
    "profit",
    "dividend",
    "stock",
]

PROFILES = """
profiles:
  - name: grain
    query: wheat corn barley harvest
    strategy: +rel+ig
    goal: {target: 20}
  - name: oil
    words: {oil: 1, crude: 1, wheat: -0.5}
"""


def same_state(one, other):
    """Whether two states of profiles are the same bit for bit."""
    return (
        one.header == other.header
        and one.arrays.keys() == other.arrays.keys()
        and all(np.array_equal(array, other.arrays[name]) for name, array in one.arrays.items())
    )


def stream(n_documents, *, seed=0, share=0.3, words=12):
    """Documents with their relevance: relevant ones speak of the topic half of the time."""
    rng = np.random.default_rng(seed)
    documents, labels = [], []
    for i in range(n_documents):
        relevant = rng.random() < share
        source = [TOPIC if relevant and rng.random() < 0.5 else OTHER for _ in range(words)]
        text = " ".join(str(rng.choice(part)) for part in source)
        documents.append(Document(f"d{i}", f"{text} only{i % 7}"))
        labels.append(bool(relevant))
    return documents, labels


def engine(strategy="+rel+ig", *, background=30, n_profiles=1, seed=1, **settings):
    """An engine whose profiles start from a few labelled documents."""
    documents, labels = stream(background, seed=seed)
    space = VectorSpace(stemmer=None)
    X = space.learn_background([d.full_text for d in documents])
    made = FilterEngine(space)
    chosen = ProfileSettings(strategy=Strategy.of(strategy, stream_length=100), **settings)
    for number in range(n_profiles):
        made.add_profile(f"grain{number}", batch=(X, np.array(labels)), settings=chosen)
    return made


def logged(*arguments, **options):
    """The same with a log in memory."""
    return Filter(engine(*arguments, **options))


def replayed(made, name):
    """A profile of a filter made again from its start and the log."""
    return replay_events(made.engine.starts[name].profile(), made.log.of_profile(name))


class SlowPerceptron:
    """Section 4.2 in a few lines of NumPy: dense, no tricks."""

    def __init__(self, size, kappa=0.1):
        self.mean, self.covariance, self.kappa = np.zeros(size), np.eye(size), kappa

    def learn(self, x, y):
        s = self.covariance @ x
        h, sigma = self.mean @ x, np.sqrt(x @ s)
        u = y * h / sigma
        evidence = self.kappa + (1 - 2 * self.kappa) * norm.cdf(u)
        g = y * (1 - 2 * self.kappa) * norm.pdf(u) / (sigma * evidence)
        q = -(1 - 2 * self.kappa) * u * norm.pdf(u) / (sigma**2 * evidence) - g**2
        self.mean = self.mean + g * s
        self.covariance = self.covariance + q * np.outer(s, s)

    def grow(self, n):
        self.mean = np.pad(self.mean, (0, n))
        self.covariance = np.block(
            [
                [self.covariance, np.zeros((len(self.covariance), n))],
                [np.zeros((n, len(self.covariance))), np.eye(n)],
            ]
        )

    def probability(self, x):
        return self.kappa + (1 - 2 * self.kappa) * norm.cdf(
            self.mean @ x / np.sqrt(x @ self.covariance @ x)
        )

    def gain(self, x):
        """The paper's formula, by the full update."""
        expected = 0.0
        for y in (-1, 1):
            h, variance = self.mean @ x, x @ self.covariance @ x
            p = self.kappa + (1 - 2 * self.kappa) * norm.cdf(y * h / np.sqrt(variance))
            after = SlowPerceptron(len(self.mean), self.kappa)
            after.mean, after.covariance = self.mean.copy(), self.covariance.copy()
            after.learn(x, y)
            inside = norm.cdf(y * (after.mean @ x) / np.sqrt(x @ after.covariance @ x))
            k = self.kappa
            expected += p * (np.log2(k) + inside * np.log2((1 - k) / k) - np.log2(p))
        return expected


def likelihood_ratio(a, b, c, d):
    """-2 ln lambda as printed in section 2.3, in logarithms."""
    n = a + b + c + d

    def part(count, of):
        return count * np.log(count / of) if count else 0.0

    log_lambda = (
        part(a + b, n)
        + part(c + d, n)
        - part(a, a + c)
        - part(c, a + c)
        - part(b, b + d)
        - part(d, b + d)
    )
    return -2 * log_lambda


def dense(vector, size):
    row = np.zeros(size)
    row[vector.columns] = vector.weights
    return row


def rows_of(vectors, size):
    return sparse.csr_array(np.array([dense(vector, size) for vector in vectors]))
