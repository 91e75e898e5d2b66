import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from bayesift.kernels.ranking import highest


@given(st.integers(1, 6), st.integers(1, 6), st.data())
@settings(deadline=None)
def test_highest_scores_are_those_of_a_stable_sort(n_categories, k, data):
    scores = data.draw(
        arrays(
            np.float64, (5, n_categories), elements=st.sampled_from([-1.0, 0.0, 0.5, 0.5, 1.0])
        )
    )
    places = np.empty((5, min(k, n_categories)), dtype=np.int64)
    highest(scores, places)
    np.testing.assert_array_equal(places, np.argsort(-scores, axis=1, kind="stable")[:, :k])
