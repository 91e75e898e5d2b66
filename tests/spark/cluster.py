"""A real standalone cluster on loopback: a master and workers, as processes that can be killed."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

LOOPBACK = "127.0.0.1"
PATIENCE = 600  # seconds that a condition may take on a machine with much else to do
QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xss4m"


class Cluster:
    def __init__(self, folder):
        import pyspark

        self.folder = Path(folder)
        self.command = Path(pyspark.__file__).parent / "bin" / "spark-class"
        self.workers = {}
        self._master = self._start(
            "master", "master.Master", "--host", LOOPBACK, "--port", "0", "--webui-port", "0"
        )
        # The master takes a port that is free, and says which.
        self.master = self._wait_for("master", r"Starting Spark master at (spark://\S+)")[1]
        self._wait_for("master", "I have been elected leader")

    def start_worker(self, name):
        options = ("--host", LOOPBACK, "--cores", "1", "--memory", "1g", "--webui-port", "0")
        self.workers[name] = self._start(
            name, "worker.Worker", *options, "--work-dir", self.folder / name, self.master
        )

    def wait_for_worker(self, name):
        self._wait_for(name, "Successfully registered with master")

    def kill_worker(self, name):
        """Kill the worker, its executors and their Python processes, as if unplugged."""
        process = self.workers.pop(name)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def stop(self):
        for process in [*self.workers.values(), self._master]:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def _start(self, name, kind, *options):
        environment = {
            **os.environ,
            "SPARK_LOCAL_IP": LOOPBACK,
            "SPARK_DAEMON_JAVA_OPTS": QUICK,
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_NO_DAEMONIZE": "1",
            "PYSPARK_PYTHON": sys.executable,
        }
        with (self.folder / f"{name}.log").open("w") as log:
            return subprocess.Popen(
                [self.command, f"org.apache.spark.deploy.{kind}", *map(str, options)],
                stdout=log,
                stderr=log,
                env=environment,
                start_new_session=True,
            )

    def _wait_for(self, name, sign, seconds=PATIENCE):
        """Wait until a log holds this pattern; the process may be slow, but must not have ended."""
        process = self.workers.get(name) or self._master
        end = time.monotonic() + seconds
        while True:
            ended, late = process.poll() is not None, time.monotonic() > end
            said = (self.folder / f"{name}.log").read_text()
            if found := re.search(sign, said):
                return found
            if ended or late:
                raise RuntimeError(
                    f"{name} {'ended' if ended else f'did not start in {seconds} s'}:\n"
                    f"{said[-2000:]}"
                )
            time.sleep(0.1)
