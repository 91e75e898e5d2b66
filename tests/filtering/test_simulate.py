import datetime
import json

import numpy as np
import pytest

from bayesift.cli import main
from bayesift.errors import DataError
from bayesift.filtering import (
    STRATEGIES,
    FilterEngine,
    MemoryLog,
    ProfileSettings,
    Strategy,
    VectorSpace,
    reading_figure,
    recall_figure,
    simulate,
    stream_of,
    table_five,
    table_four,
    terms_figure,
    theta_figure,
)
from bayesift.filtering.tables import (
    as_record,
    breakdown,
    measures,
    reading_curve,
    recall_curve,
)
from bayesift.records import Corpus, Document
from tests.filtering.worlds import stream


def corpus(n=200, seed=6):
    documents, labels = stream(n, seed=seed, share=0.2)
    made = [
        Document(d.id, d.text, categories=("grain",) if label else ())
        for d, label in zip(documents, labels, strict=True)
    ]
    return Corpus(tuple(made), ("grain",), name="small")


def places_read(engine, documents, taken, labels):
    """Positions of relevant documents when rejected ones are read last, the most probable first."""
    profile = engine.profiles["grain"]
    chances = [profile.probability(engine.space.vector(d.id, d.full_text)) for d in documents]
    passed = [row for row in range(len(documents)) if row not in taken]
    order = taken + sorted(passed, key=lambda row: -chances[row])
    return [place for place, row in enumerate(order, 1) if labels[row]]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_simulation_is_what_the_engine_does_when_each_document_is_judged_at_once(strategy):
    whole = corpus()
    played = simulate(stream_of(whole, n_batch=50, stemmer=None), [strategy]).runs[strategy][0]
    space = VectorSpace(stemmer=None)
    X = space.learn_background(whole.texts[:50])
    labels = np.array([bool(d.categories) for d in whole])
    engine = FilterEngine(space)
    settings = ProfileSettings(strategy=Strategy.of(strategy, stream_length=150))
    engine.add_profile("grain", batch=(X, labels[:50]), settings=settings)
    taken, why = [], []
    for row, document in enumerate(whole.documents[50:]):
        for event in engine.observe(document):
            taken.append(row)
            why.append(event.why)
            engine.judge("grain", document.id, bool(labels[50 + row]), MemoryLog())
    assert played.rows.tolist() == taken
    assert played.ranks.tolist() == places_read(
        engine, whole.documents[50:], taken, labels[50:]
    )
    assert [("relevant", "queried", "random")[code] for code in played.why] == why
    assert len(taken) > 3


def test_measures_are_those_of_the_definitions():
    simulation = simulate(stream_of(corpus(), n_batch=50), ["+ig"])
    (run,) = simulation.runs["+ig"]
    found = measures(simulation, "+ig")
    hits, all_retrieved = int(run.relevant.sum()), len(run.rows)
    assert found.t9p == pytest.approx(100 * hits / max(50, all_retrieved))
    assert found.utility == 2 * hits - (all_retrieved - hits)
    assert found.recall == pytest.approx(100 * hits / run.n_relevant)
    needed = run.ranks[int(np.ceil(0.95 * run.n_relevant)) - 1]
    assert found.wss95 == pytest.approx(0.95 - needed / 150)
    assert found.atd == pytest.approx(sum(run.ranks) / run.n_relevant)
    parts = breakdown([run])
    assert parts.proper_relevant + parts.queried_relevant == hits
    assert recall_curve(simulation, "+ig")[-1] == pytest.approx(hits / run.n_relevant)
    recalls = reading_curve(simulation, "+ig", points=151)
    assert (recalls[0], recalls[-1]) == (0, 1)
    assert np.argmax(recalls >= 0.95) / 150 == pytest.approx(needed / 150)
    assert table_four(simulation)[0] == ["", "+ig"]
    assert table_five(simulation)[3][4] == str(all_retrieved)


