"""The model file: a folder, or one zip, that people can read and that cannot run code.

    model.json            kind, parameters, categories, thresholds, versions; digests of the others
    arrays.safetensors    numbers
    *.txt                 lists of names, one per line

Loading reads bytes, checks them and builds arrays; nothing is imported or executed on the file's
word. Writing is atomic: a file is there whole or not at all, and an interrupted save leaves the old
one.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load as load_arrays
from safetensors.numpy import save as save_arrays

from bayesift.arrays import Array
from bayesift.errors import DataError
from bayesift.files import check_writable, refuse_device, undone_unless_finished, whole_file

FORMAT = "bayesift-model-file"
_OLD_FORMAT = "bayesift-model"  # of development versions before 0.3
FORMAT_VERSION = 1
HEADER = "model.json"
ARRAYS = "arrays.safetensors"
MAX_BYTES = 8 * 1024**3
_FLOATS = {"F64": "<f8", "F32": "<f4", "F16": "<f2"}
_KINDS = {
    **_FLOATS,
    "I64": "<i8",
    "I32": "<i4",
    "I16": "<i2",
    "I8": "i1",
    "U8": "u1",
    "BOOL": "?",
}


@dataclass(frozen=True)
class ModelContent:
    """What a model file holds: what goes into model.json, numbers by name, and lists of names."""

    header: dict[str, Any]
    arrays: dict[str, Array] = field(default_factory=dict)
    lists: dict[str, list[str]] = field(default_factory=dict)


def save_model(content: ModelContent, path: str | Path, *, compressed: bool = True) -> None:
    """Write a model file: one zip if the path ends in .zip, else a folder.

    A zip that is not compressed is written and read as fast as the disk goes.
    """
    path = Path(path)
    check_place(path)
    if path.suffix == ".zip":
        _write_zip(
            _encode(content), path, zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED
        )
    else:
        _write_folder(_encode(content), path)


def check_place(path: Path) -> None:
    """Refuse a path where a model would replace something else, or cannot be written."""
    if path.is_file() and path.suffix != ".zip":
        raise DataError("is a file; name a folder, or a file that ends in .zip", file=path)
    if path.is_dir() and (
        path.suffix == ".zip" or (not (path / HEADER).exists() and any(path.iterdir()))
    ):
        raise DataError("is a folder with something else in it; name another", file=path)
    if path.is_file() and not is_model_file(path):
        raise DataError("is a file with something else in it; name another", file=path)
    check_writable(path / HEADER if path.is_dir() else path)


def is_model_file(path: Path) -> bool:
    """Whether a file or folder looks like a model file."""
    if path.is_dir():
        return (path / HEADER).is_file()
    try:
        with zipfile.ZipFile(path) as archive:
            return HEADER in archive.namelist()
    except (zipfile.BadZipFile, OSError):
        return False


def load_model(path: str | Path, *, mapped: bool = False) -> ModelContent:
    """Read a model file; one that is damaged, newer or something else is refused.

    With `mapped` the arrays of a folder stay in its file; processes that load the same folder share
    their memory.
    """
    path = Path(path)
    read = _reader(path, mapped=mapped)
    header = _read_header(read(HEADER), path)
    contents = {
        name: _checked(read(name), digest, name, path)
        for name, digest in _digests(header, path).items()
    }
    data = contents.pop(ARRAYS, None)
    if data is None:
        arrays = {}
    elif isinstance(data, bytes):
        arrays = _decode_arrays(data, path)
    else:
        arrays = _mapped_arrays(data, path)
    lists = {
        name.removesuffix(".txt"): _decode_list(data, name, path)
        for name, data in contents.items()
    }
    return ModelContent(header["model"], arrays, lists)


def _encode(content: ModelContent) -> dict[str, bytes]:
    files = {
        ARRAYS: save_arrays(
            {name: np.asarray(a, order="C") for name, a in content.arrays.items()}
        )
    }
    for name, lines in content.lists.items():
        if any("\n" in line for line in lines):
            raise DataError(f"{name}: a name with a line break cannot be saved")
        files[f"{name}.txt"] = "".join(f"{line}\n" for line in lines).encode()
    header = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "model": content.header,
        "files": {name: hashlib.sha256(data).hexdigest() for name, data in files.items()},
    }
    return {
        HEADER: (
            json.dumps(header, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
        ).encode(),
        **files,
    }


def _write_zip(files: dict[str, bytes], path: Path, compression: int) -> None:
    with whole_file(path) as stream, zipfile.ZipFile(stream, "w", compression) as archive:
        for name, data in files.items():
            # A fixed date, so that the same model is the same file.
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), data, compression)


def _write_folder(files: dict[str, bytes], path: Path) -> None:
    """Write all files into a folder beside the old one, then replace it."""
    refuse_device(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}."))
        old = temporary.with_name(f"{temporary.name}.old")

        def undo() -> None:
            if old.exists() and not path.exists():
                old.replace(path)
            shutil.rmtree(temporary, ignore_errors=True)

        with undone_unless_finished(undo):
            for name, data in files.items():
                with whole_file(temporary / name) as stream:
                    stream.write(data)
            temporary.chmod(0o755)
            if path.exists():
                path.replace(old)
            temporary.replace(path)
            shutil.rmtree(old, ignore_errors=True)
    except OSError as error:
        raise DataError(f"cannot be written ({error.strerror or error})", file=path) from error


def _reader(path: Path, *, mapped: bool) -> Callable[[str], Any]:
    """Return a function that reads one part of the model: its bytes, or the map of a file."""
    if path.is_dir():
        return lambda name: (_map_part if mapped and name == ARRAYS else _read_part)(
            path / name, path
        )
    if not path.exists():
        raise DataError("no such model", file=path)
    if path.suffix != ".zip" and not zipfile.is_zipfile(path):
        raise DataError("not a model file; `bayesift fit` saves one", file=path)
    try:
        with zipfile.ZipFile(path) as archive:
            if sum(member.file_size for member in archive.infolist()) > MAX_BYTES:
                raise DataError(f"unpacks to more than {MAX_BYTES:,} bytes; refused", file=path)
            parts = {member.filename: archive.read(member) for member in archive.infolist()}
    except (
        zipfile.BadZipFile,
        zlib.error,
        EOFError,
        OSError,
        NotImplementedError,
        RuntimeError,
        ValueError,
    ) as error:
        raise DataError(f"damaged, or not a model file ({error})", file=path) from error

    def read(name: str) -> bytes:
        if name not in parts:
            raise DataError(f"not a model file: no {name} in it", file=path)
        return parts[name]

    return read


def _read_part(part: Path, path: Path) -> bytes:
    try:
        if part.stat().st_size > MAX_BYTES:
            raise DataError(
                f"{part.name} is larger than {MAX_BYTES:,} bytes; refused", file=path
            )
        return part.read_bytes()
    except FileNotFoundError:
        raise DataError(f"not a model file: no {part.name} in it", file=path) from None
    except OSError as error:
        raise DataError(f"{part.name} cannot be read ({error.strerror})", file=path) from error


def _map_part(part: Path, path: Path) -> Any:
    """Return the bytes of a file as an array that may be written to, in memory only."""
    try:
        return np.memmap(part, dtype=np.uint8, mode="c")
    except (OSError, ValueError) as error:
        raise DataError(f"{part.name} cannot be read ({error})", file=path) from error


def _read_header(data: bytes, path: Path) -> dict[str, Any]:
    try:
        header = json.loads(data)
    except (ValueError, RecursionError) as error:
        _damaged(path, f"{HEADER} is not JSON", error)
    if isinstance(header, dict) and header.get("format") == _OLD_FORMAT:
        raise DataError(
            "written by a development version before 0.3, whose files are not read any more; "
            "fit the model again",
            file=path,
        )
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise DataError(f"not a model file: {HEADER} does not say {FORMAT!r}", file=path)
    version = header.get("format_version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        _damaged(path, f"{HEADER} has no format version")
    if version > FORMAT_VERSION:
        raise DataError(
            f"model file format {version}, but this bayesift reads up to format {FORMAT_VERSION}; "
            "it is from a newer bayesift; upgrade to read it",
            file=path,
        )
    if not isinstance(header.get("model"), dict):
        _damaged(path, f"{HEADER} describes no model")
    return header


def _digests(header: dict[str, Any], path: Path) -> dict[str, str]:
    files = header.get("files")
    if not isinstance(files, dict):
        _damaged(path, f"{HEADER} lists no files")
    for name in files:
        if name != ARRAYS and (not name.endswith(".txt") or Path(name).name != name):
            _damaged(path, f"{HEADER} lists a file {name!r}")
    return files


def _checked(data: Any, digest: object, name: str, path: Path) -> Any:
    if hashlib.sha256(data).hexdigest() != digest:
        _damaged(path, f"{name} is not what was saved")
    return data


def _decode_arrays(data: bytes, path: Path) -> dict[str, Array]:
    try:
        arrays: dict[str, Array] = load_arrays(data)
    except (SafetensorError, ValueError, KeyError) as error:
        _damaged(path, f"{ARRAYS} cannot be read", error)
    return arrays


def _mapped_arrays(data: Array, path: Path) -> dict[str, Array]:
    """Arrays that lie where the map of a safetensors file has them.

    Its digest was found to be right.
    """
    length = int.from_bytes(bytes(data[:8]), "little")
    try:
        header: dict[str, Any] = json.loads(bytes(data[8 : 8 + length]))
        return {
            name: _mapped_array(data[8 + length :], part)
            for name, part in header.items()
            if name != "__metadata__"
        }
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        _damaged(path, f"{ARRAYS} cannot be read", error)


def _mapped_array(data: Array, part: dict[str, Any]) -> Array:
    first, last = part["data_offsets"]
    kind = np.dtype(_KINDS[part["dtype"]])
    if (first + data.ctypes.data) % kind.itemsize:
        return np.frombuffer(bytearray(data[first:last]), dtype=kind).reshape(part["shape"])
    return np.asarray(data[first:last]).view(kind).reshape(part["shape"])


def _decode_list(data: bytes, name: str, path: Path) -> list[str]:
    try:
        return data.decode().split("\n")[:-1]
    except UnicodeDecodeError as error:
        _damaged(path, f"{name} is not UTF-8", error)


def _damaged(path: Path, what: str, cause: Exception | None = None) -> NoReturn:
    raise DataError(f"damaged model: {what}", file=path) from cause
