"""Databases of every version open, and a new one has the same tables as one that was upgraded."""

import json
import shutil
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import Column, String, Table, create_engine, inspect

from bayesift.service.access import add_user
from bayesift.service.db.database import open_store
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


@pytest.mark.parametrize("snapshots", [True, False], ids=["with snapshots", "from the log alone"])
def test_a_service_of_0_1_goes_on_where_it_stopped(tmp_path, snapshots):
    folder = tmp_path / "old"
    shutil.copytree(OLD, folder)
    if not snapshots:
        shutil.rmtree(folder / "snapshots")
    expected = json.loads((OLD / "expected.json").read_text())
    with running(folder) as service:
        assert service.first_token is None
        assert (service.live.saved_seq > 0) is snapshots
        assert is_whole(service)
        assert service.live.seq == expected["events"]
        token = service.writer.submit(
            "", lambda work: add_user(work.tx, "new", "reviewer")
        ).result()
        service.people.reload()
        client = TestClient(service.app, headers={"Authorization": f"Bearer {token}"})
        for name, past in expected["profiles"].items():
            assert client.get(f"/api/profiles/{name}").json() == past["profile"]
            assert client.get(f"/api/profiles/{name}/judgements").json() == past["judgements"]
            assert client.get(f"/api/profiles/{name}/words").json() == past["words"]
            for document, probability in past["probabilities"].items():
                shown = client.get(f"/api/profiles/{name}/documents/{document}").json()
                assert shown["probability"] == probability, document
        judged = client.post(
            "/api/profiles/grain/judgements", json={"document": "d6", "relevant": True}
        )
        assert judged.status_code == 200
        assert is_whole(service)
