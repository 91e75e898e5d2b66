"""Streams of texts: predicted, then learned.

Cut anywhere, stopped and resumed with the same result.
"""

import json

import numpy as np
import pytest

from bayesift.classifier import StreamFolder, StreamItem, StreamLearner, TextClassifier
from bayesift.classifier.stream import JOURNAL, read_items
from bayesift.errors import DataError
from bayesift.journal import Journal

WORDS = {
    "crude": "oil barrel opec tanker",
    "grain": "wheat corn crop farm",
    "ship": "port vessel tanker strike",
}


def texts(n=90, seed=0):
    generator = np.random.default_rng(seed)
    drawn = []
    for _ in range(n):
        label = str(generator.choice(list(WORDS)))
        own, other = WORDS[label].split(), " ".join(WORDS.values()).split()
        words = [
            *generator.choice(own, 4),
            *generator.choice(other, 2),
            f"w{generator.integers(200)}",
        ]
        drawn.append((" ".join(words), label))
    return drawn


def items(several=False):
    return [
        StreamItem(
            str(i),
            text,
            (label, "new") if several and i % 3 == 0 else (label,) if several else label,
        )
        for i, (text, label) in enumerate(texts())
    ]


def in_batches(learner, stream, size):
    return [
        answer
        for i in range(0, len(stream), size)
        for answer in learner.learn(stream[i : i + size])
    ]


@pytest.mark.parametrize("several", [False, True])
def test_however_a_stream_is_cut_the_answers_are_the_same(several):
    stream = items(several)
    waiting = [
        StreamItem(item.id, item.text) if i % 7 == 3 else item for i, item in enumerate(stream)
    ]
    late = [
        StreamItem(item.id, None, item.labels) for i, item in enumerate(stream) if i % 14 == 3
    ]
    mixed = [*waiting[:60], *late[:2], *waiting[60:], *late[2:]]
    whole, cut = StreamLearner(), StreamLearner()
    answers = in_batches(whole, mixed, 1000)
    assert answers == in_batches(cut, mixed, 7)
    assert len(answers) == len(stream)
    assert (whole.n_learned, whole.n_lines) == (len(mixed) - len(waiting[3::7]), len(mixed))
    assert whole.mean_loss == pytest.approx(cut.mean_loss, abs=0)
    assert np.mean([a.loss for a in answers[-40:] if a.loss is not None]) < np.log(2)


def test_answers_come_before_labels():
    stream = items()
    first, *_ = answers = StreamLearner(top=2).learn(stream)
    assert (first.categories, first.scores) == ((), {})
    seen = set()
    for item, answer in zip(stream, answers, strict=True):
        assert set(answer.scores) <= seen
        seen.add(item.labels)
    assert (
        np.mean(
            [
                a.categories == (i.labels,)
                for a, i in zip(answers[30:], stream[30:], strict=True)
            ]
        )
        > 0.8
    )


def test_reasons_are_words_of_the_text():
    answer = StreamLearner(reasons=True, top=3)
    for given, found in zip(items(), answer.learn(items()), strict=True):
        assert {term for term, _ in found.reasons} <= set(given.text.split())
    assert found.reasons


def test_words_are_bounded():
    learner = StreamLearner(max_terms=20)
    in_batches(learner, items(), 10)
    cut = StreamLearner(max_terms=20)
    assert in_batches(cut, items(), 1)[-1] == StreamLearner(max_terms=20).learn(items())[-1]
    assert len(learner.vectorizer.vocabulary_) == learner.model.n_features_in_ == 20
    assert len(learner.classifier.predict(["oil tanker"])) == 1


def test_unlabelled_documents_wait_up_to_a_bound():
    learner = StreamLearner(max_waiting=2)
    learner.learn(items()[:20])
    learner.learn([StreamItem(name, "oil") for name in "abc"])
    learner.learn([StreamItem("a", None, "crude"), StreamItem("b", None, "crude")])
    assert learner.unknown == ["a"]
    assert list(learner.waiting) == ["c"]


def test_labels_keep_their_form():
    learner = StreamLearner()
    learner.learn(items()[:2])
    with pytest.raises(
        DataError, match="document x: labels were single before, and now are lists"
    ):
        learner.learn([StreamItem("x", "oil", ("crude",))])


def lines_of(stream):
    records = ({"id": i.id, "text": i.text, "label": i.labels} for i in stream)
    return [json.dumps(record).encode() + b"\n" for record in records]


