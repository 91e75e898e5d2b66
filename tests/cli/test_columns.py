"""A model reads the next table by the columns that it was fitted to."""

import csv
import io
import json
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bayesift import TextClassifier
from bayesift.cli.evaluate import _train_and_test
from bayesift.tables import Columns, load_table

GRAIN = ["wheat", "corn", "barley", "oats", "rye", "maize", "millet", "sorghum"]
CRUDE = ["oil", "crude", "barrels", "wells", "pipeline", "tanker", "refinery", "drilling"]
NAMES = ["Nr", "Betreff", "Inhalt", "Notiz", "Ablage", "Preis", "Land", "Eingang", "Autor"]


def rows_of_mail():
    """Mails whose subject tells the category and whose note tells nothing."""
    rows = []
    for number in range(48):
        words = GRAIN if number % 2 else CRUDE
        label = "grain" if number % 2 else "crude"
        rows.append(
            [
                f"m{number}",
                f"about {words[number // 2 % 8]} and {words[number // 3 % 8]}",
                f"dear all see below {number} regards {words[number // 4 % 8]}",
                f"nothing of note {number}",
                label + ("|trade" if number % 5 == 0 else ""),
                f"{number % 2 * 10 + number % 3}",
                "DE" if number % 2 else "AT",
                f"{1 + number % 28:02d}.0{1 + number // 28}.2024",
                f"author {number % 12}",
            ]
        )
    return rows


@pytest.fixture(scope="module")
def mails(tmp_path_factory):
    path = tmp_path_factory.mktemp("mails") / "mails.csv"
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream, delimiter=";")
        writer.writerow(NAMES)
        writer.writerows(rows_of_mail())
    return path


TEXT = ["--text", "Inhalt"]
LABEL = ["--label", "Ablage", "--separator", "|"]
ONE_LABEL = ["--label", "Land"]
TITLE = ["--title", "Betreff"]
IDS = ["--id", "Nr"]

CHOICES = {
    "text": [*TEXT, *LABEL],
    "title": [*TITLE, *TEXT, *LABEL],
    "title and note": ["--title", "Betreff", "--text", "Notiz", *LABEL],
    "ids": [*TEXT, *LABEL, *IDS],
    "no separator": [*TITLE, *TEXT, "--label", "Ablage"],
    "date": [*TITLE, *TEXT, *LABEL, "--date", "Eingang"],
    "everything": [*TITLE, *TEXT, *ONE_LABEL, *IDS, "--time", "Eingang"],
}


@pytest.mark.parametrize("options", CHOICES.values(), ids=CHOICES)
@pytest.mark.parametrize("more", [[], ["--columns", "Preis"]], ids=["texts", "columns"])
def test_commands_take_the_columns_of_the_model(fit, run, mails, tmp_path, options, more):
    model = tmp_path / "model.zip"
    fit(mails, "-o", model, "--model", "logistic-gaussian", *options, *more)
    table = [
        o for k, o in enumerate(options) if named(options, k) in ("--text", "--title", "--id")
    ]
    for command, given in [
        (["classify", model, mails], table),
        (["evaluate", model, mails, "--json"], options),
        (["explain", model, mails, "--row", "m3" if "--id" in options else "5"], table),
    ]:
        code, with_options, err = run(*command, *given)
        assert code == 0, err
        code, without, err = run(*command)
        assert code == 0, err
        assert without == with_options


def named(options, position):
    """The option that an argument belongs to."""
    return options[position - position % 2]


def test_a_missing_column_is_named(fit, run, mails, write, tmp_path):
    model = tmp_path / "model.zip"
    chosen = [*TITLE, *TEXT, *ONE_LABEL, "--columns", "Preis,Autor"]
    fit(mails, "-o", model, "--model", "logistic-gaussian", *chosen)
    rows = [dict(zip(NAMES, row, strict=True)) for row in rows_of_mail()]

    def without(*missing):
        lines = [json.dumps({k: v for k, v in row.items() if k not in missing}) for row in rows]
        return write("new.jsonl", "\n".join(lines))

    for missing, cure in [
        ("Inhalt", "--text names another"),
        ("Betreff", "--title names another, or none"),
        ("Preis", "there are"),
    ]:
        code, _, err = run("classify", model, without(missing))
        assert code == 1
        assert f"no column {missing!r}, which the model was fitted to" in err
        assert cure in err
    # The label is needed by evaluate alone; ids and dates by none.
    new = without("Land", "Nr", "Eingang")
    assert run("classify", model, new)[0] == 0
    code, _, err = run("evaluate", model, new)
    assert code == 1
    assert "no column 'Land', which the model was fitted to as label" in err
    assert run("evaluate", model, without("Nr", "Eingang"))[0] == 0
    # Options count for more than the model.
    assert run("classify", model, without("Betreff"), "--title", "none")[0] == 0
    assert run("classify", model, without("Betreff"), "--title", "Notiz")[0] == 0


