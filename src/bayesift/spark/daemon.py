"""Spark's daemon of Python workers, with bayesift and its kernels loaded.

Workers are forked from it, warm.

Spark starts one daemon per executor. `spark_session` names this module in
`spark.python.daemon.module`; a session that a user made can do the same.
"""

from __future__ import annotations

from contextlib import suppress

_WARM_UP_WORDS = 200_000  # more text than is counted without kernels


def load_kernels() -> None:
    """Import what scoring needs and run its kernels once, compiled before or now.

    A failure is left to the tasks.
    """
    with suppress(Exception):
        import bayesift.spark.scoring
        from bayesift.models.base import scores_of
        from bayesift.text import TermVectorizer

        assert bayesift.spark.scoring
        counts = TermVectorizer().fit_transform(
            [" ".join(f"word{number % 1000}" for number in range(_WARM_UP_WORDS))]
        )
        weights = counts.copy()
        scores_of(counts, weights, weights.sum(axis=1))


if __name__ == "__main__":
    from pyspark.daemon import manager

    load_kernels()
    manager()
