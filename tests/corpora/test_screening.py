import pytest

from bayesift.corpora import load, load_screening
from bayesift.errors import DataError


@pytest.mark.parametrize("label", ["label_included", "final_included", "included", "label"])
def test_columns(write, label):
    path = write("a.csv", f"record_id,title,abstract,year,{label}\n7,T,A,2005.0,1\n8,,,,0\n")
    corpus = load_screening(path)
    first, second = corpus
    assert (first.id, first.title, first.text, first.categories, first.date.year) == (
        "7",
        "T",
        "A",
        ("included",),
        2005,
    )
    assert (second.id, second.full_text, second.categories, second.date) == ("8", "", (), None)
    assert corpus.categories == ("included",)


def test_a_path_is_known_by_its_columns(write):
    path = write("a.csv", "title,abstract,label_included\nT,A,1\n")
    assert load(path).categories == ("included",)


@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        ("title,abstract\nT,A\n", 1, "no column label_included or"),
        ("title,included\nT,1\n", 1, "no column 'abstract'"),
        ("title,abstract,included\nT,A,1\nT,A,maybe\n", 3, "holds 'maybe', where 0 or 1"),
        ("title,abstract,included\nT,A,1\nT,A,\n", 3, "holds '', where 0 or 1"),
        (
            "record_id,title,abstract,included\n1,T,A,1\n1,T,A,0\n",
            3,
            "duplicate id '1', first on line 2",
        ),
    ],
)
def test_bad_tables(write, content, line, message):
    with pytest.raises(DataError, match=message) as caught:
        load_screening(write("a.csv", content))
    assert caught.value.line == line


@pytest.mark.parametrize(
    ("name", "records", "included"),
    [
        pytest.param(
            "screening-cohen-adhd",
            851,
            20,
            marks=pytest.mark.corpus("screening/Cohen_2006_ADHD.csv"),
        ),
        pytest.param(
            "screening-cohen-triptans",
            671,
            24,
            marks=pytest.mark.corpus("screening/Cohen_2006_Triptans.csv"),
        ),
        pytest.param(
            "screening-kitchenham",
            1704,
            45,
            marks=pytest.mark.corpus("screening/Kitchenham_2010.csv"),
        ),
        pytest.param(
            "screening-nagtegaal",
            2019,
            101,
            marks=pytest.mark.corpus("screening/Nagtegaal_2019.csv"),
        ),
    ],
)
def test_counts(corpus_named, name, records, included):
    corpus = corpus_named(name)
    assert (len(corpus), len(corpus.labelled())) == (records, included)
