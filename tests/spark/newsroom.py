"""Short made-up news, with topics that their words tell."""

import numpy as np

TOPICS = ("crude", "gold", "grain", "ship")
WORDS = {
    "crude": "oil crude barrel opec refinery pipeline",
    "gold": "gold ounce mine bullion karat assay",
    "grain": "wheat corn oats harvest bushel silo",
    "ship": "vessel port tanker cargo strike harbour",
}
COMMON = "price market today report company said the of and export"


def make_documents(n, seed=0, several=True):
    """Texts about one topic or two, with their topics."""
    rng = np.random.default_rng(seed)
    documents = []
    for i in range(n):
        topics = list(
            rng.choice(TOPICS, size=1 + (several and rng.random() < 0.3), replace=False)
        )
        words = [
            w for t in topics for w in rng.choice(WORDS[t].split(), size=rng.integers(1, 6))
        ]
        words += list(rng.choice(COMMON.split(), size=6))
        rng.shuffle(words)
        documents.append((f"d{i:05d}", " ".join(words), topics))
    return documents
