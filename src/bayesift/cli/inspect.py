"""`bayesift inspect`: what a model holds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from bayesift.cli.options import AsJson, ModelPath

if TYPE_CHECKING:
    from bayesift.classifier import TextClassifier


def inspect(
    model: ModelPath,
    top: Annotated[int, typer.Option(help="How many words to list for each category.", min=1)] = 8,
    as_json: AsJson = False,
) -> None:
    """Show what a model is made of, and the top words of each category."""
    from bayesift.classifier import TextClassifier

    facts = _facts(TextClassifier.load(model), model, top)
    if as_json:
        print(json.dumps(facts, indent=2, ensure_ascii=False))
    else:
        _print_facts(Console(highlight=False), facts)


def _facts(classifier: TextClassifier, path: Path, top: int) -> dict[str, Any]:
    from bayesift.model_file import load_model
    from bayesift.report import top_terms

    header = load_model(path).header
    files = [path] if path.is_file() else [file for file in path.iterdir() if file.is_file()]
    thresholds = getattr(classifier.estimator_.rule_, "thresholds_", None)
    words = top_terms(classifier, top)
    return {
        "model": header["model"]["kind"],
        "bayesift": header["bayesift"],
        "corpus": header["corpus"],
        "labels": header["labels"],
        "bytes": sum(file.stat().st_size for file in files),
        "terms": classifier.estimator_.n_features_in_,
        "vectorizer": header["vectorizer"],
        "rule": header["thresholds"]["rule"],
        "knowledge": header.get("knowledge"),
        "categories": [
            {
                "category": category,
                "threshold": header["thresholds"]["learned"]["thresholds_"][j]
                if thresholds is not None and len(thresholds) == len(classifier.categories_)
                else None,
                "top_terms": [word.word for word in words[j].words],
                "weights": [word.weight for word in words[j].words],
                "deviations": [word.deviation for word in words[j].words],
            }
            for j, category in enumerate(classifier.categories_)
        ],
    }


def _print_facts(console: Console, facts: dict[str, Any]) -> None:
    corpus = facts["corpus"]
    learned = f" learned from {corpus['documents']:,} documents of {escape(corpus['name'])}" if corpus else ""
    console.print(f"[bold]{facts['model']}[/bold]{learned}, by bayesift {facts['bayesift']}")
    weighting = facts["vectorizer"]["weighting"] if facts["vectorizer"] else "vectors"
    console.print(
        f"{len(facts['categories']):,} categories ({facts['labels']} labels), {facts['terms']:,} terms "
        f"({weighting}), rule {facts['rule']}, {facts['bytes'] / 1e6:,.2f} MB"
    )
    if facts["knowledge"]:
        console.print(f"knowledge of {_knowledge(facts['knowledge'])}")
    console.print()
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("category", overflow="fold")
    table.add_column("threshold", justify="right")
    table.add_column("top words", overflow="fold")
    for row in facts["categories"]:
        threshold = row["threshold"]
        shown = "" if threshold is None else f"{threshold:.4g}" if isinstance(threshold, float) else str(threshold)
        table.add_row(escape(row["category"]), shown, escape(_words(row)))
    console.print(table)


def _words(row: dict[str, Any]) -> str:
    """The words of a category, each with its weight where it is known how sure that is."""
    words = zip(row["top_terms"], row["weights"], row["deviations"], strict=True)
    return " ".join(word if sd is None else f"{word} {weight:.2f}±{sd:.2f}" for word, weight, sd in words)


def _knowledge(knowledge: dict[str, Any]) -> str:
    categories = {**knowledge.get("words", {}), **knowledge.get("descriptions", {})}
    missing = sum(map(len, knowledge["missing"].values()))
    return f"{len(categories):,} categories: {knowledge['used']:,} words used, {missing:,} not in the vocabulary"
