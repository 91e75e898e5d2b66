"""Texts about topics, and classifiers of all kinds that can be exported."""

import random

from bayesift import TextClassifier
from bayesift.text import TermVectorizer

TOPICS = {
    "grain": "wheat corn harvest barley exports tonnes 小麦 farm crop",
    "crude": "oil crude barrel opec tanker refinery prices well 原油",
    "money": "bank rate dollar yen currency interest central deposit",
}
COMMON = "the of and to in said a from on for it prices market year new"


def text_about(topic, number):
    chance = random.Random(f"{topic} {number}")
    words = chance.choices(TOPICS[topic].split(), k=6) + chance.choices(COMMON.split(), k=12)
    chance.shuffle(words)
    return " ".join(words).capitalize() + chance.choice(".!?")


def labelled(topics, n_texts=90):
    topics = list(topics)
    labels = [topics[number % len(topics)] for number in range(n_texts)]
    # Some labels are wrong, so that probabilities are not all 0 or 1.
    wrong = [topics[(number + (number % 9 == 4)) % len(topics)] for number in range(n_texts)]
    return [text_about(label, number) for number, label in enumerate(labels)], wrong


def several_labels(n_texts=90):
    names = list(TOPICS)
    texts, labels = [], []
    for number in range(n_texts):
        chosen = [name for place, name in enumerate(names) if number >> place & 1]
        texts.append(" ".join(text_about(name, number) for name in chosen) or "the of and")
        labels.append(chosen)
    return texts, labels


def fitted(form, **options):
    if form == "several":
        texts, labels = several_labels()
    else:
        texts, labels = labelled(list(TOPICS)[: {"two": 2, "three": 3}[form]])
    return TextClassifier(embedder=None, **options).fit(texts, labels)


NEW_TEXTS = [
    "Wheat and corn prices rose; the harvest of barley failed in the new year.",
    "OPEC cut CRUDE oil, the bank said! Tankers wait, dollar down",
    "小麦の原油 and wheat",
    "nothing known here at all",
    "",
    "ﬁnancial İstanbul ΣΊΣΥΦΟΣ — ราคาน้ำมัน corn-oil, don't 1,234.5 wheat_corn",
]

VECTORIZERS = {
    "default": {},
    "n-grams": {"ngram_range": (1, 3), "stop_words": "english"},
    "long n-grams": {"ngram_range": (2, 3), "min_length": 1},
    "letters": {"characters": "letters", "lowercase": False, "min_length": 3},
    "unspaced words": {"unspaced": "words", "stop_words": ["corn", "原油"]},
    "characters": {"analyzer": "char", "ngram_range": (1, 3)},
    "characters of words": {"analyzer": "char_wb", "ngram_range": (2, 5)},
    "cased characters": {"analyzer": "char_wb", "ngram_range": (4, 4), "lowercase": False},
}


def with_vectorizer(**options):
    texts, labels = labelled(TOPICS, 12)
    vectorizer = TermVectorizer(**options)
    return TextClassifier(model="naive-bayes", vectorizer=vectorizer).fit(texts, labels)
