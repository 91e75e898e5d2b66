"""The same models on Apache Spark, for corpora that lie in tables of billions of rows; needs the extra `spark`.

Spark does the distribution. What runs on executors are functions from Arrow batches to Arrow batches that know nothing
of it.
"""

from bayesift.spark.naive_bayes import fit_naive_bayes
from bayesift.spark.scoring import Scorer, score
from bayesift.spark.session import spark_session
from bayesift.spark.vocabulary import TermScores, term_scores, vocabulary

__all__ = ["Scorer", "TermScores", "fit_naive_bayes", "score", "spark_session", "term_scores", "vocabulary"]
