"""Labels in every form through fit, predict, score, save, load and the tools of scikit-learn."""

import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict, cross_val_score

from bayesift import Corpus, DataError, DataWarning, Document, TextClassifier
from bayesift.classifier.labels import LabelForm, read_labels
from tests.classifier.commodities import TEXTS as COMMODITIES

TEXTS = [
    *COMMODITIES,
    "corn and wheat stocks",
    "oil wells and crude",
    "wheat sowing",
    "crude futures",
    "corn futures",
    "oil futures",
]
CODES = [0, 0, 1, 1, 0, 1, 0, 1, 0, 1, 0, 1]
SETS = [{2}, {2, 10}, {3}, {3, 10}, {2}, {3}, {2}, {3}, {2}, {3, 10}, {2, 10}, {3, 10}]


def coded(*classes):
    return [classes[code] for code in CODES]


def sets(make, names=None):
    return [make(sorted(s) if names is None else [names[c] for c in sorted(s)]) for s in SETS]


INDICATOR = np.array([[int(c in s) for c in (2, 3, 10)] for s in SETS])
NAMES = {2: "grain", 3: "crude", 10: "trade"}
SINGLE = {
    "int": coded(2, 10),
    "bool": coded(False, True),
    "str": coded("grain", "crude"),
    "float": coded(1.0, 2.0),
    "tuple": tuple(coded(2, 10)),
    "numpy int": np.array(coded(2, 10)),
    "numpy int8": np.array(coded(-2, 10), dtype=np.int8),
    "numpy bool": np.array(coded(False, True)),
    "numpy str": np.array(coded("grain", "crude")),
    "numpy object": np.array(coded("grain", "crude"), dtype=object),
    "numpy column": np.array(coded(2, 10))[:, None],
    "series int": pd.Series(coded(2, 10), index=range(50, 62)),
    "series str": pd.Series(coded("grain", "crude")),
    "series bool": pd.Series(coded(False, True)),
    "nullable int": pd.Series(coded(2, 10), dtype="Int64"),
    "nullable string": pd.Series(coded("grain", "crude"), dtype="string"),
    "nullable boolean": pd.Series(coded(False, True), dtype="boolean"),
    "categorical": pd.Categorical(
        coded("grain", "crude"), categories=["none", "grain", "crude"], ordered=True
    ),
    "categorical series": pd.Series(coded("grain", "crude"), dtype="category"),
    "categorical int": pd.Series(coded(2, 10), dtype="category"),
    "frame": pd.DataFrame({"label": coded("grain", "crude")}),
    "arrow": pa.array(coded(2, 10)),
}
COLLECTIONS = {
    "lists": sets(list, NAMES),
    "tuples": sets(tuple, NAMES),
    "sets": sets(set, NAMES),
    "frozensets of int": sets(frozenset),
    "lists of int": sets(list),
    "series of lists": pd.Series(sets(list, NAMES)),
    "array of sets": np.array([*sets(set), None], dtype=object)[:-1],
}
INDICATORS = {
    "indicator": INDICATOR,
    "indicator bool": INDICATOR.astype(bool),
    "indicator int8": INDICATOR.astype(np.int8),
    "indicator lists": INDICATOR.tolist(),
    "csr_array": sparse.csr_array(INDICATOR),
    "csr_matrix": sparse.csr_matrix(INDICATOR.astype(bool)),
    "coo_array": sparse.coo_array(INDICATOR),
    "dummies": pd.get_dummies(pd.Series(coded("grain", "crude"))),
    "dummies int": pd.DataFrame(INDICATOR, columns=["a", "b", "c"]),
    "dummies nullable": pd.DataFrame(INDICATOR, columns=[2, 3, 10]).astype("boolean"),
}
FORMS = SINGLE | COLLECTIONS | INDICATORS


def plain(labels):
    """Labels as Python has them, one entry per text, for comparisons that mind the types."""
    if sparse.issparse(labels):
        return labels.toarray().tolist()
    if isinstance(labels, pd.DataFrame) and labels.shape[1] > 1:
        return labels.to_numpy().tolist()
    if hasattr(labels, "to_pylist"):
        return labels.to_pylist()
    if isinstance(labels, np.ndarray | pd.DataFrame):
        values = np.asarray(labels)
        return (values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values).tolist()
    return labels.tolist() if hasattr(labels, "tolist") else list(labels)


