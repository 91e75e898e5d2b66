import numpy as np
from scipy import sparse

from bayesift.text.counting import scale_to_length_one
from bayesift.text.words import Vocabulary, Words
from bayesift.text.zipf import frequency_ranks, moderate_zone

COUNTS = np.array([3, 9, 3, 1])


def test_of_equals_the_earlier_term_ranks_first():
    assert frequency_ranks(COUNTS).tolist() == [1, 0, 2, 3]


def test_the_moderate_zone_drops_a_number_or_a_share_of_terms():
    assert moderate_zone(COUNTS, drop_frequent=1, drop_rare=0.25).tolist() == [
        True,
        False,
        True,
        False,
    ]


def test_rows_of_zeros_are_not_scaled():
    X = sparse.csr_array([[3.0, 4.0], [0.0, 0.0]])
    scale_to_length_one(X)
    assert X.toarray().tolist() == [[0.6, 0.8], [0.0, 0.0]]


def test_a_vocabulary_maps_terms_to_columns():
    vocabulary = Vocabulary(Words.of(["corn", "wheat"]))
    assert vocabulary["wheat"] == 1
    assert "oil" not in vocabulary
    assert list(vocabulary) == ["corn", "wheat"]
