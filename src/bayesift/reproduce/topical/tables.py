"""Both tables: a row a classifier and a selection, a column a number of features."""

from __future__ import annotations

from bayesift.reproduce.experiment import Absent, Experiment, Extent, Grid, Reading, Task, reading
from bayesift.reproduce.topical.measuring import measure_features

FEATURES = (2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
SELECTIONS = ("DF", "CHI", "OCFS", "SNMF")
_QUICK = (4, 16)


def table(name: str, corpus: str, *, largest: dict[str, int]) -> Experiment:
    """A table on a corpus.

    Parameters
    ----------
    name : of the experiment
    corpus : what it reads
    largest : by classifier the most features that are tried; larger cells are left out, and say so
    """

    def grid(extent: Extent) -> Grid:
        found: dict[tuple[str, str], Reading | Absent] = {}
        for selection in SELECTIONS:
            for features in FEATURES:
                for classifier in ("RCut kNN", "SVM", *(("Additive LR",) if selection == "SNMF" else ())):
                    row, column = f"{classifier}, {selection}", str(features)
                    if features > (max(_QUICK) if extent.quick else largest[classifier]):
                        found[row, column] = Absent("left out: it takes more time than all others together")
                    else:
                        found[row, column] = reading(_task(corpus, selection, features, classifier, extent), classifier)
        return found

    return Experiment(name, grid)


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
