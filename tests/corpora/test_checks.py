"""Twenty messy files: each problem is named with its cure."""

import json
import random

import pytest

from bayesift.corpora import check_corpus, load
from bayesift.corpora.checks import guess_language

WORDS = (
    "wheat",
    "corn",
    "oil",
    "barrel",
    "ship",
    "port",
    "price",
    "market",
    "trade",
    "export",
    "harvest",
    "tanker",
)


def rows(n=60, labels=("grain", "crude", "ship"), seed=0):
    """Texts that differ, with labels in turn."""
    rng = random.Random(seed)
    return [
        (f"the {' '.join(rng.choices(WORDS, k=7))} and {k}", labels[k % len(labels)])
        for k in range(n)
    ]


def table(pairs, header="text,label", delimiter=","):
    return "\n".join([header, *(delimiter.join(pair) for pair in pairs)]) + "\n"


def changed(pairs, places, text=None, label=None):
    made = list(pairs)
    for place in places:
        old = made[place]
        made[place] = (text(old[0]) if text else old[0], label(old[1]) if label else old[1])
    return made


THIRD = range(0, 60, 6)
CLEAN = rows()
GERMAN = [
    (f"der Preis ist zu hoch und die Ware {k} kam nicht mit", "ab"[k % 2] * 3)
    for k in range(60)
]
CHINESE = [(f"今天天气很好我们一起去公园散步{k}", "ab"[k % 2] * 3) for k in range(60)]
LEAK = [(f"the text {k} [{c}] of many", c) for k, c in enumerate(("red", "blue", "green") * 20)]
SPLIT = [(*pair, "test" if k % 5 == 4 else "train") for k, pair in enumerate(CLEAN)]
MESSY = {
    "semicolons": (
        "a.csv",
        table(CLEAN, "text;label", ";"),
        "guessed-delimiter",
        "--delimiter",
    ),
    "western": (
        "a.csv",
        table([("café " + t, c) for t, c in CLEAN]).encode("cp1252"),
        "guessed-encoding",
        "--encoding",
    ),
    "utf-16": ("a.csv", table(CLEAN).encode("utf-16"), "guessed-encoding", "--encoding"),
    "no header": ("a.csv", table(CLEAN).partition("\n")[2], "guessed-header", "--header"),
    "other columns": ("a.csv", table(CLEAN, "words,desk"), "guessed-label", "--label"),
    "no labels": ("a.csv", table([(t, "") for t, _ in CLEAN]), "no-labels", "--label"),
    "blank labels": (
        "a.csv",
        table(changed(CLEAN, (3, 9), label=lambda c: "")),
        "blank-labels",
        "--multilabel",
    ),
    "joined by |": (
        "a.csv",
        table(changed(CLEAN, range(0, 60, 3), label=lambda c: "grain|ship")),
        "joined-labels",
        "'|'",
    ),
    "joined by ;": (
        "a.csv",
        table(changed(CLEAN, range(0, 60, 6), label=lambda c: "ship;crude")),
        "joined-labels",
        "';'",
    ),
    "joined by comma": (
        "a.tsv",
        table(
            changed(CLEAN, range(0, 60, 6), label=lambda c: "ship, crude"), "text\tlabel", "\t"
        ),
        "joined-labels",
        "','",
    ),
    "case of labels": (
        "a.csv",
        table(changed(CLEAN, range(0, 60, 6), label=str.upper)),
        "label-spelling",
        "one way",
    ),
    "repeated texts": (
        "a.csv",
        table(CLEAN + [(t.upper(), c) for t, c in CLEAN[:9]]),
        "duplicates",
        "keep one",
    ),
    "two labels": (
        "a.csv",
        table([*CLEAN, (CLEAN[0][0], "ship")]),
        "contradictions",
        "one label",
    ),
    "across a split": (
        "a.csv",
        table([*SPLIT, (*CLEAN[0], "test")], "text,label,split"),
        "split-leak",
        "remove",
    ),
    "test only": (
        "a.csv",
        table([*SPLIT, ("gold", "metal", "test")], "text,label,split"),
        "test-only-labels",
        "train",
    ),
    "one document": (
        "a.csv",
        table([*CLEAN, ("gold fell today", "metal")]),
        "labels-with-one",
        "add documents",
    ),
    "few documents": (
        "a.csv",
        table([*CLEAN, *rows(3, ["metal"], 7)]),
        "labels-with-few",
        "add documents",
    ),
    "sorted": ("a.csv", table(sorted(CLEAN, key=lambda pair: pair[1])), "sorted", "no test"),
    "ids": (
        "a.csv",
        table([(t, f"doc-{k}") for k, (t, _) in enumerate(CLEAN)]),
        "id-labels",
        "--label",
    ),
    "numbers": (
        "a.csv",
        table([(t, str(k % 25)) for k, (t, _) in enumerate(rows(100))]),
        "number-labels",
        "--label",
    ),
    "one label": ("a.csv", table([(t, "same") for t, _ in CLEAN]), "one-label", "--label"),
    "leak": ("a.csv", table(LEAK), "label-in-text", "--text"),
    "html": (
        "a.csv",
        table(changed(CLEAN, range(9), text=lambda t: f"<p>{t}<br/>&amp; more</p>")),
        "html",
        "--strip-html",
    ),
    "mojibake": (
        "a.csv",
        table(changed(CLEAN, (1, 2), text=lambda t: f"{t} cafÃ© â€™")),
        "mojibake",
        "UTF-8",
    ),
    "mojibake of a guess": (
        "a.csv",
        (table(CLEAN) + "plain Ã© caf").encode("cp1252")
        + b"\x92 \x93 r\xe9sum\xe9 na\xefve \xe0 la,grain\n",
        "mojibake",
        "--encoding utf-8",
    ),
    "empty rows": (
        "a.csv",
        table(changed(CLEAN, (4, 8), text=lambda t: "")),
        "empty-rows",
        "nothing",
    ),
    "ragged rows": ("a.csv", table(CLEAN) + "a,b,c\n", "bad-rows", "--skip-bad"),
    "lone quotes": (
        "a.csv",
        table(CLEAN) + '"oops,grain\nfine,crude\n',
        "guessed-lone-quotes",
        "",
    ),
    "short texts": (
        "a.csv",
        table([(t.split()[1] + t[-1], c) for t, c in CLEAN]),
        "short-texts",
        "--text",
    ),
    "long text": ("a.csv", table([*CLEAN, ("corn " * 50_000, "grain")]), "long-texts", "quote"),
    "German": ("a.csv", table(GERMAN), "languages", "--stemmer german"),
    "Chinese": ("a.csv", table(CHINESE), "languages", "pairs of characters"),
    "two languages": ("a.csv", table(GERMAN + CLEAN), "languages", "one model"),
    "imbalance": ("a.csv", table(rows(200, ["a"]) + rows(3, ["b"], 5)), "imbalance", "F1"),
    "lists": (
        "a.csv",
        "text,label\n" + "".join(f"{t},\"['a', '{c}']\"\n" for t, c in CLEAN),
        "listed-labels",
        "JSON",
    ),
}


