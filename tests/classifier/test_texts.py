"""Texts in every form that people have them in."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy import sparse

from bayesift import Corpus, DataError, DataWarning, Document, TermVectorizer, TextClassifier
from bayesift.classifier.texts import read_texts

TITLES = ["Grain", "Oil", "Grain", "Oil"]
BODIES = ["corn and wheat", "crude prices", "wheat harvest", "tankers"]
JOINED = [f"{title}\n{body}" for title, body in zip(TITLES, BODIES, strict=True)]
LABELS = ["grain", "crude", "grain", "crude"]
RECORDS = [
    {"id": i, "title": t, "text": b}
    for i, (t, b) in enumerate(zip(TITLES, BODIES, strict=True))
]
DOCUMENTS = tuple(
    Document(str(i), b, title=t) for i, (t, b) in enumerate(zip(TITLES, BODIES, strict=True))
)

ONE = {
    "list": BODIES,
    "tuple": tuple(BODIES),
    "generator": lambda: (text for text in BODIES),
    "array": np.array(BODIES),
    "object array": np.array(BODIES, dtype=object),
    "column": np.array(BODIES, dtype=object)[:, None],
    "rows of one": [[text] for text in BODIES],
    "series": pd.Series(BODIES, index=[7, 3, 1, 9]),
    "string series": pd.Series(BODIES, dtype="string"),
    "object series": pd.Series(BODIES, dtype=object),
    "categorical series": pd.Series(BODIES, dtype="category"),
    "frame of one text": pd.DataFrame({"text": BODIES}),
    "arrow": pa.array(BODIES),
    "arrow chunks": pa.chunked_array([BODIES[:1], BODIES[1:]]),
    "arrow dictionary": pa.array(BODIES).dictionary_encode(),
    "arrow view": pa.array(BODIES, pa.string_view()),
    "arrow table": pa.table({"text": BODIES}),
    "dictionaries of one text": [{"text": text} for text in BODIES],
    "dictionaries from a generator": lambda: ({"text": text} for text in BODIES),
}
TWO = {
    "frame": pd.DataFrame(RECORDS),
    "array": np.array([TITLES, BODIES]).T,
    "arrow table": pa.Table.from_pylist(RECORDS),
    "dictionaries": RECORDS,
    "documents": list(DOCUMENTS),
    "corpus": Corpus(DOCUMENTS, ()),
}


def given(form):
    return form() if callable(form) else form


@pytest.mark.parametrize("name", ONE)
def test_one_text_per_row(name):
    texts = read_texts(given(ONE[name]))
    assert not texts.are_vectors
    values = (
        texts.values.to_pylist() if hasattr(texts.values, "to_pylist") else list(texts.values)
    )
    assert values == BODIES
    expected = TextClassifier().fit(BODIES, LABELS)
    classifier = TextClassifier().fit(given(ONE[name]), LABELS)
    np.testing.assert_array_equal(
        classifier.predict_proba(given(ONE[name])), expected.predict_proba(BODIES)
    )
    assert classifier.score(given(ONE[name]), LABELS) == expected.score(BODIES, LABELS)


@pytest.mark.filterwarnings("ignore:the columns 'title' and 'text' are joined")
@pytest.mark.parametrize("name", TWO)
def test_columns_of_text_are_joined(name):
    assert list(read_texts(TWO[name]).values) == JOINED
    classifier = TextClassifier().fit(TWO[name], LABELS)
    np.testing.assert_array_equal(
        classifier.predict_proba(TWO[name]), classifier.predict_proba(JOINED)
    )


class Polars:
    """As a polars Series or DataFrame: it gives itself to Arrow."""

    def __init__(self, held):
        self.held = held

    def __iter__(self):
        return iter(())

    def to_arrow(self):
        return self.held


def test_polars_by_arrow():
    assert read_texts(Polars(pa.array(BODIES))).values.to_pylist() == BODIES
    assert read_texts(Polars(pa.Table.from_pylist(RECORDS))).values == JOINED
    polars = pytest.importorskip("polars")
    assert read_texts(polars.Series(BODIES)).values.to_pylist() == BODIES
    frame = polars.DataFrame({"text": [*BODIES, None]})
    labels = polars.Series([*LABELS, "only here"])
    with pytest.warns(DataWarning, match="1 text without any text"):
        classifier = TextClassifier(model="naive-bayes").fit(frame, labels)
    assert classifier.categories_ == ("crude", "grain")
    assert classifier.predict(frame["text"]).tolist() == classifier.predict(frame).tolist()


TABLES = {
    "frame": pd.DataFrame,
    "arrow": lambda columns: pa.table(dict(columns)),
    "dictionaries": lambda columns: [
        dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)
    ],
}


@pytest.mark.parametrize("form", TABLES)
def test_columns_that_are_joined_or_not_used_are_named(form):
    made = TABLES[form]
    joined = {
        "id": [1, 2, 3, 4],
        "title": TITLES,
        "text": BODIES,
        "price": [1.0, 2.0, 3.0, 4.0],
    }
    message = (
        "the columns 'title' and 'text' are joined to one text; the columns 'id' and 'price' "
        "are not used"
    )
    with pytest.warns(DataWarning, match=f"^{message}$"):
        classifier = TextClassifier(model="naive-bayes").fit(made(joined), LABELS)
    one = {"id": [1, 2, 3, 4], "text": BODIES}
    message = "the column 'id' is not used, the text is 'text'"
    with pytest.warns(DataWarning, match=f"^{message}$"):
        TextClassifier(model="naive-bayes").fit(made(one), LABELS)
    with pytest.warns(DataWarning, match=f"^{message}$"):
        TextClassifier(model="naive-bayes").partial_fit(made(one), LABELS)
    # Without columns of its own, a model takes those that hold text, and says which.
    plain = TextClassifier(model="naive-bayes").fit(BODIES, LABELS)
    with pytest.warns(DataWarning, match=f"^{message}$"):
        plain.predict(made(one))
    # The columns are chosen at `fit`: others may come, change or be left out without a word.
    expected = classifier.predict_proba(made(joined))
    for columns in (
        {"title": TITLES, "text": BODIES},
        {**joined, "id": ["a", "b", "c", "d"], "note": ["corn"] * 4},
        {"text": BODIES, "title": TITLES, "price": [None] * 4},
    ):
        np.testing.assert_array_equal(classifier.predict_proba(made(columns)), expected)
    with pytest.raises(
        DataError, match=r"^no column 'title', which the model was fitted to; th"
    ):
        classifier.predict(made(one))


@pytest.mark.filterwarnings("ignore:the columns 'title' and 'text' are joined")
def test_the_columns_of_training_are_those_of_prediction(tmp_path):
    frame = pd.DataFrame(RECORDS)
    classifier = TextClassifier().fit(frame, LABELS)
    assert classifier.text_columns_ == ("title", "text")
    classifier.save(tmp_path / "model")
    for model in (classifier, TextClassifier.load(tmp_path / "model")):
        wider = frame.assign(note="corn", text=frame["text"])
        np.testing.assert_array_equal(
            model.predict_proba(wider), classifier.predict_proba(frame)
        )
        with pytest.raises(DataError, match=r"no column 'title', .*; there are: text"):
            model.predict(frame[["text"]])
        assert (
            model.explain({"title": "Grain", "text": "corn"}).categories[0].category == "grain"
        )


MISSING = {
    "list": [*BODIES, None, float("nan"), pd.NA],
    "tuple": (*BODIES, None, float("nan"), pd.NA),
    "generator": lambda: iter([*BODIES, None, float("nan"), pd.NA]),
    "object array": np.array([*BODIES, None, float("nan"), pd.NA], dtype=object),
    "column": np.array([*BODIES, None, None, None], dtype=object)[:, None],
    "series": pd.Series([*BODIES, None, float("nan"), pd.NA], dtype=object),
    "string series": pd.Series([*BODIES, None, float("nan"), pd.NA], dtype="string"),
    "categorical series": pd.Series([*BODIES, None, None, None], dtype="category"),
    "frame": pd.DataFrame({"text": [*BODIES, None, float("nan"), pd.NA]}),
    "arrow": pa.array([*BODIES, None, None, None]),
    "arrow dictionary": pa.array([*BODIES, None, None, None]).dictionary_encode(),
    "arrow table": pa.table({"text": [*BODIES, None, None, None]}),
    "dictionaries": [*({"text": text} for text in BODIES), {"text": None}, {}, None],
    "documents": [*(Document(text, text) for text in BODIES), None, None, None],
    "blank": [*BODIES, "", " ", "\n\t"],
}


@pytest.mark.parametrize("name", MISSING)
def test_missing_texts_have_one_rule(name):
    labels = [*LABELS, "crude", "only here", "grain"]
    expected = TextClassifier(model="naive-bayes").fit(BODIES, LABELS)
    told = r"^3 texts without any text \(missing or blank\) left out$"
    with pytest.warns(DataWarning, match=told):
        classifier = TextClassifier(model="naive-bayes").fit(given(MISSING[name]), labels)
    assert classifier.categories_ == ("crude", "grain")
    answers = expected.predict_proba([*BODIES, "", "", ""])
    np.testing.assert_array_equal(classifier.predict_proba(given(MISSING[name])), answers)
    with pytest.warns(DataWarning, match=told):
        learned = TextClassifier(model="naive-bayes").partial_fit(given(MISSING[name]), labels)
    np.testing.assert_array_equal(learned.predict_proba(given(MISSING[name])), answers)
    assert classifier.explain(given(MISSING[name]))[-1].known == 0
    assert len(classifier.predict(given(MISSING[name]))) == 7


def test_weights_and_groups_of_missing_texts_are_left_out():
    with pytest.warns(DataWarning, match="1 text without any text"):
        classifier = TextClassifier(model="naive-bayes").fit(
            [None, *BODIES], ["grain", *LABELS], sample_weight=[9, 1, 2, 1, 2], groups=range(5)
        )
    expected = TextClassifier(model="naive-bayes").fit(
        BODIES, LABELS, sample_weight=[1, 2, 1, 2]
    )
    np.testing.assert_array_equal(
        classifier.predict_proba(BODIES), expected.predict_proba(BODIES)
    )


def test_texts_without_labels_and_labels_without_texts():
    sets = [["grain"], [], ["grain"], [], ["crude"]]
    with pytest.warns(DataWarning, match="1 text without any text"):
        classifier = TextClassifier(model="naive-bayes").fit([*BODIES, None], sets)
    assert classifier.categories_ == ("crude", "grain")
    with pytest.warns(DataWarning, match="without"):
        TextClassifier(model="naive-bayes").fit(
            [*BODIES, None, "oil"], [*LABELS, "crude", None]
        )
    with pytest.raises(DataError, match="no text with a label holds any text"):
        TextClassifier(model="naive-bayes").partial_fit([None, " "], ["grain", "crude"])
    series = pd.Series([None, None], dtype=float)
    assert len(classifier.predict(series)) == 2


def test_missing_parts_are_nothing():
    frame = pd.DataFrame({"title": [None, "Oil", "Grain", "Oil"], "text": BODIES})
    assert read_texts(frame).values[0] == "corn and wheat"
    assert read_texts([{"title": "Oil"}, {"text": "tankers"}]).values == ["Oil", "tankers"]
    frame = pd.DataFrame({"title": ["a", None], "text": ["b", None]})
    assert read_texts(frame).values == ["a\nb", ""]


def test_no_texts_have_no_labels():
    assert (
        TextClassifier(model="naive-bayes").fit(BODIES, [1, 2, 1, 2]).predict([]).tolist() == []
    )
    assert (
        TextClassifier(model="naive-bayes").fit(BODIES, [["a"], [], ["a"], []]).predict([])
        == []
    )
    assert TextClassifier(model="naive-bayes").fit(BODIES, pd.get_dummies(LABELS)).predict(
        []
    ).shape == (0, 2)


def test_numbers_are_vectors():
    X = TermVectorizer().fit_transform(BODIES)
    expected = TextClassifier().fit(X, LABELS).predict_proba(X)
    for form in (X.toarray(), pd.DataFrame(X.toarray()), sparse.csr_matrix(X)):
        np.testing.assert_allclose(
            TextClassifier().fit(form, LABELS).predict_proba(form), expected
        )


def test_a_table_must_not_give_the_labels_away():
    frame = pd.DataFrame({"text": BODIES, "topic": LABELS})
    with pytest.raises(
        DataError, match="the column 'topic' holds the labels; give only the columns of text"
    ):
        TextClassifier().fit(frame, frame["topic"])
    TextClassifier().fit(frame[["text"]], frame["topic"])


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ("one text", r"not one str: put it in brackets, \[text\]"),
        (b"one text", "not one bytes"),
        (None, "not None"),
        (3, "not a int"),
        ({"text": BODIES}, "not a dict"),
        ([None, float("nan"), "", " "], "no text with a label holds any text"),
        ([*BODIES[:-1], b"tankers"], "text 3 is of type bytes"),
        ([1, 2, 3, 4], "text 0 is of type int"),
        (np.arange(4), "not an array of int64"),
        (np.array(BODIES).reshape(2, 2, 1), "3 dimensions"),
        (pd.Series([1, 2, 3, 4], name="n"), "the column 'n' holds int64"),
        (pa.array([1, 2, 3, 4]), "texts must be strings, not int64"),
        (
            pd.DataFrame({"date": pd.to_datetime(["2020-01-01"] * 4)}),
            "no column holds text; there are: date",
        ),
        ([{"text": "a"}, "b", "c", "d"], "text 1 is of type str, others are dictionaries"),
        (
            [{"text": "a"}, {"text": 4}, {"text": "c"}, {"text": "d"}],
            "text 1 is of type int in the column 'text'",
        ),
        (BODIES[:-1], "3 texts, but 4 labels"),
        ((text for text in BODIES[:-1]), "3 texts, but 4 labels"),
    ],
)
def test_the_rest_is_refused_in_one_line(texts, message):
    with pytest.raises(DataError, match=message) as caught:
        TextClassifier().fit(texts, LABELS)
    assert "\n" not in str(caught.value)
