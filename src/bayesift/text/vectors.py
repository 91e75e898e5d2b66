"""Vectors of words, read from the files that people have or a package brings."""

from __future__ import annotations

import hashlib
import json
import mmap
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol, Self

import numpy as np
from scipy import sparse
from sklearn.utils.extmath import randomized_svd

from bayesift.arrays import Array
from bayesift.errors import DataError
from bayesift.files import whole_file
from bayesift.state import Arrays
from bayesift.text.language import ENGLISH_STOP_WORDS
from bayesift.text.subwords import Splitter, WholeWords, splitter_of
from bayesift.text.vectorizer import TermVectorizer
from bayesift.text.words import Words
from bayesift.threads import computed_once

_TYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2", "I64": "<i8", "I32": "<i4"}
_PACKAGE = (
    "wordllama",
    "weights/l2_supercat_256.safetensors",
    "tokenizers/l2_supercat_tokenizer_config.json",
)

_BEFORE_WORDS = "▁Ġ"  # what pieces that begin a word begin with

_READ: dict[Path, WordVectors] = {}  # a table is mapped once in a process


class Rows(Protocol):
    """The rows of a table of vectors."""

    shape: tuple[int, int]

    def take(self, indices: Array) -> Array:
        """Return these rows, float32."""

    def digest(self) -> Any:
        """Return a hash object of all that the rows depend on."""