def test_a_model_without_columns_beside_the_text_classifies_plain_lines(
    fit, run, mails, write, tmp_path
):
    model = tmp_path / "model.zip"
    fit(mails, "-o", model, *TITLE, *TEXT, *ONE_LABEL)
    code, out, err = run("classify", model, write("lines.txt", "wheat and corn\ncrude oil\n"))
    assert code == 0, err
    assert [json.loads(line)["text"] for line in out.splitlines()] == [
        "wheat and corn",
        "crude oil",
    ]
    chosen = [*TEXT, *ONE_LABEL, "--columns", "Preis"]
    fit(mails, "-o", model, "--model", "logistic-gaussian", *chosen)
    code, _, err = run("classify", model, write("lines.txt", "wheat and corn\n"))
    assert code == 1
    assert "no column 'Preis'" in err


def test_a_title_that_the_model_was_not_fitted_to_is_not_read(fit, run, write, tmp_path):
    rows = [("title", "text", "label")]
    rows += [("corn", f"oil {k}", "crude") for k in range(6)]
    rows += [("oil", f"corn {k}", "grain") for k in range(6)]
    path = write("a.csv", "".join(",".join(row) + "\n" for row in rows))
    fit(path, "-o", tmp_path / "model.zip", "--title", "none", "--model", "naive-bayes")
    _, out, _ = run("evaluate", tmp_path / "model.zip", path, "--json")
    assert json.loads(out)["accuracy"] == 1


def test_tables_without_a_header(fit, run, write, tmp_path):
    lines = [f"grain\twheat and corn {k}\ncrude\toil and wells {k}\n" for k in range(8)]
    fit(write("a.tsv", "".join(lines)), "-o", tmp_path / "model.zip")
    assert TextClassifier.load(tmp_path / "model.zip").layout_.header is False
    # Nothing recurs here, so that the first line could be a header.
    code, out, err = run(
        "classify", tmp_path / "model.zip", write("new.tsv", "x\tcorn\ny\toil\n")
    )
    assert code == 0, err
    answers = [json.loads(line)["categories"] for line in out.splitlines()]
    assert answers == [["grain"], ["crude"]]


def test_files_of_models_keep_the_layout(fit, run, mails, tmp_path):
    fit(mails, "-o", tmp_path / "m", *TITLE, *TEXT, *LABEL, "--group", "Autor", *IDS)
    layout = TextClassifier.load(tmp_path / "m").layout_
    assert layout.separator == "|"
    _, out, _ = run("inspect", tmp_path / "m")
    assert "columns: text 'Inhalt'; label 'Ablage'; id 'Nr'; title 'Betreff'" in out
    columns = layout.columns
    assert (columns.text, columns.title, columns.label) == ("Inhalt", "Betreff", "Ablage")
    assert (columns.id, columns.group, columns.date) == ("Nr", "Autor", "Eingang")


def read_answers(path):
    if path.suffix == ".parquet":
        return pq.read_table(path).to_pylist()
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in path.read_text().splitlines()]
    if path.suffix == ".xlsx":
        from python_calamine import CalamineWorkbook

        names, *rows = CalamineWorkbook.from_path(path).get_sheet_by_index(0).to_python()
        return [dict(zip(names, row, strict=True)) for row in rows]
    delimiter = "\t" if path.suffix == ".tsv" else ";"
    return list(csv.DictReader(io.StringIO(path.read_text()), delimiter=delimiter))


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".xlsx", ".jsonl", ".parquet"])
def test_answers_stand_beside_the_columns_of_the_input(fit, run, mails, tmp_path, suffix):
    model = tmp_path / "model.zip"
    fit(mails, "-o", model, *TITLE, *TEXT, *ONE_LABEL, *IDS)
    code, _, err = run("classify", model, mails, "-o", tmp_path / f"answers{suffix}")
    assert code == 0, err
    answers = read_answers(tmp_path / f"answers{suffix}")
    assert len(answers) == 48
    assert list(answers[0])[: len(NAMES)] == NAMES
    assert list(answers[0])[len(NAMES)] == "categories"
    assert str(answers[7]["Betreff"]) == rows_of_mail()[7][1]
    # From any of these formats, the answers are the same again.
    code, out, err = run("classify", model, tmp_path / f"answers{suffix}", "--only-answers")
    assert code == 0, err
    code, first, _ = run("classify", model, mails, "--only-answers")
    assert out == first


