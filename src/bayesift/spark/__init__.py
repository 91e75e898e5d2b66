"""The same models on Apache Spark, for corpora that lie in tables of billions of rows.

Needs the extra `spark`.

Spark does the distribution. What runs on executors are functions from Arrow batches to Arrow
batches that know nothing of it.
"""

from bayesift.spark.files import score_files
from bayesift.spark.fitting import OneVsRestFit, fit_naive_bayes, fit_one_vs_rest
from bayesift.spark.scoring import Scorer, SparkEvaluation, evaluate, score
from bayesift.spark.session import running_session, spark_session, with_titles
from bayesift.spark.vocabulary import TermScores, term_scores, vocabulary

__all__ = [
    "OneVsRestFit",
    "Scorer",
    "SparkEvaluation",
    "TermScores",
    "evaluate",
    "fit_naive_bayes",
    "fit_one_vs_rest",
    "running_session",
    "score",
    "score_files",
    "spark_session",
    "term_scores",
    "vocabulary",
    "with_titles",
]