def test_a_topic_without_relevant_documents_in_the_stream_has_no_time_to_discovery():
    documents = [
        Document(str(i), f"wheat word{i}", categories=("grain",) if i < 3 else ())
        for i in range(20)
    ]
    simulation = simulate(
        stream_of(Corpus(tuple(documents), ("grain",)), n_batch=10, topics=["grain"]), ["plain"]
    )
    assert (measures(simulation, "plain").wss95, measures(simulation, "plain").atd) == (
        None,
        None,
    )
    assert [row[1] for row in table_four(simulation)[-2:]] == ["—", "—"]
    assert (
        json.loads(json.dumps(as_record(simulation), allow_nan=False))["strategies"]["plain"][
            "topics"
        ][0]["atd"]
        is None
    )


def test_the_stream_goes_by_date_and_the_undated_with_their_neighbours():
    def on(day):
        return None if day is None else datetime.datetime(2020, 1, day)

    days = [3, None, 1, 2, None]
    documents = tuple(
        Document(str(i), f"word{i}", categories=("c",), date=on(day))
        for i, day in enumerate(days)
    )
    assert stream_of(Corpus(documents, ("c",)), n_batch=1).ids == ["3", "4", "0", "1"]


def test_what_cannot_be_simulated_is_refused():
    with pytest.raises(DataError, match="no category 'x'"):
        stream_of(corpus(), topics=["x"])
    with pytest.raises(DataError, match="enough"):
        stream_of(corpus(), relevant=(500, None))
    with pytest.raises(DataError, match="leaves nothing"):
        stream_of(corpus(), n_batch=200)


def test_figures_show_every_strategy():
    simulation = simulate(stream_of(corpus(), n_batch=50), ["plain", "+ig"])
    figures = [
        theta_figure(),
        terms_figure(simulation),
        recall_figure(simulation),
        reading_figure(simulation),
    ]
    assert [len(figure.panels[0].layers) for figure in figures] == [1, 2, 2, 3]
    assert [key.name for key in figures[3].legend] == ["plain", "+ig"]


def file_of(folder):
    rows = [{"id": d.id, "text": d.text, "label": list(d.categories)} for d in corpus()]
    path = folder / "corpus.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_the_command_plays_a_corpus(capsys, tmp_path):
    report, plots = tmp_path / "r.html", tmp_path / "plots"
    options = [
        "--profiles",
        "grain",
        "--batch",
        "50",
        "--strategy",
        "plain,+ig",
        "--report",
        str(report),
        "--plots",
        str(plots),
        "-q",
    ]
    with pytest.raises(SystemExit) as done:
        main(["filter", "simulate", str(file_of(tmp_path)), *options, "--json"])
    assert not done.value.code
    told = json.loads(capsys.readouterr().out)
    assert list(told["strategies"]) == ["plain", "+ig"]
    assert told["topics"] == ["grain"]
    assert "Mean T9P" in report.read_text()
    assert sorted(path.name for path in plots.iterdir()) == [
        "reading.svg",
        "recall.svg",
        "theta.svg",
        "words.svg",
    ]


def test_one_command_runs_the_trec9_collection(capsys, tmp_path):
    """The layout of the public collection; topic statements count as relevant documents."""
    folder = tmp_path / "ohsumed-trec9"
    folder.mkdir()
    documents = list(corpus(120))

    def records(part, first):
        return "".join(
            f".I {n}\n.U\n{n}\n.S\nHeart 8{7 + (first > 0)}03; 1:2\n.T\n{d.text}.\n.W\n{d.text}.\n"
            f".A\nAnna A.\n"
            for n, d in enumerate(part, first)
        )

    judged = [f"OHSU1\t{n}\t{1 if d.categories else 0}\n" for n, d in enumerate(documents)]
    (folder / "ohsumed.87").write_text(records(documents[:60], 0))
    (folder / "ohsumed.88-91").write_text(records(documents[60:], 60))
    (folder / "qrels.ohsu.batch.87").write_text("".join(judged[:60]))
    (folder / "qrels.ohsu.88-91").write_text("".join(judged[60:]))
    statement = (
        "<top>\n<num> Number: OHSU1\n<title> wheat harvest\n<desc> Description:\ncorn and "
        "barley\n</top>\n\n"
    )
    (folder / "query.ohsu.1-63").write_text(statement)
    with pytest.raises(SystemExit) as done:
        main(
            [
                "filter",
                "simulate",
                "ohsumed-trec9",
                "--data-dir",
                str(tmp_path),
                "--strategy",
                "+rel+ig",
                "--json",
                "-q",
            ]
        )
    assert not done.value.code
    told = json.loads(capsys.readouterr().out)
    assert (told["n_batch"], told["n_stream"], told["topics"]) == (60, 60, ["OHSU1"])
    assert told["strategies"]["+rel+ig"]["measures"]["relevant_retrieved"] > 0


