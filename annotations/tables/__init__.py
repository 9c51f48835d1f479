"""Tables as data: what a page, a CSV file and a JSON document are all made from. No Django here."""

from annotations.tables.arrange import choose_columns, mark_best, parse_columns, sort_table
from annotations.tables.table import Cell, Column, Row, Table, estimate_cell
from annotations.tables.to_csv import table_to_csv
from annotations.tables.to_json import table_to_json

__all__ = [
    "Cell",
    "Column",
    "Row",
    "Table",
    "choose_columns",
    "estimate_cell",
    "mark_best",
    "parse_columns",
    "sort_table",
    "table_to_csv",
    "table_to_json",
]
