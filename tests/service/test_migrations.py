"""Databases of every version open, and a new one has the same tables as one that was upgraded."""

import json
import shutil
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import Column, String, Table, create_engine, inspect, text

from bayesift.errors import DataError
from bayesift.service.access.operations import add_user
from bayesift.service.db.database import open_store
from bayesift.service.db.integrity import row_digest
from bayesift.service.db.migrations import MIGRATIONS
from bayesift.service.db.tables import EVENTS, METADATA
from tests.service.worlds import is_whole, running

OLD = Path(__file__).parents[1] / "data" / "service-0.1"


@pytest.fixture
def later_metadata():
    """Today's metadata with a table and a column that a later version adds."""
    table, column = (
        Table("later", METADATA, Column("id", String, primary_key=True)),
        Column("later", String),
    )
    EVENTS.append_column(column)
    yield
    METADATA.remove(table)
    EVENTS._columns.remove(column)


def schema(connection):
    """{table: its columns, keys and indexes}."""
    found, described = inspect(connection), {}
    for table in found.get_table_names():
        columns = {
            column["name"]: (column["type"]._type_affinity.__name__, column["nullable"])
            for column in found.get_columns(table)
        }
        key = found.get_pk_constraint(table)["constrained_columns"]
        unique = sorted(one["column_names"] for one in found.get_unique_constraints(table))
        indexes = {
            one["name"]: one["column_names"]
            for one in found.get_indexes(table)
            if "duplicates_constraint" not in one
        }
        described[table] = (columns, key, unique, indexes)
    return described


def schema_of_folder(folder, database=None):
    with open_store(folder, database) as store, store.reading() as read:
        return schema(read._connection)


def test_the_first_migration_is_frozen(tmp_path, later_metadata):
    engine = create_engine(f"sqlite:///{tmp_path / 'first.sqlite'}")
    with engine.begin() as connection:
        next(iter(MIGRATIONS.values()))(connection)
        made = schema(connection)
    engine.dispose()
    assert "later" not in made
    assert "later" not in made["events"][0]


def test_migrations_make_the_tables_of_today(tmp_path, database):
    made = schema_of_folder(tmp_path, database)
    del made["migrations"]
    engine = create_engine(f"sqlite:///{tmp_path / 'today.sqlite'}")
    with engine.begin() as connection:
        METADATA.create_all(connection)
        today = schema(connection)
    engine.dispose()
    assert made == today


def test_a_database_of_0_1_has_the_tables_of_a_new_one(tmp_path):
    shutil.copytree(OLD, tmp_path / "old")
    assert schema_of_folder(tmp_path / "old") == schema_of_folder(tmp_path / "new")


def made_0003(connection):
    """A database as version 0003 left it: review ids lie in the column of profiles."""
    for name, step in list(MIGRATIONS.items())[:3]:
        step(connection)
        connection.execute(
            text("INSERT INTO migrations (name, at) VALUES (:name, :at)"),
            {"name": name, "at": NOON},
        )
    last = ""
    for seq, kind, profile, document in EVENTS_0003:
        values = (seq, seq, NOON, "ada", kind, profile, document, "{}")
        last = row_digest(values, last)
        connection.execute(
            text(
                'INSERT INTO events (seq, batch, at, "user", kind, profile, document, payload, '
                "digest) VALUES (:seq, :seq, :at, 'ada', :kind, :profile, :document, '{}', :digest)"
            ),
            {
                "seq": seq,
                "at": NOON,
                "kind": kind,
                "profile": profile,
                "document": document,
                "digest": last,
            },
        )
    for table, values in ROWS_0003.items():
        marks = ", ".join(f":v{number}" for number in range(len(values) + 1))
        named = {
            f"v{number}": value for number, value in enumerate((*values, row_digest(values)))
        }
        connection.execute(text(f"INSERT INTO {table} VALUES ({marks})"), named)


