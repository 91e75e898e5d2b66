"""Commands are functions: dataclass options become flags, and Python can call the functions."""

from dataclasses import dataclass
from inspect import signature

import pytest
import typer

from bayesift.classifier import TextClassifier
from bayesift.cli.evaluate import compare, evaluate
from bayesift.cli.explain import explain, inspect
from bayesift.cli.fit import fit
from bayesift.cli.options import CorpusOptions, LearnerOptions, grouped, usage_errors
from bayesift.errors import DataError, RequestError


@dataclass(frozen=True)
class Loudness:
    quiet: bool = False


def greet(name: str, loudness: Loudness = Loudness()) -> str:
    print(name.lower() if loudness.quiet else name.upper())
    return name


def test_the_fields_of_a_dataclass_become_options(capsys):
    command = grouped(greet)
    assert list(signature(command).parameters) == ["name", "quiet"]
    assert command(name="Ann", quiet=True) is None
    assert capsys.readouterr().out == "ann\n"
    assert greet("Ann") == "Ann"


def test_commands_can_be_called_from_python(write, tmp_path, capsys):
    names = ["north", "south", "east", "west", "port", "field", "winter", "summer"]
    rows = "".join(f"wheat {name} seed,grain\noil {name} barrel,crude\n" for name in names)
    corpus, model = str(write("news.csv", f"body,desk\n{rows}")), tmp_path / "model.zip"
    source = CorpusOptions(text="body", label="desk")
    fitted = fit(corpus, model, learner=LearnerOptions(min_df=2), source=source, quiet=True)
    assert isinstance(fitted, TextClassifier)
    assert fitted.terms() == TextClassifier.load(model).terms()
    assert evaluate(model, corpus, source=source).measures.accuracy == 1.0
    assert explain(model, "wheat").categories[0].category == "grain"
    assert [row["category"] for row in inspect(model)["categories"]] == ["crude", "grain"]
    assert list(compare(corpus, "naive-bayes,svm", source=source, quiet=True)) == [
        "naive-bayes",
        "svm",
    ]
    assert "accuracy" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("raised", "expected"),
    [
        (RequestError("no corpus"), typer.BadParameter),
        (ValueError("k must be positive"), typer.BadParameter),
        (TypeError("k must be a number"), typer.BadParameter),
        (DataError("damaged"), DataError),
    ],
)
def test_bad_use_is_told_from_bad_data(raised, expected):
    with pytest.raises(expected, match=str(raised)), usage_errors():
        raise raised
