import pickle
import time
from concurrent.futures import ThreadPoolExecutor

from bayesift.text.words import Vocabulary, Words
from bayesift.threads import computed_once


class Slow:
    def __init__(self):
        self.calls = 0

    @computed_once
    def value(self):
        """What takes its time."""
        self.calls += 1
        time.sleep(0.05)
        return object()


def test_threads_compute_a_value_once():
    slow = Slow()
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: slow.value, range(8)))
    assert slow.calls == 1
    assert len(set(map(id, found))) == 1
    assert Slow.value.__doc__ == "What takes its time."


def test_objects_with_computed_values_can_be_pickled():
    slow = Slow()
    assert slow.value is slow.value
    assert "value" in vars(pickle.loads(pickle.dumps(slow)))


def test_threads_share_the_table_of_a_vocabulary():
    vocabulary = Vocabulary(Words.of([f"w{i}" for i in range(20_000)]))
    with ThreadPoolExecutor(8) as pool:
        tables = list(pool.map(lambda _: vocabulary.table, range(8)))
    assert len(set(map(id, tables))) == 1
