"""Slow, obvious versions of what bayesift.text does."""

import math
import re
from collections import Counter


def tokens(text, *, lowercase=True, characters="words", min_length=2):
    pattern = r"\w+" if characters == "words" else r"[^\W\d_]+"
    found = re.findall(pattern, text.lower() if lowercase else text)
    return [word for word in found if len(word) >= min_length]


def weights(texts, weighting, *, cosine=False):
    """A dict term -> weight for each text, by the formulas."""
    counts = [Counter(tokens(text)) for text in texts]
    holding = Counter(term for count in counts for term in count)
    formula = {
        "binary": lambda f, rarity: 1.0,
        "tf": lambda f, rarity: float(f),
        "log-tf": lambda f, rarity: 1 + math.log(f),
        "tf-idf": lambda f, rarity: f * math.log(rarity),
        "ltc": lambda f, rarity: (1 + math.log2(f)) * math.log2(rarity),
    }[weighting]
    rows = [{t: formula(f, len(texts) / holding[t]) for t, f in count.items()} for count in counts]
    rows = [{t: w for t, w in row.items() if w != 0} for row in rows]
    if cosine or weighting == "ltc":
        for row in rows:
            length = math.sqrt(sum(w * w for w in row.values()))
            row.update({t: w / length for t, w in row.items()})
    return rows
