"""A review while it is screened: order, undo, skip, search, words, double screening, priors."""

from dataclasses import replace

import numpy as np
import pytest

from bayesift.errors import DataError
from bayesift.references import Decision, Reference, ReferenceList
from bayesift.screening import (
    FindsForecast,
    PrismaFlow,
    Project,
    ProjectSettings,
    RankedRecords,
    Review,
    ReviewLog,
    ReviewQueue,
    methods_paragraph,
    review,
)
from bayesift.screening.review_log import FULL_TEXT, prior_values
from bayesift.text import WordVectors
from tests.screening.test_queue import TOPICS


@pytest.fixture(scope="module")
def references():
    rng = np.random.default_rng(0)
    words = {name: text.split() for name, text in TOPICS.items()}
    common = ["study", "results", "methods", "effect", "analysis", "data", "group", "level"]
    names = rng.choice(list(TOPICS), size=80, p=[0.2, 0.5, 0.3])
    return ReferenceList(
        tuple(
            Reference(
                title=f"{name} {number} {' '.join(rng.choice(words[name], 4))}",
                abstract=" ".join([*rng.choice(words[name], 6), *rng.choice(common, 9)]),
                labels=(str(name),),
                file="pool.ris",
            )
            for number, name in enumerate(names)
        )
    )


@pytest.fixture
def project(tmp_path, references):
    settings = ProjectSettings(query="randomised placebo trial", reasons=("animals",))
    with Project.create(tmp_path / "review", references, settings=settings) as made:
        yield made


def is_trial(record):
    return record.reference.labels == ("trial",)


def screen(work, n):
    finds = []
    for _ in range(n):
        record = work.next()
        finds.append(is_trial(record))
        work.decide(record.id, "included" if is_trial(record) else "excluded", seconds=2.0)
    return finds


def test_the_query_ranks_before_the_first_decision(project, references):
    n = sum(reference.labels == ("trial",) for reference in references)
    assert sum(screen(Review(project, "ann"), n)) > 0.8 * n


def test_keywords_and_word_vectors_are_parts_of_their_own(
    project, references, tmp_path, monkeypatch
):
    monkeypatch.setattr(WordVectors, "installed", lambda: None)
    vectors = WordVectors.of(["placebo", "mice"], [[1.0, 0.0], [0.0, 1.0]])
    parts = [
        part.name
        for part in Review(project, "ann", word_vectors=vectors).ranked.queue.model.parts
    ]
    assert parts == ["words", "stems", "directions", "titles", "dense"]
    described = ReferenceList(
        tuple(replace(r, keywords=("Humans", r.labels[0])) for r in references)
    )
    with Project.create(tmp_path / "keywords", described) as made:
        parts = [part.name for part in Review(made, "ann").ranked.queue.model.parts]
    assert parts == ["words", "stems", "directions", "titles", "keywords"]


def test_installed_word_vectors_rank_by_default(project, monkeypatch):
    vectors = WordVectors.of(["placebo", "mice"], [[1.0, 0.0], [0.0, 1.0]])
    monkeypatch.setattr(WordVectors, "installed", lambda: vectors)
    assert Review(project, "ann").ranked.queue.model.parts[-1].name == "dense"


def test_records_excluded_by_their_full_texts_count_less(project):
    project.append("settings", by="ann", full_texts=True)
    work = Review(project, "ann")
    screen(work, 12)
    record = next(name for name in project.decided() if project.verdict(name) == "included")
    full = work.ranked.queue.scores.copy()
    project.append("decide", by="ann", record=record, verdict="excluded", stage=FULL_TEXT)
    work.ranked.learn(record)
    work.ranked.queue.refit()
    row = work.ranked.row_of(record)
    assert work.ranked.queue.labels[row] == 1
    assert work.ranked.queue.grades[row] < 1
    assert work.ranked.queue.scores[row] < full[row]
    np.testing.assert_allclose(
        Review(project, "ann").ranked.queue.scores, work.ranked.queue.scores, atol=0.01
    )


