"""Copy a service, also while it runs, to one file, and make a service of such a file.

    backup.json        what it is: migrations, the last event and its digest, digests of the rest
    tables/NAME        the rows of a table as Parquet, as they are stored, with their digests
    files/...          models and full texts

All tables are read in one transaction, so that they are those of one moment. Files never change
once they are named by the database; they are copied after it. The same file restores to SQLite and
to PostgreSQL. Snapshots and the mark are left out: the service makes them anew.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq
import sqlalchemy as sa

from bayesift.errors import DataError
from bayesift.files import whole_file
from bayesift.service.db.database import FILE, StoreFailure, connecting
from bayesift.service.db.migrations import DONE, MIGRATIONS, migrate
from bayesift.service.db.tables import EVENTS, METADATA, Reading

FORMAT = "bayesift-backup"
VERSION = 1
HEADER = "backup.json"
KEPT_FOLDERS = ("models", "full-texts")
_ROWS_AT_ONCE = 5_000
_PIECE_BYTES = 1 << 20
_ARROW_TYPES: dict[type, pa.DataType] = {
    int: pa.int64(),
    float: pa.float64(),
    bool: pa.bool_(),
    bytes: pa.large_binary(),
    str: pa.large_string(),
}
# What the readers of archives and tables raise where bytes were changed.
_DAMAGE = (zipfile.BadZipFile, pa.ArrowException, EOFError, NotImplementedError, RuntimeError)
Progress = Callable[[int], None]


@dataclass(frozen=True)
class BackupFacts:
    """What a backup holds.

    Parameters
    ----------
    n_events : the number of the last event
    n_rows, n_files : rows of all tables, and files beside the database
    """

    n_events: int
    n_rows: int
    n_files: int


def back_up(
    folder: Path, url: str | None, target: Path, *, progress: Progress | None = None
) -> BackupFacts:
    """Write a service to one file.

    Parameters
    ----------
    folder : of the service, which may run
    url : of its PostgreSQL database, if it has one
    target : the file, which is replaced when the new one is complete
    progress : is called with the number of rows so far
    """
    if url is None and not (folder / FILE).is_file():
        raise DataError("is not the folder of a service", file=folder)
    try:
        with (
            connecting(folder, url) as connection,
            whole_file(target) as stream,
            zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive,
        ):
            return _write(connection, folder, archive, progress)
    except StoreFailure as error:
        raise DataError(f"the database cannot be read ({error})") from error


def restore(
    source: Path, folder: Path, url: str | None, *, progress: Progress | None = None
) -> BackupFacts:
    """Make a service of a backup, in a folder that does not exist yet or is empty.

    A PostgreSQL database must be empty too. All rows are compared with their digests; if anything
    is wrong, nothing is left behind.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise DataError("holds something already; name a new folder", file=folder)
    try:
        with zipfile.ZipFile(source) as archive:
            header = _checked_header(archive, source)
            folder.parent.mkdir(parents=True, exist_ok=True)
            place = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}."))
            try:
                facts = _restored(archive, header, place, url, progress)
                if folder.exists():
                    folder.rmdir()
                place.replace(folder)
            except BaseException:
                shutil.rmtree(place, ignore_errors=True)
                raise
            return facts
    except _DAMAGE as error:
        raise DataError(f"is damaged, or not a backup ({error})", file=source) from error
    except StoreFailure as error:
        raise DataError(f"the database cannot be written ({error})") from error
    except OSError as error:
        raise DataError(f"cannot be read or written ({error.strerror})", file=source) from error


