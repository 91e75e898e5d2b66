import unicodedata

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from bayesift import TermVectorizer
from bayesift.kernels import words as kernels
from bayesift.knowledge.priors import TermIndex
from bayesift.spark.counting import DocumentColumns, Survey
from bayesift.text import tokens
from bayesift.text.pieces import weighted_pieces
from bayesift.text.scripts import N_CODE_POINTS, character_kinds, white_space
from bayesift.text.tokens import Tokeniser
from tests.oracles import text as oracle

CHINESE = "我们用中文写字。今天天气很好，我们去北京大学图书馆看书。"
JAPANESE = "東京タワーへ行きました。データの保存はコンピューターで行う。"
THAI = "ภาษาไทยเป็นภาษาที่มีระดับเสียงของคำแน่นอน"
KHMER = "ភាសា\u200bខ្មែរ\u200bជា\u200bភាសា"
LATIN = "Plain words and Größe, naïve café."
HANGUL = "한국어는 띄어쓰기를 합니다"
MIXED = [
    CHINESE,
    LATIN,
    JAPANESE,
    THAI,
    "",
    KHMER,
    HANGUL,
    f"Python 3 の{CHINESE}use {THAI}x",
    LATIN,
]


def test_kinds_are_those_of_the_names_and_categories_of_unicode():
    kinds = character_kinds("words", "ngrams")
    expected = {2: kernels.IDEOGRAPH, 3: kernels.COMPLEX}
    for point in range(N_CODE_POINTS):
        character = chr(point)
        longest = oracle.longest_ngram(character)
        if character in oracle.JOINERS:
            assert kinds[point] == kernels.JOINER
        elif longest is None:
            assert kinds[point] in (kernels.SEPARATOR, kernels.WORD)
        else:
            is_mark = unicodedata.category(character)[0] == "M"
            assert kinds[point] == (kernels.MARK if is_mark else expected[longest])


def test_white_space_is_that_of_python():
    found = "".join(map(chr, np.flatnonzero(white_space())))
    assert found == "".join(
        chr(point) for point in range(N_CODE_POINTS) if chr(point).isspace()
    )


def test_han_and_kana_are_characters_and_pairs():
    assert TermVectorizer().term_counts("use 中文字 now") == {
        "use": 1, "中": 1, "文": 1, "中文": 1, "字": 1, "文字": 1, "now": 1,
    }  # fmt: skip


def test_a_letter_keeps_its_marks_and_joiners_are_left_out():
    assert list(TermVectorizer().term_counts("ที่นี่")) == ["ที่", "นี่", "ที่นี่"]
    assert list(TermVectorizer().term_counts("ក\u200bខ")) == ["ក", "ខ", "កខ"]
    assert list(TermVectorizer(min_length=1).term_counts("a\u200bb")) == ["a", "b"]


def test_hangul_stays_words():
    assert list(TermVectorizer().term_counts(HANGUL)) == HANGUL.split()


def test_words_beside_other_scripts_stay_words():
    assert list(TermVectorizer().term_counts("Python3の本 x漢y")) == [
        "python3",
        "の",
        "本",
        "の本",
        "漢",
    ]


@pytest.mark.parametrize("batch", [1 << 15, 2])
def test_documents_of_all_scripts_in_one_batch(monkeypatch, batch):
    monkeypatch.setattr(tokens, "BATCH_TEXTS", batch)
    vectorizer = TermVectorizer().partial_fit(MIXED)
    expected = {}
    for text in MIXED:
        for word in oracle.tokens(text, unspaced="ngrams"):
            expected.setdefault(word, len(expected))
    assert vectorizer.vocabulary_.names == list(expected)


def test_more_ngrams_than_are_numbered_at_a_time(monkeypatch):
    monkeypatch.setattr(tokens, "_SPANS", 4)
    for text in MIXED:
        found = Tokeniser()([text, text])
        names = found.words.to_strings()
        assert [names[i] for i in found.tokens] == 2 * oracle.tokens(text, unspaced="ngrams")


