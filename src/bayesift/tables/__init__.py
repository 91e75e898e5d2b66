"""Read people's files: tables (CSV, Excel, JSON, Parquet), vector files, and folders of texts."""

from bayesift.tables.archives import load_folder
from bayesift.tables.columns import Columns, TableLayout
from bayesift.tables.reader import TableFormat, TableReader, load_chunks, load_table
from bayesift.tables.svmlight import load_svmlight

__all__ = [
    "Columns",
    "TableFormat",
    "TableLayout",
    "TableReader",
    "load_chunks",
    "load_folder",
    "load_svmlight",
    "load_table",
]
