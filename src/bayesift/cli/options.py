"""Share options between commands, and make commands with readable help of functions."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import asdict, dataclass, fields, is_dataclass, replace
from functools import wraps
from inspect import Parameter, Signature, cleandoc, signature
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, cast, get_origin, get_type_hints

import typer
from typer import Argument, Option
from typer.core import TyperCommand, TyperGroup

from bayesift.cli.console import counting, print_guesses, print_problems, starting
from bayesift.errors import DataError, RequestError, nearest
from bayesift.files import check_writable

if TYPE_CHECKING:
    from bayesift.classifier import TextClassifier
    from bayesift.features import SelectTerms
    from bayesift.knowledge import TermKnowledge
    from bayesift.records import Corpus
    from bayesift.tables import Columns, TableFormat, TableLayout
    from bayesift.text.counting import Weighting as WeightingName
    from bayesift.text.scripts import Unspaced
    from bayesift.text.tokens import Analyzer
    from bayesift.thresholds import ThresholdRule


_LOCAL = "local"
_SPARK = "spark"
_NO_COLUMN = "none"
# Parameters of learners that are options of their own, and which learners take them.
_TAKEN_BY = {
    "posterior": "the linear models do",
    "prior_scale": "the linear models do",
    "effort": "auto does",
    "budget": "auto does",
}


def grouped(function: Callable[..., Any]) -> Callable[..., None]:
    """Make a command of a function: each field of a dataclass parameter becomes an option.

    The result is dropped.

    The help shows the options of a dataclass under its `PANEL`, unless an option names another.
    """
    given = SimpleNamespace(
        __annotations__={n: a for n, a in function.__annotations__.items() if n != "return"}
    )
    hints = get_type_hints(given, function.__globals__, include_extras=True)
    groups = {
        name: hints[name]
        for name in signature(function).parameters
        if is_dataclass(hints[name])
    }
    parameters: list[Parameter] = []
    for name, parameter in signature(function).parameters.items():
        if name in groups:
            parameters += _fields_as_parameters(groups[name])
        else:
            parameters.append(
                parameter.replace(kind=Parameter.KEYWORD_ONLY, annotation=hints[name])
            )

    @wraps(function)
    def command(**given: Any) -> None:
        for name, group in groups.items():
            given[name] = group(
                **{f.name: given.pop(f.name) for f in fields(group) if f.name in given}
            )
        with starting(quiet=given.get("quiet", False)):
            function(**given)

    command.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return command


def _fields_as_parameters(group: Any) -> list[Parameter]:
    hints = get_type_hints(group, include_extras=True)
    parameters = []
    for field in fields(group):
        annotation = _in_panel(hints[field.name], group)
        kind = Parameter.KEYWORD_ONLY
        parameters.append(
            Parameter(field.name, kind, default=field.default, annotation=annotation)
        )
    return parameters


def _in_panel(annotation: Any, group: Any) -> Any:
    if get_origin(annotation) is not Annotated:
        return annotation
    kind = annotation.__origin__
    option = copy(annotation.__metadata__[0])
    option.rich_help_panel = option.rich_help_panel or getattr(group, "PANEL", None)
    return Annotated[kind, option]


def page_file(*suffixes: str) -> Callable[[Path | None], Path | None]:
    """Make a check of a file to write: its ending, and that it can be written, before any work.

    An ending that is refused keeps data from being replaced; .htm stands for .html.
    """

    def check(path: Path | None) -> Path | None:
        if path is not None:
            suffix = path.suffix.lower()
            if suffix not in suffixes and not (suffix == ".htm" and ".html" in suffixes):
                raise typer.BadParameter(f"{path} must end in {' or '.join(suffixes)}")
            check_writable(path)
        return path

    return check


# The panels of options in the help, in this order after those that are in none.
PANELS = INPUT, OUTPUT, TERMS, DECISIONS, ENGINE = (
    "Input",
    "Output",
    "Terms",
    "Decisions",
    "Engine",
)


def _existing(model: Path) -> Path:
    """Refuse a model that is not there before anything heavy is imported to read it."""
    if not model.exists():
        raise DataError("no such model", file=model)
    return model


ModelPath = Annotated[
    Path, Argument(metavar="MODEL", help="A model saved by `bayesift fit`.", callback=_existing)
]
CorpusName = Annotated[
    str,
    Argument(
        metavar="CORPUS",
        help="The path of your corpus, - for stdin, or a name from `bayesift datasets list`.",
    ),
]
Jobs = Annotated[
    int, Option(help="Number of threads; -1 for all cores.", min=-1, rich_help_panel=ENGINE)
]
Quiet = Annotated[
    bool, Option("--quiet", "-q", help="Print only the result.", rich_help_panel=OUTPUT)
]
AsJson = Annotated[
    bool, Option("--json", help="Print one JSON object.", rich_help_panel=OUTPUT)
]
ReportPath = Annotated[
    Path | None,
    Option(
        "--report",
        help="Write an HTML report to this file.",
        callback=page_file(".html"),
        rich_help_panel=OUTPUT,
    ),
]
DataDir = Annotated[
    Path | None,
    Option(
        help="Folder of the corpora; else $BAYESIFT_DATA, else your cache folder.",
        rich_help_panel=INPUT,
    ),
]
SkipBad = Annotated[
    bool,
    Option(
        "--skip-bad", help="Skip and count records that cannot be read.", rich_help_panel=INPUT
    ),
]
Seed = Annotated[int, Option(help="Seed of the random numbers.", rich_help_panel=ENGINE)]


@dataclass(frozen=True)
class TableOptions:
    """How to read a table; what is not given is guessed, and the guess is printed."""

    PANEL: ClassVar[str] = INPUT

    text: Annotated[str | None, Option(help="Column of the text.")] = None
    identity: Annotated[str | None, Option("--id", help="Column of the document id.")] = None
    title: Annotated[str | None, Option(help="Column of the title, or none.")] = None
    encoding: Annotated[
        str | None, Option(help="Encoding of the text, such as utf-8 or cp1252.")
    ] = None
    delimiter: Annotated[
        str | None, Option(help="Delimiter of the fields: comma, semicolon, tab, pipe, ...")
    ] = None
    header: Annotated[
        bool | None, Option("--header/--no-header", help="Whether the first row names columns.")
    ] = None
    sheet: Annotated[str | None, Option(help="Sheet of a spreadsheet: its name or number.")] = (
        None
    )
    skip_bad: SkipBad = False

    @property
    def columns(self) -> Columns:
        """The columns that were named."""
        from bayesift.tables import Columns

        return Columns(text=self.text, id=_column(self.identity), title=_column(self.title))

    @property
    def format(self) -> TableFormat:
        """How the table is written, as far as options say."""
        from bayesift.tables import TableFormat

        with usage_errors():
            return TableFormat(self.encoding, self.delimiter, self.header, self.sheet)


@dataclass(frozen=True)
class CorpusOptions(TableOptions):
    """How to read a corpus."""

    label: Annotated[str | None, Option(help="Column of the categories.")] = None
    separator: Annotated[
        str | None, Option(help="Separator of several categories in one field.")
    ] = None
    multilabel: Annotated[
        bool,
        Option(
            "--multilabel",
            help="Documents may have several categories, or none: keep those without a label.",
        ),
    ] = False
    date: Annotated[
        str | None,
        Option(
            "--date",
            "--time",
            help="Column of the date, or none; `fit` tells by it how good the model is on later "
            "texts.",
        ),
    ] = None
    split_column: Annotated[str | None, Option(help="Column of the split: train or test.")] = (
        None
    )
    data_dir: DataDir = None

    @property
    def columns(self) -> Columns:
        """The columns that were named."""
        from bayesift.tables import Columns

        return Columns(
            self.text,
            self.label,
            _column(self.identity),
            _column(self.title),
            _column(self.date),
            _column(self.split_column),
        )

    @staticmethod
    def check_path(name: str) -> None:
        """Refuse a missing path of a corpus before anything heavy is imported."""
        path = Path(name)
        if name != "-" and (path.suffix or path.name != name) and not path.exists():
            raise DataError("no such file or folder", file=path)

    def read(
        self, name: str, *, quiet: bool = False, layout: TableLayout | None = None
    ) -> Corpus:
        """Load a corpus by name or path; skipped records and guesses are printed to stderr.

        `layout` has the columns of a table that are not named.
        """
        corpus = self.load(name, quiet=quiet, layout=layout)
        print_problems(corpus.problems)
        if not quiet:
            print_guesses(name, corpus.notes)
        return corpus

    def load(
        self, name: str, *, quiet: bool = False, layout: TableLayout | None = None
    ) -> Corpus:
        """Load a corpus by name or path, "-" from stdin."""
        options = {**self._reading, "layout": layout}
        with counting(f"reading {name}", None, quiet=quiet) as progress:
            from bayesift.corpora import load
            from bayesift.tables import load_table
            from bayesift.tables.loading import reading_progress

            with usage_errors(), reading_progress(progress):
                if name == "-":
                    return load_table(BytesIO(sys.stdin.buffer.read()), **options)
                return load(name, data_dir=self.data_dir, **options)

    @property
    def _reading(self) -> dict[str, Any]:
        """The options of `load_table` that were given."""
        from bayesift.tables import Columns

        return {
            "columns": None if self.columns == Columns() else self.columns,
            "separator": self.separator,
            "skip_bad": self.skip_bad,
            **asdict(self.format),
        }

    def chunks(
        self, name: str, *, quiet: bool = False, layout: TableLayout | None = None
    ) -> Iterator[Corpus]:
        """Load a table in chunks, "-" for stdin.

        Skipped records and guesses are printed to stderr. `layout` as in `read`.
        """
        from bayesift.tables import load_chunks

        source = sys.stdin.buffer if name == "-" else Path(name)
        for chunk in load_chunks(source, layout=layout, **self._reading):
            print_problems(chunk.problems)
            if not quiet:
                print_guesses(name, chunk.notes)
            yield chunk


@dataclass(frozen=True)
class TrainingOptions(CorpusOptions):
    """How to read a corpus to learn from."""

    group: Annotated[
        str | None,
        Option(
            help="Column of groups, such as an author or a thread: texts of one group are held "
            "out together."
        ),
    ] = None
    others: Annotated[
        str | None,
        Option(
            "--columns",
            help="Columns of numbers or categories to use beside the text, separated by commas.",
            metavar="A,B",
        ),
    ] = None

    @property
    def columns(self) -> Columns:
        """The columns that were named."""
        others = tuple(split_names(self.others or ""))
        return replace(super().columns, group=self.group, others=others)


def _column(name: str | None) -> str | None:
    """Return the name of a column: "" for the word none."""
    if name is not None and name.lower() == _NO_COLUMN:
        return ""
    return name


@dataclass(frozen=True)
class EngineOptions:
    """Where the work is done."""

    PANEL: ClassVar[str] = ENGINE

    engine: Annotated[str, Option(help="local, or spark for Parquet files.")] = _LOCAL
    master: Annotated[str, Option(help="Spark master, such as spark://host:7077 or yarn.")] = (
        "local[*]"
    )

    @property
    def is_spark(self) -> bool:
        """Whether the work is done on Spark."""
        _one_of("--engine", self.engine, (_LOCAL, _SPARK))
        return self.engine == _SPARK


@dataclass(frozen=True)
class LearnerOptions:
    """How to vectorize texts, select terms and decide."""

    PANEL: ClassVar[str] = TERMS

    weighting: Annotated[
        str | None,
        Option(
            help="binary, tf, log-tf, tf-idf, sublinear-tf-idf or ltc; by default what suits the "
            "model."
        ),
    ] = None
    stop_words: Annotated[
        str | None, Option(help="Leave out the stop words of this language.")
    ] = None
    stemmer: Annotated[str | None, Option(help="porter, or a Snowball language.")] = None
    min_df: Annotated[int, Option(help="Leave out terms in fewer documents than this.")] = 1
    drop_frequent: Annotated[
        float,
        Option(
            help="Leave out the most frequent terms (Zipf): so many, or a share below 1.", min=0
        ),
    ] = 0
    drop_rare: Annotated[
        float, Option(help="Leave out the least frequent terms, as --drop-frequent.", min=0)
    ] = 0
    ngrams: Annotated[
        int | None,
        Option(help="Maximum length of n-grams: by default 1 of words, 3 of characters."),
    ] = None
    analyzer: Annotated[
        str,
        Option(
            help="Terms are words (word), or n-grams of characters: char, or char_wb within words."
        ),
    ] = "word"
    unspaced: Annotated[
        str,
        Option(
            help="Split Chinese, Japanese, Thai and the like into ngrams of characters, or words "
            "at spaces."
        ),
    ] = "ngrams"
    vectors: Annotated[
        str | None,
        Option(
            help="Word vectors to add to the words: a file or folder, or none. Default: those of "
            "the extra embeddings, if it is installed and the model is auto.",
            metavar="PATH",
        ),
    ] = None
    characters: Annotated[
        bool | None,
        Option(
            "--characters/--no-characters",
            help="Add n-grams of 2 to 5 characters to the words. Default: auto tries them, and "
            "uses them if they help.",
        ),
    ] = None
    strip_html: Annotated[
        bool, Option("--strip-html", help="Texts are HTML: leave out tags, read entities.")
    ] = False
    terms: Annotated[
        int | None, Option(help="Keep this many terms, those with the highest scores.")
    ] = None
    score: Annotated[str, Option(help="Score of terms, used by --terms.")] = "likelihood-ratio"
    score_above: Annotated[
        float | None, Option(help="Keep only terms with a higher score than this.")
    ] = None
    per_category: Annotated[
        bool, Option("--per-category", help="Select terms for each category separately.")
    ] = False
    soft: Annotated[
        float | None,
        Option(help="Scale priors by sqrt(score / (score + SOFT)); for online-perceptron."),
    ] = None
    threshold: Annotated[
        str,
        Option(
            help="Rule that turns scores into decisions, such as scut or max-f1:shrinkage=3; auto "
            "is bayes for probabilities and sign for other scores.",
            rich_help_panel=DECISIONS,
        ),
    ] = "auto"
    threshold_folds: Annotated[
        int | None,
        Option(
            help="Fit the rule on scores cross-validated over this many folds.",
            min=2,
            rich_help_panel=DECISIONS,
        ),
    ] = None
    seed: Seed = 0
    jobs: Jobs = -1

    @property
    def has_vectors(self) -> bool:
        """Whether word vectors of a file are to be used."""
        return self.vectors not in (None, "none")

    def classifier(
        self,
        model: str,
        progress: Callable[[int], None] | None = None,
        *,
        knowledge: TermKnowledge | None = None,
        parameters: dict[str, Any] | None = None,
        columns: Sequence[str] = (),
    ) -> TextClassifier:
        """Make an unfitted classifier; `parameters` are those of the learner."""
        from bayesift.classifier import TextClassifier
        from bayesift.models import LEARNERS
        from bayesift.text import TermVectorizer, TextEmbedder

        self.check_names(model)
        embedder = {None: "auto", "none": None}.get(self.vectors, self.vectors)
        if self.has_vectors:
            embedder = TextEmbedder(self.vectors, n_jobs=self.jobs)
        vectorizer = TermVectorizer(
            weighting=cast("WeightingName", self.weighting)
            if self.weighting
            else LEARNERS[model].weighting,
            stop_words=self.stop_words,
            stemmer=self.stemmer,
            min_df=self.min_df,
            drop_frequent=_number_or_share(self.drop_frequent),
            drop_rare=_number_or_share(self.drop_rare),
            ngram_range=(1, self.ngrams or (1 if self.analyzer == "word" else 3)),
            analyzer=cast("Analyzer", self.analyzer),
            unspaced=cast("Unspaced", self.unspaced),
            strip_html=self.strip_html,
            n_jobs=self.jobs,
            progress=progress,
        )
        return TextClassifier(
            model=_make_learner(model, parameters) if parameters else model,
            vectorizer=vectorizer,
            selection=self._selection(),
            threshold=_rule(self.threshold),
            threshold_cv=self.threshold_folds,
            embedder=embedder,
            characters="auto" if self.characters is None else self.characters,
            random_state=self.seed,
            knowledge=knowledge,
            columns=columns,
        )

    def _selection(self) -> SelectTerms | None:
        if self.terms is None and self.score_above is None and self.soft is None:
            return None
        from bayesift.features import SelectTerms

        each = self.per_category or self.soft is not None
        return SelectTerms(
            self.score,
            k=self.terms,
            threshold=self.score_above,
            per_category=each,
            soft=self.soft,
        )

    def check_names(self, model: str, *, option: str = "--model") -> None:
        """Refuse names of a learner, a score, a weighting or an analyzer that do not exist."""
        from bayesift.models import LEARNERS
        from bayesift.text import ANALYZERS, UNSPACED, WEIGHTINGS

        _one_of(option, model, LEARNERS)
        _one_of("--analyzer", self.analyzer, ANALYZERS)
        _one_of("--unspaced", self.unspaced, UNSPACED)
        if self.score != LearnerOptions.score:
            from bayesift.features import SCORES

            _one_of("--score", self.score, SCORES)
        if self.weighting is not None:
            _one_of("--weighting", self.weighting, WEIGHTINGS)


def _number_or_share(value: float) -> float:
    """Return a number of terms as an integer, and a share as it is."""
    return int(value) if value >= 1 else value


def has_parameter(model: str, parameter: str) -> bool:
    """Whether the learner of that name has such a parameter."""
    from bayesift.models import LEARNERS

    return model in LEARNERS and parameter in LEARNERS[model].make().get_params()


def read_settings(assignments: Iterable[str], option: str) -> dict[str, Any]:
    """Return the settings of "NAME=VALUE" in the order given; values are JSON, or plain words."""
    found = {}
    for assignment in assignments:
        name, sign, value = assignment.partition("=")
        if not (name.strip() and sign):
            raise typer.BadParameter(f"{assignment!r} is not NAME=VALUE", param_hint=option)
        found[name.strip().replace("-", "_")] = _json_or_text(value.strip())
    return found


def _json_or_text(text: str) -> Any:
    """Return the value of JSON, or the text as it is."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def check_settings(model: str, settings: dict[str, Any], option: str) -> None:
    """Refuse settings that a learner does not have, or values that it does not take."""
    from bayesift.models import make_learner

    try:
        make_learner(model, **settings)
    except (ValueError, TypeError) as error:
        raise typer.BadParameter(f"{model}: {error}", param_hint=option) from error


