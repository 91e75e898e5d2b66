"""The corpora by name, with loaders and public addresses; other corpora by path."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from bayesift.corpora import (
    newsgroups,
    ohsumed,
    reuters,
    sentences,
    spam,
)
from bayesift.corpora.directory import data_directory
from bayesift.corpora.fetch import RemoteFile
from bayesift.corpora.pydocs import load_pydocs
from bayesift.corpora.rcv1 import load_rcv1, train_paths
from bayesift.corpora.reuters import load_reuters
from bayesift.corpora.screening import REVIEWS, SCREENING_COLUMNS, load_review, read_screening
from bayesift.corpora.streaming import read_plain
from bayesift.errors import DataError, RequestError
from bayesift.records import Corpus, Document, Note
from bayesift.references import holds_references, load_references
from bayesift.tables import svmlight
from bayesift.tables.archives import is_folder, load_folder
from bayesift.tables.columns import Columns, TableLayout
from bayesift.tables.loading import ProblemLog, Source
from bayesift.tables.reader import TABLES_ONLY, TableFormat, TableReader, read_corpus

_RESEARCH = "Reuters, research only"
_NLM = "NLM, experimental use"
_CITE = "cite Lewis et al. 2004"

# Public addresses, and checksums where they are published.
_FIGSHARE = "https://ndownloader.figshare.com/files"
_UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases"
_JMLR = "https://jmlr.csail.mit.edu/papers/volume5/lewis04a"
_ASREVIEW = "https://raw.githubusercontent.com/asreview/systematic-review-datasets/metadata-v1-final/datasets"

_REUTERS = RemoteFile(
    "reuters21578.tar.gz",
    f"{_UCI}/reuters21578-mld/reuters21578.tar.gz",
    "3bae43c9b14e387f76a61b6d82bf98a4fb5d3ef99ef7e7075ff2ccbcf59f9d30",
)
_NEWSGROUPS = RemoteFile(
    "20news-bydate.tar.gz",
    f"{_FIGSHARE}/5975967",
    "8f1b2514ca22a5ade8fbb9cfa5727df95fa587f4c87b786e15c759fa66d95610",
)
_OHSUMED = RemoteFile(
    "ohsumed-first-20000-docs.tar.gz",
    "http://disi.unitn.it/moschitti/corpora/ohsumed-first-20000-docs.tar.gz",
)
_TREC9 = RemoteFile(
    "ohsumed-trec9/t9.filtering.tar.gz",
    "https://trec.nist.gov/data/filtering/t9.filtering.tar.gz",
)
_RCV1_FILES = {
    "lyrl2004_vectors_train.dat.gz": (
        5976057,
        "5468f656d0ba7a83afc7ad44841cf9a53048a5c083eedc005dcdb5cc768924ae",
    ),
    "lyrl2004_vectors_test_pt0.dat.gz": (
        5976069,
        "ed40f7e418d10484091b059703eeb95ae3199fe042891dcec4be6696b9968374",
    ),
    "lyrl2004_vectors_test_pt1.dat.gz": (
        5976066,
        "87700668ae45d45d5ca1ef6ae9bd81ab0f5ec88cc95dcef9ae7838f727a13aa6",
    ),
    "lyrl2004_vectors_test_pt2.dat.gz": (
        5976063,
        "48143ac703cbe33299f7ae9f4995db49a258690f60e5debbff8995c34841c7f5",
    ),
    "lyrl2004_vectors_test_pt3.dat.gz": (
        5976060,
        "dfcb0d658311481523c6e6ca0c3f5a3e1d3d12cde5d7a8ce629a9006ec7dbb39",
    ),
    "rcv1v2.topics.qrels.gz": (
        5976048,
        "2a98e5e5d8b770bded93afc8930d88299474317fe14181aee1466cc754d0d1c1",
    ),
}
_RCV1 = (
    *(
        RemoteFile(f"rcv1/{name}", f"{_FIGSHARE}/{number}", sha)
        for name, (number, sha) in _RCV1_FILES.items()
    ),
    RemoteFile(
        "rcv1/rcv1.topics.hier.orig", f"{_JMLR}/a02-orig-topics-hierarchy/rcv1.topics.hier.orig"
    ),
)
_SMS_SPAM = RemoteFile("sms-spam/smsspamcollection.zip", f"{_UCI}/00228/smsspamcollection.zip")
_TREC_QUESTIONS = tuple(
    RemoteFile(path, f"https://cogcomp.seas.upenn.edu/Data/QA/QC/{file}")
    for path, file in zip(
        sentences.QUESTIONS.values(), ("train_5500.label", "TREC_10.label"), strict=True
    )
)
_ENRON = RemoteFile(
    "enron1.tar.gz", "http://www.aueb.gr/users/ion/data/enron-spam/preprocessed/enron1.tar.gz"
)
_REVIEWS = {
    "screening-cohen-adhd": ("drugs for ADHD", "Cohen_2006/output/online/ADHD.csv", None),
    "screening-cohen-triptans": ("triptans", "Cohen_2006/output/online/Triptans.csv", None),
    "screening-kitchenham": (
        "software engineering",
        "Hall_Wahono_Radjenovic_Kitchenham/output/Kitchenham_2010.csv",
        None,
    ),
    "screening-nagtegaal": (
        "nudging in healthcare",
        "Nagtegaal_2019/output/Nagtegaal_2019.csv",
        "abfbdb973aa125f26ce872a5193c931d0690f7fe2e1fb75551de9c0acecd200f",
    ),
}


@dataclass(frozen=True)
class CatalogueEntry:
    """A corpus with a name, its paths in the data directory, and the files to download."""

    name: str
    description: str
    terms: str
    loader: Callable[..., Corpus]
    paths: tuple[str, ...] = ()
    files: tuple[RemoteFile, ...] = ()

    def is_present(self, data_dir: str | Path | None = None) -> bool:
        """Whether it can be loaded without a download."""
        directory = data_directory(data_dir)
        return not self.paths or any((directory / path).exists() for path in self.paths)


def _load_pydocs(data_dir: str | Path | None = None, *, skip_bad: bool = False) -> Corpus:
    return load_pydocs()


def _review(name: str) -> CatalogueEntry:
    subject, location, sha256 = _REVIEWS[name]
    file = RemoteFile(f"screening/{REVIEWS[name]}.csv", f"{_ASREVIEW}/{location}", sha256)
    description = f"screening of a review: {subject}"
    return CatalogueEntry(
        name, description, "open", partial(load_review, name), (file.path,), (file,)
    )


_ENTRIES = (
    CatalogueEntry(
        "pydocs", "docstrings of Python's standard library", "PSF licence", _load_pydocs
    ),
    CatalogueEntry(
        "reuters",
        "Reuters-21578: newswire of 1987, 90 topics",
        _RESEARCH,
        load_reuters,
        reuters.PATHS,
        (_REUTERS,),
    ),
    CatalogueEntry(
        "reuters-labelled",
        "of these, the 10,789 with one of the 90 topics",
        _RESEARCH,
        partial(load_reuters, subset="labelled"),
        reuters.PATHS,
        (_REUTERS,),
    ),
    CatalogueEntry(
        "20newsgroups",
        "20 Newsgroups by date: Usenet of 1993",
        "Usenet, research",
        newsgroups.load_newsgroups,
        newsgroups.PATHS,
        (_NEWSGROUPS,),
    ),
    CatalogueEntry(
        "ohsumed",
        "OHSUMED-20000: abstracts, 23 diseases",
        _NLM,
        ohsumed.load_ohsumed,
        ohsumed.PATHS,
        (_OHSUMED,),
    ),
    CatalogueEntry(
        "ohsumed-trec9",
        "OHSUMED of TREC-9: MEDLINE 1987-91, 63 topics",
        _NLM,
        ohsumed.load_ohsumed_trec9,
        ohsumed.TREC9_PATHS,
        (_TREC9,),
    ),
    CatalogueEntry(
        "rcv1",
        "RCV1-v2: term vectors of newswire 1996-97",
        _CITE,
        load_rcv1,
        train_paths("rcv1"),
        _RCV1,
    ),
    CatalogueEntry(
        "rcv1-sample",
        "a part of RCV1-v2 in the same layout",
        _CITE,
        partial(load_rcv1, folder="rcv1-sample"),
        train_paths("rcv1-sample"),
    ),
    CatalogueEntry(
        "sms-spam",
        "SMS Spam Collection: text messages",
        "free, cite Almeida",
        spam.load_sms_spam,
        spam.SMS_SPAM_PATHS,
        (_SMS_SPAM,),
    ),
    CatalogueEntry(
        "enron1",
        "Enron-Spam 1: a stream of mail and spam",
        "research",
        spam.load_enron,
        spam.ENRON_PATHS,
        (_ENRON,),
    ),
    CatalogueEntry(
        "trec-questions",
        "questions by the kind of answer, 6 categories",
        "research",
        sentences.load_trec_questions,
        tuple(sentences.QUESTIONS.values()),
        _TREC_QUESTIONS,
    ),
    CatalogueEntry(
        "trec-questions-fine",
        "the same in 50 categories",
        "research",
        partial(sentences.load_trec_questions, fine=True),
        tuple(sentences.QUESTIONS.values()),
        _TREC_QUESTIONS,
    ),
    CatalogueEntry(
        "subjectivity",
        "sentences about films, subjective or objective",
        "research",
        sentences.load_subjectivity,
        tuple(sentences.SUBJECTIVITY.values()),
    ),
    CatalogueEntry(
        "customer-reviews",
        "sentences about products, positive or negative",
        "research",
        sentences.load_customer_reviews,
        tuple(sentences.REVIEWS.values()),
    ),
    *map(_review, _REVIEWS),
)

CATALOGUE = {entry.name: entry for entry in _ENTRIES}


def find_entry(name: str) -> CatalogueEntry:
    """Find the corpus of this name; an error suggests similar names."""
    if name not in CATALOGUE:
        close = difflib.get_close_matches(name.lower(), CATALOGUE, n=2)
        hint = f"; did you mean {' or '.join(close)}? See" if close else "; see"
        raise RequestError(f"no corpus {name!r}{hint}: bayesift datasets list")
    return CATALOGUE[name]


def load(
    name_or_path: str | Path,
    *,
    data_dir: str | Path | None = None,
    columns: Columns | None = None,
    separator: str | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    sheet: str | None = None,
    skip_bad: bool = False,
    layout: TableLayout | None = None,
) -> Corpus:
    """Load a corpus by name, or from a table, references, a vector file, an archive or a folder.

    Parameters
    ----------
    name_or_path : a name of `CATALOGUE`, else a path
    data_dir : the folder of the named corpora; see `data_directory`
    columns, separator, delimiter, header, sheet : for tables; see `load_table`
    encoding : for tables and folders; guessed by default
    skip_bad : skip records that cannot be read and list them in `problems`, instead of refusing the
        corpus
    layout : how the table was read that a model was fitted to; a table is read by these columns,
        as far as no others are named

    Examples
    --------
    >>> load("pydocs").is_single_label
    True
    """
    name = str(name_or_path)
    path = Path(name_or_path)
    written = {"delimiter": delimiter, "header": header, "sheet": sheet}
    if name in CATALOGUE:
        _refuse(name, columns=columns, separator=separator, encoding=encoding, **written)
        return CATALOGUE[name].loader(data_dir=data_dir, skip_bad=skip_bad)
    if not path.exists() and not path.suffix and path.name == name:
        find_entry(name)
    if not path.exists():
        raise DataError("no such file or folder", file=path)
    if is_folder(path):
        _refuse("a folder", columns=columns, separator=separator, **written)
        return load_folder(path, encoding=encoding, skip_bad=skip_bad)
    source = Source.of(path, encoding)
    if source.suffix not in TABLES_ONLY and svmlight.holds_vectors(source):
        _refuse(
            "a vector file", columns=columns, separator=separator, encoding=encoding, **written
        )
        return svmlight.load_svmlight(source, zero_based=True, skip_bad=skip_bad)
    if source.suffix not in TABLES_ONLY and holds_references(source):
        given = {"columns": columns, "separator": separator, "encoding": encoding, **written}
        _refuse("a file of references", **given)
        return load_references(source, skip_bad=skip_bad)
    format = TableFormat(encoding, delimiter, header, sheet)  # noqa: A001
    reader = TableReader(source, ProblemLog(skip=skip_bad), format, layout=layout)
    is_plain = columns is None and separator is None and layout is None
    if is_plain and reader.kind is None and source.suffix == ".txt":
        texts = tuple(Document(line, text) for line, text in read_plain(reader))
        if len(texts) > 1:
            note = Note("text", "each line", "the file is no table")
            return Corpus(
                texts, (), path.name, problems=tuple(reader.checks.log.problems), notes=(note,)
            )
    if is_plain and SCREENING_COLUMNS.issubset(reader.column_names()):
        return read_screening(reader)
    return read_corpus(reader, columns or Columns(), separator)


def _refuse(what: str, **options: object) -> None:
    given = [option for option, value in options.items() if value is not None]
    if given:
        raise RequestError(f"{what} takes no {given[0]}; that is for tables of your own")
