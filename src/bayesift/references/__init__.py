"""Read and write bibliographic records of databases, reference managers and screening tools."""

from bayesift.references.arrow import references_from_table, references_to_table
from bayesift.references.files import (
    holds_references,
    load_references,
    read_references,
    write_references,
)
from bayesift.references.reference import (
    Decision,
    Reference,
    ReferenceList,
    SourceFile,
    normalise_doi,
    normalise_pmid,
)

__all__ = [
    "Decision",
    "Reference",
    "ReferenceList",
    "SourceFile",
    "holds_references",
    "load_references",
    "normalise_doi",
    "normalise_pmid",
    "read_references",
    "references_from_table",
    "references_to_table",
    "write_references",
]