def test_ngrams_of_words_do_not_cross_other_scripts():
    found = TermVectorizer(ngram_range=(1, 2)).term_counts("red corn 中文 blue oats")
    assert set(found) == {
        "red",
        "corn",
        "中",
        "文",
        "中文",
        "blue",
        "oats",
        "red corn",
        "blue oats",
    }
    pairs = TermVectorizer(ngram_range=(2, 2)).fit(["red corn 中文 blue oats"])
    assert set(pairs.vocabulary_) == {"中", "文", "中文", "red corn", "blue oats"}


def test_stop_words_and_stems_beside_other_scripts():
    vectorizer = TermVectorizer(stop_words=["the", "的"], stemmer="english")
    assert set(vectorizer.term_counts("The harvests 我的书")) == {
        "harvest",
        "我",
        "我的",
        "的书",
        "书",
    }


def test_the_order_of_documents_and_threads_change_nothing():
    once, threaded = TermVectorizer(), TermVectorizer(n_jobs=3)
    X, Y = once.fit_transform(MIXED * 20), threaded.fit_transform(MIXED * 20)
    np.testing.assert_array_equal(X.toarray(), Y.toarray())
    backwards = TermVectorizer().fit(MIXED[::-1])
    assert backwards.vocabulary_.names == once.vocabulary_.names


def test_a_saved_vectorizer_splits_as_before():
    vectorizer = TermVectorizer().fit(MIXED)
    again = TermVectorizer.from_state(*vectorizer.get_state())
    np.testing.assert_array_equal(
        again.transform(MIXED).toarray(), vectorizer.transform(MIXED).toarray()
    )


@pytest.mark.parametrize(
    "options", [{}, {"unspaced": "words"}, {"analyzer": "char_wb", "ngram_range": (1, 3)}]
)
def test_pieces_make_up_the_text_and_share_the_weights(options):
    text = f"Corn! {CHINESE} {THAI} {KHMER} (x) Größe"
    vectorizer = TermVectorizer(**options)
    counts = vectorizer.term_counts(text)
    pieces = list(
        weighted_pieces(
            vectorizer, text, dict.fromkeys((t for t in counts if " " not in t), 1.0)
        )
    )
    assert "".join(piece for piece, _ in pieces) == text
    expected = sum(n for term, n in counts.items() if " " not in term)
    if options.get("unspaced") != "words":
        assert sum(weight for _, weight in pieces) == pytest.approx(expected)


def test_pieces_of_characters():
    pieces = list(
        weighted_pieces(
            TermVectorizer(analyzer="char", ngram_range=(1, 2)), "aB  c", {"ab": 1.0, " c": 3.0}
        )
    )
    assert pieces == [("a", 0.5), ("B", 0.5), (" ", 1.5), ("c", 1.5)]


def test_a_word_is_known_by_its_longest_ngrams():
    vectorizer = TermVectorizer()
    terms = TermIndex.of(vectorizer, vectorizer.fit_transform(["python 教程", "图书馆"]))
    assert terms.terms_of("教程") == ["教程"]
    assert terms.terms_of("图书馆") == ["图书", "书馆"]
    assert terms.terms_of("python 教") == ["python", "教"]


def test_counts_of_parts_are_those_of_the_whole():
    batches = [pa.RecordBatch.from_pydict({"text": part}) for part in (MIXED[:3], MIXED[3:])]
    rows = pa.Table.from_batches(
        Survey(DocumentColumns("text"), TermVectorizer())(iter(batches))
    )
    terms = rows.filter(pc.equal(rows["kind"], "term"))
    numbers = [np.asarray(terms[name]) for name in ("documents", "occurrences")]
    counted = TermVectorizer().fit_frequencies(terms["name"].to_pylist(), *numbers, len(MIXED))
    whole = TermVectorizer().fit(MIXED)
    assert counted.vocabulary_.names == whole.vocabulary_.names
    np.testing.assert_array_equal(counted.document_frequencies_, whole.document_frequencies_)
