"""Query results on the terminal: an aligned table, JSON or CSV.

Cells are printed by serve/cells, so that a terminal shows what an agent sees.
"""

import json
import shutil
import sys
from collections.abc import Sequence
from typing import Final, TextIO

from vaultgraph.serve.cells import counted, csv_cell, heading, json_cell, one_line, text_cell
from vaultgraph.serve.payload import csv_line

MOST_CELL_CHARS: Final = 2000  # of one cell in a table that another program reads
LEAST_CELL_CHARS: Final = 30
CELL_LINES: Final = 2  # of a cell on a terminal, about


def print_rows(columns: Sequence[str], rows: Sequence[Sequence[object]], shape: str, target: TextIO) -> None:
    """Print a result as "table", "json" (one object a row) or "csv" (RFC 4180)."""
    match shape:
        case "csv":
            is_data = not target.isatty()  # else a name in it could act on the terminal
            for fields in (list(columns), *([csv_cell(value) for value in row] for row in rows)):
                target.write(csv_line(fields if is_data else list(map(one_line, fields))) + "\r\n")
        case "json":
            objects = [dict(zip(columns, map(json_cell, row), strict=True)) for row in rows]
            lines = ",\n".join(f" {one_line(json.dumps(item, ensure_ascii=False))}" for item in objects)
            target.write(f"[\n{lines}\n]\n" if objects else "[]\n")
        case _:
            _print_table(columns, rows, target)


def _print_table(columns: Sequence[str], rows: Sequence[Sequence[object]], target: TextIO) -> None:
    from rich import box  # noqa: PLC0415 -- drawing is slow to import and only tables need it
    from rich.console import Console  # noqa: PLC0415 -- as above
    from rich.table import Table  # noqa: PLC0415 -- as above
    from rich.text import Text  # noqa: PLC0415 -- as above

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    heads = list(map(heading, columns))
    for position, name in enumerate(heads):
        numbers = all(isinstance(row[position], int | float | None) for row in rows)
        table.add_column(Text(name), justify="right" if numbers and rows else "left", overflow="fold")
    width = shutil.get_terminal_size().columns
    share = CELL_LINES * width // max(1, len(columns))
    most_chars = max(LEAST_CELL_CHARS, share) if target.isatty() else MOST_CELL_CHARS
    cells = [[text_cell(value, most_chars) for value in row] for row in rows]
    for row in cells:
        table.add_row(*map(Text, row))
    # Without a terminal a line is as long as it needs to be, so that other programs read whole cells.
    needed = sum(
        max((len(row[at]) * 2 for row in cells), default=0) + 2 * len(name) + 4 for at, name in enumerate(heads)
    )
    Console(
        file=target,
        width=width if target.isatty() else max(80, needed),
        color_system="auto" if target is sys.stdout else None,
    ).print(table)
    has_cuts = any(
        len(cell) > most_chars and cell != text_cell(value)
        for row, shown in zip(rows, cells, strict=True)
        for value, cell in zip(row, shown, strict=True)
    )
    advice = "; long cells were cut: --format json has them whole" if has_cuts else ""
    target.write(f"{counted(len(rows), 'row')}{advice}\n")