def _make_learner(model: str, parameters: dict[str, Any]) -> Any:
    from bayesift.models import make_learner

    for name, others in _TAKEN_BY.items():
        if name in parameters and not has_parameter(model, name):
            option = f"--{name.replace('_', '-')}"
            raise typer.BadParameter(f"{model} does not take it; {others}", param_hint=option)
    return make_learner(model, **parameters)


def _rule(description: str) -> ThresholdRule | str:
    """Make the rule of "name:parameter=value,...", with values in JSON; "auto" stays as it is."""
    from bayesift.thresholds import THRESHOLD_RULES, threshold_rule

    if description == "auto":
        return description
    name, _, assignments = description.partition(":")
    _one_of("--threshold", name, THRESHOLD_RULES)
    parameters = dict(part.partition("=")[::2] for part in assignments.split(",") if part)
    try:
        return threshold_rule(
            name, **{key.strip(): json.loads(value) for key, value in parameters.items()}
        )
    except (ValueError, TypeError) as error:
        raise typer.BadParameter(
            f"{description!r}: {error}", param_hint="--threshold"
        ) from error


def _one_of(option: str, name: str, known: Iterable[str]) -> None:
    names = list(known)
    if name not in names:
        raise typer.BadParameter(f"no {name!r}; {nearest(name, names)}", param_hint=option)


