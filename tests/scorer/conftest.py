"""Scorers in node; tests are skipped with a reason where it is missing."""

import json
import shutil
import subprocess

import pytest

from bayesift.export import write_scorer

# Answers a line of JSON for each line; numbers that are not finite are strings.
DRIVER = """
const scorer = require(process.argv[1]);
const answers = {
  terms: text => [...scorer.terms(text)],
  spelling: text => [...scorer.spelling(text)],
  lowerCase: text => scorer.lowerCase(text),
  classify: (text, columns) => scorer.classify(text, columns),
  explain: (text, options) => scorer.explain(text, options),
};
const finite = (_, value) =>
  typeof value === "number" && !Number.isFinite(value) ? String(value) : value;
require("node:readline").createInterface({ input: process.stdin }).on("line", line => {
  const [call, ...given] = JSON.parse(line);
  let answer;
  try {
    answer = { answer: answers[call](...given) };
  } catch (error) {
    answer = { error: error.message };
  }
  console.log(JSON.stringify(answer, finite));
});
"""


class Scorer:
    """A scorer that runs in node."""

    def __init__(self, path):
        self.process = subprocess.Popen(
            ["node", "-e", DRIVER, str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )

    def __call__(self, call, *given):
        self.process.stdin.write(json.dumps([call, *given]) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        if "error" in answer:
            raise ValueError(answer["error"])
        return answer["answer"]

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait(timeout=60)


@pytest.fixture(scope="session")
def scorer_of(tmp_path_factory):
    """The scorer of a classifier, running in node."""
    if shutil.which("node") is None:
        pytest.skip("node is missing")
    running = []

    def start(classifier):
        path = tmp_path_factory.mktemp("scorer") / "scorer.js"
        write_scorer(classifier, path)
        running.append(Scorer(path))
        return running[-1]

    yield start
    for scorer in running:
        scorer.close()
