"""Score a million short documents with Spark on two cores and with two plain processes.

    python -m benchmarks.spark race [DOCUMENTS]  Spark's local[2] and two plain processes in turns;
                                                 the same rows
    python -m benchmarks.spark growth            how times grow with rows, categories, vocabulary
                                                 and executors
    python -m benchmarks.spark blocks [MODELS]   row blocks of the RCV1 sample against the local
                                                 solver
    python -m benchmarks.spark sizing            write the table of sizes of
                                                 docs/guides/scale-out.md

Each but the last writes out/benchmarks/spark-*.json.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from bayesift.classifier import TextClassifier
from bayesift.corpora import load_pydocs, load_sms_spam
from bayesift.errors import CorpusNotFoundError
from benchmarks import spark_blocks, spark_sizing

RESULTS = Path(__file__).parent.parent / "out" / "benchmarks"
N_DOCUMENTS = 1_000_000
TOP = 3
_ROW_GROUP = 50_000
_BATCH = 10_000  # what Spark sends at a time


def _say(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


def _write(name: str, measured: dict[str, Any]) -> None:
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / f"spark-{name}.json").write_text(json.dumps(measured, indent=2) + "\n")
    print(json.dumps(measured, indent=2))


def _short_texts() -> tuple[list[str], list[str]]:
    try:
        corpus = load_sms_spam()
    except CorpusNotFoundError:
        corpus = load_pydocs()
    return [text[:200] for text in corpus.texts], corpus.labels


def make_documents(folder: Path, texts: list[str], n: int, n_files: int = 2) -> Path:
    """So many rows of id and text, drawn from texts, as Parquet files."""
    source = pa.array(texts)
    rng = np.random.default_rng(0)
    path = folder / f"documents-{n}"
    path.mkdir(exist_ok=True)
    for part in range(n_files):
        size = n // n_files
        table = pa.table(
            {
                "id": pa.array(np.arange(size) + part * size),
                "text": source.take(pa.array(rng.integers(len(texts), size=size))),
            }
        )
        parquet.write_table(table, path / f"{part}.parquet", row_group_size=_ROW_GROUP)
    return path


def _score_file(model: str, file: str, output: str) -> None:
    """Score a file in one plain process, with the function of batches that Spark runs."""
    from bayesift.spark import Scorer

    classifier = TextClassifier.load(model)
    source = parquet.ParquetFile(file)
    writer: parquet.ParquetWriter | None = None
    for scored in Scorer(lambda: classifier, "text", ("id",), top=TOP)(
        source.iter_batches(_BATCH)
    ):
        writer = writer or parquet.ParquetWriter(output, scored.schema, compression="snappy")
        writer.write_batch(scored)
    if writer is not None:
        writer.close()


def _plain(model: Path, documents: Path, output: Path) -> None:
    """Two processes, a file each, that are started for the job."""
    output.mkdir(parents=True)
    context = multiprocessing.get_context("spawn")
    files = sorted(documents.glob("*.parquet"))
    workers = [
        context.Process(target=_score_file, args=(str(model), str(f), str(output / f.name)))
        for f in files
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0


def _warm(pool: Any, model: Path, documents: Path, output: Path) -> None:
    """Score with two running processes, as Spark's are after its first job."""
    output.mkdir(parents=True)
    files = sorted(documents.glob("*.parquet"))
    pool.starmap(
        _score_file, [(str(model), str(f), str(output / f.name)) for f in files], chunksize=1
    )


def _session(master: str, **more: str) -> Any:
    from bayesift.spark import spark_session

    settings = {"spark.sql.shuffle.partitions": "2", "spark.driver.memory": "2g", **more}
    return spark_session(master, settings=settings)


@contextmanager
def running(master: str) -> Iterator[Any]:
    """Yield a Spark session that is stopped at the end."""
    spark = _session(master)
    try:
        yield spark
    finally:
        spark.stop()


def _on_spark(spark: Any, classifier: TextClassifier, documents: Path, output: Path) -> None:
    from bayesift.spark import score

    score(spark.read.parquet(str(documents)), classifier, "text", "id", top=TOP).write.parquet(
        str(output)
    )


def _by_files(spark: Any, classifier: TextClassifier, documents: Path, output: Path) -> None:
    from bayesift.spark import score_files

    score_files(spark, documents, output, classifier, "text", "id", top=TOP)


