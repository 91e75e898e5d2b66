"""Fitted models that answer over HTTP: the same answers as in Python, versions, corrections."""

import csv
import io
import threading

import httpx2 as httpx
import numpy as np
import pytest
from fastapi.testclient import TestClient
from scipy.stats import ks_2samp

from bayesift import TextClassifier
from bayesift.classifier.abstention import Abstention, Doubts
from bayesift.cli.serve import _named_models
from bayesift.service.models import operations
from bayesift.service.models.shelf import add_file
from bayesift.service.models.watch import LEAST, NEWEST, ModelWatch
from bayesift.tables import Columns, load_table
from tests.service.worlds import TOPICS, Clients, listening, running, text_about

N_TEXTS = 60


def training(n=N_TEXTS):
    names = list(TOPICS)
    labels = [names[number % len(names)] for number in range(n)]
    return [text_about(label, number) for number, label in enumerate(labels)], labels


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """A classifier that knows its held-out documents, and its file."""
    classifier = TextClassifier().fit(*training())
    path = tmp_path_factory.mktemp("fitted") / "topics.zip"
    classifier.save(path)
    return classifier, path


def upload(client, path, name="topics"):
    return client.post(f"/api/models?name={name}", content=path.read_bytes())


@pytest.fixture(scope="module")
def served(fitted, tmp_path_factory):
    """Clients of a service whose model no test changes."""
    folder = tmp_path_factory.mktemp("served")
    with running(folder, requests_per_second=1e6, burst=10**6) as service:
        add_file(service, "topics", fitted[1])
        yield Clients(service)


def as_admin(service, token):
    return TestClient(service.app, headers={"Authorization": f"Bearer {token}"})


@pytest.fixture
def changed(clients, fitted):
    """Clients of a service whose model the test changes."""
    add_file(clients.service, "topics", fitted[1])
    return clients


def test_answers_are_those_of_the_classifier(served, fitted):
    classifier, _ = fitted
    texts = [text_about("crude", 900), "wheat and corn", "words it never saw"]
    body = {"texts": texts, "top": 3, "abstain": 0.2}
    answer = served.reader.post("/api/models/topics/classify", json=body).json()
    assert answer["version"] == 1
    probabilities = classifier.predict_proba(texts)
    decided = classifier.predict(texts, abstain=0.2)
    for found, expected, label in zip(answer["answers"], probabilities, decided, strict=True):
        scores = {each["category"]: each["score"] for each in found["scores"]}
        given = [scores[name] for name in classifier.categories_]
        np.testing.assert_allclose(given, expected, rtol=1e-12)
        assert [each["score"] for each in found["scores"]] == sorted(given, reverse=True)
        assert found["categories"] == ([] if label is None else [label])
        assert (found["unsure"] is not None) == (label is None)
    assert answer["answers"][2]["unseen"] == 1.0


def test_a_text_without_words_has_no_category(served):
    body = {"texts": ["  ", ""]}
    answers = served.reader.post("/api/models/topics/classify", json=body).json()["answers"]
    assert [each["categories"] for each in answers] == [[], []]
    nothing = served.reader.post("/api/models/topics/classify", json={"texts": []})
    assert nothing.json()["answers"] == []


def test_explanations_are_those_of_the_classifier(served, fitted):
    text = text_about("grain", 901)
    answer = served.reader.post("/api/models/topics/explain", json={"text": text}).json()
    expected = fitted[0].explain(text)
    for found, category in zip(answer["categories"], expected.categories, strict=True):
        assert found["category"] == category.category
        terms = {each["term"]: each["contribution"] for each in found["terms"]}
        assert terms == pytest.approx({term.term: term.contribution for term in category.terms})
    assert answer["unseen_terms"] == list(expected.unseen_terms)