NOON = "2026-01-01T12:00:00.000000+00:00"
REVIEW = "0123456789abcdef"
EVENTS_0003 = (
    (1, "profile created", "grain", None),
    (2, "counted", None, None),
    (3, "review begun", REVIEW, None),
    (4, "judged", "grain", "d1"),
    (5, "review changed", REVIEW, "7"),
    (6, "review put away", REVIEW, None),
    (7, "profile put away", "grain", None),
)
ROWS_0003 = {
    "profiles": ("grain", 1, NOON, "ada", "{}", False, 3, 0, NOON),
    "judgements": ("grain", "d1", "ada", True, NOON, 4),
    "words": ("grain", "corn", 0.5, "ada", NOON),
}


@pytest.fixture
def old_database(tmp_path, database):
    """The folder and the URL of a database of version 0003."""
    url = f"sqlite:///{tmp_path / 'bayesift.sqlite'}"
    if database is not None:
        url = database.replace("postgresql://", "postgresql+psycopg://")
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.execute(
            text("CREATE TABLE migrations (name VARCHAR PRIMARY KEY, at VARCHAR)")
        )
        made_0003(connection)
    yield engine
    engine.dispose()


def test_reviews_get_a_column_of_their_own(tmp_path, database, old_database):
    with open_store(tmp_path, database) as store, store.reading() as read:
        read.verify()
        rows = [
            (row.seq, row.kind, row.filter, row.review, row.document) for row in read.events()
        ]
        assert rows == [
            (1, "filter created", "grain", None, None),
            (2, "counted", None, None, None),
            (3, "review begun", None, REVIEW, None),
            (4, "judged", "grain", None, "d1"),
            (5, "review changed", None, REVIEW, "7"),
            (6, "review put away", None, REVIEW, None),
            (7, "filter put away", "grain", None, None),
        ]
        assert [row.seq for row in read.events(review=REVIEW)] == [3, 5, 6]
        assert read.filter("grain", deleted=True).seen == 3
        assert [row.relevant for row in read.judgements("grain")] == [True]
        assert [row.word for row in read.words("grain")] == ["corn"]


def test_a_damaged_log_is_not_given_new_digests(tmp_path, database, old_database):
    with old_database.begin() as connection:
        connection.execute(text("UPDATE events SET document = 'd2' WHERE seq = 4"))
    with pytest.raises(DataError, match="damaged"):
        open_store(tmp_path, database)
    with old_database.begin() as connection:
        assert "profiles" in inspect(connection).get_table_names()


@pytest.mark.parametrize(
    "snapshots", [True, False], ids=["with snapshots", "from the log alone"]
)
def test_a_service_of_0_1_goes_on_where_it_stopped(tmp_path, snapshots):
    folder = tmp_path / "old"
    shutil.copytree(OLD, folder)
    if not snapshots:
        shutil.rmtree(folder / "snapshots")
    expected = json.loads((OLD / "expected.json").read_text())
    with running(folder) as service:
        assert service.first_token is None
        # Snapshots only save time: those of 0.1 are not read any more, and the log is replayed.
        assert service.live.saved_seq == 0
        assert is_whole(service)
        assert service.live.seq == expected["events"]
        token = service.writer.submit(
            "", lambda work: add_user(work.tx, "new", "reviewer")
        ).result()
        service.people.reload()
        client = TestClient(service.app, headers={"Authorization": f"Bearer {token}"})
        for name, past in expected["profiles"].items():
            shown = client.get(f"/api/filters/{name}").json()
            assert shown.pop("role") == "reviewer"
            assert shown == past["profile"]
            assert client.get(f"/api/filters/{name}/judgements").json() == past["judgements"]
            assert client.get(f"/api/filters/{name}/words").json() == past["words"]
            for document, probability in past["probabilities"].items():
                shown = client.get(f"/api/filters/{name}/documents/{document}").json()
                assert shown["probability"] == probability, document
        judged = client.post(
            "/api/filters/grain/judgements", json={"document": "d6", "relevant": True}
        )
        assert judged.status_code == 200
        assert is_whole(service)
