"""Documents and corpora."""

from bayesift.records.corpus import Corpus, indicator_of
from bayesift.records.document import RECORDS, Document, Note, Problem
from bayesift.records.table import DocumentTable, csr_of, rows_of

__all__ = ["RECORDS", "Corpus", "Document", "DocumentTable", "Note", "Problem", "csr_of", "indicator_of", "rows_of"]
