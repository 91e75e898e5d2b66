import pytest

from tests.servers import new_database, postgres_server


@pytest.fixture(scope="session")
def postgres():
    with postgres_server() as address:
        yield address


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request):
    """None for SQLite, the address of a new database for PostgreSQL."""
    return None if request.param == "sqlite" else new_database(request.getfixturevalue("postgres"))
