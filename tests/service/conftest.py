import pytest

from tests.service.worlds import Clients, running


@pytest.fixture
def service(tmp_path, database):
    with running(tmp_path / "service", database, requests_per_second=1e6, burst=10**6) as running_service:
        yield running_service


@pytest.fixture
def clients(service):
    return Clients(service)
