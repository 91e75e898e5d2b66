"""What must work in an environment that holds the wheel and nothing of the repository.

Run by `make wheel`.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import bayesift
from bayesift import TextClassifier

ROOT = Path(__file__).parents[1]


def main():
    home = Path(bayesift.__file__)
    assert not home.is_relative_to(ROOT / "src"), f"{home} is the repository's, not the wheel's"
    texts, labels = (
        ["wheat and corn", "corn exports", "crude oil", "oil tankers"] * 5,
        ["grain", "grain", "crude", "crude"] * 5,
    )
    with tempfile.TemporaryDirectory() as folder:
        table, model, report = (
            Path(folder) / name for name in ("texts.csv", "model.zip", "report.html")
        )
        table.write_text(
            "text,label\n"
            + "".join(f"{text},{label}\n" for text, label in zip(texts, labels, strict=True))
        )
        for words in (
            ["fit", table, "-o", model],
            ["evaluate", model, table, "--report", report],
            ["explain", model, "corn and oil"],
            ["inspect", model],
            ["models"],
            ["datasets", "list"],
        ):
            run(*words)
        assert "<svg" in report.read_text()
        assert TextClassifier.load(model).predict(["corn"]).tolist() == ["grain"]
    print(f"bayesift {bayesift.__version__} from its wheel works")


def run(*words):
    command = Path(sys.executable).with_name("bayesift")
    subprocess.run([command, *map(str, words)], check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
