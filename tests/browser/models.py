"""A small fitted model, as the bytes of its file."""

import tempfile
from functools import cache
from pathlib import Path

from bayesift import TextClassifier
from tests.service.worlds import TOPICS, text_about


@cache
def topics_model(model="naive-bayes"):
    names = list(TOPICS)
    labels = [names[number % len(names)] for number in range(60)]
    texts = [text_about(label, number) for number, label in enumerate(labels)]
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "topics.zip"
        TextClassifier(model=model).fit(texts, labels).save(path)
        return path.read_bytes()
