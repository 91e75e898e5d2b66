"""Jobs whose cluster loses a worker while they run."""

import threading
import time
from dataclasses import dataclass
from pathlib import Path

from tests.spark.cluster import PATIENCE

_DONE_BEFORE = 4  # partitions


@dataclass(frozen=True)
class Gate:
    """Lets the batches of the first partitions pass, and all others once a file exists."""

    file: str

    def __call__(self, batches):
        from pyspark import TaskContext

        while TaskContext.get().partitionId() >= _DONE_BEFORE and not Path(self.file).exists():
            time.sleep(0.05)
        yield from batches


def killed_in_the_middle(spark, cluster, df, job, file):
    """The result of a job on a DataFrame.

    A worker is killed once some tasks are done; others wait for it.
    """
    answer = []
    gated = df.mapInArrow(Gate(str(file)), df.schema)
    thread = threading.Thread(target=lambda: answer.append(job(gated)))
    thread.start()
    tracker = spark.sparkContext.statusTracker()
    end = time.monotonic() + PATIENCE
    while not _in_the_middle(tracker):
        assert thread.is_alive(), "the job failed before a worker was killed"
        assert time.monotonic() < end
        time.sleep(0.05)
    replace(cluster)
    Path(file).touch()
    thread.join(PATIENCE)
    assert answer, "the job did not end, or failed"
    return answer[0]


def replace(cluster):
    """Kill a worker; another comes in its place a little later."""
    name = next(iter(cluster.workers))
    cluster.kill_worker(name)
    cluster.start_worker(f"{name}'")


def _in_the_middle(tracker):
    """Whether a stage has done all tasks but those that wait, or some of them, and another runs."""
    infos = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
    return any(
        info and 0 < info.numCompletedTasks <= _DONE_BEFORE and info.numTasks > 2 * _DONE_BEFORE
        for info in infos
    )
