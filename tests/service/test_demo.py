from bayesift.service.demo import fill
from tests.service.worlds import Clients, running


def test_the_demo_is_there_to_click_in(tmp_path):
    with running(tmp_path) as service:
        fill(service)
        events = service.live.seq
        fill(service)
        assert service.live.seq == events
        client = Clients(service).reader
        profiles = client.get("/api/filters").json()
        assert {profile["name"] for profile in profiles} == {"email", "logging"}
        for profile in profiles:
            counters = profile["counters"]
            assert profile["waiting"] >= 10
            assert min(counters["judged_relevant"], counters["judged_irrelevant"]) >= 1
