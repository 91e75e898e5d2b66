import numpy as np
import pytest
from scipy import sparse

from bayesift import DataError, TermVectorizer, TextClassifier
from bayesift.classifier.labels import read_labels
from bayesift.models.linear import GaussianPrior, LaplacePrior, SparseBayesClassifier
from bayesift.models.linear.scale import CrossValidation

pytestmark = pytest.mark.filterwarnings(
    "ignore:PySpark does not yet fully support pandas:FutureWarning"
)

PRIORS = {"laplace": LaplacePrior(gamma=0.25), "gaussian": GaussianPrior(variance=4.0)}


@pytest.fixture(scope="module")
def in_order(frame):
    """The documents in the order of the DataFrame."""
    rows = frame.collect()
    return [row.text for row in rows], [list(row.topics) for row in rows]


def objectives(model, X, Y):
    problem = model.problem(X, Y)
    return np.array(
        [
            problem.objective(c, s.coefficients, s.intercept)
            for c, s in enumerate(model.solutions_)
        ]
    )


@pytest.mark.parametrize("prior", PRIORS)
def test_dealt_out_categories_are_the_local_fit(frame, in_order, prior):
    from bayesift.spark import fit_one_vs_rest

    model = SparseBayesClassifier(prior=PRIORS[prior])
    texts, topics = in_order
    local = TextClassifier(model=model, vectorizer=TermVectorizer(weighting="ltc")).fit(
        texts, topics
    )
    fit = fit_one_vs_rest(
        frame,
        label_col="topics",
        model=model,
        vectorizer=TermVectorizer(weighting="ltc"),
        strategy="categories",
    )
    assert fit.strategy == "categories"
    np.testing.assert_allclose(
        fit.classifier.predict_proba(texts), local.predict_proba(texts), rtol=0, atol=1e-12
    )
    assert fit.classifier.predict(texts) == local.predict(texts)


@pytest.mark.slow
def test_folds_and_paths_are_dealt_out(frame, in_order):
    from bayesift.spark import fit_one_vs_rest

    rule = CrossValidation(folds=3, n_scales=4)
    model = SparseBayesClassifier(prior="laplace", prior_scale=rule)
    texts, topics = in_order
    local = (
        TextClassifier(model=model)
        .fit(
            texts,
            topics,
        )
        .model_
    )
    fit = fit_one_vs_rest(
        frame, label_col="topics", model=model, strategy="categories", threshold="max-f1"
    )
    found = fit.classifier.model_
    np.testing.assert_allclose(found.prior_scale_, local.prior_scale_, rtol=1e-12)
    np.testing.assert_allclose(found.validation_.losses, local.validation_.losses, rtol=1e-10)


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("link", ["logit", pytest.param("probit", marks=pytest.mark.slow)])
def test_row_blocks_reach_the_mode(frame, in_order, prior, link, tmp_path):
    from bayesift.spark import fit_one_vs_rest

    texts, topics = in_order
    vectorizer = TermVectorizer(weighting="ltc")
    model = SparseBayesClassifier(link=link, prior=PRIORS[prior], tol=1e-7, max_iter=10000)
    local = TextClassifier(model=model, vectorizer=vectorizer).fit(texts, topics)
    fit = fit_one_vs_rest(
        frame, label_col="topics", model=model, vectorizer=vectorizer, strategy="rows"
    )
    best, found = local.model_, fit.classifier.model_
    X, Y = local.vectors(texts), read_labels(topics, categories=local.categories_).y
    least = objectives(best, X, Y)
    gaps = (objectives(found, X, Y) - least) / least
    assert np.max(gaps) <= 1e-5
    # The bound is one: not below the gap itself, but for what the local solver left.
    assert np.all(fit.gaps >= gaps - 1e-9)
    assert np.max(fit.gaps) <= 1e-5
    fit.classifier.save(tmp_path / "model")
    assert TextClassifier.load(tmp_path / "model").categories_ == local.categories_