def kinds(labels):
    return {type(label) for label in plain(labels)}


def same_form(predicted, labels):
    """Whether predictions are what labels are: the same container and type of each entry."""
    if isinstance(labels, pd.DataFrame) and labels.shape[1] > 1:
        assert isinstance(predicted, pd.DataFrame)
        assert list(predicted.columns) == list(labels.columns)
    if sparse.issparse(labels):
        assert isinstance(
            predicted,
            sparse.csr_array if isinstance(labels, sparse.sparray) else sparse.csr_matrix,
        )
        assert predicted.dtype == labels.dtype
    if isinstance(labels, np.ndarray) and not isinstance(labels[0], set):
        assert isinstance(predicted, np.ndarray)
        assert predicted.dtype == labels.dtype or {predicted.dtype.kind, labels.dtype.kind} == {
            "U"
        }
    assert kinds(predicted) == kinds(labels)
    entries = (
        [entry for row in plain(labels) for entry in row]
        if kinds(labels) & {list, tuple, set, frozenset}
        else []
    )
    given = [entry for row in plain(predicted) for entry in row] if entries else []
    assert {type(entry) for entry in given} <= {type(entry) for entry in entries}
    return True


@pytest.fixture(params=FORMS, ids=str)
def labels(request):
    return FORMS[request.param]


@pytest.fixture
def classifier():
    return TextClassifier(model="naive-bayes")


def test_predictions_have_the_form_and_type_of_the_labels(labels, classifier):
    predicted = classifier.fit(TEXTS, labels).predict(TEXTS)
    assert same_form(predicted, labels)
    right = [a == b for a, b in zip(plain(predicted), plain(labels), strict=True)]
    assert np.mean(right) >= 0.75
    assert classifier.score(TEXTS, labels) == np.mean(right)


def test_classes_name_the_columns_of_probabilities(labels, classifier):
    classifier.fit(TEXTS, labels)
    probabilities = classifier.predict_proba(TEXTS)
    assert probabilities.shape == (len(TEXTS), len(classifier.classes_))
    assert classifier.categories_ == tuple(map(str, classifier.classes_.tolist()))
    if not classifier.multilabel_:
        assert classifier.classes_.tolist() == sorted(set(plain(labels)))
        chosen = classifier.classes_[probabilities.argmax(axis=1)]
        np.testing.assert_array_equal(chosen, classifier.predict(TEXTS))
        assert classifier.classes_.dtype == classifier.predict(TEXTS).dtype


def test_a_saved_model_gives_the_same_form(labels, classifier, tmp_path):
    classifier.fit(TEXTS, labels).save(tmp_path / "model.zip")
    again = TextClassifier.load(tmp_path / "model.zip")
    ours, theirs = classifier.predict(TEXTS), again.predict(TEXTS)
    assert type(ours) is type(theirs)
    assert same_form(theirs, labels)
    assert plain(ours) == plain(theirs)
    assert again.label_form_ == classifier.label_form_
    assert again.score(TEXTS, labels) == classifier.score(TEXTS, labels)
    np.testing.assert_array_equal(again.classes_, classifier.classes_)
    assert again.classes_.dtype == classifier.classes_.dtype


def folds_for(labels):
    """Folds for the labels.

    scikit-learn does not look at lists and tuples of labels, so a number of folds would fail.
    """
    first = plain(labels)[0]
    return KFold(3) if isinstance(first, list | tuple) else 3


def for_sklearn(labels):
    """scikit-learn takes neither Arrow arrays nor columns (without a warning)."""
    is_column = hasattr(labels, "shape") and labels.shape[1:] == (1,)
    return plain(labels) if hasattr(labels, "to_pylist") or is_column else labels


def test_grid_search_and_cross_validation(labels, classifier):
    given = for_sklearn(labels)
    search = GridSearchCV(
        classifier, {"threshold": ["bayes", "auto"]}, cv=folds_for(labels)
    ).fit(TEXTS, given)
    assert same_form(search.predict(TEXTS), given)
    assert search.score(TEXTS, given) == clone(classifier).fit(TEXTS, given).score(TEXTS, given)
    if sparse.issparse(given):  # which cross_val_score refuses
        given = given.toarray()
    assert np.isfinite(cross_val_score(classifier, TEXTS, given, cv=folds_for(labels))).all()
    predicted = cross_val_predict(classifier, TEXTS, given, cv=folds_for(labels))
    assert len(plain(predicted)) == len(TEXTS)
    assert kinds(predicted) == kinds(given)


