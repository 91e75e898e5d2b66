import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import text

from bayesift.errors import DataError
from bayesift.service.db.database import open_store
from bayesift.service.db.migrations import MIGRATIONS
from bayesift.service.db.tables import (
    DocumentRow,
    EventRow,
    FilterRow,
    JudgementRow,
    SessionRow,
    UserRow,
    WordRow,
)

NOON = "2026-03-01T12:00:00.000000+00:00"


@pytest.fixture
def store(tmp_path, database):
    with open_store(tmp_path / "store", database) as opened:
        yield opened


def event(seq, kind="judged", profile=None, document=None, review=None, **payload):
    return EventRow(seq, seq, NOON, "ada", kind, profile, review, document, payload)


def document(name, seq, at=NOON):
    return DocumentRow(name, seq, at, f"title of {name}", f"text of {name}", purged=False)


def judgement(user, relevant, seq, *, document="7"):
    return JudgementRow("grain", document, user, relevant, NOON, seq)


def test_every_migration_is_done_once(tmp_path, database):
    for _ in range(2):
        with open_store(tmp_path, database) as store, store.reading() as read:
            done = (
                read._connection.execute(text("SELECT name FROM migrations ORDER BY name"))
                .scalars()
                .all()
            )
            assert done == sorted(MIGRATIONS)


def test_a_store_keeps_its_name(tmp_path, database):
    names = set()
    for _ in range(2):
        with open_store(tmp_path, database) as store:
            names.add(store.name)
    assert len(names) == 1


def test_a_store_of_a_newer_version_is_refused(tmp_path, database):
    with open_store(tmp_path, database) as store, store.writing() as tx:
        tx._connection.execute(text("INSERT INTO migrations VALUES ('9999 of tomorrow', 'x')"))
    with pytest.raises(DataError, match="newer bayesift"):
        open_store(tmp_path, database)


def test_a_second_process_is_refused(tmp_path, database):
    with open_store(tmp_path / "one", database):
        with pytest.raises(DataError, match="another process serves"):
            open_store(tmp_path / "one", database)
        if database is not None:
            with pytest.raises(DataError, match="another process serves this database"):
                open_store(tmp_path / "two", database)
    open_store(tmp_path / "one", database).close()


def test_commits_wait_for_the_disk(store):
    with store.writing() as tx:
        if store.dialect == "sqlite":
            assert tx._connection.execute(text("PRAGMA journal_mode")).scalar() == "wal"
            assert tx._connection.execute(text("PRAGMA synchronous")).scalar() == 2
        else:
            assert tx._connection.execute(text("SHOW synchronous_commit")).scalar() == "on"
            assert tx._connection.execute(text("SHOW fsync")).scalar() == "on"


@pytest.mark.parametrize("url", ["mysql://x/y", "nonsense", "postgresql://127.0.0.1:1/none"])
def test_addresses_that_cannot_be_opened_are_refused(tmp_path, url):
    with pytest.raises(DataError):
        open_store(tmp_path, url)
    open_store(tmp_path).close()


def test_events_come_back_in_order(store):
    with store.writing() as tx:
        tx.append(
            [event(1, "seen", document="7"), event(2, "retrieved", "grain", "7", why="queried")]
        )
        tx.append(
            [
                event(3, "judged", "grain", "7", relevant=True),
                event(4, "judged", "crude", "7", relevant=False),
            ]
        )
    with store.reading() as read:
        assert [row.seq for row in read.events()] == [1, 2, 3, 4]
        assert [row.seq for row in read.events(newest_first=True, limit=2)] == [4, 3]
        assert list(read.events(1, filter="grain", kinds=["judged"])) == [
            event(3, "judged", "grain", "7", relevant=True)
        ]
        assert [row.seq for row in read.events(filter="grain", document="7")] == [2, 3]
        assert [
            row.seq
            for row in read.events_about(
                ["7", "8"], after=0, filter_name="grain", kind="retrieved"
            )
        ] == [2]
        assert read.last_seq() == 4


def test_a_number_is_given_once(store):
    with store.writing() as tx:
        tx.append([event(1)])
    with pytest.raises(Exception, match=r"(?i)unique"), store.writing() as tx:
        tx.append([event(1)])


def test_what_fails_leaves_nothing(store):
    with pytest.raises(Exception, match=r"(?i)unique"), store.writing() as tx:
        tx.append([event(1), event(2), event(1)])
    with store.reading() as read:
        assert read.last_seq() == 0
        assert read.n_documents() == 0


def test_readers_see_what_is_committed_only(store):
    with store.writing() as tx:
        tx.append([event(1)])
        with store.reading() as read:
            assert read.last_seq() == 0
        assert tx.last_seq() == 1
    with store.reading() as read:
        assert read.last_seq() == 1


