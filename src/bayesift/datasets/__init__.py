"""Corpora: public ones in their published layout, and files of your own."""

from bayesift.datasets.archives import load_folder
from bayesift.datasets.catalogue import CATALOGUE, Entry, find_entry, load
from bayesift.datasets.checks import Finding, check_corpus
from bayesift.datasets.columns import Columns
from bayesift.datasets.fetch import fetch
from bayesift.datasets.loading import data_directory
from bayesift.datasets.newsgroups import load_newsgroups
from bayesift.datasets.ohsumed import Topic, load_ohsumed, load_ohsumed_trec9, load_trec9_topics
from bayesift.datasets.pydocs import load_pydocs
from bayesift.datasets.rcv1 import load_rcv1, load_rcv1_topic_names
from bayesift.datasets.reuters import load_reuters, load_reuters_descriptions
from bayesift.datasets.screening import load_review, load_screening
from bayesift.datasets.sentences import (
    load_customer_reviews,
    load_subjectivity,
    load_trec_questions,
)
from bayesift.datasets.spam import load_enron, load_sms_spam
from bayesift.datasets.summary import CorpusSummary, summarise
from bayesift.datasets.svmlight import load_svmlight
from bayesift.datasets.tables import TableFormat, TableReader, load_chunks, load_table

__all__ = [
    "CATALOGUE",
    "Columns",
    "CorpusSummary",
    "Entry",
    "Finding",
    "TableFormat",
    "TableReader",
    "Topic",
    "check_corpus",
    "data_directory",
    "fetch",
    "find_entry",
    "load",
    "load_chunks",
    "load_customer_reviews",
    "load_enron",
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
    "load_subjectivity",
    "load_svmlight",
    "load_table",
    "load_trec9_topics",
    "load_trec_questions",
    "summarise",
]