def test_a_review_goes_on_where_it_stopped(project):
    work = Review(project, "ann")
    screen(work, 12)
    expected = work.progress()
    project.close()
    with Project(project.folder, writing=True) as again:
        other = Review(again, "ann")
        assert other.progress().n_decided == expected.n_decided == 12
        np.testing.assert_allclose(
            other.ranked.queue.scores, work.ranked.queue.scores, atol=0.05
        )
        assert other.undo().id == list(project.decisions)[-1]


def test_undo_skip_note_and_search(project):
    work = Review(project, "ann")
    first = work.next()
    before = work.ranked.queue.scores.copy()
    work.decide(first.id, "maybe")
    assert work.next().id != first.id
    assert work.undo().id == first.id
    np.testing.assert_allclose(work.ranked.queue.scores, before, atol=1e-9)
    assert work.next().id == first.id
    work.skip(first.id)
    assert work.next().id != first.id
    work.note(first.id, "later")
    assert [note.text for note in project.notes_on(first.id)] == ["later"]
    found = work.search("TRIAL placebo")
    assert found
    assert all("placebo" in record.reference.text for record in found)
    assert work.search("") == []
    with pytest.raises(DataError, match="no decision"):
        work.undo()
    with pytest.raises(DataError, match="no record"):
        work.decide("nobody", "included")


def test_all_records_are_shown_once_even_skipped_ones(project):
    work = Review(project, "ann")
    work.skip(work.next().id)
    seen = []
    while (record := work.next()) is not None:
        seen.append(record.id)
        work.decide(record.id, "excluded")
    assert sorted(seen, key=int) == list(project.records)
    assert work.progress().stopping_line() == "all records are decided"


def test_progress_is_silent_before_five_finds(project):
    work = Review(project, "ann")
    screen(work, 5)
    assert "too early" in work.progress().stopping_line()
    screen(work, 45)
    progress = work.progress()
    assert not progress.estimate.caveat
    assert "95% recall with probability" in progress.stopping_line()
    finds = [verdict != "excluded" for verdict in map(project.verdict, project.decided())]
    alone = FindsForecast(80).estimate(finds)
    assert (progress.estimate.low, progress.estimate.high, progress.estimate.more_reading) == (
        alone.low,
        alone.high,
        alone.more_reading,
    )


def test_decisions_out_of_the_order_of_the_ranking_are_a_start(project):
    known = [record.id for record in project.records.values() if is_trial(record)][:12]
    project.append_all(
        "decide", [{"by": "ann", "record": record, "verdict": "included"} for record in known]
    )
    work = Review(project, "ann")
    estimate = work.progress().estimate
    assert (estimate.n_found, estimate.n_unseen) == (12, 68)
    assert (
        work.progress().stopping_line()
        == "cannot tell yet what is left: too early, 1 of 5 relevant records found"
    )
    finds = screen(work, 15)
    estimate, alone = (
        work.progress().estimate,
        FindsForecast(68).estimate(finds, found_before=12),
    )
    assert (estimate.median, estimate.n_found, estimate.n_unseen) == (
        alone.median,
        12 + sum(finds),
        53,
    )


def test_probabilities_follow_the_decisions(project):
    work = Review(project, "ann")
    screen(work, 40)
    ranks = work.ranked.ranks()
    relevant = [
        chance for name, (_, chance) in ranks.items() if is_trial(project.records[name])
    ]
    others = [
        chance for name, (_, chance) in ranks.items() if not is_trial(project.records[name])
    ]
    assert np.mean(relevant) > 0.5 > 0.2 > np.mean(others)
    assert sorted(rank for rank, _ in ranks.values()) == list(range(1, 81))


