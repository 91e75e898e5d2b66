import pytest

from bayesift.corpora import load_customer_reviews, load_subjectivity, load_trec_questions
from bayesift.errors import DataError


@pytest.fixture
def questions(write, tmp_path):
    write(
        "sentences/TREC.train",
        "HUM:desc Who was Galileo ?\nLOC:city Where is Carr\xe9 ?\n".encode("latin-1"),
    )
    write("sentences/TREC.test", "HUM:ind Who ?\r\n")
    return tmp_path


def test_questions(questions):
    corpus = load_trec_questions(questions)
    assert [(d.id, d.text, d.categories, d.split) for d in corpus] == [
        ("train/1", "Who was Galileo ?", ("HUM",), "train"),
        ("train/2", "Where is Carré ?", ("LOC",), "train"),
        ("test/1", "Who ?", ("HUM",), "test"),
    ]
    fine = load_trec_questions(questions, fine=True)
    assert fine.categories == ("HUM:desc", "HUM:ind", "LOC:city")
    assert fine.parents["LOC:city"] == "LOC"


def test_a_line_that_is_no_question(write, questions):
    write("sentences/TREC.test", "HUM:ind Who ?\nWho ?\n")
    with pytest.raises(DataError, match=r"TREC\.test:2: not a question"):
        load_trec_questions(questions)
    corpus = load_trec_questions(questions, skip_bad=True)
    assert (len(corpus), len(corpus.problems)) == (3, 1)


def test_a_file_per_category(write, tmp_path):
    write("sentences/subj.objective", "it begins . \nit ends\x85here . \n".encode("latin-1"))
    write("sentences/subj.subjective", b"a gem . \n")
    corpus = load_subjectivity(tmp_path)
    assert [(d.id, d.text, d.categories) for d in corpus] == [
        ("objective/1", "it begins .", ("objective",)),
        ("objective/2", "it ends\x85here .", ("objective",)),
        ("subjective/1", "a gem .", ("subjective",)),
    ]
    write("sentences/custrev.neg", "")
    with pytest.raises(DataError, match="is empty"):
        load_customer_reviews(tmp_path)


@pytest.mark.corpus("sentences")
@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("subjectivity", {"objective": 5_000, "subjective": 5_000}),
        ("customer-reviews", {"neg": 1_368, "pos": 2_407}),
    ],
)
def test_counts(corpus_named, name, counts):
    corpus = corpus_named(name)
    assert corpus.category_counts() == counts
    assert corpus.splits == ()


@pytest.mark.corpus("sentences")
@pytest.mark.parametrize(
    ("name", "categories", "in_train"),
    [("trec-questions", 6, 6), ("trec-questions-fine", 50, 50)],
)
def test_counts_of_questions(corpus_named, name, categories, in_train):
    corpus = corpus_named(name)
    train = corpus.split("train")
    assert (len(train), len(corpus.split("test")), len(corpus.categories)) == (
        5_452,
        500,
        categories,
    )
    assert sum(count > 0 for count in train.category_counts().values()) == in_train
