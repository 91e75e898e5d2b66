"""Every experiment by its name; a new one is a module with an `EXPERIMENT`, and a name here."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from functools import cache
from importlib import import_module

from bayesift.datasets import RequestError
from bayesift.reproduce.experiment import Experiment

# modules of `bayesift.reproduce`, in the order of reports and of work: the quick ones last, so that no core idles
MODULES = {
    **{f"sparse-bayes:table-{n}": f"sparse_bayes.table_{n}" for n in range(1, 9)},
    **{f"sparse-bayes:figure-{n}": f"sparse_bayes.figure_{n}" for n in range(1, 4)},
    **{f"online:table-{n}": f"online.table_{n}" for n in range(2, 8)},
    **{f"online:figure-{n}": f"online.figure_{n}" for n in (1, 2)},
    "lecture:smoothings": "lecture.smoothings",
    "lecture:solvers": "lecture.solvers",
    "topical:table-1": "topical.table_1",
    "topical:table-2": "topical.table_2",
    "hybrid:table-1": "hybrid.table_1",
    **{f"hybrid:figure-{n}": f"hybrid.figure_{n}" for n in (1, 2, 3)},
    "leaderboard:reuters": "leaderboard.reuters",
    "leaderboard:20newsgroups": "leaderboard.newsgroups",
    "leaderboard:rcv1-sample": "leaderboard.rcv1_sample",
    "leaderboard:ohsumed": "leaderboard.ohsumed",
    "leaderboard:sms-spam": "leaderboard.sms_spam",
}


def experiment_names(wanted: Sequence[str]) -> list[str]:
    """The experiments that names stand for: themselves, those of a paper, or "all".

    Examples
    --------
    >>> experiment_names(["sparse-bayes:table-3"])
    ['sparse-bayes:table-3']
    >>> len(experiment_names(["sparse-bayes"]))
    11
    """
    found: list[str] = []
    for name in wanted:
        matching = [known for known in MODULES if name in ("all", known, known.partition(":")[0])]
        if not matching:
            papers = dict.fromkeys(known.partition(":")[0] for known in MODULES)
            close = difflib.get_close_matches(name, [*MODULES, *papers, "all"], n=2)
            hint = f"; did you mean {' or '.join(close)}? See" if close else "; see"
            raise RequestError(f"no experiment {name!r}{hint}: bayesift reproduce --list")
        found += matching
    return list(dict.fromkeys(found))


@cache
def experiment(name: str) -> Experiment:
    """The experiment of that name."""
    found: Experiment = import_module(f"bayesift.reproduce.{MODULES[name]}").EXPERIMENT
    assert found.name == name
    return found
