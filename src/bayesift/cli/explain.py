"""`bayesift explain`, `inspect` and `models`: show decisions, models and learners."""

from __future__ import annotations

import json
import math
import sys
from dataclasses import asdict
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from typer import Argument, Option

from bayesift.cli.console import busy, stdout, table
from bayesift.cli.options import AsJson, ModelPath, TableOptions
from bayesift.errors import nearest

if TYPE_CHECKING:
    from bayesift.classifier import (
        CategoryExplanation,
        ExpectedQuality,
        Explanation,
        TermContribution,
        TextClassifier,
    )
    from bayesift.records import Corpus

_TEXT = "title and text"  # the name of what was read of a document
_BAR_COLUMNS = 16  # columns of a bar
_MAX_TERM_COLUMNS = 24  # columns of a term at most
_MAX_UNSEEN_LISTED = 8


def explain(
    model: ModelPath,
    document: Annotated[
        str,
        Argument(
            metavar="[TEXT|-]",
            help="The text; - or nothing reads it from stdin. With --row, the path of a table.",
        ),
    ] = "-",
    row: Annotated[
        str | None,
        Option(
            help="Explain the document of a table that has this id, or without ids this line.",
            metavar="ID",
        ),
    ] = None,
    category: Annotated[
        list[str] | None,
        Option(help="Explain this category; can be repeated. Else the assigned ones."),
    ] = None,
    top: Annotated[int, Option(help="Number of words to list for each category.", min=1)] = 10,
    as_json: AsJson = False,
    *,
    source: TableOptions = TableOptions(),
) -> Explanation:
    """Show which words speak for a category, and which against.

    With --row, the columns of the table are those that the model was fitted to, as far as no others
    are named.

    With a model fitted with --posterior, the uncertainty of the probability and of each word is
    shown, too; with a spike-and-slab model also how probable it is that each word matters to the
    category.
    """
    from bayesift.classifier import TextClassifier

    with busy(f"loading {model}"):
        classifier = TextClassifier.load(model)
    given: str | dict[str, str | None] | Corpus
    if row is not None:
        given = _document(classifier, document, row, source)
    else:
        given = sys.stdin.read() if document == "-" else document
        if not given.strip():
            raise typer.BadParameter("the text is empty", param_hint="TEXT")
        if classifier.vectorizer_ is None:
            given = _vector(given)
    explained = classifier.explain(given, categories=category, top=top)
    # That of a vector is a list, since it is read as a corpus.
    explanation: Explanation = explained[0] if isinstance(explained, list) else explained
    if as_json:
        print(json.dumps(explanation.as_dict(), indent=2, ensure_ascii=False))
    else:
        print_explanation(
            stdout(),
            explanation,
            score="probability" if classifier.has_probabilities_ else "score",
        )
    return explanation


def _vector(text: str) -> Corpus:
    """Read a vector as a line of a vector file has it."""
    from bayesift.errors import DataError
    from bayesift.tables import load_svmlight
    from bayesift.tables.loading import Source

    try:
        corpus = load_svmlight(Source.of(BytesIO(text.encode())), zero_based=True)
    except DataError as error:
        reason = error.message.partition(";")[0]
        raise DataError(
            f"the model was fitted to vectors: give one such as '3:0.5 7:1' ({reason})"
        ) from error
    return corpus


def _document(
    classifier: TextClassifier, path: str, row: str, source: TableOptions
) -> dict[str, str | None] | Corpus:
    """Read the document of a table that has this id: its text and the columns beside it.

    Of a vector file it is a corpus of one document.
    """
    from bayesift.corpora.streaming import TextReader, VectorRows
    from bayesift.errors import DataError
    from bayesift.tables.loading import ProblemLog

    log = ProblemLog(skip=source.skip_bad)
    layout = classifier.layout_
    opened = sys.stdin.buffer if path == "-" else Path(path)
    for batch in TextReader(opened, source.columns, source.format, log, layout=layout):
        at = batch.ids.index(row).as_py()
        if at >= 0 and isinstance(batch, VectorRows):
            return batch.texts.select([at])
        if at >= 0 and not isinstance(batch, VectorRows):
            others = {name: cells[at].as_py() for name, cells in batch.others.items()}
            return {**others, _TEXT: batch.texts[at].as_py()}
    raise DataError(f"no document has the id or line {row!r}", file=path)


