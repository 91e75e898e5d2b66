"""Parts of the Spark package that need no cluster."""

import numpy as np
import pyarrow as pa
import pytest
from scipy import sparse

from bayesift.classifier import TextClassifier
from bayesift.classifier.text_classifier import LabelForm
from bayesift.errors import DataError
from bayesift.models.linear import Logit, SparseBayesClassifier
from bayesift.models.linear.links import log_likelihoods
from bayesift.spark.blocks import (
    BlockMaker,
    LossEvaluator,
    LossSums,
    RowBlock,
    secant_curvatures,
)
from bayesift.spark.counting import DocumentColumns, PairCounter, Survey
from bayesift.spark.fitting import fixed_rule
from bayesift.spark.newton import packed_gram, packed_size, unpacked_gram
from bayesift.spark.session import _with_retries, check_new
from bayesift.spark.sharing import matrix_content, problem_of, unpacked
from bayesift.text import TermVectorizer

COLUMNS = DocumentColumns("text", "topic")


def test_blocks_survive_a_batch():
    rows, labels = sparse.csr_array([[1.0, 0.0]]), sparse.csr_array(np.array([[0, 1, 1]]))
    again = RowBlock.of(RowBlock(rows, labels).to_batch().to_pylist()[0], 2, 3)
    assert again.rows.toarray().tolist() == [[1.0, 0.0]]
    assert again.labels.toarray().tolist() == [[0, 1, 1]]


def test_texts_become_blocks():
    vectorizer = TermVectorizer().fit(["corn oil"])
    batch = pa.RecordBatch.from_pydict({"text": ["corn"], "topic": ["grain"]})
    made = next(BlockMaker(COLUMNS, ("crude", "grain"), lambda: vectorizer)(iter([batch])))
    assert RowBlock.of(made.to_pylist()[0], 2, 2).labels.toarray().tolist() == [[0, 1]]


def test_losses_of_a_block_and_their_sum():
    block = RowBlock(sparse.csr_array([[2.0]]), sparse.csr_array(np.array([[1]])))
    sums = LossEvaluator(Logit(), np.zeros((2, 1)), [0], 1, diagonal=True).evaluate(block)
    assert sums.losses.tolist() == pytest.approx([np.log(2)])
    assert sums.gradients.tolist() == [[-1.0], [-0.5]]
    assert sums.hessians.tolist() == [1.0, 0.25]
    twice = LossSums.of(sums.to_batch(0).to_pylist() * 2, (2, 1))
    assert twice.losses.tolist() == pytest.approx([2 * np.log(2)])


def test_secant_curvatures_are_jaakkola_and_jordans_bound():
    margins = np.array([-4.0, 1.0])
    found = secant_curvatures(Logit(), margins, *log_likelihoods(Logit(), margins)[1:])
    np.testing.assert_allclose(found, [np.tanh(-2.0) / -8.0, 0.19661193])


def test_packed_hessians():
    packed = packed_gram(sparse.csr_array([[2.0, 1.0, 3.0]]), np.array([0, 2]), np.array([0.5]))
    assert packed.tolist() == [2.0, 3.0, 4.5, 1.0, 1.5, 0.5]
    assert len(packed) == packed_size(2)
    assert unpacked_gram(np.array([2.0, 1.0, 0.5]), 1).tolist() == [[2.0, 0.0], [1.0, 0.5]]


def test_counts_of_terms_categories_and_pairs():
    batch = pa.RecordBatch.from_pydict(
        {"text": ["corn corn oats", None], "topic": ["grain", "grain"]}
    )
    rows = [
        tuple(row.values())
        for row in next(Survey(COLUMNS, TermVectorizer())(iter([batch]))).to_pylist()
    ]
    assert rows[:3] == [
        ("term", "corn", 1, 2),
        ("term", "oats", 1, 1),
        ("category", "grain", 1, 1),
    ]
    vectorizer = TermVectorizer().fit(["corn", "oats"])
    pairs = next(
        PairCounter(COLUMNS, ("crude", "grain"), lambda: vectorizer)(iter([batch[:1]]))
    ).to_pylist()
    assert [tuple(row.values()) for row in pairs[:3]] == [
        (1, 0, 1, 2, 0),
        (1, 1, 1, 1, 0),
        (-1, 0, 1, 2, 4),
    ]


def test_rules_that_need_no_scores():
    form = LabelForm("sets", ("crude", "grain"))
    assert fixed_rule("auto", form, probabilities=True).thresholds_.tolist() == [0.5, 0.5]
    with pytest.raises(DataError, match="learns from the scores"):
        fixed_rule("scut", form, probabilities=True)


def test_columns_of_the_result_are_new():
    with pytest.raises(DataError, match="a column 'errors' of its own"):
        check_new(["id", "errors"], ["categories", "errors"])


def test_local_masters_retry():
    assert [_with_retries(m) for m in ("local[2]", "local", "yarn")] == [
        "local[2,4]",
        "local[1,4]",
        "yarn",
    ]


def test_a_zipped_model_is_unpacked_once(tmp_path):
    TextClassifier().fit(["corn", "oil"], ["grain", "crude"]).save(tmp_path / "model.zip")
    folder = unpacked(tmp_path / "model.zip")
    assert "model.json" in {path.name for path in folder.iterdir()}
    assert unpacked(tmp_path / "model.zip") == folder


def test_matrices_survive_a_file():
    problem = SparseBayesClassifier().problem([[2.0, 1.0], [0.0, 1.0]], [0, 1])
    again = problem_of(matrix_content(problem))
    assert again.columns.toarray().tolist() == [[2.0, 1.0], [0.0, 1.0]]
    assert again.members.toarray().tolist() == problem.members.toarray().tolist()
