import json

import pytest
from hypothesis import HealthCheck, given, settings

from bayesift.errors import DataError
from bayesift.knowledge import TermKnowledge
from tests.knowledge.test_term_knowledge import KNOWLEDGE

YAML = """
# what the grain desk knows
words:
  corn:
    corn: 3
    maize: 2
    gold: "-"
  wheat: [wheat, durum, +grain, -gold]
descriptions:
  earn: Earnings and Earnings Forecasts
  ship: {text: Shipping, strength: 4}
"""


def test_yaml_and_json_say_the_same(write):
    knowledge = TermKnowledge.read(write("words.yaml", YAML))
    assert knowledge.as_dict()["words"]["wheat"] == {
        "wheat": 1.0,
        "durum": 1.0,
        "grain": "+",
        "gold": "-",
    }
    knowledge.write(path := write("words.json", ""))
    assert json.loads(path.read_text()) == knowledge.as_dict()
    assert TermKnowledge.read(path) == knowledge


@pytest.mark.parametrize("name", ["words.yaml", "words.json"])
@given(knowledge=KNOWLEDGE)
@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_files_go_both_ways(tmp_path, name, knowledge):
    knowledge.write(tmp_path / name)
    assert TermKnowledge.read(tmp_path / name) == knowledge


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("w.yaml", "words: [", r"w\.yaml:\d+: not YAML"),
        ("w.yaml", "words:\n\tcorn: 1", r"w\.yaml:2: not YAML"),
        (
            "w.yaml",
            "words: {corn: [a]}\nwords: {gold: [b]}",
            r"w\.yaml:2: not YAML \('words' stands twice\)",
        ),
        (
            "w.yaml",
            "words:\n  corn:\n    maize: 1\n    maize: 2",
            r"w\.yaml:4: not YAML \('maize' stands twice\)",
        ),
        (
            "w.yaml",
            "words: &a {corn: [x]}\ndescriptions: *a",
            r"w\.yaml:2: not YAML \(no aliases",
        ),
        (
            "w.yaml",
            "words: !!python/object/apply:os.getcwd []",
            r"w\.yaml:1: not YAML \(could not determine",
        ),
        (
            "w.yaml",
            "words: {no: [never]}",
            r"w\.yaml: a category must be text, got False; quote it",
        ),
        (
            "w.yaml",
            "words: {corn: {maize: much}}",
            r"w\.yaml: category 'corn', word 'maize': not a strength",
        ),
        ("w.yaml", "", r"w\.yaml: knowledge has two parts"),
        ("w.yaml", b"\xff\xfe\x00", r"w\.yaml: cannot be read"),
        ("w.yaml", "words: \x07", r"w\.yaml: not YAML"),
        ("w.yaml", "words: " + "[" * 500, r"w\.yaml.*not YAML"),
        ("w.json", "{", r"w\.json:1: not JSON"),
        ("w.json", '{"words": {}, "words": {}}', r"w\.json: 'words' stands twice"),
        (
            "w.json",
            '{"words": {"corn": {"maize": NaN}}}',
            r"w\.json: category 'corn', word 'maize': strength",
        ),
    ],
)
def test_bad_files_are_refused_in_one_line(write, name, content, message):
    with pytest.raises(DataError, match=message) as refused:
        TermKnowledge.read(write(name, content))
    assert "\n" not in str(refused.value)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(DataError, match=r"nothing\.yaml: cannot be read \(No such file"):
        TermKnowledge.read(tmp_path / "nothing.yaml")