def print_explanation(
    console: Console, explanation: Explanation, *, score: str = "probability"
) -> None:
    """Print the contributions of terms as bars: right for a category, left against it."""
    for category in explanation.categories:
        console.print(_decision(category, score))
        console.print(_bars(category))
        console.print()
    unseen = ", ".join(explanation.unseen_terms[:_MAX_UNSEEN_LISTED])
    more = ", ..." if len(explanation.unseen_terms) > _MAX_UNSEEN_LISTED else ""
    share = f"{explanation.unseen_share:.0%} of the text is new to the model"
    if explanation.by_meaning:
        share += (
            f", {explanation.by_meaning:,} of {explanation.unseen:,} new terms have vectors"
        )
    console.print(f"{share}{f': {escape(unseen)}{more}' if unseen else ''}")


def _decision(category: CategoryExplanation, score: str) -> str:
    decision = (
        "[green]assigned[/green]" if category.assigned else "[yellow]not assigned[/yellow]"
    )
    against = "" if category.threshold is None else f", threshold {category.threshold:.4g}"
    spread = ""
    if category.integrated is not None and category.interval is not None:
        low, high = category.interval
        spread = (
            f" ({category.integrated:.4f} averaged over the weights; 90% between {low:.4f} "
            f"and {high:.4f})"
        )
    return (
        f"[bold]{escape(category.category)}[/bold]: {decision}, {score} "
        f"{_rounded(category.score)}{spread}{against}"
    )


def _rounded(value: float) -> str:
    """Round a probability to four digits; rounding never makes it certain."""
    if 0.99995 <= value < 1:
        return "above 0.9999"
    return f"{value:.4f}"


def _bars(category: CategoryExplanation) -> Table:
    """Make a row per term: its bar is left of the axis if it is against the category."""
    rows: list[tuple[str, float, str]] = [("(before any word)", category.prior, "")]
    rows += [(t.term, t.contribution, _note(t)) for t in category.terms]
    largest = max([1e-12, *(abs(value) for _, value, _ in rows if math.isfinite(value))])
    longest = min(_MAX_TERM_COLUMNS, max(len(name) for name, _, _ in rows))
    table = Table(box=None, padding=(0, 1), pad_edge=False, header_style="dim")
    table.add_column(
        "",
        justify="right",
        no_wrap=True,
        overflow="ellipsis",
        min_width=min(_MAX_TERM_COLUMNS, longest),
        max_width=_MAX_TERM_COLUMNS,
    )
    table.add_column(
        f"{'against':>{_BAR_COLUMNS - 1}} │ for", no_wrap=True, min_width=2 * _BAR_COLUMNS + 1
    )
    table.add_column("log odds", justify="right", no_wrap=True, min_width=8)
    table.add_column("", overflow="fold")
    for name, value, note in rows:
        against = _bar(-value / largest, "▐")
        given = _bar(value / largest, "▌")
        bars = f"[red]{against:>{_BAR_COLUMNS}}[/red][dim]│[/dim][green]{given}[/green]"
        table.add_row(escape(name), bars, f"{value:+.3f}", escape(note))
    return table


def _note(term: TermContribution) -> str:
    """Describe how sure a contribution is, and what part of it is meaning."""
    note = f"± {term.deviation:.3f} " if term.deviation else ""
    if term.inclusion is not None:
        note += f"matters {_share(term.inclusion)} "
    if term.spelling:
        note += f"{term.spelling:+.2f} by characters "
    if term.meaning:
        note += f"{term.meaning:+.2f} by meaning"
    if term.like:
        return f"{note}, like {', '.join(term.like)}"
    return note.strip()


