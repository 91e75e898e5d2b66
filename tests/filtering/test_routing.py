"""Groups of documents that a reader judges, against loops by hand."""

import json

import numpy as np
import pytest
from scipy import sparse
from sklearn.svm import LinearSVC

from bayesift.cli import main
from bayesift.filtering import ROUTERS, route, simulate_routing
from bayesift.models.baselines import LinearSVM
from bayesift.models.online import OnlinePerceptron
from bayesift.records import Corpus, Document


@pytest.fixture(scope="module")
def world():
    random = np.random.default_rng(0)
    relevant = random.random(150) < 0.15
    X = random.poisson(0.2 + 0.8 * relevant[:, np.newaxis] * (np.arange(20) < 5))
    lengths = np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1)
    return sparse.csr_array(X / lengths), relevant


def by_hand(X, relevant, start, group, n_groups, rank):
    judged = np.argsort(-(X @ X[[start]].T).toarray().ravel(), kind="stable")[:group].tolist()
    found = [relevant[judged].sum() / relevant.sum()]
    while len(found) < n_groups:
        order = rank(judged)
        judged += [row for row in order if row not in judged][:group]
        found.append(relevant[judged].sum() / relevant.sum())
    return found


def test_a_machine_is_fitted_to_all_that_was_judged(world):
    X, relevant = world
    start = int(np.flatnonzero(relevant)[0])

    def rank(judged):
        rows = sorted(judged)
        machine = LinearSVC(loss="hinge", C=1.0, random_state=0, tol=1e-4)
        machine.fit(X[rows], relevant[rows])
        return np.argsort(-machine.decision_function(X), kind="stable")

    learner = LinearSVM(loss="hinge", C=1.0)
    found = route(X, relevant, learner, start=start, group=10, n_groups=5)
    assert found.tolist() == by_hand(X, relevant, start, 10, 5, rank)


def test_an_online_learner_learns_each_group_once(world):
    X, relevant = world
    start = int(np.flatnonzero(relevant)[1])
    model = OnlinePerceptron(covariance="diagonal")

    def rank(judged):
        newest = judged[-10:]
        model.partial_fit(X[newest], relevant[newest].astype(int), classes=[0, 1])
        return np.argsort(-model.predict_proba(X)[:, 1], kind="stable")

    learner = OnlinePerceptron(covariance="diagonal")
    found = route(X, relevant, learner, start=start, group=10, n_groups=5)
    assert found.tolist() == by_hand(X, relevant, start, 10, 5, rank)


@pytest.mark.parametrize("name", ROUTERS)
def test_all_is_found_when_all_is_judged(world, name):
    X, relevant = world
    start = int(np.flatnonzero(relevant)[0])
    found = route(X, relevant, ROUTERS[name](), start=start, group=40, n_groups=6)
    assert np.all(np.diff(found) >= 0)
    assert found[3:].tolist() == [1.0, 1.0, 1.0]


def documents(n=60):
    words = {"grain": "wheat corn rye oats", "crude": "oil gas barrel opec"}
    random = np.random.default_rng(1)
    for i in range(n):
        topic = "grain" if i % 3 == 0 else "crude"
        text = " ".join(random.choice(words[topic].split(), 3)) + f" note{i % 7}"
        yield Document(str(i), text, categories=(topic,))


def test_the_same_seed_gives_the_same_runs():
    corpus = Corpus(tuple(documents()), ("crude", "grain"))
    first, second = (simulate_routing(corpus, ["svm", "stack"], seed=3) for _ in range(2))
    assert first.topics == ("crude", "grain")
    for name in ("svm", "stack"):
        assert first.recall[name].shape == (6, 10)
        assert np.array_equal(first.recall[name], second.recall[name])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"learners": ["svn"]}, "did you mean 'svm'"),
        ({"group": 0}, "must be at least 1"),
        ({"topics": ["tin"]}, "no category 'tin'"),
        ({"relevant": (100, None)}, "no category has enough"),
    ],
)
def test_what_cannot_be_routed_is_refused(options, said):
    corpus = Corpus(tuple(documents()), ("crude", "grain"))
    with pytest.raises(ValueError, match=said):
        simulate_routing(corpus, **options)


def run(arguments):
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    return ended.value.code


def test_the_command_prints_learners_side_by_side(tmp_path, capsys):
    file = tmp_path / "news.jsonl"
    rows = [{"id": d.id, "text": d.text, "label": d.categories[0]} for d in documents()]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    command = ["filter", "simulate", str(file), "--routing", "5", "-q"]
    assert run(command) is None
    out = capsys.readouterr().out
    assert "60 documents, 2 topics: relevant documents found, 5 at a time" in out
    assert [line.split()[0] for line in out.splitlines()[3:]] == list(ROUTERS)
    assert run([*command, "--json"]) is None
    assert set(json.loads(capsys.readouterr().out)["recall"]) == set(ROUTERS)
    assert run([*command, "--plots", str(tmp_path)]) == 2
    assert "takes neither --report nor --plots" in capsys.readouterr().err
