"""What people know of words, put into the prior of the model that is to be fitted."""

from __future__ import annotations

from typing import Any

from scipy import sparse
from sklearn.base import clone

from bayesift.classifier.labels import LabelForm
from bayesift.errors import DataError
from bayesift.features import SelectTerms
from bayesift.knowledge import Coverage, TermIndex, TermKnowledge, prior_for
from bayesift.models.linear.links import link_of
from bayesift.text import TermVectorizer


def informed(
    model: Any,
    knowledge: TermKnowledge | None,
    form: LabelForm,
    X: sparse.csr_array,
    vectorizer: TermVectorizer | None,
    selection: SelectTerms | None,
) -> tuple[Any, Coverage | None]:
    """The model with a prior that holds the knowledge, and how much of it met the vocabulary.

    Parameters
    ----------
    model : an estimator with a link and a prior; without knowledge it comes back as it is
    knowledge : what is known
    form : the labels; two classes of one label share a model
    X : the training vectors, over all terms
    vectorizer, selection : fitted; which terms the model will see

    Examples
    --------
    >>> from bayesift.models import make_learner
    >>> vectorizer = TermVectorizer(weighting="tf")
    >>> X = vectorizer.fit_transform(["corn crops", "gold"])
    >>> knowledge = TermKnowledge.from_keywords({"gold": {"gold": 3}})
    >>> form = LabelForm("single", ("corn", "gold"))
    >>> model, coverage = informed(make_learner("logistic-gaussian"), knowledge, form, X, vectorizer, None)
    >>> model.prior.mode.tolist(), coverage.used
    ([[0.0, 0.0, 3.0]], 1)
    """
    if not knowledge:
        return model, None
    if vectorizer is None:
        raise DataError("knowledge of words needs texts; the documents are vectors")
    parameters = model.get_params(deep=False)
    if "prior" not in parameters or "link" not in parameters:
        raise ValueError(f"a {type(model).__name__} has no prior of weights to put knowledge into; use a linear model")
    prior, coverage = prior_for(
        knowledge,
        parameters["prior"],
        form.categories,
        TermIndex.of(vectorizer, X, None if selection is None else selection.get_support()),
        link=link_of(parameters["link"]),
        one_model=not form.multilabel and len(form.categories) == 2,
    )
    return clone(model).set_params(prior=prior), coverage
