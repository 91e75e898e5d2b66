"""What people know of words, as priors of a linear model: keywords, descriptions of categories, an earlier model."""

from bayesift.knowledge.beliefs import Belief, Description
from bayesift.knowledge.priors import prior_for
from bayesift.knowledge.resolving import Coverage, TermIndex
from bayesift.knowledge.term_knowledge import TermKnowledge

__all__ = ["Belief", "Coverage", "Description", "TermIndex", "TermKnowledge", "prior_for"]
