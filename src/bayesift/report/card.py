"""Model cards: what a model is, what it was trained on, how good it is, and where it ends.

A card says only what the model file holds. It is one HTML page like a report, or Markdown.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import bayesift
from bayesift.charts import Chart
from bayesift.charts.svg import clean
from bayesift.classifier import CategoryWords, TextClassifier
from bayesift.classifier.quality import Share
from bayesift.errors import DataError
from bayesift.evaluation import ReliabilityCurve, reliability_diagram
from bayesift.files import whole_file
from bayesift.model_file import load_model
from bayesift.report.content import Fact, Measure
from bayesift.report.gather import model_name, words_of
from bayesift.report.pages import Section, render_page, score

_FEW_DOCUMENTS = 30  # held-out documents of a category below which its quality is vague
_LISTED = 8  # names in a sentence
_LARGEST_CATEGORIES = 200  # rows of the table of categories
_LOOKED_AT = 20_000  # terms whose script is looked at
_MARKDOWN = re.compile(r"([\\`*_\[\]<>|#~])")


@dataclass(frozen=True)
class ModelCard:
    """What a model card shows; `model_card` makes it.

    Parameters
    ----------
    title : of the page
    facts : what it is and what it was trained on
    measures : what to expect on new documents, by documents held out; empty if there were none
    categories : a table of what to expect of each category, headings first
    reliability : how often probabilities came true; None if no documents were held out
    words : the most informative words of categories
    limits : sentences about where the model ends
    versions : of the packages that made the model, and its digest
    """

    title: str
    facts: tuple[Fact, ...]
    measures: tuple[Measure, ...]
    categories: tuple[tuple[str, ...], ...]
    reliability: ReliabilityCurve | None
    words: tuple[CategoryWords, ...]
    limits: tuple[str, ...]
    versions: tuple[Fact, ...]

    @property
    def chart(self) -> Chart | None:
        """The calibration picture."""
        if self.reliability is None:
            return None
        return reliability_diagram({"documents held out": self.reliability})

    def to_html(self) -> str:
        """Return the card as one self-contained page."""
        chart = self.chart
        charts = [] if chart is None else [chart]
        sections = [
            (self.measures, Section("quality", "Expected quality", "scores.html")),
            (
                self.categories,
                Section(
                    "categories",
                    "Expected quality by category",
                    "table.html",
                    rows=self.categories,
                    note=_INTERVALS,
                ),
            ),
            (charts, Section("calibration", "Calibration", "charts.html", charts=charts)),
            (self.words, Section("words", "Words that matter", "words.html")),
            (self.limits, Section("limits", "Limits", "limits.html")),
            (self.versions, Section("versions", "Versions", "versions.html")),
        ]
        shown = [section for content, section in sections if content]
        return render_page(self.title, self.facts, shown, self)

    def to_markdown(self, picture: str | None = None) -> str:
        """Return the card as Markdown; `picture` is the path of the calibration picture."""
        parts = [f"# {_plain(self.title)}", _bullets(_fact_lines(self.facts))]
        if self.measures:
            lines = [_measure_line(measure) for measure in self.measures]
            parts += ["## Expected quality", _bullets(lines)]
        if self.categories:
            parts += ["## Expected quality by category", _table(self.categories), _INTERVALS]
        if self.reliability is not None:
            parts.append("## Calibration")
            if picture is not None:
                parts.append(f"![Observed frequency by predicted probability]({picture})")
            parts.append(_table(_calibration_rows(self.reliability)))
        if self.words:
            rows = [("category", "words")]
            rows += [(row.category, ", ".join(w.word for w in row.words)) for row in self.words]
            parts += ["## Words that matter", _table(rows)]
        parts += ["## Limits", _bullets(map(_plain, self.limits))]
        parts += ["## Versions", _bullets(_fact_lines(self.versions))]
        return "\n\n".join(parts) + "\n"

    def save(self, path: str | Path) -> None:
        """Write the card: HTML or Markdown, by the end of the name.

        Beside a Markdown file stands its calibration picture, as in card.md and
        card-calibration.svg.
        """
        target = Path(path)
        suffix = target.suffix.lower()
        if suffix not in (".html", ".htm", ".md"):
            raise DataError("a card is a file that ends in .html or .md", file=target)
        chart = self.chart
        if suffix == ".md" and chart is not None:
            picture = target.with_name(f"{target.stem}-calibration.svg")
            chart.save(picture)
            written = self.to_markdown(picture.name.replace(" ", "%20"))
        else:
            written = self.to_markdown() if suffix == ".md" else self.to_html()
        with whole_file(target, "w") as stream:
            stream.write(written)

    def __repr__(self) -> str:
        return f"ModelCard({self.title!r})"

    def _repr_markdown_(self) -> str:
        return self.to_markdown()


_INTERVALS = (
    "Of the documents given a category, precision is the share that has it; of the documents that "
    "have it, recall is the share that was given it. In brackets 95% intervals, by documents held "
    "out."
)


def model_card(model: TextClassifier | str | Path, *, n_words: int = 8) -> ModelCard:
    """Make the card of a fitted classifier, or of a model file.

    Parameters
    ----------
    model : fitted, or the path of a saved one; the card of a file has its digest and versions
    n_words : words of each category

    Examples
    --------
    >>> texts = ["wheat and corn", "corn exports", "crude oil prices", "oil tankers"]
    >>> classifier = TextClassifier().fit(texts, ["grain", "grain", "crude", "crude"])
    >>> card = model_card(classifier, n_words=2)
    >>> card.title, card.words[0].words[0].word
    ('Model card: auto', 'oil')
    >>> "## Limits" in card.to_markdown()
    True
    """
    path = None if isinstance(model, TextClassifier) else Path(model)
    classifier = model if isinstance(model, TextClassifier) else TextClassifier.load(model)
    name = model_name(classifier) if path is None else path.stem
    return ModelCard(
        title=f"Model card: {name}",
        facts=tuple(_facts(classifier)),
        measures=tuple(_measures(classifier)),
        categories=tuple(_category_rows(classifier)),
        reliability=_reliability(classifier),
        words=words_of(classifier, n_words, np.arange(len(classifier.categories_))),
        limits=tuple(_limits(classifier)),
        versions=tuple(_versions(path)),
    )


def _facts(classifier: TextClassifier) -> list[Fact]:
    n_categories = len(classifier.categories_)
    how_many = "none, one or several" if classifier.multilabel_ else "exactly one"
    names = _some(classifier.categories_)
    model = classifier.model_
    described = f": {model.describe()}" if hasattr(model, "describe") else ""
    facts = [
        Fact("what it does", f"gives each text {how_many} of {n_categories:,} categories"),
        Fact("categories", names),
        Fact("model", f"{model_name(classifier)}{described}"),
    ]
    kind = "numbers of a vector" if classifier.vectorizer_ is None else "terms of texts"
    facts.append(Fact("input", f"{len(classifier.terms()):,} {kind}"))
    if classifier.text_columns_:
        facts.append(Fact("columns of text", ", ".join(classifier.text_columns_)))
    table = classifier.features_.table
    if table is not None:
        columns = ", ".join(column.name for column in table.columns)
        facts.append(Fact("columns beside the text", columns))
    trained = classifier.corpus_
    if trained:
        documents = f"{trained['documents']:,} documents"
        facts.append(Fact("trained on", f"{trained['name'] or 'a corpus'}, {documents}"))
        facts.append(Fact("fingerprint of these", f"SHA-256 {trained['fingerprint']}"))
    elif classifier.repeats_ is not None:
        facts.append(Fact("trained on", f"{classifier.repeats_.n_texts:,} texts"))
    return facts


def _measures(classifier: TextClassifier) -> list[Measure]:
    quality = classifier.expected_quality_
    if quality is None:
        return []
    interval = f"95% interval {score(quality.low)} to {score(quality.high)}"
    held_out = f"by {quality.n_documents:,} documents that models were fitted without"
    measures = [
        Measure(quality.measure, quality.value, f"{interval}, {held_out}.", headline=True),
        Measure(
            "log loss",
            quality.log_loss,
            "Mean negative log probability of the truth on them; 0 is perfect.",
            headline=True,
            rising=False,
        ),
    ]
    later = quality.later
    if later is not None:
        interval = f"95% interval {score(later.low)} to {score(later.high)}"
        what = f"on the {later.n_documents:,} latest, by a model of the earlier documents"
        measures.append(
            Measure(
                f"{later.measure}, later", later.value, f"{interval}, {what}.", headline=True
            )
        )
    return measures


def _category_rows(classifier: TextClassifier) -> list[tuple[str, ...]]:
    quality = classifier.expected_quality_
    if quality is None:
        return []
    found = list(zip(classifier.categories_, quality.of_categories(), strict=True))
    found.sort(key=lambda row: -row[1].documents)
    rows: list[tuple[str, ...]] = [("category", "held out", "precision", "recall")]
    for name, of in found[:_LARGEST_CATEGORIES]:
        rows.append((name, f"{of.documents:,}", _interval(of.precision), _interval(of.recall)))
    return rows


def _interval(share: Share | None) -> str:
    return "\N{EN DASH}" if share is None else str(share)


def _reliability(classifier: TextClassifier) -> ReliabilityCurve | None:
    quality = classifier.expected_quality_
    return None if quality is None else quality.reliability


def _calibration_rows(curve: ReliabilityCurve) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = [("predicted", "came true", "95% interval", "forecasts")]
    columns = (curve.mean_probability, curve.share_positive, curve.lower, curve.upper)
    for predicted, share, low, high, count in zip(*columns, curve.count, strict=True):
        interval = f"{low:.1%} to {high:.1%}"
        rows.append((f"{predicted:.1%}", f"{share:.1%}", interval, f"{count:,}"))
    return rows


def _limits(classifier: TextClassifier) -> list[str]:
    """Return sentences on what the numbers do not hold for."""
    quality = classifier.expected_quality_
    if quality is None:
        limits = [
            "No documents were held out in training: nothing is known of the quality on new "
            "documents. bayesift evaluate measures it on labelled ones."
        ]
    else:
        limits = [
            "The numbers hold for new documents like the training documents, from the same "
            "source and labelled in the same way."
        ]
    limits += [_of_repeats(classifier), _of_time(classifier)]
    limits += _of_few(classifier)
    limits += _of_languages(classifier)
    if not classifier.multilabel_:
        limits.append(
            "Every text gets one of the categories, also a text that belongs to none of them, "
            "unless the model is allowed to abstain."
        )
    limits.append(_of_abstention(classifier))
    limits.append(
        "Words that matter go together with categories in the training documents. They need not "
        "be what makes a document belong there."
    )
    return [sentence for sentence in limits if sentence]


def _of_repeats(classifier: TextClassifier) -> str:
    repeats = classifier.repeats_
    if repeats is None:
        return ""
    if not repeats.n_repeated:
        return f"None of the {repeats.n_texts:,} training texts repeats another."
    sentence = f"Repeats: {repeats}. Texts that repeat one another were held out together."
    if repeats.n_conflicting:
        sentence += " Different labels of one text limit what any model can reach."
    return sentence


def _of_time(classifier: TextClassifier) -> str:
    quality = classifier.expected_quality_
    if quality is None or quality.later is None:
        return (
            "Change over time was not measured: that takes the dates of enough training documents "
            "(bayesift fit --time COLUMN). Documents of later months may be harder."
        )
    if quality.differs_later:
        change = "lower" if quality.later.value < quality.value else "higher"
        return (
            f"Change over time: on the latest documents {quality.later}, which is {change} than "
            "chance can explain. Fit again with new documents now and then."
        )
    return f"Change over time: none was seen; on the latest documents {quality.later}."


def _of_few(classifier: TextClassifier) -> list[str]:
    quality = classifier.expected_quality_
    if quality is None:
        return []
    few = [
        f"{name} ({of.documents:,})"
        for name, of in zip(classifier.categories_, quality.of_categories(), strict=True)
        if of.documents < _FEW_DOCUMENTS
    ]
    if not few:
        return []
    return [
        f"Few documents: {len(few):,} of {len(classifier.categories_):,} categories have fewer "
        f"than {_FEW_DOCUMENTS}, so that little is known of them: {_some(few)}."
    ]


def _of_languages(classifier: TextClassifier) -> list[str]:
    if classifier.vectorizer_ is None:
        return []
    scripts = _scripts(classifier.terms())
    named = ", ".join(scripts) or "no script"
    return [
        f"Languages: its words are in {named} script. Of texts in other languages it knows few "
        "words, and its probabilities say little; bayesift explain shows what share of a text is "
        "new."
    ]


def _scripts(terms: Sequence[str]) -> list[str]:
    """Return the scripts of at least one in a hundred terms, the most frequent first."""
    counts: Counter[str] = Counter()
    for term in terms[:: max(1, len(terms) // _LOOKED_AT)]:
        letter = next((character for character in term if character.isalpha()), None)
        if letter is not None:
            counts[unicodedata.name(letter, "unknown").split()[0].title()] += 1
    total = sum(counts.values())
    return [name for name, count in counts.most_common() if count >= 0.01 * total]


def _of_abstention(classifier: TextClassifier) -> str:
    if classifier.abstention_ is None:
        return ""
    return (
        "Abstention: bayesift classify --abstain 0.1 leaves undecided the texts that the model is "
        "less sure of than of nine in ten held-out documents, by its probability and by the share "
        "of words that it does not know. Of documents unlike the training documents these are "
        "more."
    )


def _versions(path: Path | None) -> list[Fact]:
    if path is None:
        return [Fact("bayesift", bayesift.__version__)]
    header: dict[str, Any] = load_model(path).header
    facts = [Fact("bayesift", str(header["bayesift"]))]
    facts += [Fact(name, str(value)) for name, value in header.get("versions", {}).items()]
    # The header of a folder holds the digests of its other files.
    file = path if path.is_file() else path / "model.json"
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    return [*facts, Fact(f"SHA-256 of {file.name}", digest)]


def _some(names: Sequence[str]) -> str:
    listed = ", ".join(names[:_LISTED])
    left = len(names) - _LISTED
    return f"{listed} and {left:,} more" if left > 0 else listed


def _plain(text: str) -> str:
    """Return text that Markdown shows as it is, in one line."""
    return _MARKDOWN.sub(r"\\\1", " ".join(clean(text).split()))


def _bullets(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _fact_lines(facts: Sequence[Fact]) -> list[str]:
    return [f"**{_plain(fact.name)}**: {_plain(fact.value)}" for fact in facts]


def _measure_line(measure: Measure) -> str:
    return f"**{measure.name} {score(measure.value)}**: {_plain(measure.meaning)}"


def _table(rows: Sequence[Sequence[str]]) -> str:
    head, *body = ([_plain(cell) for cell in row] for row in rows)
    lines = [head, ["---"] * len(head), *body]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
