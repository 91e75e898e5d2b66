"""Factorise by the divergence against scikit-learn's updates, from the same start."""

from __future__ import annotations

import sys
import time
import warnings
from functools import cache, partial
from itertools import product
from typing import NamedTuple

import numpy as np
from scipy import sparse
from sklearn.decomposition import NMF
from sklearn.exceptions import ConvergenceWarning

from bayesift.arrays import Array
from bayesift.corpora import load_reuters
from bayesift.errors import CorpusNotFoundError
from bayesift.models.topics.factorisation import (
    STARTS,
    UPDATES,
    Importance,
    Objective,
    factorise,
    importance_of,
    random_start,
)
from bayesift.text import TermVectorizer
from benchmarks.harness import Benchmark, Comparison, Contender, Dataset

ITERATIONS = 10


class Problem(NamedTuple):
    """An objective (uniform importance, no penalty) and a start."""

    objective: Objective
    codes: Array
    basis: Array


@cache
def reuters() -> sparse.csr_array | None:
    """Stemmed ltc vectors of the 7,770 labelled training documents of Reuters-21578."""
    try:
        train = load_reuters(subset="labelled").split("train")
    except CorpusNotFoundError:
        return None
    vectorizer = TermVectorizer(
        weighting="ltc", stop_words="english", characters="letters", stemmer="porter"
    )
    return vectorizer.fit_transform(train.texts)


def _problem(n_topics: int) -> Problem | None:
    X = reuters()
    if X is None:
        return None
    objective = Objective.of(X, importance_of(X, "uniform"), 0.0, "squared")
    return Problem(objective, *random_start(X, n_topics, np.random.RandomState(0)))


def _ours(problem: Problem, iterations: int = ITERATIONS) -> float:
    """Return the divergence reached; it is computed once, as in scikit-learn."""
    objective, codes, basis = problem
    fresh = Objective(
        objective.rows, objective.importance
    )  # its transposed matrix is made anew, inside the time
    result = factorise(
        fresh,
        codes,
        basis,
        max_iter=iterations,
        tol=-np.inf,
        solver="multiplicative",
        check_every=iterations,
    )
    return float(result.objectives[-1])


def _peer(problem: Problem, iterations: int = ITERATIONS) -> float:
    objective, codes, basis = problem
    X, start = sparse.csr_matrix(objective.rows), np.ascontiguousarray(basis.T)
    model = NMF(
        codes.shape[1],
        init="custom",
        solver="mu",
        beta_loss="kullback-leibler",
        max_iter=iterations,
        tol=1e-300,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = model.fit_transform(X, W=codes.copy(), H=start)
    return objective.divergence(
        np.ascontiguousarray(found), np.ascontiguousarray(model.components_.T)
    )


def _check(results: dict[str, float]) -> None:
    """Check that divergences agree, and that ours is lower at scikit-learn's time."""
    for name, divergence in results.items():
        print(f"{name}: divergence {divergence:.1f} after {ITERATIONS} iterations")
    ours, theirs = results["bayesift"], results["scikit-learn NMF, mu"]
    assert ours <= theirs * (1 + 1e-6)


def at_equal_time(n_topics: int, iterations: int = ITERATIONS) -> tuple[float, float, int]:
    """Return both divergences at the CPU time of scikit-learn, and the number of iterations."""
    problem = _problem(n_topics)
    assert problem is not None
    start = time.process_time()
    theirs = _peer(problem, iterations)
    budget = time.process_time() - start
    start = time.process_time()
    _ours(problem)
    done = max(1, int(ITERATIONS * budget / (time.process_time() - start)))
    return _ours(problem, done), theirs, done


def time_to_objective(
    kind: Importance, alpha: float, start: str, n_topics: int, iterations: int
) -> tuple[float, float]:
    """CPU seconds of multiplicative updates, and of coordinate descent until it is as low."""
    X = reuters()
    assert X is not None
    objective = Objective.of(X, importance_of(X, kind), alpha, "squared")
    codes, basis = STARTS[start](X, n_topics, np.random.RandomState(0))
    for update in UPDATES.values():  # compiled before the clock starts
        update(objective, codes.copy(), basis.copy())
    began = time.process_time()
    result = factorise(
        objective,
        codes,
        basis,
        max_iter=iterations,
        tol=-np.inf,
        solver="multiplicative",
        check_every=iterations,
    )
    multiplicative, value, spent = time.process_time() - began, np.inf, 0.0
    while value > result.objectives[-1]:
        began = time.process_time()
        UPDATES["coordinate"](objective, codes, basis)
        spent += time.process_time() - began
        value = objective.value(codes, basis)
    return multiplicative, spent


BENCHMARK = Benchmark(
    name="topics",
    objective=f"{ITERATIONS} iterations of divergence NMF from one random start, the same "
    f"divergence",
    datasets=[
        Dataset(
            f"Reuters-21578, 7,770 documents, {n_topics} topics", partial(_problem, n_topics)
        )
        for n_topics in (16, 64, 128)
    ],
    contenders=[Contender("bayesift", _ours), Contender("scikit-learn NMF, mu", _peer)],
    comparisons=[Comparison("bayesift", "scikit-learn NMF, mu", asked=5)],
    check=_check,
    repeats=3,
)


def _print_times() -> None:
    problems: list[tuple[Importance, float, str]] = [
        ("uniform", 0.0, "nndsvda"),
        ("variance", 1.0, "nndsvd"),
    ]
    for (kind, alpha, start), n_topics, iterations in product(problems, (16, 64), (50, 200)):
        plain, ours = time_to_objective(kind, alpha, start, n_topics, iterations)
        print(
            f"{kind}, alpha {alpha}, {n_topics} topics: {iterations} multiplicative updates "
            f"{plain:.2f} s, ",
            end="",
        )
        print(f"coordinate descent {ours:.2f} s, ratio {plain / ours:.1f}", flush=True)


def _print_divergences() -> None:
    for n_topics in (16, 64, 128):
        ours, theirs, done = at_equal_time(n_topics)
        print(
            f"{n_topics} topics, {ITERATIONS} iterations' time of scikit-learn: divergence "
            f"{theirs:.0f}, "
            f"ours {ours:.0f} ({done} iterations)",
            flush=True,
        )


if __name__ == "__main__":
    if sys.argv[1:] == ["objective"]:
        _print_times()
    else:
        _print_divergences()
