"""Both tables: a row a classifier and a selection, a column a number of features."""

from __future__ import annotations

from bayesift.reproduce.experiment import Absent, Experiment, Extent, Grid, Reading, Task, reading
from bayesift.reproduce.topical.measuring import measure_features

FEATURES = (2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
SELECTIONS = ("DF", "CHI", "OCFS", "SNMF")
_QUICK = (4, 16)


def table(name: str, corpus: str, *, most_topics: int) -> Experiment:
    """A table on a corpus.

    Parameters
    ----------
    name : of the experiment
    corpus : what it reads
    most_topics : more topics are not tried, for the time they take
    """

    def grid(extent: Extent) -> Grid:
        found: dict[tuple[str, str], Reading | Absent] = {}
        for selection in SELECTIONS:
            for features in FEATURES:
                for classifier in ("RCut kNN", "SVM", *(("Additive LR",) if selection == "SNMF" else ())):
                    row, column = f"{classifier}, {selection}", str(features)
                    task = _task(corpus, selection, features, classifier, extent)
                    absent = _left_out(selection, features, most_topics, extent)
                    found[row, column] = reading(task, classifier) if absent is None else absent
        return found

    return Experiment(name, grid)


def _left_out(selection: str, features: int, most_topics: int, extent: Extent) -> Absent | None:
    if extent.quick:
        return None if features in _QUICK else Absent("left out of a quick run")
    if selection == "SNMF" and features > most_topics:
        return Absent(f"left out: more than {most_topics} topics take minutes a cell, and the run is to end in an hour")
    return None


def _task(corpus: str, selection: str, features: int, classifier: str, extent: Extent) -> Task:
    # topics are found once for all classifiers
    classifiers = ["RCut kNN", "SVM", "Additive LR"] if selection == "SNMF" else [classifier]
    return Task.of(
        measure_features,
        f"topical: {corpus}, {', '.join(classifiers)} on {features} features by {selection}",
        corpora=(corpus,),
        corpus=corpus,
        selection=selection,
        features=features,
        classifiers=classifiers,
        **extent.settings,
    )