@pytest.mark.slow
def test_two_classes_and_signs_on_rows(spark, in_order):
    from bayesift.spark import fit_one_vs_rest

    texts, topics = in_order
    labels = ["yes" if "gold" in t else "no" for t in topics]
    df = spark.createDataFrame(
        list(zip(texts, labels, strict=True)), "text string, label string"
    ).repartition(3)
    n_terms = len(TermVectorizer().fit(texts).vocabulary_)
    sign = np.where(np.arange(n_terms) % 2, 1, 0)
    model = SparseBayesClassifier(
        prior=LaplacePrior(gamma=0.25, sign=sign), tol=1e-7, max_iter=10000
    )
    local = TextClassifier(model=model, vectorizer=TermVectorizer()).fit(texts, labels)
    fit = fit_one_vs_rest(df, model=model, strategy="rows")
    weights = fit.classifier.model_.coef_
    weights = weights.toarray() if sparse.issparse(weights) else weights
    assert np.all(weights[0, sign == 1] >= 0)
    X, y = local.vectors(texts), np.array(labels, dtype=object)
    best, found = (objectives(c.model_, X, y) for c in (local, fit.classifier))
    assert (found - best) / best <= 1e-5


def test_killed_worker_changes_nothing(spark, cluster, frame):
    from bayesift.spark import fit_one_vs_rest
    from tests.spark.killing import replace

    df = frame.select("text", "topics").repartition(4)
    model = SparseBayesClassifier(prior=PRIORS["laplace"])
    vectorizer = TermVectorizer(weighting="ltc")
    asked = []

    def kill_at_the_third_question(_, n):
        asked.append(n)
        if len(asked) == 3:
            replace(cluster)

    def fit(progress=None):
        options = {
            "model": model,
            "vectorizer": vectorizer,
            "strategy": "rows",
            "progress": progress,
        }
        return fit_one_vs_rest(df, label_col="topics", **options)

    disturbed, calm = fit(kill_at_the_third_question), fit()
    assert len(asked) > 4
    weights = [f.classifier.model_.coef_ for f in (disturbed, calm)]
    dense = [w.toarray() if sparse.issparse(w) else w for w in weights]
    # A shuffle hands on rows in the order they come in: the last digits of sums depend on it.
    np.testing.assert_allclose(*dense, rtol=1e-9, atol=1e-12)
    assert np.all(np.maximum(disturbed.gaps, calm.gaps) <= 1e-5)


def test_what_rows_cannot_do_is_said(frame):
    from bayesift.spark import fit_one_vs_rest

    for model, message in (
        (SparseBayesClassifier(prior="jeffreys"), "Gaussian or Laplace"),
        (SparseBayesClassifier(prior_scale="norm"), "choose the scale on a sample"),
        ("naive-bayes", "is not a linear model of bayesift"),
    ):
        with pytest.raises(DataError, match=message):
            fit_one_vs_rest(frame, label_col="topics", model=model, strategy="rows")


@pytest.mark.slow
@pytest.mark.corpus("rcv1-sample")
@pytest.mark.parametrize("prior", ["laplace", "gaussian"])
def test_row_blocks_of_rcv1(spark, corpus_named, prior):
    from bayesift.spark.row_blocks import RowBlocks, Totals, blocks_of, fit_row_blocks

    train = corpus_named("rcv1-sample").split("train")
    X, Y = train.vectors, train.indicator
    sizes = np.asarray(Y.sum(axis=0)).ravel()
    kept = np.argsort(-sizes)[[0, 3, 10, 30, 60, 90]]
    Y = sparse.csr_array(Y[:, kept])
    priors = {"laplace": LaplacePrior(gamma=0.04), "gaussian": GaussianPrior(variance=10.0)}
    local = SparseBayesClassifier(prior=priors[prior], tol=1e-5, max_iter=5000).fit(X, Y)
    margins = Totals(
        X.shape[0], sizes[kept].astype(float), np.asarray(X.power(2).sum(axis=0)).ravel()
    )
    with RowBlocks(blocks_of(spark, X, Y, n_blocks=4), X.shape[1], len(kept)) as blocks:
        found, bounds = fit_row_blocks(blocks, local, margins, list(range(len(kept))))
    problem = local.problem(X, Y)
    got = np.array(
        [problem.objective(c, s.coefficients, s.intercept) for c, s in enumerate(found)]
    )
    least = objectives(local, X, Y)
    gaps = (got - least) / least
    assert np.max(gaps) <= 1e-5
    assert np.all(bounds >= gaps - 1e-9)
