"""A PostgreSQL server of our own, and the address of a fresh store of each kind."""

import getpass
import os
import pwd
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import uuid
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest


def free_port():
    """A port that nobody listens at.

    Not of those that the system gives to connections, which might take it.
    """
    while True:
        port = random.SystemRandom().randrange(10_000, 30_000)
        with socket.socket() as probe, suppress(OSError):
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(("127.0.0.1", port))
            return port


def _binaries():
    """The folder of the server's programs; None if it is not installed."""
    found = shutil.which("initdb")
    places = [Path(found).resolve().parent] if found else []
    places += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next(
        (
            place
            for place in places
            if (place / "initdb").exists() and (place / "postgres").exists()
        ),
        None,
    )


def _as_user():
    """PostgreSQL refuses to run as root: then it runs as the user its package made."""
    if os.geteuid() != 0:
        return {}, getpass.getuser()
    owner = pwd.getpwnam("postgres")
    return {"user": owner.pw_uid, "group": owner.pw_gid, "extra_groups": []}, "postgres"


@contextmanager
def postgres_server():
    """A running server; gives the address of its databases."""
    binaries = _binaries()
    if binaries is None:
        pytest.skip("PostgreSQL is not installed (Debian: apt-get install postgresql)")
    try:
        options, owner = _as_user()
    except KeyError:
        pytest.skip("PostgreSQL does not run as root, and there is no user postgres")
    folder = Path(tempfile.mkdtemp(prefix="bayesift-postgres-"))
    shutil.chown(folder, owner)
    quiet = {
        "stdout": subprocess.DEVNULL,
        "stderr": subprocess.DEVNULL,
        "cwd": folder,
        **options,
    }
    data = folder / "data"
    initdb = [
        binaries / "initdb",
        "-D",
        data,
        "-U",
        "bayesift",
        "-A",
        "trust",
        "-E",
        "UTF8",
        "--locale=C",
        "--no-sync",
    ]
    subprocess.run(initdb, check=True, **quiet)
    port = free_port()
    arguments = [
        "-D",
        data,
        "-p",
        str(port),
        "-h",
        "127.0.0.1",
        "-k",
        folder,
        "-c",
        "full_page_writes=off",
    ]
    server = subprocess.Popen([binaries / "postgres", *arguments], **quiet)
    try:
        address = f"postgresql://bayesift@127.0.0.1:{port}"
        ready = [binaries / "pg_isready", "-q", "-h", "127.0.0.1", "-p", str(port), "-t", "30"]
        for _ in range(1_200):
            if subprocess.run(ready, check=False).returncode == 0:
                break
            subprocess.run(["sleep", "0.1"], check=True)
        yield address
    finally:
        server.send_signal(signal.SIGQUIT)  # at once: its data are thrown away
        server.wait(120)
        shutil.rmtree(folder, ignore_errors=True)


def new_database(address):
    """The address of a new database of a server."""
    import psycopg

    name = f"test_{uuid.uuid4().hex}"
    with psycopg.connect(f"{address}/postgres", autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
    return f"{address}/{name}"