@pytest.mark.parametrize("save_after", [0, 40])
def test_a_folder_that_was_not_closed_resumes_with_the_same_bits(tmp_path, save_after):
    lines = lines_of(items())
    learner, folder = StreamLearner(), StreamFolder(tmp_path)
    folder.open(learner, read_items)
    for start in range(0, 60, 10):
        learner.learn(read_items(lines[start : start + 10]))
        folder.add(lines[start : start + 10])
        if start + 10 == save_after:
            folder.save(learner)
    folder.close()
    with (tmp_path / JOURNAL).open("ab") as stream:
        stream.write(lines[60][:9])  # killed while a line was written
    resumed = StreamLearner()
    again = StreamFolder(tmp_path)
    again.open(resumed, read_items)
    assert resumed.n_lines == 60
    answers = resumed.learn(read_items(lines[60:]))
    whole = StreamLearner()
    assert whole.learn(read_items(lines))[60:] == answers
    again.save(resumed)
    again.close()
    saved = TextClassifier.load(next(tmp_path.glob("model-*.zip")))
    np.testing.assert_array_equal(
        saved.predict_proba(["oil", "corn"]), whole.classifier.predict_proba(["oil", "corn"])
    )


@pytest.mark.parametrize("n_lines", [0, 1, 30])
def test_old_journals_are_read_and_upgraded(tmp_path, n_lines):
    lines = lines_of(items())
    (tmp_path / JOURNAL).write_bytes(b'{"after": 0}\n' + b"".join(lines[:n_lines]))
    for _ in range(2):
        resumed, folder = StreamLearner(), StreamFolder(tmp_path)
        folder.open(resumed, read_items)
        assert resumed.n_lines == n_lines
        folder.close()
    whole = StreamLearner()
    assert whole.learn(read_items(lines))[n_lines:] == resumed.learn(
        read_items(lines[n_lines:])
    )
    with Journal(tmp_path / JOURNAL) as journal:
        assert not journal.is_old


def test_lines_of_any_bytes_are_kept(tmp_path):
    lines = [b"\xff\xfe not text\n", b'{"id": 1, "text": "\xc3\xa9"}\n', b"no end"]
    folder = StreamFolder(tmp_path)
    folder.open(StreamLearner(), read_items)
    folder.add(lines)
    folder.close()
    found = []

    def parse(given):
        found.extend(given)
        return []

    again = StreamFolder(tmp_path)
    again.open(StreamLearner(), parse)
    again.close()
    assert found == [line.removesuffix(b"\n") for line in lines]


def test_damaged_folders_are_refused(tmp_path):
    learner, folder = StreamLearner(), StreamFolder(tmp_path)
    folder.open(learner, read_items)
    lines = lines_of(items())
    learner.learn(read_items(lines[:30]))
    folder.save(learner)
    folder.add(lines[30:33])
    with pytest.raises(DataError, match="another program"):
        StreamFolder(tmp_path).open(StreamLearner(), read_items)
    folder.close()
    for name in (JOURNAL, "stream.json"):
        whole = (tmp_path / name).read_bytes()
        for position in range(0, len(whole), max(len(whole) // 60, 1)):
            changed = bytearray(whole)
            changed[position] ^= 4
            (tmp_path / name).write_bytes(changed)
            with pytest.raises(DataError, match=name):
                StreamFolder(tmp_path).open(StreamLearner(), read_items)
        (tmp_path / name).write_bytes(whole)


def test_folders_of_something_else_are_refused(tmp_path):
    (tmp_path / JOURNAL).write_text("nothing\n")
    with pytest.raises(DataError, match="not the journal of a stream"):
        StreamFolder(tmp_path).open(StreamLearner(), read_items)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "is not JSON"),
        ("[1]", "is not a JSON object"),
        ('{"text": 3}', "'text' is not a text"),
        ('{"id": 1}', "has no 'text'"),
    ],
)
def test_bad_lines_say_what_is_wrong(line, message):
    (error,) = read_items([line.encode()], first=8)
    assert message in str(error)
    assert "8" in str(error)


def test_lines_are_read():
    line = {"id": 4, "text": "oil", "label": ["crude", 7]}
    assert list(read_items([json.dumps(line).encode()])) == [
        StreamItem("4", "oil", ("crude", "7"))
    ]
    assert list(read_items([b'{"text": "oil"}'], first=3)) == [StreamItem("3", "oil")]


@pytest.mark.parametrize("first", ["ham", "spam"])
def test_words_may_come_after_a_second_category(first):
    labels = [first] * 5 + ["ham", "spam"] * 20
    stream = [StreamItem(str(i), f"{label} word{i}", label) for i, label in enumerate(labels)]
    answers = in_batches(StreamLearner(), stream, 1)
    assert answers == in_batches(StreamLearner(), stream, 6)
    assert [answer.categories[0] for answer in answers[-10:]] == labels[-10:]
