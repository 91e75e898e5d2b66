"""A real standalone cluster on loopback: a master and workers, each a process that can be killed."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

LOOPBACK = "127.0.0.1"
QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xss4m"


def free_port():
    with socket.socket() as sock:
        sock.bind((LOOPBACK, 0))
        return sock.getsockname()[1]


class Cluster:
    def __init__(self, folder):
        import pyspark

        self.folder = Path(folder)
        self.command = Path(pyspark.__file__).parent / "bin" / "spark-class"
        self.master = f"spark://{LOOPBACK}:{free_port()}"
        port = self.master.rpartition(":")[2]
        self._start("master", "master.Master", "--host", LOOPBACK, "--port", port, "--webui-port", "0")
        self._wait_for("master", "started at", "I have been elected leader")
        self.workers = {}

    def start_worker(self, name):
        options = ("--host", LOOPBACK, "--cores", "1", "--memory", "1g", "--webui-port", "0")
        self.workers[name] = self._start(name, "worker.Worker", *options, "--work-dir", self.folder / name, self.master)

    def wait_for_worker(self, name):
        self._wait_for(name, "Successfully registered with master")

    def kill_worker(self, name):
        """As if its machine were unplugged: the worker, its executors and their Python processes."""
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
            process = subprocess.Popen(
                [self.command, f"org.apache.spark.deploy.{kind}", *map(str, options)],
                stdout=log,
                stderr=log,
                env=environment,
                start_new_session=True,
            )
        if name == "master":
            self._master = process
        return process

    def _wait_for(self, name, *signs, seconds=120):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            said = (self.folder / f"{name}.log").read_text()
            if any(sign in said for sign in signs):
                return
            time.sleep(0.2)
        raise RuntimeError(f"{name} did not start in {seconds} s:\n{said[-2000:]}")