class WordVectors:
    """Vectors of words, or of the pieces that words are made of.

    The files stay on the disk and are mapped.

    `load` reads files, `installed` those of the package that the extra `embeddings` installs,
    `learn` makes vectors of texts, and `of` takes words and their vectors.

    Parameters
    ----------
    rows : the table of vectors
    splitter : finds the rows of a word
    source : where the vectors come from, in words
    tokenizer : the content of a `tokenizer.json` file that made the splitter, or None
    words : the words, one per row, or None

    Examples
    --------
    >>> vectors = WordVectors.of(["corn", "wheat", "oil"], [[1.0, 0.0], [0.9, 0.1], [0.0, 1.0]])
    >>> vectors.dimension
    2
    >>> vectors.nearest("corn", ["wheat", "oil"], n=1)
    [('wheat', 0.994)]
    """

    def __init__(
        self,
        rows: Rows,
        splitter: Splitter,
        *,
        source: str,
        tokenizer: dict[str, Any] | None = None,
        words: Words | None = None,
    ) -> None:
        self._rows, self._splitter, self.source = rows, splitter, source
        self.tokenizer, self.words = tokenizer, words

    def __deepcopy__(self, memo: object) -> Self:
        return self  # it never changes, and a mapped file cannot be copied

    @classmethod
    def of(cls, words: Iterable[str] | Words, vectors: Any, *, source: str = "given") -> Self:
        """Vectors that are there already, one row per word."""
        table, held = (
            np.asarray(vectors),
            words if isinstance(words, Words) else Words.of(words),
        )
        if table.ndim != 2 or len(table) != len(held) or table.dtype.kind != "f":
            raise DataError(
                f"{len(held):,} words need as many rows of vectors, got {table.shape} of "
                f"{table.dtype}"
            )
        return cls(TableRows(table), WholeWords(held), source=source, words=held)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read vectors: no code in the files is executed.

        These are a folder with a `.safetensors` file and a `tokenizer.json` (as of wordllama or
        model2vec), or either file of them; a `.npy` file with its words in a `.txt` file of the
        same name, one per line; and word2vec or GloVe, as text or (`.bin`) binary.
        """
        path = Path(path)
        if not path.exists():
            raise DataError("no such vectors", file=path)
        if path.is_dir():
            path = _table_in(path)
        if path.suffix == ".safetensors":
            return cls.of_files(path, _tokenizer_beside(path))
        if path.suffix == ".npy":
            return cls._of_numpy(path)
        words, rows = read_binary(path) if path.suffix == ".bin" else read_text(path)
        return cls(rows, WholeWords(words), source=path.name, words=words)

    @classmethod
    def of_files(cls, table: Path, tokenizer: Path) -> Self:
        """Read the vectors of a `.safetensors` file and the `tokenizer.json` that belongs to it."""
        content = _read_json(tokenizer)
        rows = safetensors_rows(table)
        splitter, n_pieces = splitter_of(content, tokenizer)
        if rows.shape[0] < n_pieces:
            raise DataError(
                f"{rows.shape[0]:,} vectors, but {tokenizer.name} has {n_pieces:,} pieces",
                file=table,
            )
        return cls(rows, splitter, source=table.name, tokenizer=content)

    @classmethod
    def installed(cls) -> WordVectors | None:
        """Return the vectors of the extra `embeddings`, or None where it is not installed."""
        package, *names = _PACKAGE
        found = find_spec(package)
        folders = found.submodule_search_locations if found else None
        table, tokenizer = (Path(folders[0]) / name if folders else Path() for name in names)
        if not (table.is_file() and tokenizer.is_file()):
            return None
        if table not in _READ:
            _READ[table] = cls.of_files(table, tokenizer)
        return _READ[table]

    @classmethod
    def learn(
        cls,
        texts: Iterable[str],
        *,
        dimension: int = 100,
        min_df: int = 2,
        random_state: int = 0,
    ) -> Self:
        """Learn the leading directions of texts without labels.

        Words that appear in the same documents are near one another.

        Deerwester et al. (1990), Indexing by latent semantic analysis.
        """
        vectorizer = TermVectorizer(weighting="sublinear-tf-idf", min_df=min_df)
        X = vectorizer.fit_transform(texts)
        n_directions = min(dimension, *(size - 1 for size in X.shape))
        if n_directions < 1:
            raise DataError("too few texts and words to learn vectors from")
        _, sizes, directions = randomized_svd(X, n_directions, random_state=random_state)
        table = np.ascontiguousarray((directions * sizes[:, np.newaxis]).T, dtype=np.float32)
        return cls.of(vectorizer.vocabulary_.words, table, source="learned from texts")

    @classmethod
    def _of_numpy(cls, path: Path) -> Self:
        words = path.with_suffix(".txt")
        try:
            table = np.load(path, mmap_mode="r", allow_pickle=False)
            lines = words.read_text("utf-8").splitlines()
        except (OSError, ValueError) as error:
            raise DataError(f"cannot be read ({error})", file=path) from error
        return cls.of(lines, table, source=path.name)

    @property
    def dimension(self) -> int:
        """The length of a vector."""
        return self._rows.shape[1]

    @property
    def n_rows(self) -> int:
        """How many vectors there are."""
        return self._rows.shape[0]

    @computed_once
    def digest(self) -> str:
        """Return a digest of the vectors and of the rules that find them."""
        found = self._rows.digest()
        if self.tokenizer is not None:
            found.update(json.dumps(self.tokenizer, sort_keys=True).encode())
        elif self.words is not None:
            found.update(self.words.pool[: self.words.starts[-1]].tobytes())
        return str(found.hexdigest())

    def pieces(self, words: Words) -> sparse.csr_array:
        """How often each row is in each word, words x rows."""
        rows, ends = self._splitter.split(words)
        owners = np.repeat(np.arange(len(words)), np.diff(ends, prepend=0))
        counts = sparse.coo_array(
            (np.ones(len(rows)), (owners, rows)), shape=(len(words), self.n_rows)
        )
        return sparse.csr_array(counts)

    def take(self, indices: Array) -> Array:
        """Return these rows, float32."""
        return self._rows.take(indices)

    def vectors(self, words: Iterable[str]) -> Array:
        """Return the vectors of words, float32.

        That of a word of several pieces is their sum, that of an unknown word zeros.
        """
        counts = self.pieces(words if isinstance(words, Words) else Words.of(words))
        used = np.unique(counts.indices)
        return np.asarray(counts[:, used].astype(np.float32) @ self.take(used))

    def nearest(
        self, word: str, among: Iterable[str], *, n: int = 3
    ) -> list[tuple[str, float]]:
        """Find the words most like a word by the cosine of their vectors; return both.

        None for an unknown word.
        """
        (found,) = self.nearest_of([word], list(among), n=n)
        return found

    def nearest_of(
        self, words: list[str], among: list[str], *, n: int = 3
    ) -> list[list[tuple[str, float]]]:
        """As `nearest`, of several words."""
        units, others = (_of_length_one(self.vectors(some)) for some in (words, among))
        found = []
        for word, cosines in zip(words, units @ others.T, strict=True):
            best = [
                k
                for k in np.argsort(-cosines, kind="stable")[: n + 1]
                if among[k] != word and others[k].any()
            ]
            found.append(
                [(among[k], round(float(cosines[k]), 3)) for k in best[:n]]
                if np.any(cosines)
                else []
            )
        return found

    @computed_once
    def known_words(self) -> list[str]:
        """Return the words that have a vector of their own.

        They are those of the table, or the pieces that are whole words.

        Examples
        --------
        >>> WordVectors.of(["corn", "oil"], [[1.0, 0.0], [0.0, 1.0]]).known_words
        ['corn', 'oil']
        """
        if self.words is not None:
            return self.words.to_strings()
        assert self.tokenizer is not None
        vocabulary = self.tokenizer["model"]["vocab"]
        pieces = (
            [piece for piece, _ in vocabulary]
            if isinstance(vocabulary, list)
            else list(vocabulary)
        )
        letters = {piece.lstrip(_BEFORE_WORDS) for piece in pieces}
        words = sorted(
            word for word in letters if len(word) > 1 and word.isalpha() and word.islower()
        )
        counts = self.pieces(Words.of(words))
        whole = (np.diff(counts.indptr) == 1) & (counts.sum(axis=1) == 1)
        return [words[position] for position in np.flatnonzero(whole)]

    def expand(self, text: str, *, n: int = 10, strength: float = 0.2) -> dict[str, float]:
        """Find words that mean about what the words of a text do.

        The strength of each is `strength` times the cosine.

        Of each word the `n` nearest of `known_words` that are not in the text; stop words have
        none. A filter's profile takes them as `words` beside its query.

        Examples
        --------
        >>> vectors = WordVectors.of(["corn", "wheat", "oil"], [[1.0, 0.0], [0.9, 0.1], [0.0, 1.0]])
        >>> vectors.expand("Corn prices", n=1)
        {'wheat': 0.199}
        """
        words = list(TermVectorizer(stop_words="english").term_counts(text))
        found: dict[str, float] = {}
        among = [
            word
            for word in self.known_words
            if word not in ENGLISH_STOP_WORDS and word not in words
        ]
        for near in self.nearest_of(words, among, n=n):
            for word, cosine in near:
                if cosine <= 0.0:
                    break
                found[word] = max(found.get(word, 0.0), round(strength * cosine, 3))
        return found

    def subset(self, rows: Array) -> WordVectors:
        """Return the vectors of these rows only, in memory; other rows are zeros."""
        table, indices = self.take(rows), np.full(self.n_rows, -1, dtype=np.int32)
        indices[rows] = np.arange(len(rows), dtype=np.int32)
        half = table.astype(np.float16)
        return self._like(
            TableRows(half if np.array_equal(half, table) else table, None, indices)
        )

    def _like(self, rows: TableRows) -> WordVectors:
        made = WordVectors(
            rows, self._splitter, source=self.source, tokenizer=self.tokenizer, words=self.words
        )
        made.__dict__["digest"] = self.digest
        return made

    def bundle(self, rows: Array) -> tuple[Arrays, dict[str, list[str]]]:
        """Return what `unbundle` makes vectors of these rows from: arrays, and lists of text."""
        table = self.subset(rows)._rows
        assert isinstance(table, TableRows)
        held = [json.dumps(self.tokenizer)] if self.words is None else self.words.to_strings()
        kind = "tokenizer" if self.words is None else "words"
        return {"table": table.table, "rows": np.asarray(rows, dtype=np.int64)}, {kind: held}

    @classmethod
    def unbundle(
        cls, arrays: Arrays, lists: dict[str, list[str]], *, source: str, digest: str
    ) -> WordVectors:
        """Make the vectors of `bundle`; refuse what does not fit together."""
        table, rows = arrays.get("table"), arrays.get("rows")
        if (
            table is None
            or rows is None
            or table.ndim != 2
            or table.dtype.kind != "f"
            or rows.shape != table.shape[:1]
        ):
            raise DataError("the bundled vectors do not fit together")
        if "tokenizer" in lists:
            try:
                tokenizer, words = json.loads(lists["tokenizer"][0]), None
            except (ValueError, IndexError) as error:
                raise DataError("the bundled tokenizer is not JSON") from error
            splitter, n_rows = splitter_of(tokenizer)
        else:
            tokenizer, words = None, Words.of(lists.get("words", []))
            splitter, n_rows = WholeWords(words), len(words)
        if len(rows) and not (rows.min() >= 0 and rows.max() < n_rows):
            raise DataError("the bundled vectors do not fit their words")
        indices = np.full(n_rows, -1, dtype=np.int32)
        indices[rows] = np.arange(len(rows), dtype=np.int32)
        made = cls(
            TableRows(table, None, indices),
            splitter,
            source=source,
            tokenizer=tokenizer,
            words=words,
        )
        made.__dict__["digest"] = digest
        return made

    def save(self, path: str | Path) -> None:
        """Write vectors to a `.npy` file, and their words to a `.txt` file beside it."""
        path = Path(path)
        if self.words is None or path.suffix != ".npy":
            raise DataError(
                "vectors of whole words are saved to a file that ends in .npy", file=path
            )
        with whole_file(path) as stream:
            np.save(stream, self.take(np.arange(self.n_rows)), allow_pickle=False)
        with whole_file(path.with_suffix(".txt")) as stream:
            stream.write("".join(f"{word}\n" for word in self.words.to_strings()).encode())


def _of_length_one(table: Array) -> Array:
    rows: Array = table / np.maximum(np.linalg.norm(table, axis=1, keepdims=True), 1e-12)
    return rows


class TableRows:
    """Rows of an array.

    With `places` row j of the table is that of `places[j]`, or of zeros where that is -1.
    """

    def __init__(
        self, table: Array, factors: Array | None = None, indices: Array | None = None
    ) -> None:
        self.table, self.factors, self.indices = table, factors, indices
        self.shape = (len(table) if indices is None else len(indices)), int(table.shape[1])

    def take(self, indices: Array) -> Array:
        """Return these rows."""
        held = indices if self.indices is None else self.indices[indices]
        found = np.asarray(self.table[np.maximum(held, 0)])
        if found.dtype == np.uint16:  # the upper half of a float32
            found = (found.astype(np.uint32) << 16).view(np.float32)
        rows: Array = found.astype(np.float32)
        if self.factors is not None:
            rows *= self.factors[indices, np.newaxis].astype(np.float32)
        rows[held < 0] = 0.0
        return rows

    def digest(self) -> Any:
        """Return a hash object of the numbers."""
        found = hashlib.sha256(np.ascontiguousarray(self.table).view(np.uint8).data)
        for more in (self.factors, self.indices):
            if more is not None:
                found.update(np.ascontiguousarray(more).tobytes())
        return found


class FileRows:
    """Rows of a mapped file that are not evenly spaced: numbers as text, or binary float32."""

    def __init__(
        self, data: mmap.mmap, begins: Array, ends: Array, dimension: int, *, binary: bool
    ) -> None:
        self.data, self.begins, self.ends, self.binary = data, begins, ends, binary
        self.shape = len(begins), dimension

    def take(self, indices: Array) -> Array:
        """Return these rows."""
        out = np.empty((len(indices), self.shape[1]), dtype=np.float32)
        for row, position in enumerate(indices):
            held = self.data[self.begins[position] : self.ends[position]]
            if self.binary:
                out[row] = np.frombuffer(held, dtype="<f4")
            else:
                out[row] = np.array(held.split(), dtype=np.float32)
        return out

    def digest(self) -> Any:
        """Return a hash object of the bytes of the file."""
        return hashlib.sha256(self.data)


def safetensors_rows(path: Path) -> TableRows:
    """Return the table of a safetensors file.

    `weights` and `mapping`, as in files of model2vec, are followed.
    """
    try:
        data = np.memmap(path, dtype=np.uint8, mode="r")
        length = int.from_bytes(bytes(data[:8]), "little")
        parts = {
            name: part
            for name, part in json.loads(bytes(data[8 : 8 + length])).items()
            if "shape" in part
        }
        arrays = {name: _tensor(data[8 + length :], part) for name, part in parts.items()}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(f"not a safetensors file ({error})", file=path) from error
    tables = [array for array in arrays.values() if array.ndim == 2]
    if len(tables) != 1:
        raise DataError(f"one table of vectors is needed, there are {len(tables)}", file=path)
    return TableRows(tables[0], arrays.get("weights"), arrays.get("mapping"))


def _tensor(data: Array, part: dict[str, Any]) -> Array:
    first, last = part["data_offsets"]
    found: Array = (
        np.asarray(data[first:last]).view(_TYPES[part["dtype"]]).reshape(part["shape"])
    )
    return found


def _open(path: Path) -> mmap.mmap:
    try:
        with path.open("rb") as stream:
            return mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as error:
        raise DataError(f"cannot be read ({error})", file=path) from error


def read_binary(path: Path) -> tuple[Words, FileRows]:
    """Read a binary word2vec file.

    It is a line of numbers, then each word, a blank and its float32.
    """
    data = _open(path)
    position = data.find(b"\n")
    try:
        n_words, dimension = map(int, data[:position].split())
        if n_words < 1 or dimension < 1:
            raise ValueError
    except ValueError:
        raise DataError(
            "not a word2vec file: it must begin with two numbers", file=path
        ) from None
    begins, names = np.empty(n_words, dtype=np.int64), []
    for row in range(n_words):
        blank = data.find(b" ", position)
        begins[row], position = blank + 1, blank + 1 + 4 * dimension
        if blank < 0 or position > len(data):
            raise DataError(f"ends after {row:,} of {n_words:,} words", file=path)
        names.append(
            data[begins[row - 1] + 4 * dimension if row else data.find(b"\n") : blank].strip()
        )
    return _decoded(names, path), FileRows(
        data, begins, begins + 4 * dimension, dimension, binary=True
    )


def read_text(path: Path) -> tuple[Words, FileRows]:
    """Read a text file, as of GloVe, or as of word2vec with a first line of two numbers."""
    data, begins, ends = _open(path), list[int](), list[int]()
    names: list[bytes] = []
    position, dimension = 0, 0
    while position < len(data):
        end = data.find(b"\n", position)
        end = len(data) if end < 0 else end
        line = data[position:end].rstrip()
        n_fields = line.count(b" ")
        if not dimension and not (position == 0 and n_fields == 1):
            dimension = n_fields
        if dimension:
            parts = line.rsplit(b" ", dimension)
            if n_fields < dimension or dimension < 1:
                raise DataError(
                    f"line {len(names) + 1:,} of words has {n_fields} numbers, not {dimension}",
                    file=path,
                )
            names.append(parts[0])
            begins.append(position + len(parts[0]) + 1)
            ends.append(end)
        position = end + 1
    rows = FileRows(data, np.array(begins), np.array(ends), dimension, binary=False)
    try:
        rows.take(np.arange(min(1, len(names))))
    except ValueError:
        raise DataError(
            "not a file of word vectors: a line must be a word and numbers", file=path
        ) from None
    return _decoded(names, path), rows


def _decoded(names: list[bytes], path: Path) -> Words:
    try:
        return Words.of([name.decode() for name in names])
    except UnicodeDecodeError as error:
        raise DataError(f"a word is not UTF-8 ({error})", file=path) from error


def _table_in(folder: Path) -> Path:
    found = sorted([*folder.glob("*.safetensors"), *folder.glob("*.npy")])
    if len(found) != 1:
        raise DataError(
            f"one .safetensors or .npy file is needed in it, there are {len(found)}",
            file=folder,
        )
    return found[0]


def _tokenizer_beside(table: Path) -> Path:
    tokenizer = table.with_name("tokenizer.json")
    if not tokenizer.is_file():
        raise DataError("a tokenizer.json is needed beside it", file=table)
    return tokenizer


def _read_json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_bytes())
        return {name: content.get(name) for name in ("normalizer", "pre_tokenizer", "model")}
    except (OSError, ValueError, AttributeError) as error:
        raise DataError(f"cannot be read ({error})", file=path) from error
