"""Terms of real texts in node are those of Python, on a sample of every corpus."""

import pytest

from bayesift.errors import CorpusNotFoundError
from benchmarks.scorer import all_documents
from tests.conftest import NOT_THERE, data_dir
from tests.scorer.worlds import VECTORIZERS, with_vectorizer

N_TEXTS = 30
KINDS = ("default", "n-grams", "characters of words")
CORPORA = dict(all_documents(data_dir()))


@pytest.fixture(scope="module")
def pairs(scorer_of):
    made = []
    for kind in KINDS:
        classifier = with_vectorizer(**VECTORIZERS[kind])
        made.append((classifier.vectorizer_, scorer_of(classifier)))
    return made


@pytest.mark.parametrize("name", CORPORA)
def test_terms_of_a_sample(pairs, name):
    try:
        documents = CORPORA[name]()
    except (CorpusNotFoundError, FileNotFoundError):
        pytest.skip(f"{NOT_THERE}{name}")
    texts = documents.texts[:: max(1, len(documents.texts) // N_TEXTS)]
    for text in texts:
        for vectorizer, scorer in pairs:
            assert dict(map(tuple, scorer("terms", text))) == vectorizer.term_counts(text)
