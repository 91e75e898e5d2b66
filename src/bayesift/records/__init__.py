"""Documents and corpora."""

from bayesift.records.corpus import Corpus
from bayesift.records.document import Document, Note, ReadingProblem
from bayesift.records.table import DocumentTable

__all__ = ["Corpus", "Document", "DocumentTable", "Note", "ReadingProblem"]