def test_words_that_speak_leave_out_small_ones(project):
    work = Review(project, "ann")
    screen(work, 10)
    words = work.informative_words(work.next().id, 5)
    assert 0 < len(words) <= 5
    assert not {"and", "the"} & set(words)


def test_double_screening_shows_every_record_to_two(tmp_path, references):
    few = ReferenceList(references.references[:6])
    with Project.create(
        tmp_path / "review", few, settings=ProjectSettings(reviewers_per_record=2)
    ) as project:
        for name in ("ann", "ben", "cy"):
            work = Review(project, name)
            while (record := work.next()) is not None:
                work.decide(record.id, "included" if name == "ann" else "excluded")
        assert [len(held) for held in project.decisions.values()] == [2] * 6
        assert {project.verdict(name) for name in project.records} == {"maybe"}


def test_a_record_is_split_and_both_are_shown(tmp_path):
    same = Reference(
        title="Corn prices in the state of Iowa",
        abstract="Corn was dear in Iowa that year.",
        file="a",
    )
    with Project.create(tmp_path / "review", ReferenceList((same, same))) as project:
        work = Review(project, "ann")
        assert len(work.ranked.ids) == 1
        work.split("1")
        assert len(work.ranked.ids) == 2


def test_pools_without_any_text_are_refused(tmp_path):
    with (
        Project.create(
            tmp_path / "review", ReferenceList((Reference(doi="10.1/x"),))
        ) as project,
        pytest.raises(DataError, match="no record has a title"),
    ):
        Review(project, "ann")


def test_vectors_of_large_pools_are_kept(project, monkeypatch):
    monkeypatch.setattr(review, "_MIN_RECORDS_TO_SAVE", 10)
    first = Review(project, "ann")
    assert project.snapshot_folder.exists()
    second = Review(project, "ann")
    assert (second.ranked.queue.scores == first.ranked.queue.scores).all()


def test_labels_of_an_older_review_rank_the_new_one(tmp_path, references):
    verdicts = {True: "included", False: "excluded"}
    old = [
        Reference(
            title=r.title,
            abstract=r.abstract,
            decisions=(Decision(verdicts[r.labels == ("trial",)]),),
        )
        for r in references[:40]
    ]
    with Project.create(
        tmp_path / "review", ReferenceList(references.references[40:])
    ) as project:
        n = sum(is_trial(record) for record in project.records.values())
        project.append("prior", by="ann", records=prior_values(old))
    with Project(tmp_path / "review", writing=True) as project:
        assert len(project.prior) == len(old)
        finds = screen(Review(project, "ann"), n)
    assert sum(finds) >= 0.8 * n


def play(X, labels, outside):
    queue = ReviewQueue(X)
    queue.set_outside_scores(outside)
    places = []
    for place in range(len(labels)):
        (name,) = queue.next_documents()
        places += [place] if labels[int(name)] else []
        queue.judge(name, bool(labels[int(name)]))
    return np.mean(places), queue.outside_reliability


def test_outside_scores_help_when_they_are_right_and_do_not_hurt_when_they_are_not(references):
    rng = np.random.default_rng(0)
    labels = np.array([reference.labels == ("trial",) for reference in references])
    X = ReviewQueue.of_texts([reference.abstract for reference in references]).model.rows(
        slice(None)
    )
    alone, _ = play(X, labels, None)
    good, trusted = play(X, labels, labels + 0.5 * rng.standard_normal(len(labels)))
    bad = [play(X, labels, rng.standard_normal(len(labels))) for _ in range(6)]
    bad += [play(X, labels, rng.integers(0, 2, len(labels))) for _ in range(6)]
    assert good < alone
    assert trusted > 1.0
    assert np.mean([place for place, _ in bad]) < 1.1 * alone
    assert np.mean([abs(reliability) for _, reliability in bad]) < 0.4