def test_requests_that_wait_are_answered_together_and_each_gets_its_own(served, fitted):
    classifier, _ = fitted
    texts = [text_about(name, 1000 + number) for number in range(20) for name in TOPICS]
    expected = classifier.predict_proba(texts).max(axis=1)
    answers = [None] * len(texts)

    def ask(address, headers, number):
        body = {"texts": [texts[number]], "top": 1}
        url = f"{address}/api/models/topics/classify"
        found = httpx.post(url, json=body, headers=headers, timeout=60).json()
        answers[number] = found["answers"][0]["scores"][0]["score"]

    headers = {"Authorization": served.reader.headers["Authorization"]}
    with listening(served.service) as address:
        askers = [
            threading.Thread(target=ask, args=(address, headers, number))
            for number in range(len(texts))
        ]
        for asker in askers:
            asker.start()
        for asker in askers:
            asker.join()
    # Sums of a product of matrices depend on the rows beside it, in the last digits.
    np.testing.assert_allclose(answers, expected, rtol=1e-9)


def test_a_table_comes_back_with_the_answers_beside_its_columns(served, fitted):
    table = 'id,title,text\n1,,wheat corn barley\n2,=SUM(A1),"crude oil\nand gas"\n'
    answer = served.reader.post("/api/models/topics/classify.csv", content=table)
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert [row["categories"] for row in rows] == ["grain", "crude"]
    assert rows[1]["title"] == "'=SUM(A1)"
    best = fitted[0].predict_proba(["=SUM(A1)\ncrude oil\nand gas"]).max()
    assert float(rows[1]["score"]) == pytest.approx(best, rel=1e-5)


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("id,text\n1\n", "row 1 of the table has not as many cells as the header"),
        ("id,body\n1,corn\n", "the field 'text' with the text is missing"),
        (b"text\n\xff\n", "the table is not UTF-8"),
    ],
)
def test_a_bad_table_is_refused_in_a_sentence(served, table, said):
    answer = served.reader.post("/api/models/topics/classify.csv", content=table)
    assert answer.status_code == 422, answer.text
    assert said in answer.json()["detail"]


def test_a_model_of_a_table_takes_its_columns(clients, tmp_path):
    file = tmp_path / "mails.csv"
    rows = ["Betreff;Nachricht;Stunde;Ordner"]
    for number, (text, label) in enumerate(zip(*training(), strict=True)):
        rows.append(f"report {number};{text};{3 * list(TOPICS).index(label)};{label}")
    file.write_text("\n".join(rows))
    corpus = load_table(
        file,
        columns=Columns(label="Ordner", text="Nachricht", title="Betreff", others=("Stunde",)),
    )
    classifier = TextClassifier(model="logistic-gaussian", columns=["Stunde"]).fit_corpus(
        corpus
    )
    classifier.save(tmp_path / "mails.zip")
    assert upload(clients.admin, tmp_path / "mails.zip", "mails").status_code == 201
    assert clients.reader.get("/api/models/mails").json()["fields"] == [
        "Betreff",
        "Nachricht",
        "Stunde",
    ]
    row = {"Betreff": "report", "Nachricht": "cargo", "Stunde": 6}
    found = clients.reader.post("/api/models/mails/classify", json={"texts": [row]}).json()
    expected = classifier.predict_proba([{"text": "report\ncargo", "Stunde": 6}]).max()
    assert found["answers"][0]["scores"][0]["score"] == pytest.approx(expected)
    refused = clients.reader.post("/api/models/mails/classify", json={"texts": ["cargo"]})
    assert "the fields Betreff, Nachricht, Stunde" in refused.json()["detail"]
    refused = clients.reader.post(
        "/api/models/mails/classify", json={"texts": [{"Nachricht": "cargo"}]}
    )
    assert "the field 'Stunde'" in refused.json()["detail"]


