"""The fitted models of a service: the folder of their files, and those in memory.

    models/DIGEST/     a model file as a folder, so that its arrays are mapped

The database says which versions there are and which one answers; a folder that it does not name is
left over from an upload that was interrupted, and is deleted at the start.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import secrets
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from bayesift.errors import DataError
from bayesift.model_file import HEADER, ModelContent, load_model, save_model
from bayesift.service.db.tables import ModelRow
from bayesift.service.errors import NotFoundError, UnavailableError
from bayesift.service.models import operations

if TYPE_CHECKING:
    from bayesift.service.models.serving import ServedModel
    from bayesift.service.runtime import Service

FOLDER = "models"
_THREADS = 2
_LOG = logging.getLogger("bayesift.service")


class ModelShelf:
    """The models that answer.

    Parameters
    ----------
    folder : of the service
    rows : all versions that the database has
    """

    def __init__(self, folder: Path, rows: Iterable[ModelRow]) -> None:
        self.folder = folder / FOLDER
        self.changing = asyncio.Lock()  # held from loading a version to its answering
        self.pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="bayesift-models")
        self._served: dict[str, ServedModel] = {}
        self._failed: dict[str, str] = {}
        listed = list(rows)
        self._drop_unnamed({row.content for row in listed})
        for row in listed:
            if row.current:
                self._open_at_start(row)

    def __iter__(self) -> Iterator[tuple[str, ServedModel]]:
        return iter(sorted(self._served.items()))

    def get(self, name: str) -> ServedModel:
        """Return the version of a model that answers."""
        served = self._served.get(name)
        if served is None:
            if name in self._failed:
                raise UnavailableError(
                    f"the model {name!r} cannot be loaded: {self._failed[name]}"
                )
            raise NotFoundError(f"no model {name!r}")
        return served

    def keep(self, content: ModelContent) -> str:
        """Write a model to a folder, unless it is there, and return the name of that folder."""
        self.folder.mkdir(mode=0o700, exist_ok=True)
        written = self.folder / f"new-{secrets.token_hex(8)}"
        save_model(content, written)
        digest = hashlib.sha256((written / HEADER).read_bytes()).hexdigest()
        place = self.folder / digest
        if place.exists():
            shutil.rmtree(written)
        else:
            written.replace(place)
        return digest

    def open(self, content: str) -> ServedModel:
        """Load what `keep` wrote, and try it."""
        # Models bring scikit-learn, which a service without models does not wait for.
        from bayesift.service.models.serving import ServedModel, open_model

        return ServedModel(open_model(self.folder / content, mapped=True), self.pool)

    def put(self, row: ModelRow, served: ServedModel) -> None:
        """Let a version answer from now on."""
        served.version = row.version
        self._served[row.name] = served
        self._failed.pop(row.name, None)

    def drop(self, name: str) -> None:
        """Let a model answer no more."""
        self._served.pop(name, None)
        self._failed.pop(name, None)

    def close(self) -> None:
        """End the threads."""
        self.pool.shutdown(wait=True, cancel_futures=True)

    def _open_at_start(self, row: ModelRow) -> None:
        """Load a model; one that cannot be loaded must not keep the service from starting."""
        try:
            self.put(row, self.open(row.content))
        except DataError as error:
            _LOG.warning("the model %r cannot be loaded: %s", row.name, error)
            self._failed[row.name] = error.message

    def _drop_unnamed(self, named: set[str]) -> None:
        if not self.folder.is_dir():
            return
        for place in self.folder.iterdir():
            if place.name not in named:
                shutil.rmtree(place, ignore_errors=True)


def add_file(service: Service, name: str, path: Path) -> None:
    """Add the model of a file that the service was started with, unless it is known."""
    shelf = service.models
    content = shelf.keep(load_model(path))
    with service.store.reading() as read:
        known = [row for row in read.models() if row.name == name]
    if content in [row.content for row in known]:
        return
    served = shelf.open(content)
    add = partial(operations.add_version, name=name, content=content)
    shelf.put(service.writer.submit("", add).result(), served)


async def add_version(service: Service, user: str, name: str, content: bytes) -> None:
    """Add a version of a model, which answers from now on."""
    shelf = service.models
    loop = asyncio.get_running_loop()
    async with shelf.changing:
        kept = await loop.run_in_executor(shelf.pool, _kept, shelf, content)
        served = await loop.run_in_executor(shelf.pool, shelf.open, kept)
        add = partial(operations.add_version, name=name, content=kept)
        row = await asyncio.wrap_future(service.writer.submit(user, add))
        shelf.put(row, served)


async def choose(service: Service, user: str, name: str, version: int) -> None:
    """Let a version answer from now on, after it is loaded and tried."""
    shelf = service.models
    loop = asyncio.get_running_loop()
    async with shelf.changing:
        with service.store.reading() as read:
            rows = operations.versions(read, name)
        wanted = [row for row in rows if row.version == version]
        if not wanted:
            raise NotFoundError(f"the model {name!r} has no version {version}")
        served = await loop.run_in_executor(shelf.pool, shelf.open, wanted[0].content)
        change = partial(operations.choose_version, name=name, version=version)
        row = await asyncio.wrap_future(service.writer.submit(user, change))
        shelf.put(row, served)


def _kept(shelf: ModelShelf, content: bytes) -> str:
    with tempfile.TemporaryDirectory(prefix="bayesift-") as place:
        file = Path(place) / "model.zip"
        file.write_bytes(content)
        return shelf.keep(load_model(file))
