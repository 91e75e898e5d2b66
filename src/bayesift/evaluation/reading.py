"""Measures of the order in which documents are read: how soon the relevant ones come."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def average_time_to_discovery(places: Sequence[int] | Array) -> float:
    """ATD: the mean number of documents read up to a relevant one.

    Parameters
    ----------
    places : of the relevant documents in the order of reading, 1 for the first

    Examples
    --------
    >>> average_time_to_discovery([1, 2, 6])
    3.0
    """
    return float(np.mean(places))


def work_saved(places: Sequence[int] | Array, n_documents: int, recall: float = 0.95) -> float:
    """WSS: the share of documents that need not be read to reach this recall, less what chance would save.

    Parameters
    ----------
    places : of all relevant documents in the order of reading, 1 for the first
    n_documents : documents to read in all
    recall : that is to be reached

    Examples
    --------
    >>> work_saved([1, 2, 6], 10)
    0.35
    """
    needed = math.ceil(recall * len(places) - 1e-9)
    saved = 1.0 - np.sort(places)[needed - 1] / n_documents - (1.0 - recall)
    return float(round(saved, 12))
