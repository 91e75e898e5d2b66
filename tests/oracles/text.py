"""Slow, obvious versions of what bayesift.text does."""

import math
import re
import unicodedata
from collections import Counter

# Names of characters as Unicode gives them; Python knows no scripts.
HAN = (
    "CJK UNIFIED",
    "CJK COMPATIBILITY IDEOGRAPH",
    "IDEOGRAPHIC",
    "VERTICAL IDEOGRAPHIC",
    "HANGZHOU",
)
KATAKANA = ("KATAKANA", "HALFWIDTH KATAKANA")
KANA = ("HIRAGANA", "HENTAIGANA", "VERTICAL KANA", "MASU MARK", *KATAKANA)
SOUTH_EAST_ASIAN = (
    "THAI ",
    "LAO ",
    "MYANMAR ",
    "KHMER ",
    "TAI LE ",
    "NEW TAI LUE ",
    "TAI THAM ",
    "TAI VIET ",
    "AHOM ",
)
MARKS_OF_KANA = "\u3099\u309a"
JOINERS = "\u200b\u200c\u200d\u2060" + "".join(
    map(chr, [*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)])
)


def longest_ngram(character):
    """2 in Han and Hiragana, 3 in Katakana and South East Asian scripts, None with spaces."""
    name, category = unicodedata.name(character, ""), unicodedata.category(character)
    if name.startswith(SOUTH_EAST_ASIAN) and category[0] in "LM":
        return 3
    is_letter = category[0] == "L" or category == "Nl"
    if is_letter and name.startswith(KATAKANA) and ord(character) < 0x10000:
        return 3
    return (
        2 if character in MARKS_OF_KANA or (is_letter and name.startswith(HAN + KANA)) else None
    )


def tokens(text, *, lowercase=True, characters="words", min_length=2, unspaced="words"):
    pattern = r"\w" if characters == "words" else r"[^\W\d_]"
    text = text.lower() if lowercase else text
    if unspaced == "words":
        return [word for word in re.findall(f"{pattern}+", text) if len(word) >= min_length]
    found, units, run = (
        [],
        [],
        None,
    )  # characters with their marks, and what kind of run they are
    for character in [*text, " "]:
        length, is_mark = longest_ngram(character), unicodedata.category(character)[0] == "M"
        if run in (2, 3) and character in JOINERS:
            continue
        if length and is_mark and run in (2, 3):
            units[-1] += character
            continue
        kind = (3 if length and is_mark else length) or (
            1 if re.match(pattern, character) else None
        )
        if kind != run:
            found += _split_run(units, run, min_length)
            units, run = [], kind
        units.append(character)
    return found


def _split_run(units, run, min_length):
    if run == 1:
        return ["".join(units)] if len(units) >= min_length else []
    ends = range(1, len(units) + 1) if run else ()
    return ["".join(units[end - n : end]) for end in ends for n in range(1, min(run, end) + 1)]


def weights(texts, weighting, *, cosine=False):
    """A dict term -> weight for each text, by the formulas."""
    counts = [Counter(tokens(text)) for text in texts]
    holding = Counter(term for count in counts for term in count)
    formula = {
        "binary": lambda f, rarity: 1.0,
        "tf": lambda f, rarity: float(f),
        "log-tf": lambda f, rarity: 1 + math.log(f),
        "tf-idf": lambda f, rarity: f * math.log(rarity),
        "sublinear-tf-idf": lambda f, rarity: (1 + math.log(f)) * (math.log(rarity) + 1),
        "ltc": lambda f, rarity: (1 + math.log2(f)) * math.log2(rarity),
    }[weighting]
    rows = [
        {t: formula(f, len(texts) / holding[t]) for t, f in count.items()} for count in counts
    ]
    rows = [{t: w for t, w in row.items() if w != 0} for row in rows]
    if cosine or weighting in ("sublinear-tf-idf", "ltc"):
        for row in rows:
            length = math.sqrt(sum(w * w for w in row.values()))
            row.update({t: w / length for t, w in row.items()})
    return rows