def test_a_sample_of_the_trec9_collection_says_what_is_missing(capsys, tmp_path):
    folder = tmp_path / "ohsumed-trec9"
    folder.mkdir()
    (folder / "ohsumed.87.sample").write_text(
        ".I 1\n.U\n1\n.S\nHeart 8703; 1:2\n.T\nwheat.\n.W\nwheat.\n.A\nAnna A.\n"
    )
    (folder / "qrels.ohsu.88-91").write_text("OHSU1\t9\t1\n")
    (folder / "query.ohsu.1-63").write_text(
        "<top>\n<num> Number: OHSU1\n<title> wheat\n<desc> Description:\ncorn\n</top>\n\n"
    )
    with pytest.raises(SystemExit) as done:
        main(["filter", "simulate", "ohsumed-trec9", "--data-dir", str(tmp_path), "-q"])
    assert done.value.code == 1
    told = capsys.readouterr().err
    assert "t9.filtering.tar.gz" in told
    assert told.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--strategy", "+luck"], 2),
        (["--kappa", "0.7"], 2),
        (["--order", "x"], 2),
        (["--profiles", "x"], 1),
    ],
)
def test_bad_use_is_told_from_bad_data(capsys, tmp_path, options, code):
    with pytest.raises(SystemExit) as done:
        main(["filter", "simulate", str(file_of(tmp_path)), "-q", *options])
    assert done.value.code == code
    assert capsys.readouterr().err.count("\n") == 1


def test_the_pipe_answers_saves_and_resumes(capsys, monkeypatch, tmp_path):
    import io
    import sys

    profiles = tmp_path / "p.yaml"
    profiles.write_text("profiles: [{name: grain, query: wheat corn harvest}]")
    documents = corpus().documents
    lines = [json.dumps({"id": d.id, "text": d.text}) + "\n" for d in documents]

    def run(given, *options):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("".join(given).encode())))
        with pytest.raises(SystemExit) as done:
            main(["filter", "run", str(profiles), "-q", "--stream", *options])
        assert not done.value.code
        return capsys.readouterr().out.splitlines()

    first = run(lines[:90])
    rest = run(lines, "--from-start")
    monkeypatch.setattr("bayesift.cli.filter.signal.signal", lambda *_: None)
    whole = run(lines, "--state", str(tmp_path / "other"))
    assert {json.loads(a)["id"] for a in first + rest} == {json.loads(a)["id"] for a in whole}
    assert whole


@pytest.mark.corpus("reuters21578.tar.gz")
@pytest.mark.slow
def test_queries_find_more_of_rare_topics_than_nothing_and_chance(corpus_named):
    whole = corpus_named("reuters")
    part = whole.select([i for i, d in enumerate(whole) if d.split in ("train", "test")])
    simulation = simulate(
        stream_of(part, n_batch=2_025, relevant=(10, 150), relevant_in_batch=2),
        ["plain", "+ig", "+rnd"],
    )
    t9p = {name: measures(simulation, name).t9p for name in simulation.runs}
    assert t9p["+ig"] >= t9p["plain"] + 3
    assert t9p["plain"] >= t9p["+rnd"] + 3
    assert breakdown(simulation.runs["+ig"]).queried_share > 0.2