def _share(inclusion: float) -> str:
    """Format an inclusion probability; rounding never makes it certain."""
    if inclusion > 0.995:
        return ">99%"
    if inclusion < 0.005:
        return "<1%"
    return f"{inclusion:.0%}"


def _bar(share: float, half: str) -> str:
    """Draw a bar of full blocks, with a half one at its end; none for what is below 0."""
    halves = round(2 * _BAR_COLUMNS * min(max(share, 0.0), 1.0))
    bar = "█" * (halves // 2)
    if halves % 2:
        if half == "▐":
            return half + bar
        return bar + half
    return bar


def inspect(
    model: ModelPath,
    top: Annotated[int, Option(help="Number of words to list for each category.", min=1)] = 8,
    as_json: AsJson = False,
) -> dict[str, Any]:
    """Show the parts of a model and its top words."""
    from bayesift.classifier import TextClassifier

    with busy(f"loading {model}"):
        classifier = TextClassifier.load(model)
        facts = _facts(classifier, model, top)
    if as_json:
        print(json.dumps(facts, indent=2, ensure_ascii=False))
    else:
        _print_facts(stdout(), facts, classifier.expected_quality_)
    return facts


def _facts(classifier: TextClassifier, path: Path, top: int) -> dict[str, Any]:
    from bayesift.errors import DataError
    from bayesift.model_file import load_model
    from bayesift.thresholds import THRESHOLD_RULES

    header = load_model(path).header
    quality = classifier.expected_quality_
    files = [path] if path.is_file() else [file for file in path.iterdir() if file.is_file()]
    try:
        words = [category.words for category in classifier.top_terms(top)]
    except DataError:  # nearest neighbours and Gaussian processes have no weights of words
        words = [()] * len(classifier.categories_)
    return {
        "model": header["model"]["kind"],
        "bayesift": header["bayesift"],
        "corpus": header["corpus"],
        "columns": _columns(classifier),
        "labels": classifier.label_form_.form,
        "bytes": sum(file.stat().st_size for file in files),
        "terms": classifier.estimator_.n_features_in_,
        "vectorizer": _vectorizer(classifier),
        "rule": next(
            name
            for name, rule in THRESHOLD_RULES.items()
            if rule is type(classifier.estimator_.rule_)
        ),
        "knowledge": header.get("knowledge"),
        "expected_quality": None if quality is None else quality.as_dict(),
        "categories": [
            {
                "category": category,
                "threshold": threshold,
                "top_terms": [word.word for word in listed],
                "weights": [word.weight for word in listed],
                "deviations": [word.deviation for word in listed],
                "inclusion": [word.inclusion for word in listed],
            }
            for category, threshold, listed in zip(
                classifier.categories_, _thresholds(classifier), words, strict=True
            )
        ],
    }


def _columns(classifier: TextClassifier) -> dict[str, Any] | None:
    """Return the columns of the table that the model was fitted to, by their roles."""
    layout = classifier.layout_
    if layout is None:
        return None
    return {role: column for role, column in asdict(layout.columns).items() if column}


def _vectorizer(classifier: TextClassifier) -> dict[str, Any] | None:
    """Return the parameters of the vectorizer that affect its result."""
    vectorizer = classifier.vectorizer_
    if vectorizer is None:
        return None
    parameters = {
        name: value
        for name, value in vectorizer.get_params().items()
        if name not in ("n_jobs", "progress", "tell")
    }
    if not isinstance(vectorizer.stop_words, str | None):
        parameters["stop_words"] = sorted(vectorizer.stop_words)
    return {**parameters, "n_documents": vectorizer.n_documents_}


def _thresholds(classifier: TextClassifier) -> list[float | str | None]:
    """Return the threshold of each category, None if the rule has none or it is infinite."""
    thresholds = getattr(classifier.estimator_.rule_, "thresholds_", None)
    if thresholds is None or len(thresholds) != len(classifier.categories_):
        return [None] * len(classifier.categories_)
    return [
        {math.inf: "never", -math.inf: "always"}.get(value, value)
        for value in map(float, thresholds)
    ]


def _print_facts(
    console: Console, facts: dict[str, Any], quality: ExpectedQuality | None
) -> None:
    corpus = facts["corpus"]
    if corpus:
        learned = f" learned from {corpus['documents']:,} documents of {escape(corpus['name'])}"
    else:
        learned = ""
    console.print(f"[bold]{facts['model']}[/bold]{learned}, by bayesift {facts['bayesift']}")
    weighting = facts["vectorizer"]["weighting"] if facts["vectorizer"] else "vectors"
    console.print(
        f"{len(facts['categories']):,} categories ({facts['labels']} labels), {facts['terms']:,} "
        f"terms ({weighting}), rule {facts['rule']}, {facts['bytes'] / 1e6:,.1f} MB"
    )
    if facts["columns"]:
        named = []
        for role, column in facts["columns"].items():
            names = [column] if isinstance(column, str) else column
            named.append(f"{role} {', '.join(map(repr, names))}")
        console.print(escape(f"columns: {'; '.join(named)}"))
    if facts["knowledge"]:
        console.print(f"knowledge of {_knowledge(facts['knowledge'])}")
    for line in [] if quality is None else quality.describe():
        console.print(escape(line))
    console.print()
    rows = table("category", "threshold", "top words", numbers=False)
    for row in facts["categories"]:
        threshold = row["threshold"]
        if threshold is None:
            shown = ""
        elif isinstance(threshold, float):
            shown = f"{threshold:.4g}"
        else:
            shown = str(threshold)
        rows.add_row(escape(row["category"]), shown, escape(_words(row)))
    console.print(rows)


def _words(row: dict[str, Any]) -> str:
    """Return the words of a category, with weight, deviation and inclusion probability if known."""
    words = zip(
        row["top_terms"], row["weights"], row["deviations"], row["inclusion"], strict=True
    )
    return ", ".join(
        word
        if sd is None
        else f"{word} {weight:.2f}±{sd:.2f}{'' if share is None else f' ({_share(share)})'}"
        for word, weight, sd, share in words
    )


def _knowledge(knowledge: dict[str, Any]) -> str:
    categories = {**knowledge.get("words", {}), **knowledge.get("descriptions", {})}
    missing = sum(map(len, knowledge["missing"].values()))
    return (
        f"{len(categories):,} categories: {knowledge['used']:,} words used, {missing:,} not in "
        "the vocabulary"
    )


def models(
    name: Annotated[
        str | None,
        Argument(
            help="A learner: show its formula and its settings, for --set.", show_default=False
        ),
    ] = None,
) -> None:
    """List the learners for --model and --models, or the settings of one."""
    from bayesift.models import LEARNERS, is_storable

    if name is not None:
        _print_settings(name)
        return
    rows = table("name", "what", "can be saved", numbers=False)
    for learner in LEARNERS.values():
        rows.add_row(
            learner.name, learner.description, "yes" if is_storable(learner.make()) else "no"
        )
    stdout().print(rows)


def _print_settings(name: str) -> None:
    """Print what the documentation says of a learner, and what may be set."""
    from bayesift.models import LEARNERS
    from bayesift.models.settings import described, settings_of

    if name not in LEARNERS:
        raise typer.BadParameter(
            f"no learner {name!r}; {nearest(name, list(LEARNERS))}", param_hint="NAME"
        )
    learner = LEARNERS[name]
    estimator = learner.make()
    print(f"{name}: {learner.description}\n\n{described(estimator)}\n")
    rows = table("setting", "default", "of", "meaning", numbers=False)
    for setting in settings_of(estimator):
        rows.add_row(
            *map(escape, (setting.name, str(setting.value), setting.part, setting.meaning))
        )
    stdout().print(rows)
