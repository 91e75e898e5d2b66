"""Corpora: the public ones in their public layout, and people's own files."""

from bayesift.datasets.catalogue import CATALOGUE, Entry, RequestError, find_entry, load
from bayesift.datasets.columns import Columns
from bayesift.datasets.directory import data_directory
from bayesift.datasets.fetch import FetchedFile, RemoteFile, fetch
from bayesift.datasets.folders import load_folder
from bayesift.datasets.newsgroups import load_newsgroups
from bayesift.datasets.ohsumed import load_ohsumed
from bayesift.datasets.ohsumed_trec9 import Topic, load_ohsumed_trec9, load_trec9_topics
from bayesift.datasets.problems import ProblemLog
from bayesift.datasets.pydocs import load_pydocs
from bayesift.datasets.rcv1 import load_rcv1, load_rcv1_topic_names
from bayesift.datasets.reuters import load_reuters, load_reuters_descriptions
from bayesift.datasets.screening import load_review, load_screening
from bayesift.datasets.sms_spam import load_sms_spam
from bayesift.datasets.streaming import TextBatch, TextReader
from bayesift.datasets.summary import CorpusSummary, summarise
from bayesift.datasets.svmlight import load_svmlight
from bayesift.datasets.tables import load_table

__all__ = [
    "CATALOGUE",
    "Columns",
    "CorpusSummary",
    "Entry",
    "FetchedFile",
    "ProblemLog",
    "RemoteFile",
    "RequestError",
    "TextBatch",
    "TextReader",
    "Topic",
    "data_directory",
    "fetch",
    "find_entry",
    "load",
    "load_folder",
    "load_newsgroups",
    "load_ohsumed",
    "load_ohsumed_trec9",
    "load_pydocs",
    "load_rcv1",
    "load_rcv1_topic_names",
    "load_reuters",
    "load_reuters_descriptions",
    "load_review",
    "load_screening",
    "load_sms_spam",
    "load_svmlight",
    "load_table",
    "load_trec9_topics",
    "summarise",
]
