"""Load public corpora from their published layout, and look at any corpus: summaries and checks."""

from bayesift.corpora.catalogue import CATALOGUE, CatalogueEntry, find_entry, load
from bayesift.corpora.checks import Finding, check_corpus
from bayesift.corpora.directory import data_directory
from bayesift.corpora.fetch import fetch
from bayesift.corpora.newsgroups import load_newsgroups
from bayesift.corpora.ohsumed import Topic, load_ohsumed, load_ohsumed_trec9, load_trec9_topics
from bayesift.corpora.pydocs import load_pydocs
from bayesift.corpora.rcv1 import load_rcv1
from bayesift.corpora.reuters import load_reuters, load_reuters_descriptions
from bayesift.corpora.screening import load_review, load_screening
from bayesift.corpora.sentences import (
    load_customer_reviews,
    load_subjectivity,
    load_trec_questions,
)
from bayesift.corpora.spam import load_enron, load_sms_spam
from bayesift.corpora.summary import CorpusSummary, summarise

__all__ = [
    "CATALOGUE",
    "CatalogueEntry",
    "CorpusSummary",
    "Finding",
    "Topic",
    "check_corpus",
    "data_directory",
    "fetch",
    "find_entry",
    "load",
    "load_customer_reviews",
    "load_enron",
    "load_newsgroups",
    "load_ohsumed",
    "load_ohsumed_trec9",
    "load_pydocs",
    "load_rcv1",
    "load_reuters",
    "load_reuters_descriptions",
    "load_review",
    "load_screening",
    "load_sms_spam",
    "load_subjectivity",
    "load_trec9_topics",
    "load_trec_questions",
    "summarise",
]