def test_an_output_without_a_suffix_has_the_format_that_came_in(fit, run, mails, tmp_path):
    model = tmp_path / "model.zip"
    fit(mails, "-o", model, *TEXT, *ONE_LABEL)
    code, _, err = run("classify", model, mails, "-o", tmp_path / "answers")
    assert code == 0, err
    assert (tmp_path / "answers.csv").read_text().startswith('"id";"Nr";"Betreff"')


def test_names_of_answers_that_the_input_has(fit, run, write, tmp_path):
    rows = [f"corn {k},grain\noil {k},crude\n" for k in range(6)]
    path = write("a.csv", "text,categories\n" + "".join(rows))
    fit(path, "-o", tmp_path / "m.zip")
    code, out, err = run("classify", tmp_path / "m.zip", path)
    assert code == 0
    assert "the answers are 'categories_predicted'" in err
    first = json.loads(out.splitlines()[0])
    assert (first["categories"], first["categories_predicted"]) == ("grain", ["grain"])


def test_only_answers(fit, run, mails, tmp_path):
    fit(mails, "-o", tmp_path / "m.zip", *TEXT, *ONE_LABEL, *IDS)
    _, out, _ = run("classify", tmp_path / "m.zip", mails, "--only-answers")
    assert list(json.loads(out.splitlines()[0])) == ["id", "categories", "scores"]


def test_columns_of_parquet_and_json_keep_their_types(fit, run, write, tmp_path):
    texts = [f"corn {k}" for k in range(6)] + [f"oil {k}" for k in range(6)]
    table = pa.table(
        {
            "text": texts,
            "label": ["grain"] * 6 + ["crude"] * 6,
            "n": list(range(12)),
            "share": [k / 4 for k in range(12)],
            "tags": [["a", "b"]] * 12,
            "day": pa.array([None] * 6 + [20000] * 6, pa.int32()).cast(pa.date32()),
        }
    )
    pq.write_table(table, tmp_path / "a.parquet")
    fit(tmp_path / "a.parquet", "-o", tmp_path / "m.zip")
    code, _, err = run(
        "classify", tmp_path / "m.zip", tmp_path / "a.parquet", "-o", tmp_path / "b.parquet"
    )
    assert code == 0, err
    answers = pq.read_table(tmp_path / "b.parquet")
    for name in ("n", "share", "tags", "day"):
        assert answers[name].to_pylist() == table[name].to_pylist()
        assert answers[name].type == table[name].type
    _, out, _ = run("classify", tmp_path / "m.zip", tmp_path / "a.parquet")
    last = json.loads(out.splitlines()[-1])
    assert (last["n"], last["share"], last["tags"]) == (11, 2.75, ["a", "b"])
    objects = write("a.jsonl", out)
    code, again, err = run("classify", tmp_path / "m.zip", objects)
    assert code == 0, err
    assert json.loads(again.splitlines()[-1])["tags"] == ["a", "b"]


@pytest.mark.parametrize(("suffix", "delimiter"), [(".csv", ","), (".tsv", "\t")])
def test_formulas_are_guarded_in_delimited_answers(
    run, model, write, tmp_path, suffix, delimiter
):
    rows = 'body,=name,n\n"=1+1 corn",-2,-1.5\n"+oil, -oil",- a list,7\n@oil x," =1",8\n'
    output = tmp_path / f"answers{suffix}"
    new = write("new.csv", rows)
    assert run("classify", model, new, "--text", "body", "-o", output)[0] == 0
    with output.open(newline="", encoding="utf-8") as stream:
        header, *answers = csv.reader(stream, delimiter=delimiter)
    assert header[1:4] == ["body", "'=name", "n"]
    assert [answer[1:4] for answer in answers] == [
        ["'=1+1 corn", "-2", "-1.5"],
        ["'+oil, -oil", "'- a list", "7"],
        ["'@oil x", "' =1", "8"],
    ]
    assert all(0 <= float(answer[header.index("score_1")]) <= 1 for answer in answers)


