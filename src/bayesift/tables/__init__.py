"""Read people's files: tables (CSV, Excel, JSON, Parquet), vector files, and folders of texts."""

from bayesift.tables.archives import load_folder
from bayesift.tables.columns import Columns
from bayesift.tables.reader import TableFormat, TableReader, load_chunks, load_table
from bayesift.tables.svmlight import load_svmlight

__all__ = [
    "Columns",
    "TableFormat",
    "TableReader",
    "load_chunks",
    "load_folder",
    "load_svmlight",
    "load_table",
]
