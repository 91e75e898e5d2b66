"""Numbers for Prometheus: of the whole process, without names of profiles, documents or people."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Metrics:
    """Counters and gauges of one service.

    Examples
    --------
    >>> metrics = Metrics()
    >>> metrics.documents.inc(3)
    >>> "bayesift_documents_total 3.0" in metrics.page().decode()
    True
    """

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        registry = self._registry
        self.documents = Counter("bayesift_documents", "Documents that arrived.", registry=registry)
        self.duplicates = Counter("bayesift_duplicates", "Documents that had arrived before.", registry=registry)
        self.retrieved = Counter("bayesift_retrieved", "Documents handed to readers of profiles.", registry=registry)
        self.judgements = Counter("bayesift_judgements", "Judgements learned.", ["relevant"], registry=registry)
        self.undone = Counter("bayesift_judgements_taken_back", "Judgements taken back.", registry=registry)
        self.requests = Counter("bayesift_requests", "Requests answered.", ["method", "status"], registry=registry)
        self.seconds = Histogram(
            "bayesift_request_seconds", "Time to answer.", ["method"], buckets=_SECONDS, registry=registry
        )
        self.events = Gauge("bayesift_events", "Events in the log.", registry=registry)
        self.profiles = Gauge("bayesift_profiles", "Profiles.", registry=registry)
        self.waiting = Gauge("bayesift_waiting", "Turns that wait for the writer.", ["line"], registry=registry)
        self.streams = Gauge("bayesift_open_streams", "Event streams that are open.", registry=registry)

    def page(self) -> bytes:
        """All numbers in the text format of Prometheus."""
        return generate_latest(self._registry)
