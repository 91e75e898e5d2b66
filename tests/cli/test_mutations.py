"""A thousand mutated command lines of twelve commands: never a traceback, always a sentence."""

import io
import random
import shutil

import openpyxl
import pytest
import typer

from bayesift.cli import main
from bayesift.cli.app import app
from tests.cli.conftest import CRUDE, GRAIN, fit

N_MUTATIONS = 1000
N_QUICK = 150

COMMANDS = {
    "check": ["check", "news.csv", "--text", "body", "--label", "desk"],
    "fit": ["fit", "news.csv", "-o", "new.zip", "--model", "naive-bayes", "--label", "desk"],
    "classify": ["classify", "model.zip", "news.csv", "-o", "answers.csv", "--top", "2"],
    "evaluate": ["evaluate", "model.zip", "news.csv", "--label", "desk", "--json"],
    "compare": ["compare", "news.csv", "--models", "naive-bayes,svm", "--test-folds", "3"],
    "explain": ["explain", "model.zip", "corn and oil", "--top", "3", "--category", "grain"],
    "inspect": ["inspect", "model.zip", "--top", "2"],
    "learn": ["learn", "lines.jsonl", "--state", "state", "-o", "learned.zip"],
    "datasets show": ["datasets", "show", "news.csv", "--encoding", "utf-8"],
    "filter simulate": [
        "filter",
        "simulate",
        "news.csv",
        "--strategy",
        "plain",
        "--batch",
        "4",
    ],
    "screen open": ["screen", "open", "records.ris", "-o", "review", "--plain", "-q"],
    "card": ["card", "model.zip", "-o", "card.md"],
}
# All paths are relative: what is written stays in the folder of the test.
VALUES = [
    "",
    " ",
    "-",
    "--",
    "-1",
    "0",
    "0.5",
    "1e400",
    "nan",
    "1000000000000000000000",
    "none",
    "all",
    "a,b",
    "body",
    "desk",
    "Body ",
    "no such column",
    "missing.csv",
    "missing/news.csv",
    "folder",
    "news.csv",
    "semicolons.csv",
    "vectors.svm",
    "book.xlsx",
    "lines.jsonl",
    "texts.txt",
    "model.zip",
    "empty.csv",
    "binary.bin",
    "nowhere.csv",
    "x" * 300,
    "naïve\n\tline",
    "[red]",
    "utf-16",
    "hex",
    "naive-bayes",
    "auto",
    "é" * 200 + ".csv",
]
NUMBERS = ["0", "1", "2", "7", "0.1", "-1", "-0.5", "1000000", "10" * 12, "1e400", "nan", "x"]
# They would start a server, change the shell of the user, or run for as long as they are told.
LEFT_OUT = {"--serve", "--install-completion", "--show-completion", "--n-epochs", "--engine"}


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """A folder of small files of many kinds."""
    folder = tmp_path_factory.mktemp("inputs")
    pairs = [(text, "grain") for text in GRAIN] + [(text, "crude") for text in CRUDE]
    table = "body,desk\n" + "".join(f"{text},{label}\n" for text, label in pairs)
    (folder / "news.csv").write_text(table)
    (folder / "semicolons.csv").write_text(table.replace(",", ";"))
    (folder / "lines.jsonl").write_text(
        "".join(f'{{"text": "{text}", "label": "{label}"}}\n' for text, label in pairs)
    )
    (folder / "texts.txt").write_text("".join(f"{text}\n" for text, _ in pairs))
    (folder / "vectors.svm").write_text("+1 1:1 3:1\n-1 2:1\n" * 6)
    (folder / "empty.csv").write_text("")
    (folder / "binary.bin").write_bytes(bytes(range(256)) * 4)
    records = "".join(f"TY  - JOUR\nTI  - {text}\nAB  - {text}\nER  - \n" for text, _ in pairs)
    (folder / "records.ris").write_text(records)
    (folder / "folder").mkdir()
    (folder / "nowhere.csv").symlink_to("gone.csv")
    book = openpyxl.Workbook()
    for pair in [("body", "desk"), *pairs]:
        book.active.append(pair)
    book.save(folder / "book.xlsx")
    fit(folder / "news.csv", "-o", folder / "model.zip", "--model", "naive-bayes")
    return folder


