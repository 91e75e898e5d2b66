"""Estimators: categories from term vectors. This package names them; each family has its own."""

from bayesift.models.registry import (
    LEARNERS,
    STORABLE,
    Learner,
    is_storable,
    make_learner,
    register,
    weighting_of,
)

__all__ = [
    "LEARNERS",
    "STORABLE",
    "Learner",
    "is_storable",
    "make_learner",
    "register",
    "weighting_of",
]
