import json
import struct

import numpy as np
import pytest
from safetensors.numpy import save_file
from sklearn.preprocessing import normalize

from bayesift.errors import DataError, MissingExtraError
from bayesift.state import decode_fitted, encode
from bayesift.text import TextEmbedder, WordVectors
from bayesift.text.words import Words

WORDS = ["corn", "wheat", "oil", "crude"]
TABLE = np.array(
    [[1.0, 0.0, 0.5], [0.9, 0.1, 0.4], [0.0, 1.0, 0.0], [0.1, 0.8, 0.0]], dtype=np.float32
)
TEXTS = ["corn and wheat", "crude oil oil", "Corn!", "nothing known", "wheat, oil"]


def write_text(folder, *, header=False):
    lines = [
        f"{word} {' '.join(map(str, row))}" for word, row in zip(WORDS, TABLE, strict=True)
    ]
    path = folder / "vectors.txt"
    path.write_text("\n".join([f"{len(WORDS)} 3"] * header + lines) + "\n")
    return path


def write_binary(folder):
    path = folder / "vectors.bin"
    rows = [
        word.encode() + b" " + struct.pack("<3f", *row) + b"\n"
        for word, row in zip(WORDS, TABLE, strict=True)
    ]
    path.write_bytes(b"4 3\n" + b"".join(rows))
    return path


def write_numpy(folder):
    WordVectors.of(WORDS, TABLE).save(folder / "vectors.npy")
    return folder


def write_safetensors(folder, **arrays):
    save_file(
        {"embedding.weight": TABLE.astype(np.float16)} | arrays, folder / "model.safetensors"
    )
    model = {"type": "WordLevel", "vocab": {word: row for row, word in enumerate(WORDS)}}
    (folder / "tokenizer.json").write_text(json.dumps({"model": model}))
    return folder


def write_word2vec_text(folder):
    return write_text(folder, header=True)


@pytest.mark.parametrize(
    "write", [write_text, write_word2vec_text, write_binary, write_numpy, write_safetensors]
)
def test_every_format_has_the_same_vectors(write, tmp_path):
    vectors = WordVectors.load(write(tmp_path))
    assert (vectors.dimension, vectors.n_rows) == (3, 4)
    expected = np.vstack([TABLE[[2, 0]], np.zeros((1, 3))])
    np.testing.assert_allclose(vectors.vectors(["oil", "corn", "tin"]), expected, atol=1e-3)
    assert vectors.digest == WordVectors.load(write(tmp_path)).digest
    assert vectors.nearest("corn", WORDS, n=1)[0][0] == "wheat"


def test_factors_and_places_of_rows(tmp_path):
    folder = write_safetensors(
        tmp_path,
        weights=np.array([1.0, 2.0, 1.0, 0.5]),
        mapping=np.array([3, 2, 1, 0], dtype=np.int64),
    )
    found = WordVectors.load(folder).vectors(WORDS)
    np.testing.assert_allclose(found, TABLE[::-1] * [[1.0], [2.0], [1.0], [0.5]], atol=2e-3)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("none.txt", None, "no such vectors"),
        ("a.txt", b"corn 1 2\nwheat 1\n", "line 2 of words has 1 numbers, not 2"),
        ("a.txt", b"corn and wheat\n", "a word and numbers"),
        ("a.txt", b"", "cannot be read"),
        ("a.bin", b"corn", "two numbers"),
        ("a.bin", b"2 1\ncorn 1234", "ends after 1 of 2 words"),
        ("a.safetensors", b"1234", "tokenizer.json is needed"),
        ("a.npy", b"1234", "cannot be read"),
        ("a.txt", b"\xff 1 2\n", "not UTF-8"),
    ],
)
def test_files_that_are_refused(name, content, message, tmp_path):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=message):
        WordVectors.load(tmp_path / name)


def test_a_row_is_the_scaled_mean_of_its_words():
    embedder = TextEmbedder(WordVectors.of(WORDS, TABLE), averaging="tf")
    rows = embedder.fit_transform(TEXTS)
    sums = np.array(
        [
            TABLE[0] + TABLE[1],
            TABLE[3] + 2 * TABLE[2],
            TABLE[0],
            np.zeros(3),
            TABLE[1] + TABLE[2],
        ]
    )
    sums[[0, 1, 2, 4]] /= np.linalg.norm(sums[[0, 1, 2, 4]], axis=1, keepdims=True)
    known = sums[[0, 1, 2, 4]] - sums[[0, 1, 2, 4]].mean(axis=0)
    np.testing.assert_allclose(
        rows[[0, 1, 2, 4]], known / np.sqrt(np.sum(known**2) / 4), atol=1e-6
    )
    assert not rows[3].any()
    np.testing.assert_allclose(embedder.transform(TEXTS), rows)
    assert TextEmbedder(WordVectors.of(WORDS, TABLE)).fit(TEXTS).transform([]).shape == (0, 3)