@pytest.mark.parametrize(("name", "content", "found", "cure"), MESSY.values(), ids=MESSY.keys())
def test_each_problem_is_named_with_its_cure(write, name, content, found, cure):
    findings = {
        finding.name: finding
        for finding in check_corpus(load(write(name, content), skip_bad=True))
    }
    assert found in findings, list(findings)
    assert cure in findings[found].cure


def test_a_clean_file_has_no_findings(write):
    assert check_corpus(load(write("a.csv", table(CLEAN)))) == ()


def test_categories_that_are_no_joined_labels(write):
    for labels in (
        ["sci/space", "sci/med", "rec/auto"],
        ["oil & gas", "food, drink", "AC/DC"],
        ["HUM:ind", "LOC:city"],
    ):
        pairs = [(text, label) for text, label in rows(60, labels)]
        content = "\n".join(["text\tlabel", *("\t".join(pair) for pair in pairs)])
        names = {finding.name for finding in check_corpus(load(write("a.tsv", content)))}
        assert "joined-labels" not in names, labels


def test_findings_are_ordered_and_plain(write):
    content = table(
        [*changed(CLEAN, (3,), text=lambda t: ""), ("gold fell", "metal")], "words,desk"
    )
    findings = check_corpus(load(write("a.csv", content), skip_bad=True))
    assert [finding.severity for finding in findings] == sorted(
        (finding.severity for finding in findings), key=["error", "warning", "note"].index
    )
    assert json.loads(json.dumps([finding.as_dict() for finding in findings]))[0][
        "examples"
    ] == ["5"]


def test_repeated_texts_are_listed_in_the_order_of_the_file(write):
    content = table([*CLEAN, CLEAN[9], CLEAN[2]], "text,label")
    found = {finding.name: finding for finding in check_corpus(load(write("a.csv", content)))}
    assert found["duplicates"].examples == (str(len(CLEAN) + 2), str(len(CLEAN) + 3))


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("sporz", "sport"), ("Sprot", "sport"), ("spor", "sport"), ("politicss", "politics")],
)
def test_labels_that_are_a_typing_error_away_are_named(write, typed, meant):
    pairs = [*rows(60, ("sport", "politics")), ("the cup and 7", typed)]
    findings = {f.name: f for f in check_corpus(load(write("a.csv", table(pairs))))}
    said = f"1 label with one document like a common one: {typed!r}: perhaps {meant!r}"
    assert findings["label-typos"].message == said
    assert findings["label-typos"].severity == "warning"
    assert "labels-with-one" not in findings


@pytest.mark.parametrize(
    ("labels", "rare"),
    [
        (("room 1", "hall"), "room 2"),
        (("1980", "1990"), "1981"),
        (("C151", "C152"), "C15"),
        (("ham", "eggs"), "jam"),
        (("sport", "politics"), "transport"),
        (("sport", "politics"), "metal"),
    ],
)
def test_codes_and_other_words_are_no_typing_errors(write, labels, rare):
    pairs = [*rows(60, labels), ("the cup and 7", rare)]
    names = {finding.name for finding in check_corpus(load(write("a.csv", table(pairs))))}
    assert "label-typos" not in names


def test_one_and_many(write):
    content = "Body;Folder\n" + "".join(
        f"the price of oil rose by {k} per cent;crude\n" for k in range(600)
    )
    reasons = [
        note.reason for note in load(write("a.csv", content)).notes if note.what == "label"
    ]
    assert reasons == ["1 value in 500 rows"]
    few = {
        f.name: f
        for f in check_corpus(
            load(write("b.csv", table([*CLEAN, ("gold", "metal"), ("ship", "sea")])))
        )
    }
    assert few["labels-with-one"].cure == "add documents, or join them with another label"


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("the price of oil is too high", "English"),
        ("le prix est trop haut et la qualité dans les magasins", "French"),
        ("цена очень высокая и это не хорошо на вкус", "Russian"),
        ("오늘 날씨가 아주 좋으니", "Korean"),
        ("", None),
        ("12345 67", None),
    ],
)
def test_languages(text, language):
    assert guess_language(text) == language
