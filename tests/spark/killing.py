"""Jobs whose cluster loses a worker while they run."""

import threading
import time


def killed_in_the_middle(spark, cluster, job, seconds=60):
    """The result of a job; a worker is killed once some of its tasks are done and others are not."""
    answer = []
    tracker = spark.sparkContext.statusTracker()
    thread = threading.Thread(target=lambda: answer.append(job()))
    thread.start()
    end = time.monotonic() + seconds
    while not (stages := _in_the_middle(tracker)):
        assert thread.is_alive(), "the job was over before a worker could be killed"
        assert time.monotonic() < end
        time.sleep(0.01)
    replace(cluster)
    thread.join(180)
    assert stages
    assert answer, "the job did not end, or failed"
    return answer[0]


def replace(cluster):
    """Kill a worker; another comes in its place a little later."""
    name = next(iter(cluster.workers))
    cluster.kill_worker(name)
    cluster.start_worker(f"{name}'")


def _in_the_middle(tracker):
    infos = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
    return [info for info in infos if info and 0 < info.numCompletedTasks < info.numTasks - 4]
