"""Classifiers as one file of JavaScript or HTML that scores texts without Python."""

from bayesift.export.scorer import scorer_page, scorer_script, write_scorer

__all__ = ["scorer_page", "scorer_script", "write_scorer"]