def test_formulas_stay_text_in_spreadsheets(fit, run, write, tmp_path):
    rows = [f"corn {k},grain\noil {k},crude\n" for k in range(6)]
    fit(write("a.csv", "text,label\n" + "".join(rows)), "-o", tmp_path / "m.zip")
    new = write("b.csv", 'text,code\n"=1+1 corn",007\noil,12\n')
    code, _, err = run("classify", tmp_path / "m.zip", new, "-o", tmp_path / "b.xlsx")
    assert code == 0, err
    import openpyxl

    sheet = openpyxl.load_workbook(tmp_path / "b.xlsx").active
    rows = list(sheet.iter_rows(min_row=2))
    assert [cell.value for cell in rows[0]][:3] == [2, "=1+1 corn", "007"]
    assert rows[0][1].data_type == "s"
    assert rows[1][2].value == 12


@pytest.fixture(scope="module")
def years(tmp_path_factory):
    """Texts of ten years, whose words change their meaning in the last two."""
    random = Random(0)
    rows = []
    for number in range(300):
        words = random.sample(GRAIN if number % 2 else CRUDE, 4)
        words += [f"filler{random.randrange(1000)}" for _ in range(4)]
        is_grain = (number % 2 == 1) != (number >= 240)
        label = "grain" if is_grain else "crude"
        rows.append([" ".join(words), label, f"author {number // 3}", 2014 + number // 30])
    path = tmp_path_factory.mktemp("years") / "years.csv"
    with path.open("w", newline="") as stream:
        csv.writer(stream).writerows([["text", "label", "author", "year"], *rows])
    return path


def test_the_future_is_held_out_where_dates_are_found(fit, run, years, tmp_path):
    out, err = fit(years, "-o", tmp_path / "m.zip", "--group", "author")
    assert "date: 'year' (guessed; --time)" in err
    assert "on later texts: accuracy 0" in out
    assert TextClassifier.load(tmp_path / "m.zip").expected_quality_.later.value < 0.2
    out, err = fit(years, "-o", tmp_path / "m.zip", "--time", "none")
    assert "date:" not in err
    assert "later" not in out
    code, _, err = run("fit", years, "-o", tmp_path / "n.zip", "--time", "author")
    assert code == 1
    assert "the column 'author' holds no dates: 'author 0' is neither ISO 8601" in err
    code, _, err = run("fit", years, "-o", tmp_path / "n.zip", "--group", "firm")
    assert code == 1
    assert "no column 'firm'" in err


def test_the_label_is_not_the_text(run, mails, tmp_path):
    given = ["--text", "Inhalt", "--label", "Inhalt"]
    code, _, err = run("fit", mails, "-o", tmp_path / "m.zip", *given)
    assert code == 1
    assert "the column 'Inhalt' is the label, so that the model must not read it" in err


@pytest.fixture
def two_texts(write):
    """Write a table whose second column of text tells the category, or tells nothing."""

    def written(*, tells):
        random = Random(0)
        fillers = [f"filler{number}" for number in range(200)]
        lines = ["body;remark;label"]
        for number in range(120):
            words = GRAIN if number % 2 else CRUDE
            body = random.sample(fillers, 12) + random.sample(words, 0 if tells else 3)
            remark = random.sample(fillers, 4) + random.sample(words, 2 if tells else 0)
            label = "grain" if number % 2 else "crude"
            lines.append(f"{' '.join(body)};{' '.join(remark)};{label}")
        return write("two.csv", "\n".join(lines))

    return written


def test_both_columns_of_text_are_used_where_that_lowers_the_loss(
    fit, run, two_texts, tmp_path
):
    path = two_texts(tells=True)
    _, out, _ = run("check", path)
    assert "another text column: 'remark' (--title adds it)" in " ".join(out.split())
    _, err = fit(path, "-o", tmp_path / "m.zip")
    assert "title: 'remark', which lowers the held-out log loss from 0." in err
    assert TextClassifier.load(tmp_path / "m.zip").layout_.columns.title == "remark"
    _, out, _ = run("evaluate", tmp_path / "m.zip", path, "--json")
    assert json.loads(out)["accuracy"] == 1
    # A choice is a choice.
    _, err = fit(path, "-o", tmp_path / "m.zip", "--text", "body")
    assert "another text column: 'remark' (--title adds it)" in err
    assert TextClassifier.load(tmp_path / "m.zip").layout_.columns.title is None
    _, err = fit(path, "-o", tmp_path / "m.zip", "--title", "none")
    assert TextClassifier.load(tmp_path / "m.zip").layout_.columns.title is None


def test_a_column_of_text_that_does_not_help_is_not_used(fit, two_texts, tmp_path):
    _, err = fit(two_texts(tells=False), "-o", tmp_path / "m.zip")
    assert "another text column: 'remark', not used: the held-out log loss is" in err
    assert TextClassifier.load(tmp_path / "m.zip").layout_.columns.title is None


def test_compare_holds_out_whole_groups(run, years):
    corpus = load_table(years, columns=Columns(group="author"))
    train, test = _train_and_test(corpus, 4, 0, multilabel=False)
    assert len(train) + len(test) == 300
    assert not set(train.groups) & set(test.groups)
    given = ["--models", "naive-bayes", "--group", "author"]
    code, out, err = run("compare", years, *given)
    assert code == 0, err
    assert "documents to train on" in out


def test_numbers_and_categories_beside_the_text(fit, run, write, tmp_path):
    rows = []
    for k in range(60):
        rows.append(f"some words {k % 9},{'c' if k % 2 else 'g'},{k % 2}.5,0{k % 7}1\n")
    path = write("a.csv", "text,label,price,code\n" + "".join(rows))
    fit(
        path,
        "-o",
        tmp_path / "m.zip",
        "--model",
        "logistic-gaussian",
        "--columns",
        "price,code",
    )
    table = TextClassifier.load(tmp_path / "m.zip").features_.table
    assert table.names[:2] == ["price", "code=001"]
    _, out, _ = run("evaluate", tmp_path / "m.zip", path, "--json")
    assert json.loads(out)["accuracy"] == 1
    code, _, err = run(
        "classify", tmp_path / "m.zip", write("b.csv", "text,price,code\nx,y,z\n")
    )
    assert code == 1
    assert "'y' in the column 'price' is not a number" in err
    code, _, err = run("fit", path, "-o", tmp_path / "n.zip", "--columns", "cost")
    assert code == 1
    assert "no column 'cost'" in err
    code, _, err = run("fit", path, "-o", tmp_path / "n.zip", "--columns", "label")
    assert code == 1
    assert "is the label, so that the model must not read it" in err


@pytest.mark.parametrize("out_of_core", [[], ["--out-of-core"]])
def test_models_of_chunks_keep_their_columns(fit, run, mails, tmp_path, out_of_core):
    options = ["--model", "naive-bayes", *out_of_core]
    fit(mails, "-o", tmp_path / "m.zip", *TITLE, *TEXT, *ONE_LABEL, *options)
    layout = TextClassifier.load(tmp_path / "m.zip").layout_
    assert (layout.columns.title, layout.columns.text) == ("Betreff", "Inhalt")


def test_a_column_called_text_stands_for_the_only_text(run, model, write):
    code, _, err = run("classify", model, write("a.csv", "text,more\ncorn,x\n"))
    assert code == 0
    assert "text: 'text' (the model was fitted to 'body')" in err
    code, _, err = run("classify", model, write("a.csv", "content,more\ncorn,x\n"))
    assert code == 1
    assert "no column 'body', which the model was fitted to as text" in err


def test_a_model_without_ids_reads_none(fit, run, write, tmp_path):
    rows = "".join(f"a{k},corn {k},grain\nb{k},oil {k},crude\n" for k in range(6))
    path = write("a.csv", f"id,text,label\n{rows}")
    fit(path, "-o", tmp_path / "m.zip", "--id", "none")
    _, expected, _ = run("classify", tmp_path / "m.zip", path, "--id", "none", "--only-answers")
    _, out, _ = run("classify", tmp_path / "m.zip", path, "--only-answers")
    assert out == expected
    assert json.loads(out.splitlines()[0])["id"] == "2"
