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
        # Small data: plans are run as they are, not compiled or planned again on the way.
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.sql.adaptive.enabled": "false",
        # A machine with much else to do is slow, not lost; a killed executor is missed by its
        # closed connection.
        "spark.network.timeout": "600s",
        "spark.executor.heartbeatInterval": "10s",
    }
    session = spark_session(cluster.master, settings=settings)
    yield session
    session.stop()


@pytest.fixture(scope="session")
def documents():
    return make_documents(600)


@pytest.fixture(scope="session")
def frame(spark, documents):
    """The documents in three partitions, cached so that their order does not change."""
    df = (
        spark.createDataFrame(documents, "id string, text string, topics array<string>")
        .repartition(3)
        .cache()
    )
    df.count()
    return df