def test_a_word_moves_a_document_by_the_spread_of_scores_and_judgements_overrule_it(references):
    texts = [reference.text for reference in references]
    queue = ReviewQueue.of_texts(texts)
    before = queue.scores
    queue.set_words({"mice": 1.0})
    queue.refit()
    moved = (queue.scores - before)[[("mice" in text) for text in texts]]
    assert 0.1 < moved.mean() < 0.5
    for row, reference in enumerate(references):
        queue.judge(str(row), reference.labels == ("trial",))
    queue.refit()
    scores = queue.scores
    mice = np.array(["mice" in text for text in texts])
    trial = np.array([reference.labels == ("trial",) for reference in references])
    assert scores[mice & ~trial].mean() < scores[trial].mean() - 0.5


def test_the_flow_of_a_review(project, references):
    work = Review(project, "ann")
    for verdict, reasons in (
        ("included", ()),
        ("excluded", ("animals",)),
        ("excluded", ()),
        ("maybe", ()),
    ):
        work.decide(work.next().id, verdict, reasons=reasons)
    flow = PrismaFlow.of(project)
    assert flow.identified == {"pool.ris": len(references)}
    counts = flow.screening
    assert flow.n_records == counts.n_records == counts.n_screened + counts.open
    assert (flow.included, counts.maybe, counts.excluded) == (1, 1, {"animals": 1, "": 1})
    drawn = flow.chart().to_svg()
    assert "animals (n = 1)" in drawn
    assert "Studies included in review (n = 1)" in drawn


def textless_log():
    """Two of five records have no text; one of the others is joined from two sources."""
    found = [
        Reference(title="Wheat harvest", file="a.ris", line=1),
        Reference(authors=("Ash, A.",), doi="10.1000/x", file="a.ris", line=9),
        Reference(title="Gold mines", file="a.ris", line=20),
        Reference(title="Corn harvest", file="in/b.xlsx", line=4),
        Reference(year=2019, file="in/b.xlsx", line=7),
    ]
    log = ReviewLog(found, [1, 2, 3, 1, 4], ProjectSettings(query="harvest"))
    return log, RankedRecords(log)


def test_records_without_text_are_listed_apart_and_counted():
    log, ranked = textless_log()
    ranks = ranked.ranks()
    assert [ranks[record][0] for record in ("1", "3", "2", "4")] == [1, 2, 3, 4]
    assert [ranks[record][1] for record in ("2", "4")] == [0.0, 0.0]
    shown = []
    while (record := ranked.next("ann")) is not None:
        shown.append(record.id)
        place = ranked.place(record.id, "ann")
        assert (place["rank"] is None) == (record.id in "24")
        given = {"by": "ann", "record": record.id, "verdict": "excluded", **place}
        log.accept(log.prepare("decide", [given]))
        ranked.learn(record.id)
        ranked.queue.refit()
    assert shown == ["1", "3", "2", "4"]
    flow = PrismaFlow.of(log)
    assert flow.without_text == 2
    drawn = flow.chart().to_svg().replace("</text>", " ")
    assert "without title and abstract, listed" in drawn
    assert "apart (n = 2)" in drawn
    said = methods_paragraph(log, "", ranked.describe())
    assert "2 records without title, abstract and keywords could not be ranked" in said
    assert "95% recall is reached with a probability of 95%" in said


def test_open_records_without_text_are_not_among_those_of_the_estimate():
    found = [Reference(title=f"Wheat {n}") for n in range(40)] + [Reference()] * 10
    log = ReviewLog(found, list(range(1, 51)))
    ranked = RankedRecords(log)
    assert ranked.progress().estimate.n_unseen == 40


def test_every_record_tells_the_rows_it_is_from():
    log, ranked = textless_log()
    assert log.records["1"].origins == ("a.ris, line 1", "b.xlsx, row 4")
    (first, *_) = ranked.references()
    assert dict(first.annotations)["sources"] == "a.ris, line 1; b.xlsx, row 4"
    assert Reference(line=3).origin == "file, line 3"
