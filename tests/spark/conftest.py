"""Spark is started once a run: a master and two workers on loopback, and one session with them."""

import os
import shutil
import sys

import pytest

from tests.spark.cluster import LOOPBACK, QUICK, Cluster
from tests.spark.newsroom import make_documents


@pytest.fixture(scope="session")
def cluster(tmp_path_factory):
    pytest.importorskip("pyspark", reason="the extra `spark` is not installed")
    if shutil.which("java") is None:
        pytest.skip("no Java on this machine")
    running = Cluster(tmp_path_factory.mktemp("cluster"))
    try:
        for name in ("one", "two"):
            running.start_worker(name)
        for name in ("one", "two"):
            running.wait_for_worker(name)
        yield running
    finally:
        running.stop()


@pytest.fixture(scope="session")
def spark(cluster):
    from bayesift.spark import spark_session

    settings = {
        "spark.driver.host": LOOPBACK,
        "spark.driver.bindAddress": LOOPBACK,
        "spark.driver.extraJavaOptions": QUICK,
        "spark.executor.extraJavaOptions": QUICK,
        "spark.executor.memory": "700m",
        "spark.executorEnv.PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        "spark.executorEnv.OPENBLAS_NUM_THREADS": "1",
        "spark.sql.shuffle.partitions": "2",
        "spark.ui.enabled": "false",
        "spark.network.timeout": "60s",
        "spark.executor.heartbeatInterval": "2s",
    }
    session = spark_session(cluster.master, settings=settings)
    yield session
    session.stop()


@pytest.fixture(scope="session")
def documents():
    return make_documents(600)


@pytest.fixture(scope="session")
def frame(spark, documents):
    """The documents in five partitions, cached so that their order does not change."""
    df = spark.createDataFrame(documents, "id string, text string, topics array<string>").repartition(5).cache()
    df.count()
    return df