@pytest.mark.parametrize("name", SINGLE)
def test_calibration(name, classifier):
    given = for_sklearn(SINGLE[name])
    calibrated = CalibratedClassifierCV(classifier, cv=3).fit(TEXTS, given)
    if not name.startswith(
        "nullable"
    ):  # of which CalibratedClassifierCV makes floats before we see them
        assert same_form(calibrated.predict(TEXTS), given)
    assert calibrated.classes_.tolist() == sorted(set(plain(given)))
    assert calibrated.predict_proba(TEXTS).shape == (len(TEXTS), 2)
    probabilities = cross_val_predict(classifier, TEXTS, given, cv=3, method="predict_proba")
    assert probabilities.shape == (len(TEXTS), 2)


@pytest.mark.parametrize(
    "model", ["svm", "logistic-gaussian", "online-perceptron", "knn", "bernoulli-naive-bayes"]
)
@pytest.mark.parametrize("name", ["bool", "int", "lists of int", "dummies"])
def test_learners_of_every_family(model, name):
    labels = FORMS[name]
    classifier = TextClassifier(model=model).fit(TEXTS, labels)
    assert same_form(classifier.predict(TEXTS), labels)
    assert classifier.score(TEXTS, labels) > 0.5


def test_frames_keep_the_index_of_the_texts():
    texts = pd.Series(TEXTS, index=[f"row {i}" for i in range(len(TEXTS))])
    predicted = TextClassifier().fit(texts, INDICATORS["dummies"]).predict(texts[:3])
    assert predicted.index.tolist() == ["row 0", "row 1", "row 2"]


def test_labels_are_explained_under_their_names():
    classifier = TextClassifier(model="naive-bayes").fit(TEXTS, coded(2, 10))
    assert classifier.explain("oil").categories[0].category == "10"
    assert classifier.explain("oil", categories=[2]).categories[0].category == "2"


MISSING = [
    [*coded("grain", "crude")[:-1], None],
    [*coded("grain", "crude")[:-1], float("nan")],
    [*coded("grain", "crude")[:-1], "  "],
    pd.Series([*coded(2, 10)[:-1], None], dtype="Int64"),
    pd.Series([*coded(2, 10)[:-1], None]),
    pd.Series([*coded("grain", "crude")[:-1], None]),
    pd.Series([*coded("grain", "crude")[:-1], None], dtype="category"),
    pd.Series([*coded(False, True)[:-1], None], dtype="boolean"),
    np.array([*coded("grain", "crude")[:-1], ""]),
    pa.array([*coded(2, 10)[:-1], None]),
]


@pytest.mark.parametrize("labels", MISSING, ids=range(len(MISSING)))
def test_texts_without_a_label_are_left_out_and_said(labels):
    with pytest.warns(DataWarning, match=r"^1 text without a label left out; multilabel=True"):
        classifier = TextClassifier().fit(TEXTS, labels, sample_weight=np.r_[np.ones(11), 99])
    complete = TextClassifier().fit(TEXTS[:-1], plain(labels)[:-1])
    np.testing.assert_array_equal(
        classifier.predict_proba(TEXTS), complete.predict_proba(TEXTS)
    )
    assert not classifier.multilabel_
    assert classifier.score(TEXTS, labels) == complete.score(TEXTS[:-1], plain(labels)[:-1])
    assert {type(label) for label in classifier.predict(TEXTS).tolist()} == kinds(
        plain(labels)[:-1]
    )


def test_texts_without_a_label_are_kept_on_request():
    labels = [*coded("grain", "crude")[:-1], None]
    with pytest.warns(DataWarning, match="1 text without a label kept as texts of no category"):
        classifier = TextClassifier().fit(TEXTS, labels, multilabel=True)
    expected = TextClassifier().fit(
        TEXTS, [() if label is None else (label,) for label in labels]
    )
    np.testing.assert_array_equal(
        classifier.predict_proba(TEXTS), expected.predict_proba(TEXTS)
    )
    assert classifier.predict(TEXTS) == expected.predict(TEXTS)