def _write(
    connection: sa.Connection,
    folder: Path,
    archive: zipfile.ZipFile,
    progress: Progress | None,
) -> BackupFacts:
    """Write the tables, the files, and last what they are."""
    done = list(connection.execute(sa.select(DONE.c.name).order_by(DONE.c.name)).scalars())
    if done != list(MIGRATIONS):
        raise DataError(
            "the database is of another version; start the service once to upgrade it"
        )
    last = connection.execute(
        sa.select(EVENTS.c.seq, EVENTS.c.digest).order_by(EVENTS.c.seq.desc()).limit(1)
    ).first()
    seq, digest = (0, "") if last is None else tuple(last)
    digests = {}
    n_rows = 0
    for table in METADATA.sorted_tables:
        name = f"tables/{table.name}"
        with tempfile.TemporaryFile() as packed:
            n_rows = _write_table(connection, table, packed, n_rows, progress)
            packed.seek(0)
            digests[name] = _add(archive, name, packed)
    files = [file for kept in KEPT_FOLDERS for file in _files_below(folder / kept)]
    for file in files:
        name = f"files/{file.relative_to(folder).as_posix()}"
        with file.open("rb") as stream:
            digests[name] = _add(archive, name, stream)
    header = {
        "format": FORMAT,
        "version": VERSION,
        "migrations": done,
        "last_event": seq,
        "last_digest": digest,
        "n_rows": n_rows,
        "digests": digests,
    }
    archive.writestr(HEADER, json.dumps(header, indent=1))
    return BackupFacts(seq, n_rows, len(files))


def _write_table(
    connection: sa.Connection,
    table: sa.Table,
    stream: IO[bytes],
    n_rows: int,
    progress: Progress | None,
) -> int:
    """Write the rows of a table; return the number of all rows so far."""
    fields = []
    for column in table.c:
        fields.append(
            pa.field(column.name, _ARROW_TYPES[_stored_type(column)], column.nullable)
        )
    schema = pa.schema(fields)
    names = ", ".join(f'"{column.name}"' for column in table.c)
    keys = ", ".join(f'"{column.name}"' for column in table.primary_key)
    # As text, because the rows are wanted as they are stored.
    query = sa.text(f"SELECT {names} FROM {table.name} ORDER BY {keys}")  # noqa: S608 - our own names
    with pq.ParquetWriter(stream, schema, compression="zstd") as writer:
        rows = connection.execution_options(yield_per=_ROWS_AT_ONCE).execute(query)
        for page in rows.partitions():
            columns = []
            for column, values in zip(table.c, zip(*page, strict=True), strict=True):
                kind = _stored_type(column)
                held = [None if value is None else kind(value) for value in values]
                columns.append(pa.array(held, _ARROW_TYPES[kind]))
            writer.write_batch(pa.record_batch(columns, schema=schema))
            n_rows += len(page)
            if progress is not None:
                progress(n_rows)
    return n_rows


def _stored_type(column: sa.Column[Any]) -> type:
    kind = column.type
    if isinstance(kind, sa.TypeDecorator):
        kind = kind.impl_instance
    for known, found in (
        (sa.Boolean, bool),
        (sa.BigInteger, int),
        (sa.Float, float),
        (sa.LargeBinary, bytes),
    ):
        if isinstance(kind, known):
            return found
    return str


def _files_below(folder: Path) -> Iterator[Path]:
    if folder.is_dir():
        yield from sorted(file for file in folder.rglob("*") if file.is_file())


def _add(archive: zipfile.ZipFile, name: str, stream: IO[bytes]) -> str:
    """Copy a stream to the archive; return its digest."""
    digest = hashlib.sha256()
    with archive.open(name, "w", force_zip64=True) as member:
        while piece := stream.read(_PIECE_BYTES):
            digest.update(piece)
            member.write(piece)
    return digest.hexdigest()


