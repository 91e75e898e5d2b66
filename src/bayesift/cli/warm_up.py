"""`bayesift warm-up`: compile the kernels before they are needed."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

from typer import Option

from bayesift.cli.console import counting
from bayesift.cli.options import Quiet
from bayesift.errors import DataError, nearest

MODELS = ("auto", "naive-bayes", "logistic-gaussian", "logistic-laplace", "online-perceptron")
# large enough that every step takes its kernels
_N_TEXTS = 20_000
_WORDS_PER_TEXT = 20
_N_WORDS = 150_000


def warm_up(
    models: Annotated[
        str | None,
        Option(
            help="The learners to prepare, with commas (default: five that large corpora need).",
            show_default=False,
        ),
    ] = None,
    quiet: Quiet = False,
) -> Path:
    """Compile the kernels that large corpora need, once per machine.

    A small corpus needs few kernels or none; on a large one each is compiled when it is first
    called. Together they take a minute or two. They are kept in your cache folder, or in the one
    that BAYESIFT_CACHE names, and serve every environment with the same versions of bayesift, Numba
    and Python on the same kind of processor.
    """
    from bayesift.kernels.compile import cache_folder
    from bayesift.models import LEARNERS

    folder = cache_folder()
    if folder is None:
        raise DataError(
            "the cache of kernels cannot be written; set BAYESIFT_CACHE to another folder"
        )
    names = MODELS if models is None else [name.strip() for name in models.split(",")]
    unknown = [name for name in names if name not in LEARNERS]
    if unknown:
        raise DataError(f"no learner {unknown[0]!r}; {nearest(unknown[0], list(LEARNERS))}")
    start = time.perf_counter()
    texts, labels = _corpus()
    with counting("preparing learners", len(names), quiet=quiet) as progress:
        for done, name in enumerate(names, 1):
            _use(name, texts, labels)
            progress(done)
    if not quiet:
        files = [file for file in Path(folder).iterdir() if file.suffix == ".nbc"]
        size = sum(file.stat().st_size for file in files) / 1e6
        print(
            f"{folder}: {len(files):,} kernels, {size:.1f} MB, {time.perf_counter() - start:.1f} s"
        )
    return Path(folder)


def _corpus() -> tuple[list[str], list[str]]:
    """Make texts of random words, some of them in other scripts, and three categories."""
    import numpy as np

    draw = np.random.default_rng(0)
    words = draw.integers(_N_WORDS, size=(_N_TEXTS, _WORDS_PER_TEXT))
    categories = draw.integers(3, size=_N_TEXTS)
    texts = [" ".join(map("w{:x}".format, row)) for row in words.tolist()]
    texts[:2] = ["naïve " + texts[0], "東京の天気 " + texts[1]]
    return [f"{text} class{c}" for text, c in zip(texts, categories, strict=True)], [
        f"c{c}" for c in categories
    ]


def _use(name: str, texts: list[str], labels: list[Any]) -> None:
    """Fit a learner to one label per text and to several, and classify.

    Word pairs are tried by `auto`.
    """
    import warnings

    from bayesift.classifier import TextClassifier

    sets = [{label, "c0"} for label in labels]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for given in (labels, sets):
            TextClassifier(model=name).fit(texts, given).predict(texts)
