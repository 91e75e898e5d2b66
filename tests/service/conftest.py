import pytest

from tests.servers import new_database
from tests.service.worlds import Clients, running


@pytest.fixture
def service(tmp_path, database):
    with running(
        tmp_path / "service", database, requests_per_second=1e6, burst=10**6
    ) as running_service:
        yield running_service


@pytest.fixture
def clients(service):
    return Clients(service)


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def shared_clients(request, tmp_path_factory):
    """Clients of one service for all checks of a module that change nothing another one sees."""
    database = (
        None if request.param == "sqlite" else new_database(request.getfixturevalue("postgres"))
    )
    options = {"requests_per_second": 1e6, "burst": 10**6, "logins_per_minute": 10**6}
    with running(tmp_path_factory.mktemp("shared"), database, **options) as running_service:
        yield Clients(running_service)
