"""Texts that are hard to tokenise."""

from hypothesis import strategies as st

# Lengths around the 8 and 16 bytes of a key, characters whose lower case changes length or depends
# on their neighbours, marks that are no letters, signs beyond the basic plane, lone surrogates,
# control characters.
NASTY_WORDS = [
    *(
        "a",
        "I",
        "ab",
        "Seven77",
        "eight_88",
        "nine_nine",
        "fifteen_letters",
        "sixteen__letters",
        "seventeen_letters",
    ),
    "a" * 100,
    "a" * 15 + "b",
    "a" * 16 + "b",
    "a" * 16 + "c",
    *(
        "İstanbul",
        "ΣΊΣΥΦΟΣ",
        "ΑΣ",
        "Σ",
        "straße",
        "STRASSE",
        "ẞ",
        "Ǆ",
        "ﬁne",
        "K",
        "Å",
        "µ",
        "ª",
        "²",
        "½",
        "Ⅷ",
    ),
    *(
        "नमस्ते",
        "ภาษาไทย",
        "漢字",
        "漢",
        "かな",
        "한국어",
        "עִבְרִית",
        "العربية",
        "русский",
        "ЁЖ",
        "naïve",
        "nai\u0308ve",
        "é",
        "e\u0301",
    ),
    *(
        "🌽",
        "👩‍🌾",
        "🇪🇺",
        "𝔉𝔯",
        "𐐀𐐁",
        "\ud800",
        "x\udfffy",
        "\x00",
        "a\x00b",
        "\u200b",
        "a\u200bb",
        "\ufeff",
        "don't",
    ),
    *("٣٤", "x٣", "_", "__", "_a", "3", "42", "3.14", "e-mail", "\u2028", "\xad", "co\xadop"),
]
SEPARATORS = [" ", "\n", "\t", ", ", ".", "-", "/", "", "\x1c", "\u3000", "\xa0"]

nasty_texts = st.lists(
    st.tuples(st.sampled_from(NASTY_WORDS), st.sampled_from(SEPARATORS)), max_size=30
).map(lambda parts: "".join(word + separator for word, separator in parts))
any_texts = st.text(st.characters(), max_size=60)
ascii_texts = st.text(st.characters(codec="ascii"), max_size=80)
texts = st.one_of(nasty_texts, any_texts, ascii_texts)
corpora = st.lists(texts, min_size=1, max_size=12)
