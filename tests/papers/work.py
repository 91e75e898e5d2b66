"""Tasks for tests: each leaves a mark when it begins and when it ends."""

import hashlib
import time
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_info


def mark(*, number, folder, seconds=0.0):
    with (Path(folder) / f"{number}.begun").open("a") as stream:
        stream.write("x")
    time.sleep(seconds)
    (Path(folder) / f"{number}.done").touch()
    return {"value": [number / 3, None, None], "seconds": {"fit": seconds}}


def multiply(*, seed):
    generator = np.random.default_rng(seed)
    A, B = generator.normal(size=(2, 700, 700))
    blas = {
        library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"
    }
    return {"threads": sorted(blas), "digest": hashlib.sha256((A @ B).tobytes()).hexdigest()}


def fail(*, number):
    raise ValueError(f"no number {number}")
