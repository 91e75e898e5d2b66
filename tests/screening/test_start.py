from bayesift.screening import pool_vectorizer, random_start


def test_a_review_starts_from_a_relevant_and_an_irrelevant_document():
    relevant, irrelevant = random_start([0, 1, 0], 3)
    assert relevant == 1
    assert irrelevant in (0, 2)


def test_a_pool_has_words_and_pairs_without_those_of_nearly_all_documents():
    assert pool_vectorizer().fit_transform(["a trial of corn", "corn"]).shape == (2, 4)
