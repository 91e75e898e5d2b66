"""Compare the defaults with character n-grams on texts in scripts without spaces.

`python -m benchmarks.translations [CORPUS ...]`

The texts are translations that Debian packages hold: manual pages (the category is their section),
help pages of LibreOffice (their program), and its messages (their module), one by one and in
passages of five. Packages are fetched by `apt-get download` and unpacked into the folder
`translations` of the cache of bayesift; nothing is installed. Weights and classifier are the same
on both sides (`TfidfTransformer`, `LogisticRegression`), the terms are not. Each learns one half of
a corpus and classifies the other, three times; CPU seconds are those of vectorizing.
"""

from __future__ import annotations

import gettext
import gzip
import os
import random
import re
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import mean
from typing import Any

import platformdirs
from sklearn.feature_extraction.text import TfidfTransformer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

from bayesift.text import TermVectorizer, strip_html

Labelled = Iterator[tuple[str, str]]

_MARKUP = re.compile(r"^\.[A-Za-z]+ ?|\\f.|\\[-&|]|\\\(..|\\s[-+]?\d", re.MULTILINE)
_COMMENTS = re.compile(r"^(?:'|\.)\\\".*$", re.MULTILINE)
_MNEMONIC = re.compile(r"\([~_]\w\)|[~_]")
_BEYOND_LATIN = 0x300
_FEWEST, _MOST = 30, 400  # documents of a category
_SPLITS = 3


def unpacked(package: str) -> Path:
    """Return the folder of a Debian package, which is downloaded if it is missing."""
    cache = (
        Path(os.environ.get("BAYESIFT_CACHE") or platformdirs.user_cache_dir("bayesift"))
        / "translations"
    )
    folder = cache / package
    if not folder.exists():
        cache.mkdir(parents=True, exist_ok=True)
        subprocess.run(
            ["apt-get", "download", package], cwd=cache, check=True, capture_output=True
        )
        (archive,) = cache.glob(f"{package}_*.deb")
        subprocess.run(["dpkg-deb", "-x", str(archive), str(folder)], check=True)
        archive.unlink()
    return folder


def manuals(language: str, *packages: str) -> Labelled:
    """Manual pages without their markup, and their sections."""
    for package in packages:
        for file in sorted((unpacked(package) / "usr/share/man" / language).rglob("*.gz")):
            if not file.is_symlink():
                page = gzip.decompress(file.read_bytes()).decode(errors="replace")
                yield _MARKUP.sub("", _COMMENTS.sub("", page))[:2000], file.parent.name


def help_pages(language: str) -> Labelled:
    """Pages of HTML, and the program each is about."""
    for file in sorted(unpacked(f"libreoffice-help-{language}").rglob("*.html")):
        if "text" in file.parts:
            yield file.read_text(), file.parts[file.parts.index("text") + 1]


def messages(language: str, *, passage: int = 1) -> Labelled:
    """Messages of a program, so many at a time, and the module each is of."""
    for file in sorted(unpacked(f"libreoffice-l10n-{language}").rglob("*.mo")):
        with file.open("rb") as stream:
            catalog: dict[Any, str] = gettext.GNUTranslations(stream)._catalog  # type: ignore[attr-defined]
        found = sorted(
            {
                _MNEMONIC.sub("", text)
                for key, text in catalog.items()
                if key and _is_translated(text)
            }
        )
        random.Random(0).shuffle(found)
        for first in range(0, len(found) - passage + 1, passage):
            yield "\n".join(found[first : first + passage]), file.stem


def _is_translated(text: str) -> bool:
    wide = sum(ord(character) >= _BEYOND_LATIN for character in text)
    return wide >= 4 and 2 * wide >= len(text)


CORPORA: dict[str, Callable[[], Labelled]] = {
    "Chinese manuals": partial(manuals, "zh_CN", "manpages-zh"),
    "Japanese manuals": partial(manuals, "ja", "manpages-ja", "manpages-ja-dev"),
    "Chinese help": partial(help_pages, "zh-cn"),
    "Japanese help": partial(help_pages, "ja"),
    "Khmer help": partial(help_pages, "km"),
    "Chinese messages": partial(messages, "zh-cn"),
    "Japanese messages": partial(messages, "ja"),
    "Thai messages": partial(messages, "th"),
    "Khmer messages": partial(messages, "km"),
    "Chinese passages": partial(messages, "zh-cn", passage=5),
    "Japanese passages": partial(messages, "ja", passage=5),
    "Thai passages": partial(messages, "th", passage=5),
    "Khmer passages": partial(messages, "km", passage=5),
}


def documents_of(name: str) -> tuple[list[str], list[str]]:
    """Distinct texts and their categories, without rare categories and at most 400 of each."""
    by_category = defaultdict(list)
    for text, category in dict(CORPORA[name]()).items():
        by_category[category].append(text)
    texts, labels = [], []
    for category, found in by_category.items():
        if len(found) >= _FEWEST:
            chosen = random.Random(0).sample(found, min(_MOST, len(found)))
            texts += chosen
            labels += [category] * len(chosen)
    return texts, labels


def contenders(*, is_html: bool) -> dict[str, Callable[[], Any]]:
    """Vectorizers by name."""
    options: dict[str, Any] = {"sublinear_tf": True, "analyzer": "char_wb"}
    if is_html:
        options["preprocessor"] = lambda text: strip_html(text).lower()
    return {
        "bayesift": lambda: make_pipeline(
            TermVectorizer(strip_html=is_html), TfidfTransformer(sublinear_tf=True)
        ),
        "char_wb 1-2": lambda: TfidfVectorizer(ngram_range=(1, 2), **options),
        "char_wb 1-3": lambda: TfidfVectorizer(ngram_range=(1, 3), **options),
    }


def main(names: list[str]) -> None:
    """Print accuracy and CPU seconds on each corpus."""
    print(
        "| corpus | texts | categories | vectorizer | accuracy | terms | CPU s | MB/s |\n|"
        + "---|" * 8
    )
    TermVectorizer().fit_transform(["\u4e00 \u00e4"])
    for name in names or list(CORPORA):
        texts, labels = documents_of(name)
        size = _SPLITS * sum(len(text.encode()) for text in texts) / 1e6
        for contender, make in contenders(is_html="help" in name).items():
            accuracy, seconds, terms = _measure(make, texts, labels)
            about = f"{name} | {len(texts):,} | {len(set(labels))} | {contender}"
            print(
                f"| {about} | {100 * accuracy:.1f} | {terms:,} | {seconds:.2f} | "
                f"{size / seconds:.1f} |",
                flush=True,
            )


def _measure(
    make: Callable[[], Any], texts: list[str], labels: list[str]
) -> tuple[float, float, int]:
    accuracies, seconds, n_terms = [], 0.0, 0
    for seed in range(_SPLITS):
        train, test, y, truth = train_test_split(
            texts, labels, test_size=0.5, stratify=labels, random_state=seed
        )
        vectorizer = make()
        start = time.process_time()
        X, Z = vectorizer.fit_transform(train), vectorizer.transform(test)
        seconds += time.process_time() - start
        model = LogisticRegression(C=10, max_iter=300, tol=1e-3).fit(X, y)
        accuracies.append(model.score(Z, truth))
        n_terms = X.shape[1]
    return mean(accuracies), seconds, n_terms


if __name__ == "__main__":
    main(sys.argv[1:])