def test_documents_and_their_arrival(store):
    many = [f"d{number}" for number in range(1200)]
    with store.writing() as tx:
        tx.append(
            [event(seq, "seen", document=name, n=seq) for seq, name in enumerate(many, 1)]
        )
        tx.add([document(name, seq) for seq, name in enumerate(many, 1)])
    with store.reading() as read:
        assert read.known([*many, "other"]) == set(many)
        assert read.documents(["d3", "other"]) == {"d3": document("d3", 4)}
        assert read.arrivals(["d3", "d1100"]) == {"d3": {"n": 4}, "d1100": {"n": 1101}}
        assert [row.id for row in read.newest_documents(2)] == ["d1199", "d1198"]
        assert read.n_documents() == 1200


def test_purging_takes_texts_and_nothing_else(store):
    with store.writing() as tx:
        tx.append([event(seq, "seen", document=str(seq), words=["corn"]) for seq in (1, 2, 3)])
        tx.add(
            [document("1", 1, "2026-01-01"), document("2", 2, "2026-02-01"), document("3", 3)]
        )
        assert tx.purge(before="2026-02-01") == 1
        assert tx.purge(up_to=2) == 1
    with store.reading() as read:
        rows = read.documents(["1", "2", "3"])
        assert [(row.purged, row.text) for row in rows.values()] == [
            (True, ""),
            (True, ""),
            (False, "text of 3"),
        ]
        assert [row.id for row in read.newest_documents(5)] == ["3"]
        assert read.arrivals(["1"]) == {"1": {"words": ["corn"]}}


def test_profiles_are_replaced_and_forgotten(store):
    first = FilterRow("grain", 1, NOON, "ada", {"query": "wheat"}, False, 0, 0)
    paused = FilterRow("grain", 1, NOON, "ada", {"query": "wheat"}, True, 10, 10)
    with store.writing() as tx:
        tx.put(first)
        tx.put(paused)
        tx.put(judgement("ada", True, 2))
        tx.put(WordRow("grain", "tonne", 1.0, "ada", NOON))
    with store.reading() as read:
        assert read.filters() == [paused]
        assert read.words("grain")[0].word == "tonne"
    with store.writing() as tx:
        tx.drop_filter("grain")
    with store.reading() as read:
        assert (read.filter("grain"), read.judgements("grain"), read.words("grain")) == (
            None,
            [],
            [],
        )


def test_conflicts_are_found(store):
    with store.writing() as tx:
        for row in (
            judgement("ada", True, 1),
            judgement("bob", True, 2),
            judgement("bob", False, 3),
            judgement("ada", True, 4, document="8"),
        ):
            tx.put(row)
    with store.reading() as read:
        assert read.conflicts() == {"grain": ["7"]}
        assert read.conflicts("grain") == {"grain": ["7"]}
        assert read.conflicts("crude") == {}
        assert [row.seq for row in read.judgements("grain")] == [4, 3, 1]
        assert [row.user for row in read.judgements("grain", ["7"])] == ["bob", "ada"]
    with store.writing() as tx:
        tx.drop(JudgementRow, filter="grain", document="7", user="bob")
        assert tx.conflicts() == {}


def test_people_and_their_sessions(store):
    with store.writing() as tx:
        tx.add([UserRow("ada", "admin", "hash of a token", NOON)])
        tx.add_session(SessionRow("old", "ada", "csrf", "2026-01-01"), now="2025-01-01")
        tx.add_session(SessionRow("new", "ada", "csrf", "2027-01-01"), now="2026-06-01")
        tx.put(WordRow("grain", "tonne", 1.0, "ada", NOON))
        tx.drop(WordRow, filter="grain", word="tonne")
    with store.reading() as read:
        assert [session.key for session in read.sessions()] == ["new"]
        assert [user.name for user in read.users()] == ["ada"]
    with store.writing() as tx:
        tx.drop(SessionRow, key="new")
        tx.drop_user("ada")
        assert (tx.users(), tx.sessions()) == ([], [])


texts = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=50
)
values = st.one_of(
    texts,
    st.booleans(),
    st.integers(-(2**53), 2**53),
    st.floats(allow_nan=False, allow_infinity=False),
)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    payload=st.dictionaries(texts, st.one_of(values, st.lists(values, max_size=5)), max_size=5),
    title=texts,
)
def test_whatever_is_written_comes_back(store, payload, title):
    with store.writing() as tx:
        seq = tx.last_seq() + 1
        tx.append([EventRow(seq, seq, NOON, "ada", "seen", None, None, title or "x", payload)])
        tx.add([DocumentRow(f"{seq}", seq, NOON, title, title, purged=False)])
    with store.reading() as read:
        assert next(iter(read.events(seq - 1))).payload == payload
        assert read.documents([f"{seq}"])[f"{seq}"].title == title