@contextmanager
def usage_errors() -> Iterator[None]:
    """Turn refused requests and parameters into usage errors (exit code 2).

    Bad data stays a DataError (1).
    """
    try:
        yield
    except (ValueError, TypeError) as error:
        if isinstance(error, DataError) and not isinstance(error, RequestError):
            raise
        raise typer.BadParameter(str(error)) from error


def split_names(text: str) -> list[str]:
    """Split a list at commas into distinct names, in their order."""
    return list(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))


def part_of(corpus: Corpus, split: str | None, *, default: str) -> Corpus:
    """Return the split of that name.

    Without a name it is the default split if there is one, else the whole corpus.
    """
    if split is not None:
        return corpus.split(split)
    if default in corpus.splits:
        return corpus.split(default)
    return corpus


class _ShortHelp:
    """Help that does not name the type of flags, and names ranges once."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters by panel, with short names of their types."""
        parameters: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for parameter in parameters:
            if getattr(parameter, "is_flag", False):
                parameter.metavar = ""
            elif parameter.param_type_name == "option" and parameter.metavar is None:
                parameter.metavar = (parameter.display_type(ctx) or "").replace(" range", "")
        return sorted(parameters, key=_panel_index)


class Command(_ShortHelp, TyperCommand):
    """A command with short help."""