def options_of(words):
    """The options of a command, each with the values to try."""
    command = typer.main.get_command(app)
    for word in words:
        if word not in getattr(command, "commands", {}):
            break
        command = command.commands[word]
    found = []
    for parameter in command.params:
        if parameter.param_type_name != "option" or not LEFT_OUT.isdisjoint(parameter.opts):
            continue
        is_number = any(kind in parameter.display_type(None) for kind in ("int", "float"))
        values = None if parameter.is_flag else NUMBERS if is_number else VALUES
        found += [(name, values) for name in parameter.opts]
    return found


def mutated(arguments, options, rng):
    """Change a command line in one or two places, more often in values than in names."""
    made = list(arguments)
    for _ in range(rng.choice((1, 1, 2))):
        places = [k for k, argument in enumerate(made) if argument.startswith("-") or k == 0]
        others = [k for k in range(len(made)) if k not in places] or [0]
        place = rng.choice(others if rng.random() < 0.9 else range(len(made)))
        change = rng.choice(
            ("option",) * 6 + ("value",) * 4 + ("drop", "double", "swap", "typo")
        )
        if change == "option":
            name, values = rng.choice(options)
            made += [name] if values is None else [name, rng.choice(values)]
        elif change == "drop":
            del made[place]
        elif change == "double":
            made.insert(place, made[place])
        elif change == "swap":
            other = rng.choice(others)
            made[place], made[other] = made[other], made[place]
        elif change == "value":
            made[place] = rng.choice(VALUES)
        else:
            made[place] = made[place][1:] + made[place][:1]
    return made


def run_in(folder, arguments, capsysbinary, monkeypatch):
    """Run a command in a folder; returns its exit code, stdout and stderr."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"")))
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    captured = capsysbinary.readouterr()
    return ended.value.code or 0, captured.out.decode(), captured.err.decode()


def check_mutations(numbers, inputs, tmp_path, capsysbinary, monkeypatch):
    for number in numbers:
        rng = random.Random(number)
        words = COMMANDS[sorted(COMMANDS)[number % len(COMMANDS)]]
        arguments = mutated(words, options_of(words), rng)
        folder = tmp_path / str(number)
        shutil.copytree(inputs, folder, symlinks=True)
        try:
            code, out, err = run_in(folder, arguments, capsysbinary, monkeypatch)
        except BaseException as error:
            raise AssertionError(f"mutation {number}: {arguments}") from error
        told = f"mutation {number}: {arguments}: {code}\n{err}"
        assert code in (0, 1, 2), told
        assert "Traceback" not in err, told
        if code and "Usage: " not in out + err:
            last = err.splitlines()[-1]
            assert last.startswith("bayesift: "), told
        shutil.rmtree(folder)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_command_lines_that_are_mutated_are_good(
    name, inputs, tmp_path, capsysbinary, monkeypatch
):
    folder = shutil.copytree(inputs, tmp_path / "inputs", symlinks=True)
    code, _, err = run_in(folder, COMMANDS[name], capsysbinary, monkeypatch)
    assert code == 0, err


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize(
    "arguments",
    [
        ["screen", "open", "."],
        ["screen", "open", ""],
        ["filter", "run", "."],
        ["filter", "run", "missing.yaml"],
        ["classify", "model.zip", "news.csv", "-o", ""],
        ["learn", "lines.jsonl", "--stemmer", "klingon"],
        ["learn", "lines.jsonl", "--stop-words", "klingon"],
        ["fit", "news.csv", "--text", "body", "--label", "body"],
        ["fit", "news.csv", "--label", "body"],
        ["compare", "news.csv", "--score-above", "1000000"],
    ],
    ids=" ".join,
)
def test_what_mutations_found_is_answered_in_a_sentence(
    arguments, inputs, tmp_path, capsysbinary, monkeypatch
):
    folder = shutil.copytree(inputs, tmp_path / "inputs", symlinks=True)
    code, out, err = run_in(folder, arguments, capsysbinary, monkeypatch)
    assert (code in (1, 2), out) == (True, "")
    assert err.splitlines()[-1].startswith("bayesift: ")


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("part", range(3))
def test_no_mutation_is_answered_with_a_traceback(
    part, inputs, tmp_path, capsysbinary, monkeypatch
):
    check_mutations(range(part, N_QUICK, 3), inputs, tmp_path, capsysbinary, monkeypatch)


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("part", range(10))
def test_no_mutation_of_a_thousand_is_answered_with_a_traceback(
    part, inputs, tmp_path, capsysbinary, monkeypatch
):
    numbers = range(N_QUICK + part, N_MUTATIONS, 10)
    check_mutations(numbers, inputs, tmp_path, capsysbinary, monkeypatch)
