"""Decisions are written before they are learned, and deleted reviews leave no vectors in memory."""

import gc
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor

import pytest

from bayesift.screening import Pool, RelevanceModel, ReviewQueue
from bayesift.service.db.database import Store
from bayesift.service.db.tables import Writing
from bayesift.service.errors import NotFoundError
from bayesift.service.reviews import live
from tests.service.test_reviewing import judge
from tests.service.test_reviews import begin, decide, ris, same_log, screen
from tests.service.worlds import Clients, documents, is_about, running


@pytest.fixture
def review(clients, monkeypatch):
    monkeypatch.setattr(live, "PATIENCE_SECONDS", 600)
    settings = {"query": "wheat corn harvest"}
    return begin(clients.ada, ("a.ris", ris(0, 40)), settings=settings)["id"]


def test_the_ranking_is_refitted_after_the_commit(clients, review, monkeypatch):
    """Everything that fits or scores is noted with the thread and whether a transaction is open."""
    transaction = threading.Event()
    writer = []
    computed = []
    writing = Store.writing

    def watched_writing(store):
        manager = writing(store)
        enter, leave = manager.__enter__, manager.__exit__

        class Watched:
            def __enter__(self):
                writer.append(threading.current_thread())
                transaction.set()
                return enter()

            def __exit__(self, *error):
                transaction.clear()
                return leave(*error)

        return Watched()

    def noted(name):
        original = getattr(RelevanceModel, name)

        def method(model, *args):
            computed.append((name, threading.current_thread(), transaction.is_set()))
            return original(model, *args)

        monkeypatch.setattr(RelevanceModel, name, method)

    screen(clients.ada, review, 3)
    clients.ada.get(f"/api/reviews/{review}/next")
    monkeypatch.setattr(Store, "writing", watched_writing)
    for name in ("fit", "scores"):
        noted(name)
    record = clients.ada.get(f"/api/reviews/{review}/next").json()["record"]["id"]
    assert not computed
    assert decide(clients.ada, review, record, "included").status_code == 200
    clients.ada.get(f"/api/reviews/{review}/next")
    assert [name for name, _, _ in computed] == ["fit", "scores"]
    assert writer
    for _, thread, in_transaction in computed:
        assert thread not in writer
        assert not in_transaction


def test_a_decision_is_answered_while_the_ranking_learns(clients, review, monkeypatch):
    screen(clients.ada, review, 2)
    record = clients.ada.get(f"/api/reviews/{review}/next").json()["record"]["id"]
    begun, may_go_on = threading.Event(), threading.Event()
    fit = RelevanceModel.fit

    def slow(model, *args):
        begun.set()
        assert may_go_on.wait(30)
        return fit(model, *args)

    monkeypatch.setattr(RelevanceModel, "fit", slow)
    try:
        assert decide(clients.ada, review, record, "included").json()["mine"] == "included"
        assert begun.wait(30)
        # Neither the log of this review nor another review waits for the fit.
        audit = clients.reader.get(f"/api/reviews/{review}/audit.csv")
        assert audit.text.count(",decide,") == 3
        assert clients.ada.post("/api/filters", json={"name": "grain"}).status_code == 201
        with ThreadPoolExecutor(1) as pool:
            following = pool.submit(clients.ada.get, f"/api/reviews/{review}/next")
            assert not following.done()
            may_go_on.set()
            assert following.result(30).json()["record"]["id"] != record
    finally:
        may_go_on.set()
    assert same_log(clients.service, review)


def test_a_record_is_offered_while_the_ranking_learns(clients, review, monkeypatch):
    """It is the next of the ranking before, never one that is decided."""
    monkeypatch.setattr(live, "PATIENCE_SECONDS", 0.01)
    screen(clients.ada, review, 2)
    with clients.service.live.reviews.ranking(review, "ada"):
        pass
    may_go_on = threading.Event()
    fit = RelevanceModel.fit

    def slow(model, *args):
        assert may_go_on.wait(60)
        return fit(model, *args)

    monkeypatch.setattr(RelevanceModel, "fit", slow)
    offered = []
    try:
        for _ in range(3):
            record = clients.ada.get(f"/api/reviews/{review}/next").json()["record"]["id"]
            assert record not in offered
            offered.append(record)
            assert decide(clients.ada, review, record, "excluded").status_code == 200
    finally:
        may_go_on.set()
    assert same_log(clients.service, review)


