"""Tables as data: what a page, a CSV file and a JSON document are all made from. No Django here."""

from common.tables.arrange import choose_columns, mark_best, parse_columns, sort_table
from common.tables.table import Cell, Column, Row, Table, estimate_cell
from common.tables.to_csv import table_to_csv
from common.tables.to_json import table_to_json

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
