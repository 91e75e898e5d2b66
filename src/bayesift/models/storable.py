"""The classes a model file may hold, by the kind it names; a new learner that can be saved is added here."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from bayesift.models.naive_bayes import NaiveBayesClassifier
from bayesift.models.state import Storable

STORABLE: Mapping[str, type[Storable]] = MappingProxyType({"naive-bayes": NaiveBayesClassifier})