class Group(_ShortHelp, TyperGroup):
    """A group of commands with short help."""


def _panel_index(parameter: Any) -> int:
    panel = getattr(parameter, "rich_help_panel", None)
    if panel in PANELS:
        return PANELS.index(panel) + 1
    return 0


def command_group(
    name: str, text: str, *, no_args_is_help: bool = True, cls: type[Group] = Group
) -> typer.Typer:
    """Make an empty group of commands."""
    options: dict[str, Any] = {
        "no_args_is_help": no_args_is_help,
        "pretty_exceptions_enable": False,
    }
    return typer.Typer(name=name, help=text, cls=cls, **options)


def add_command(
    app: typer.Typer,
    function: Callable[..., Any],
    *examples: str,
    name: str | None = None,
    panel: str | None = None,
) -> None:
    """Add a function to a group as a command, with examples of its use in its help."""
    lines = "".join(
        f"\n    {'' if '|' in example else 'bayesift '}{example}" for example in examples
    )
    epilog = f"Examples:\n{lines}" if examples else None
    # Typer keeps the line ends of paragraphs after the first.
    text = "\n\n".join(
        " ".join(part.split()) for part in cleandoc(function.__doc__ or "").split("\n\n")
    )
    app.command(name, cls=Command, help=text, epilog=epilog, rich_help_panel=panel)(
        grouped(function)
    )