def corpus_of(labels):
    named = [(label,) if isinstance(label, str) else tuple(label or ()) for label in labels]
    documents = [
        Document(str(i), t, categories=c)
        for i, (t, c) in enumerate(zip(TEXTS, named, strict=True))
    ]
    return Corpus(tuple(documents), tuple(sorted({name for names in named for name in names})))


def test_one_blank_label_leaves_a_corpus_single_labelled():
    labels = [*coded("grain", "crude")[:-1], None]
    with pytest.warns(DataWarning, match="1 text without a label left out"):
        classifier = TextClassifier().fit_corpus(corpus_of(labels))
    assert not classifier.multilabel_
    assert classifier.corpus_["documents"] == 11
    kept = TextClassifier().fit_corpus(corpus_of(labels), multilabel=True)
    assert kept.multilabel_
    assert kept.corpus_["documents"] == 12


def test_documents_of_no_category_are_kept_where_some_have_several():
    labels = [*sets(tuple, NAMES)[:-1], ()]
    classifier = TextClassifier().fit_corpus(corpus_of(labels))
    assert classifier.multilabel_
    assert classifier.corpus_["documents"] == 12
    with pytest.raises(DataError, match="4 texts have several labels"):
        TextClassifier().fit_corpus(corpus_of(labels), multilabel=False)


def test_empty_collections_are_labels():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        classifier = TextClassifier().fit(TEXTS, [*sets(list, NAMES)[:-1], []])
    assert isinstance(classifier.predict(TEXTS)[0], list)
    with pytest.warns(DataWarning, match="kept as texts of no category"):
        TextClassifier().fit(TEXTS, [*sets(list, NAMES)[:-1], None])


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (None, "there are no labels: fit requires y to be passed"),
        ("grain", "not one str"),
        ({"grain"}, "not one set"),
        ([], "there are no labels"),
        ([None] * 12, "no text has a label"),
        ([[]] * 12, "no text has a label"),
        ([*coded(1, 2)[:-1], "x"], "labels are of several types: 'x', [12]"),
        ([*coded(1, 2)[:-1], True], "several types"),
        ([0.5] * 12, "0.5 is a fraction"),
        ([b"x"] * 12, "a label is of type bytes"),
        ([[["x"]]] * 12, "a collection in a collection"),
        (np.array(["2020-01-01"] * 12, dtype="datetime64[D]"), "not datetime64"),
        (np.full((12, 2), 3), "must be 0 and 1; for one label per text give one column"),
        (np.zeros((12, 2, 2)), "3 dimensions"),
        (pd.DataFrame({"a": TEXTS, "b": TEXTS}), "must be 0 and 1"),
        (coded(1, 2)[:-1], "12 texts, but 11 labels"),
    ],
)
def test_other_labels_are_refused_in_one_line(labels, message):
    with pytest.raises(DataError, match=message) as caught:
        TextClassifier().fit(TEXTS, labels)
    assert "\n" not in str(caught.value)


def test_labels_that_the_model_cannot_have_meant():
    classifier = TextClassifier().fit(TEXTS, coded(1, 2))
    with pytest.raises(
        DataError, match=r"none of these labels \('1', '2'\) is one of the model's \(1, 2\)"
    ):
        classifier.score(TEXTS, coded("1", "2"))
    with pytest.raises(DataError, match="fitted to one label per text"):
        classifier.score(TEXTS, INDICATOR)


def test_unknown_labels_are_wrong():
    classifier = TextClassifier().fit(TEXTS, sets(list, NAMES))
    labels = classifier.predict(TEXTS)
    assert classifier.score(TEXTS, labels) == 1
    assert classifier.score(TEXTS, [[*labels[0], "new"], *labels[1:]]) == 11 / 12
    assert classifier.score(TEXTS, labels, sample_weight=np.eye(12)[0]) == 1


def test_a_form_is_read_back_from_what_it_gives():
    for labels in FORMS.values():
        read = read_labels(labels)
        decisions = (
            read.y[:, None] == read.form.classes_array
            if read.form.form == "single"
            else read.y.toarray() == 1
        )
        assert plain(read.form.decode(decisions)) == plain(labels)
    assert LabelForm("sets", ("a", "b")).decode(np.array([[True, True]])) == [("a", "b")]
