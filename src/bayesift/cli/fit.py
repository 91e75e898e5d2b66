"""`bayesift fit`: learn from a labelled corpus."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from bayesift.cli.corpora import (
    CorpusName,
    DataDir,
    Encoding,
    IdColumn,
    LabelColumn,
    Separator,
    SkipBad,
    SplitColumn,
    TextColumn,
    TitleColumn,
    busy,
    read_corpus,
)
from bayesift.cli.options import (
    Jobs,
    MinDocuments,
    Ngrams,
    Quiet,
    Seed,
    StemmerName,
    StopWords,
    TermNumber,
    TermScore,
    Threshold,
    ThresholdFolds,
    Weighting,
    bad_options,
    counting,
    new_classifier,
    part_of,
)


def fit(
    corpus: CorpusName,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Where to save the model: a folder, or a file that ends in .zip.")
    ],
    model: Annotated[str, typer.Option(help="The learner; `bayesift models` lists them.")] = "naive-bayes",
    weighting: Weighting = None,
    stop_words: StopWords = None,
    stemmer: StemmerName = None,
    min_df: MinDocuments = 1,
    ngrams: Ngrams = 1,
    terms: TermNumber = None,
    score: TermScore = "likelihood-ratio",
    threshold: Threshold = "bayes",
    threshold_folds: ThresholdFolds = None,
    split: Annotated[
        str | None, typer.Option(help="Part to learn from; `train` where there is one.", show_default=False)
    ] = None,
    data_dir: DataDir = None,
    text: TextColumn = None,
    label: LabelColumn = None,
    identity: IdColumn = None,
    title: TitleColumn = None,
    split_column: SplitColumn = None,
    separator: Separator = None,
    encoding: Encoding = None,
    skip_bad: SkipBad = False,
    seed: Seed = 0,
    jobs: Jobs = -1,
    quiet: Quiet = False,
) -> None:
    """Learn the categories of a labelled corpus and save the model."""
    from bayesift.datasets import Columns
    from bayesift.model_file import check_place

    check_place(output)
    columns = Columns(text, label, identity, title, None, split_column)
    loaded = read_corpus(corpus, data_dir, columns, separator, encoding, skip_bad=skip_bad, quiet=quiet)
    part = part_of(loaded, split, default="train")
    start = time.perf_counter()
    with counting("reading texts", len(part), quiet=quiet) as progress, bad_options():
        classifier = new_classifier(
            model,
            weighting=weighting,
            stop_words=stop_words,
            stemmer=stemmer,
            min_df=min_df,
            ngrams=ngrams,
            terms=terms,
            score=score,
            threshold=threshold,
            threshold_folds=threshold_folds,
            seed=seed,
            jobs=jobs,
            progress=progress,
        )
        classifier.fit_corpus(part)
    seconds = time.perf_counter() - start
    with busy(f"saving {output}", quiet=quiet):
        classifier.save(output)
    if not quiet:
        print(
            f"{output}: {model} learned from {len(part):,} documents, {len(classifier.categories_):,} categories, "
            f"{classifier.estimator_.n_features_in_:,} terms in {seconds:.1f} s"
        )