def _seconds(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def race(n_documents: int = N_DOCUMENTS, repeats: int = 3) -> dict[str, Any]:
    """Wall seconds of both in turns, after a warm-up of each; and of the first job, cold."""
    folder = Path(tempfile.mkdtemp(prefix="bayesift-spark-"))
    texts, labels = _short_texts()
    classifier = TextClassifier().fit(texts, labels)
    classifier.save(folder / "model.zip")
    documents = make_documents(folder, texts, n_documents)
    pool = multiprocessing.get_context("spawn").Pool(2)
    spark = _session("local[2]")
    seconds: dict[str, list[float]] = {
        "spark": [],
        "spark, files": [],
        "plain": [],
        "warm plain": [],
    }
    for turn in range(-1, repeats):
        _say(f"turn {turn + 1}")
        jobs = {
            "spark": lambda: _on_spark(spark, classifier, documents, folder / f"spark{turn}"),  # noqa: B023
            "spark, files": lambda: _by_files(
                spark,
                classifier,
                documents,
                folder / f"files{turn}",  # noqa: B023
            ),
            "plain": lambda: _plain(folder / "model.zip", documents, folder / f"plain{turn}"),  # noqa: B023
            "warm plain": lambda: _warm(
                pool,
                folder / "model.zip",
                documents,
                folder / f"warm{turn}",  # noqa: B023
            ),
        }
        for name, job in jobs.items():
            seconds[name].append(_seconds(job))
    for name in ("spark0", "files0"):
        _check(folder / name, folder / "plain0", n_documents)
    spark.stop()
    pool.terminate()
    medians = {name: statistics.median(times[1:]) for name, times in seconds.items()}
    return {
        "documents": n_documents,
        "first": {name: times[0] for name, times in seconds.items()},
        "median": medians,
        "documents_per_core_second": n_documents / medians["spark"] / 2,
        "spark_over_plain": medians["plain"] / medians["spark"],
        "spark_over_warm_plain": medians["warm plain"] / medians["spark"],
        "files_over_warm_plain": medians["warm plain"] / medians["spark, files"],
    }


def _check(ours: Path, theirs: Path, n_documents: int) -> None:
    """Check that both wrote the same rows, in any order."""
    tables = [parquet.read_table(path).sort_by("id") for path in (ours, theirs)]
    assert all(table.num_rows == n_documents for table in tables)
    for name in ("id", "categories", "probabilities"):
        assert (
            tables[0][name].combine_chunks().to_pylist()[::97]
            == tables[1][name].combine_chunks().to_pylist()[::97]
        )


def growth() -> dict[str, Any]:
    """Return the seconds of scoring and counting as each of four sizes grows alone."""
    folder = Path(tempfile.mkdtemp(prefix="bayesift-spark-"))
    texts, labels = _short_texts()
    measured: dict[str, Any] = {"rows": [], "executors": [], "categories": [], "vocabulary": []}
    for cores in (1, 2):
        spark = _session(f"local[{cores}]")
        classifier = TextClassifier().fit(texts, labels)
        warm = make_documents(folder, texts, 20_000)
        _on_spark(spark, classifier, warm, folder / f"warm{cores}")
        for n in (100_000, 200_000, 400_000) if cores == 2 else (200_000,):
            documents = make_documents(folder, texts, n, n_files=4)
            seconds = _seconds(
                lambda: _on_spark(spark, classifier, documents, folder / f"out{cores}-{n}")  # noqa: B023
            )
            entry = {"cores": cores, "documents": n, "seconds": seconds}
            measured["rows" if cores == 2 else "executors"].append(entry)
            _say(str(entry))
        if cores == 2:
            measured["executors"].append(
                next(e for e in measured["rows"] if e["documents"] == 200_000)
            )
            _grow_models(spark, folder, measured)
        spark.stop()
    measured["peak_driver_mib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return measured


def _grow_models(spark: Any, folder: Path, measured: dict[str, Any]) -> None:
    """Scoring and counting with more categories, and with a larger vocabulary."""
    from bayesift.spark import fit_naive_bayes, score

    rng = np.random.default_rng(0)
    n = 50_000
    for n_categories, n_words in (
        (4, 20_000),
        (16, 20_000),
        (64, 20_000),
        (16, 5_000),
        (16, 80_000),
    ):
        words = np.array([f"word{i}" for i in range(n_words)])
        draws = (rng.pareto(1.0, size=(n, 20)) * 20).astype(int) % n_words
        table = pa.table(
            {
                "text": pa.array([" ".join(row) for row in words[draws]]),
                "label": pa.array([f"c{i}" for i in rng.integers(n_categories, size=n)]),
            }
        )
        path = folder / f"labelled-{n_categories}-{n_words}"
        path.mkdir()
        for part in range(4):
            parquet.write_table(table.slice(part * n // 4, n // 4), path / f"{part}.parquet")
        df = spark.read.parquet(str(path))
        found: list[TextClassifier] = []
        counting = _seconds(lambda: found.append(fit_naive_bayes(df)))  # noqa: B023
        model = folder / f"model-{n_categories}-{n_words}.zip"
        found[0].save(model)
        output = str(folder / f"scored-{n_categories}-{n_words}")
        scoring = _seconds(lambda: score(df, found[0]).write.parquet(output))  # noqa: B023
        terms = len(found[0].terms())
        pairs = found[0].model_.counted_.counts.nnz
        entry = {
            "categories": n_categories, "terms": terms, "documents": n, "fit_seconds": counting,
            "score_seconds": scoring, "model_bytes": model.stat().st_size, "pairs": pairs,
        }  # fmt: skip
        _say(str(entry))
        if n_words == 20_000:
            measured["categories"].append(entry)
        if n_categories == 16:
            measured["vocabulary"].append(entry)


def main(arguments: list[str]) -> None:
    """Run what is named."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    match arguments:
        case ["race", *rest]:
            _write("race", race(*map(int, rest)))
        case ["growth"]:
            _write("growth", growth())
        case ["blocks", *rest]:
            with running("local[2]") as spark:
                _write("blocks", spark_blocks.blocks(spark, int(rest[0]) if rest else None))
        case ["sizing"]:
            spark_sizing.write()
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