def test_a_new_version_answers_and_the_one_before_can_come_back(changed, tmp_path):
    texts, labels = training()
    renamed = ["food" if label == "grain" else label for label in labels]
    TextClassifier(model="naive-bayes").fit(texts, renamed).save(tmp_path / "new.zip")
    answer = upload(changed.admin, tmp_path / "new.zip")
    assert (answer.json()["version"], answer.json()["categories"][1]) == (2, "food")

    def assigned():
        body = {"texts": ["wheat corn barley harvest"]}
        found = changed.reader.post("/api/models/topics/classify", json=body).json()
        return found["version"], found["answers"][0]["categories"]

    assert assigned() == (2, ["food"])
    answer = changed.admin.put("/api/models/topics/version", json={"version": 1})
    assert answer.status_code == 200
    assert assigned() == (1, ["grain"])
    versions = changed.reader.get("/api/models/topics/versions").json()
    assert [(each["version"], each["current"]) for each in versions] == [(1, True), (2, False)]
    assert (
        changed.admin.put("/api/models/topics/version", json={"version": 9}).status_code == 404
    )
    assert assigned() == (1, ["grain"])


def test_a_damaged_file_is_refused_and_the_version_before_answers(changed, fitted):
    content = bytearray(fitted[1].read_bytes())
    content[len(content) // 2] ^= 0xFF
    answer = changed.admin.post("/api/models?name=topics", content=bytes(content))
    assert answer.status_code == 422
    answer = changed.admin.post("/api/models?name=topics", content=b"not a model")
    assert answer.status_code == 422
    assert changed.reader.get("/api/models/topics").json()["version"] == 1


def test_models_are_there_after_a_restart_and_damage_is_said(tmp_path, fitted):
    with running(tmp_path / "data") as service:
        token = service.first_token
        assert upload(as_admin(service, token), fitted[1]).status_code == 201
    (tmp_path / "data" / "models" / "new-left-over").mkdir()
    with running(tmp_path / "data") as service:
        body = {"texts": ["corn"]}
        reader = as_admin(service, token)
        assert reader.post("/api/models/topics/classify", json=body).status_code == 200
    (place,) = (tmp_path / "data" / "models").iterdir()
    arrays = place / "arrays.safetensors"
    content = bytearray(arrays.read_bytes())
    content[-1] ^= 0x20
    arrays.write_bytes(content)
    with running(tmp_path / "data") as service:
        reader = as_admin(service, token)
        answer = reader.post("/api/models/topics/classify", json=body)
        assert answer.status_code == 503
        assert "cannot be loaded" in answer.json()["detail"]
        assert "cannot be loaded" in reader.get("/api/models").json()[0]["trouble"]


def test_a_file_that_changed_is_a_new_version_at_the_start(tmp_path, fitted):
    path = tmp_path / "topics.zip"
    path.write_bytes(fitted[1].read_bytes())
    with running(tmp_path / "data") as service:
        for _ in range(2):
            add_file(service, "topics", path)
        TextClassifier(model="naive-bayes").fit(*training()).save(path)
        add_file(service, "topics", path)
        with service.store.reading() as read:
            found = operations.versions(read, "topics")
    assert [(row.version, row.current) for row in found] == [(1, False), (2, True)]


def test_models_of_the_command_line_have_names(tmp_path, fitted):
    (tmp_path / "spam.zip").write_bytes(fitted[1].read_bytes())
    (tmp_path / "notes.txt").write_text("no model")
    assert _named_models([f"mail={fitted[1]}", str(tmp_path)]) == {
        "mail": fitted[1],
        "spam": tmp_path / "spam.zip",
    }


def test_corrections_are_labels_for_the_next_fit(changed, tmp_path):
    for text, label in zip(*training(9), strict=True):
        body = {"text": text, "categories": [label]}
        answer = changed.ada.post("/api/models/topics/corrections", json=body)
        assert answer.status_code == 201
    assert changed.reader.get("/api/models/topics").json()["n_corrections"] == 9
    file = tmp_path / "corrections.csv"
    file.write_bytes(changed.reader.get("/api/models/topics/corrections.csv").content)
    corpus = load_table(file, columns=Columns(label="categories"))
    assert [document.categories for document in corpus] == [(name,) for name in training(9)[1]]
    two = {"text": "corn", "categories": ["grain", "ship"]}
    refused = changed.ada.post("/api/models/topics/corrections", json=two)
    assert refused.json()["detail"] == "this model gives one category to a text"


def test_removing_a_model_ends_its_answers(changed):
    assert changed.admin.delete("/api/models/topics").status_code == 204
    body = {"texts": ["corn"]}
    assert changed.reader.post("/api/models/topics/classify", json=body).status_code == 404
    assert changed.admin.get("/api/models").json() == []


def test_only_admins_change_models(served, fitted):
    for client in (served.ada, served.reader):
        assert upload(client, fitted[1]).status_code == 403
        assert client.delete("/api/models/topics").status_code == 403
    body = {"text": "corn", "categories": ["grain"]}
    assert served.reader.post("/api/models/topics/corrections", json=body).status_code == 403


def test_a_program_that_may_only_read_may_classify(served):
    wanted = {"name": "sorter", "scope": "read", "days": 1}
    token = served.ada.post("/api/tokens", json=wanted).json()["token"]
    program = {"Authorization": f"Bearer {token}"}
    body = {"texts": ["corn"]}
    answer = served.anybody.post("/api/models/topics/classify", json=body, headers=program)
    assert answer.status_code == 200
    body = {"text": "corn", "categories": ["grain"]}
    answer = served.anybody.post("/api/models/topics/corrections", json=body, headers=program)
    assert answer.status_code == 403


def test_the_card_and_the_metrics(changed):
    card = changed.reader.get("/api/models/topics/card?form=md")
    assert "Expected quality" in card.text
    changed.reader.post("/api/models/topics/classify", json={"texts": ["corn", "oil"]})
    page = changed.reader.get("/api/model-metrics").text
    assert 'bayesift_model_texts_total{model="topics"} 2.0' in page
    assert 'bayesift_model_categories_total{category="crude",model="topics"} 1.0' in page
    assert changed.anybody.get("/api/model-metrics").status_code == 401
    assert "topics" not in changed.anybody.get("/metrics").text


def doubts_of(best, unseen_of_100):
    """Doubts of texts with a hundred words each."""
    best = np.asarray(best)
    unseen = np.broadcast_to(unseen_of_100, len(best))
    probabilities = np.stack([best, 1.0 - best], axis=1)
    return Doubts(probabilities, np.full(len(best), 100), 100 - unseen)


def test_drift_is_found_when_texts_change_and_seldom_when_they_do_not():
    rng = np.random.default_rng(0)

    def drawn(n, shift=0.0, unseen=20):
        return doubts_of(rng.uniform(0.5, 0.9, n) + shift, rng.binomial(unseen, 0.5, n))

    abstention = Abstention.of(drawn(500))
    alarms = 0
    for _ in range(200):
        watch = ModelWatch(abstention)
        watch.compare(drawn(2 * NEWEST))
        alarms += watch.drift().found
    assert alarms <= 2  # 0.2 expected
    for changed in (drawn(NEWEST, shift=0.08), drawn(NEWEST, unseen=30)):
        watch = ModelWatch(abstention)
        watch.compare(drawn(NEWEST))
        assert not watch.drift().found
        watch.compare(changed)
        assert watch.drift().found
    few = ModelWatch(abstention)
    few.compare(drawn(LEAST - 1))
    assert few.drift() is None


def test_few_more_unknown_words_than_held_out_documents_had_are_no_drift():
    """Held-out documents were read with fewer words: that difference must not be reported."""
    rng = np.random.default_rng(1)
    best = rng.uniform(0.5, 0.9, NEWEST)
    abstention = Abstention.of(doubts_of(best, rng.binomial(40, 0.5, NEWEST)))
    watch = ModelWatch(abstention)
    watch.compare(doubts_of(best, rng.binomial(40, 0.5, NEWEST) - 1))
    assert ks_2samp(watch._unseen, abstention.unseen).pvalue < 1e-3
    assert not watch.drift().found
