"""Copies and near copies of texts are found, and other texts are left alone."""

import numpy as np
from scipy import sparse

from bayesift.text import TermVectorizer
from bayesift.text.near_copies import group_copies

WORDS = [f"word{number}" for number in range(2000)]


def texts_of(n, length, seed=0):
    random = np.random.default_rng(seed)
    return [" ".join(random.choice(WORDS, length)) for _ in range(n)]


def groups_of(texts):
    return group_copies(TermVectorizer().fit_transform(texts))


def test_texts_that_differ_in_case_and_white_space_are_copies():
    texts = texts_of(50, 8)
    again = [text.upper().replace(" ", "\n  ") for text in texts]
    groups = groups_of(texts + again)
    np.testing.assert_array_equal(groups[:50], groups[50:])
    assert len(np.unique(groups)) == 50


def test_one_changed_word_makes_a_near_copy():
    random = np.random.default_rng(1)
    texts = texts_of(300, 12)
    changed = []
    for text in texts:
        words = text.split()
        words[random.integers(len(words))] = str(random.choice(WORDS))
        changed.append(" ".join(words))
    groups = groups_of(texts + changed)
    assert np.mean(groups[:300] == groups[300:]) > 0.98
    assert len(np.unique(groups[:300])) == 300


def test_texts_that_share_half_of_their_words_are_not_copies():
    texts = texts_of(200, 12)
    others = texts_of(200, 6, seed=5)
    mixed = []
    for text, other in zip(texts, others, strict=True):
        mixed.append(" ".join(text.split()[:6]) + " " + other)
    assert len(np.unique(groups_of(texts + mixed))) == 400


def test_questions_with_another_subject_are_not_copies():
    subjects = [f"country{number}" for number in range(200)]
    groups = groups_of([f"What is the capital of {subject}?" for subject in subjects])
    assert len(np.unique(groups)) == 200


def test_texts_without_words_are_on_their_own():
    assert len(np.unique(groups_of(["...", "!!", "corn prices", "corn prices"]))) == 3
    assert group_copies(sparse.csr_array((1, 3))).tolist() == [0]


def test_texts_of_few_words_are_not_copies_by_chance():
    random = np.random.default_rng(0)
    texts = [" ".join(random.choice(WORDS[:12], 6)) for _ in range(400)]
    groups = groups_of(texts)
    assert np.bincount(groups).max() < 20
    bags = [frozenset(text.split()) for text in texts]
    for one, other in [(3, 7), (20, 30)]:
        assert (groups[one] == groups[other]) == (bags[one] == bags[other])


def test_a_text_that_thousands_repeat_is_one_group():
    groups = groups_of(["the same words every time"] * 3000 + texts_of(100, 9))
    assert len(np.unique(groups[:3000])) == 1
    assert len(np.unique(groups)) == 101
