"""Drift: words that change sides, calibration that slips, whatever the cut of the stream."""

import json

import numpy as np
import pytest
from scipy.stats.contingency import odds_ratio

from bayesift.classifier import StreamDrift, StreamFolder, StreamItem, StreamLearner
from bayesift.classifier.stream import read_items
from bayesift.errors import DataError


def world(n=1200, change=700, seed=0):
    """Words x two categories.

    Word 0 speaks for category 0 up to a change, and for category 1 after it.
    """
    rng = np.random.default_rng(seed)
    second = rng.random(n) < 0.5
    chances = np.full((n, 6), 0.3)
    chances[:, 0] = np.where(second == (np.arange(n) >= change), 0.6, 0.1)
    chances[:, 1] = np.where(second, 0.1, 0.6)
    member = np.column_stack([~second, second]).astype(float)
    return (rng.random((n, 6)) < chances).astype(float), member


def told(drift):
    return drift.changed_words([f"w{i}" for i in range(6)], ["a", "b"]), drift.calibration()


def test_a_word_that_changed_sides_is_found_with_its_date():
    X, member = world()
    drift = StreamDrift(window=50)
    drift.add(X, member, np.full((1200, 2), 0.5))
    changed, _ = told(drift)
    assert {(c.word, c.category) for c in changed} == {("w0", "a"), ("w0", "b")}
    for change in changed:
        assert abs(change.since - 700) <= 50
        column = "ab".index(change.category)
        for part, value in (
            (slice(None, change.since), change.before),
            (slice(change.since, None), change.after),
        ):
            x, y = X[part, 0] > 0, member[part, column] > 0
            table = np.array(
                [[(x & y).sum(), (x & ~y).sum()], [(~x & y).sum(), (~x & ~y).sum()]]
            )
            assert value == pytest.approx(
                np.log(odds_ratio(table, kind="sample").statistic), abs=0.05
            )


def test_a_stream_that_does_not_change_tells_nothing():
    X, member = world(change=0)
    right = np.random.default_rng(1).random(1200) < 0.8
    probabilities = np.where((member > 0) == right[:, np.newaxis], 0.8, 0.2)
    drift = StreamDrift()
    drift.add(X, member, probabilities)
    changed, windows = told(drift)
    assert changed == []
    assert not any(window.slipped for window in windows)
    assert np.average([window.accuracy for window in windows]) == pytest.approx(right.mean())


def test_calibration_slips_where_confidence_and_accuracy_part():
    X, member = world()
    right = np.random.default_rng(1).random(1200) < np.where(np.arange(1200) < 600, 0.9, 0.5)
    drift = StreamDrift(window=100)
    drift.add(X, member, np.where((member > 0) == right[:, np.newaxis], 0.9, 0.1))
    windows = drift.calibration()
    assert [window.slipped for window in windows] == [False] * 6 + [True] * 6
    assert (windows[6].first, windows[6].last) == (601, 700)
    assert windows[6].accuracy == pytest.approx(right[600:700].mean())


def test_however_documents_are_cut_and_stored_the_counts_are_the_same():
    X, member = world()
    probabilities = np.random.default_rng(2).random((1200, 2))
    whole, cut = StreamDrift(window=10, max_windows=8), StreamDrift(window=10, max_windows=8)
    whole.add(X, member, probabilities)
    for start in range(0, 1200, 77):
        part = slice(start, start + 77)
        cut.add(X[part], member[part], probabilities[part])
        cut = StreamDrift.from_record(json.loads(json.dumps(cut.to_record())))
    assert told(whole)[0] == told(cut)[0]
    windows = whole.calibration()
    assert [w.first for w in windows] == [w.first for w in cut.calibration()]
    np.testing.assert_allclose(
        [w.confidence for w in windows], [w.confidence for w in cut.calibration()]
    )
    assert 4 <= len(windows) <= 8
    assert windows[-1].last == 1200


@pytest.mark.parametrize(
    "wrong", [{}, {"window": 0, "max_windows": 2, "strength": 1, "windows": []}, 3]
)
def test_counts_that_are_none_are_refused(wrong):
    with pytest.raises(DataError, match="drift"):
        StreamDrift.from_record(wrong)


def items(several=False, n=800):
    rng = np.random.default_rng(3)
    stream = []
    for i in range(n):
        label = str(rng.choice(["spam", "ham"]))
        turned = (label == "spam") == (i < n // 2)
        words = [
            "prize" if turned else "lunch",
            "free" if label == "spam" else "noon",
            f"x{rng.integers(5)}",
        ]
        stream.append(StreamItem(str(i), " ".join(words), (label,) if several else label))
    return stream


@pytest.mark.parametrize("several", [False, True])
def test_a_learner_names_the_words_that_changed(several):
    learner = StreamLearner(drift=StreamDrift())
    learner.learn(items(several))
    changed = learner.changed_words()
    assert {(c.word, c.category) for c in changed} == {
        (w, c) for w in ("prize", "lunch") for c in ("spam", "ham")
    }
    assert {c.since for c in changed} == {400}
    assert StreamLearner().changed_words() == []


def test_a_folder_keeps_the_counts(tmp_path):
    stream = items()
    whole = StreamLearner(drift=StreamDrift())
    whole.learn(stream)
    first = StreamLearner(drift=StreamDrift())
    folder = StreamFolder(tmp_path)
    folder.open(first, lambda lines: list(read_items(lines)))
    first.learn(stream[:500])
    folder.save(first)
    folder.close()
    again = StreamLearner()
    folder = StreamFolder(tmp_path)
    folder.open(again, lambda lines: list(read_items(lines)))
    folder.close()
    again.learn(stream[500:])
    assert again.changed_words() == whole.changed_words()
    assert [w.slipped for w in again.drift.calibration()] == [
        w.slipped for w in whole.drift.calibration()
    ]