@pytest.mark.parametrize("averaging", ["tf", "log-tf", "sublinear-tf-idf"])
def test_the_parts_of_words_add_up_to_the_row(averaging):
    embedder = TextEmbedder(WordVectors.of(WORDS, TABLE), averaging=averaging).fit(TEXTS)
    words, parts = embedder.word_parts("oil, oil and corn")
    assert words == ["oil", "and", "corn"]
    row = embedder.transform(["oil, oil and corn"])[0]
    np.testing.assert_allclose(
        parts.sum(axis=0) - embedder.centre_ / embedder.size_, row, atol=1e-6
    )


def test_a_stored_embedder_wants_its_vectors_back():
    vectors = WordVectors.of(WORDS, TABLE)
    embedder, arrays = TextEmbedder(vectors).fit(TEXTS), {}
    loaded = decode_fitted(encode(embedder, arrays, "e"), arrays, TextEmbedder, "e")
    with pytest.raises(DataError, match="fitted with other vectors"):
        loaded.attach(WordVectors.of(WORDS, 2 * TABLE))
    np.testing.assert_array_equal(
        loaded.attach(vectors).transform(TEXTS), embedder.transform(TEXTS)
    )


def test_vectors_learned_from_texts_know_words_of_the_same_documents():
    texts = [
        "corn wheat harvest",
        "wheat corn farm",
        "oil crude barrel",
        "crude oil tanker",
    ] * 3
    vectors = WordVectors.learn(texts, dimension=2)
    assert vectors.nearest("corn", ["oil", "crude", "wheat"], n=1)[0][0] == "wheat"
    with pytest.raises(DataError, match="too few"):
        WordVectors.learn(["corn", "corn"])


def test_what_is_said_without_the_extra(monkeypatch):
    monkeypatch.setattr("bayesift.text.vectors.find_spec", lambda name: None)
    assert WordVectors.installed() is None
    with pytest.raises(MissingExtraError, match=r"bayesift\[embeddings\]"):
        TextEmbedder().fit(TEXTS)
    with pytest.raises(TypeError, match="WordVectors or a path"):
        TextEmbedder(3).fit(TEXTS)
    with pytest.raises(ValueError, match="averaging must be one of"):
        TextEmbedder(averaging="median").fit(TEXTS)


def test_the_package_is_split_as_its_own_tokenizer_does():
    vectors = WordVectors.installed()
    tokenizers = pytest.importorskip(
        "tokenizers", reason="the extra `embeddings` is not installed"
    )
    if vectors is None:
        pytest.skip("the extra `embeddings` is not installed")
    theirs = tokenizers.Tokenizer.from_str(
        json.dumps(
            {
                "version": "1.0",
                "added_tokens": [],
                "post_processor": None,
                "decoder": None,
                **vectors.tokenizer,
            }
        )
    )
    for word in ["reimburse", "naïve", "x", "日本語", "😀", "antidisestablishmentarianism"]:
        counts = vectors.pieces(Words.of([word]))
        expected = theirs.encode(word, add_special_tokens=False).ids
        assert sorted(np.repeat(counts.indices, counts.data.astype(int))) == sorted(expected)


def test_a_query_is_expanded_by_words_of_similar_meaning():
    table = np.array([[1.0, 0.0], [0.9, 0.1], [0.6, 0.8], [0.0, 1.0], [-1.0, 0.0], [1.0, 0.0]])
    vectors = WordVectors.of(["corn", "wheat", "seed", "oil", "sea", "the"], table)
    found = vectors.expand("The corn of corn", n=2, strength=0.5)
    cosines = table @ table[0] / np.linalg.norm(table, axis=1)
    assert found == {
        "wheat": round(0.5 * round(cosines[1], 3), 3),
        "seed": round(0.5 * round(cosines[2], 3), 3),
    }
    assert vectors.expand("xyz") == {}
    assert "sea" not in vectors.expand("corn")


def test_more_like_this_ranks_by_cosines():
    rng = np.random.default_rng(2)
    vectors = WordVectors.of([f"w{k}" for k in range(20)], rng.normal(size=(20, 5)))
    texts = [" ".join(f"w{k}" for k in rng.integers(0, 20, size=4)) for _ in range(15)]
    embedder = TextEmbedder(vectors).fit(texts)
    found = embedder.more_like_this(texts, liked=[0, 3], disliked=[5], top=20)
    unit = normalize(embedder.transform(texts))
    scores = unit @ (unit[[0, 3]].mean(axis=0) - unit[5])
    expected = [k for k in np.argsort(-scores) if k not in (0, 3, 5)]
    assert [text.document for text in found] == expected
    np.testing.assert_allclose([text.score for text in found], scores[expected])
    assert set(found[0].words) <= set(texts[found[0].document].split())
    with pytest.raises(ValueError, match="liked must name"):
        embedder.more_like_this(texts, liked=[15])
