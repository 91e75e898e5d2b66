"""Use word knowledge as priors of a linear model: keywords, descriptions, an earlier model."""

from bayesift.knowledge.priors import Coverage, TermIndex, apply_knowledge, prior_for
from bayesift.knowledge.term_knowledge import Belief, Description, TermKnowledge

__all__ = [
    "Belief",
    "Coverage",
    "Description",
    "TermIndex",
    "TermKnowledge",
    "apply_knowledge",
    "prior_for",
]