def _checked_header(archive: zipfile.ZipFile, source: Path) -> dict[str, Any]:
    try:
        header: dict[str, Any] = json.loads(archive.read(HEADER))
        digests = dict(header["digests"])
        wanted = {HEADER, *digests}
        fits = header["format"] == FORMAT and {*archive.namelist()} == wanted
    except (KeyError, TypeError, ValueError) as error:
        raise DataError("is not a backup of a service", file=source) from error
    if not fits or header["version"] > VERSION:
        raise DataError("is not a backup that this version can read", file=source)
    unknown = sorted(set(header["migrations"]) - MIGRATIONS.keys())
    if unknown:
        raise DataError(f"was written by a newer bayesift ({unknown[0]})", file=source)
    for name, expected in digests.items():
        digest = hashlib.sha256()
        with archive.open(name) as member:
            while piece := member.read(_PIECE_BYTES):
                digest.update(piece)
        if digest.hexdigest() != expected:
            raise DataError(f"is damaged: {name} is not what was written", file=source)
    return header


def _restored(
    archive: zipfile.ZipFile,
    header: dict[str, Any],
    place: Path,
    url: str | None,
    progress: Progress | None,
) -> BackupFacts:
    place.chmod(0o700)
    n_files = 0
    for name in header["digests"]:
        if name.startswith("files/"):
            _extract(archive, name, place)
            n_files += 1
    with connecting(place, url, writing=True) as connection:
        if sa.inspect(connection).get_table_names():
            raise DataError("the database is not empty")
        migrate(connection, header["migrations"])
        n_rows = 0
        for name in header["digests"]:
            if name.startswith("tables/"):
                n_rows = _fill(connection, archive, name, n_rows, progress)
        migrate(connection)
        _check_rows(Reading(connection), header)
    return BackupFacts(header["last_event"], n_rows, n_files)


def _extract(archive: zipfile.ZipFile, name: str, place: Path) -> None:
    """Write a file below one of the folders that a backup has."""
    parts = PurePosixPath(name).parts[1:]
    if not parts or parts[0] not in KEPT_FOLDERS or ".." in parts:
        raise DataError(f"a backup does not hold {name!r:.80}")
    target = place.joinpath(*parts)
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with archive.open(name) as member, whole_file(target) as stream:
        shutil.copyfileobj(member, stream, _PIECE_BYTES)
    target.chmod(0o600)


def _fill(
    connection: sa.Connection,
    archive: zipfile.ZipFile,
    name: str,
    n_rows: int,
    progress: Progress | None,
) -> int:
    """Store the rows of a table; return the number of all rows so far."""
    table = name.removeprefix("tables/")
    with tempfile.TemporaryFile() as packed:
        with archive.open(name) as member:
            shutil.copyfileobj(member, packed, _PIECE_BYTES)
        source = pq.ParquetFile(packed)
        columns = [column.lower() for column in source.schema_arrow.names]
        known = {column["name"] for column in sa.inspect(connection).get_columns(table)}
        if set(columns) != known:
            raise DataError(f"is damaged: the table {table!r:.80} has other columns")
        # The first migrations fill tables, such as the name of the store.
        connection.execute(sa.text(f"DELETE FROM {table}"))  # noqa: S608 - a table of our own
        quoted = ", ".join(f'"{column}"' for column in columns)
        values = ", ".join(f":{column}" for column in columns)
        insertion = sa.text(f"INSERT INTO {table} ({quoted}) VALUES ({values})")  # noqa: S608
        for batch in source.iter_batches(_ROWS_AT_ONCE):
            connection.execute(insertion, batch.to_pylist())
            n_rows += len(batch)
            if progress is not None:
                progress(n_rows)
    return n_rows


def _check_rows(read: Reading, header: dict[str, Any]) -> None:
    """Compare all rows with their digests, and the end of the log with that of the backup."""
    try:
        read.verify()
    except ValueError as error:
        raise DataError(f"is damaged ({error})") from error
    last = header["last_event"]
    is_last = read.last_seq() == last
    if header["migrations"] == list(MIGRATIONS):  # a migration may give events other digests
        is_last = is_last and read.event_digest(last) == header["last_digest"]
    if not is_last:
        raise DataError("is damaged: its last event is another one")
