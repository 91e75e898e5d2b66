from scipy import sparse

from bayesift.models.base import for_each_model, models_of, signs_of, terms_of
from bayesift.validation import check_targets


def test_two_classes_have_one_model():
    members = models_of(check_targets(["spam", "ham", "spam"]))
    assert members.toarray().tolist() == [[1, 0, 1]]
    assert signs_of(sparse.csr_array(members)).tolist() == [[1.0, -1.0, 1.0]]


def test_terms_of_a_mask():
    terms = terms_of([[True, False, True], [False, True, False]], (2, 3))
    assert [columns.tolist() for columns in terms] == [[0, 2], [1]]


def test_results_are_in_the_order_of_models():
    assert for_each_model(lambda c: c * c, 3, 2) == [0, 1, 4]