def test_the_ranking_is_that_of_a_queue_that_learns_at_once(clients, review):
    """Each decision keeps the rank and score that a refit after every decision gives."""
    screen(clients.ada, review, 12)
    with clients.service.live.reviews.ranking(review, "ada") as (opened, ranked):
        log = opened.log
        queue = ReviewQueue.of_pool(opened._vectors[1], ids=ranked.queue.ids)
    queue.judge("query", True)
    queue.refit()
    for record in log.decided():
        (decision,) = log.decisions_on(record).values()
        assert decision.score == round(float(queue.scores[ranked.row_of(record)]), 6)
        queue.judge(record, decision.verdict == "included")
        queue.refit()
    assert (queue.scores == ranked.queue.scores).all()


def test_a_failed_transaction_leaves_no_trace_in_a_review(clients, review, monkeypatch):
    screen(clients.ada, review, 2)
    before = list(clients.service.live.reviews.opened[review].log.events)
    with monkeypatch.context() as broken:
        broken.setattr(Writing, "append", lambda tx, rows: 1 / 0)
        assert decide(clients.ada, review, "1", "included").status_code == 503
    assert clients.ada.get(f"/api/reviews/{review}").status_code == 200
    assert clients.service.live.reviews.opened[review].log.events == before
    assert same_log(clients.service, review)


def pools_alive(pools):
    gc.collect()
    return [pool for pool in pools if pool() is not None]


@pytest.fixture
def pools(monkeypatch):
    """Weak references to the vectors of all pools that are made."""
    made = []
    of_texts = Pool.of_texts.__func__

    def noted(cls, *args, **options):
        pool = of_texts(cls, *args, **options)
        made.append(weakref.ref(pool))
        return pool

    monkeypatch.setattr(Pool, "of_texts", classmethod(noted))
    return made


def test_a_deleted_review_leaves_no_vectors_in_memory(pools, clients, review):
    screen(clients.ada, review, 3)
    clients.ada.get(f"/api/reviews/{review}/gauge")
    assert pools_alive(pools)
    assert clients.ada.delete(f"/api/reviews/{review}").status_code == 204
    assert clients.ada.get(f"/api/reviews/{review}/next").status_code == 404
    reviews = clients.service.live.reviews
    assert not pools_alive(pools)
    assert review not in reviews.opened
    assert not reviews._locks
    assert clients.ada.post(f"/api/reviews/{review}/restore").status_code == 200
    assert same_log(clients.service, review)


def test_reviews_that_do_not_exist_take_no_memory(clients):
    reviews = clients.service.live.reviews
    for number in range(20):
        assert clients.ada.get(f"/api/reviews/{number:016x}").status_code == 404
        with pytest.raises(NotFoundError), reviews.reading(f"{number:016x}"):
            pass
    assert not reviews._locks


@pytest.mark.parametrize("for_good", [False, True], ids=["deleted", "deleted for good"])
def test_a_deleted_filter_leaves_nothing_in_the_caches(tmp_path, for_good):
    with running(tmp_path, requests_per_second=1e6, burst=10**6) as service:
        clients = Clients(service)
        clients.ada.post("/api/filters", json={"name": "grain", "query": "wheat corn harvest"})
        clients.ada.post("/api/documents/batch", json={"documents": documents(0, 60)})
        for item in clients.ada.get("/api/filters/grain/queue?limit=100").json():
            document = item["document"]["id"]
            judge(clients.ada, document, is_about("grain", document))
        for kind in ("stopping", "topics"):
            assert clients.ada.get(f"/api/filters/grain/{kind}").status_code == 200
        assert service.insight.topics
        clients.ada.delete("/api/filters/grain")
        if for_good:
            assert clients.admin.delete("/api/deleted-filters/grain").status_code == 204
        assert not service.insight.topics
        assert not service.insight.pools
