import pytest

from tests.servers import new_database, postgres_server
from tests.service.worlds import Clients, running


@pytest.fixture(scope="session")
def postgres():
    with postgres_server() as address:
        yield address


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request):
    """None for SQLite, the address of a new database for PostgreSQL."""
    return None if request.param == "sqlite" else new_database(request.getfixturevalue("postgres"))


@pytest.fixture
def service(tmp_path, database):
    with running(tmp_path / "service", database, requests_per_second=1e6, burst=10**6) as running_service:
        yield running_service


@pytest.fixture
def clients(service):
    return Clients(service)
