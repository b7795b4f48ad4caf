"""The answer of a query: named columns that become public values only when somebody looks at the rows.

Made by cypher/query, read by vault/ and printed by serve/ and cli/. How much of it to show is not decided here.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

from vaultgraph.cypher.execute.bindings import Bindings, BoundColumn, ValueColumn
from vaultgraph.cypher.execute.fetch import column_values
from vaultgraph.cypher.result_tables import SHOWN_ROWS, frame_of, html_table, rest_line, shown_cell
from vaultgraph.cypher.values import materialize_all
from vaultgraph.graph.graph import Graph

if TYPE_CHECKING:
    import polars as pl


class Result:
    """Rows in order; iterating gives tuples in the order of ``columns``.

    ``bindings`` are the typed columns by name, of ``graph``. ``elapsed_ms`` covers everything up to the typed columns,
    ``csv`` says that the query asked for CSV.
    """

    def __init__(
        self,
        columns: tuple[str, ...],
        bindings: Bindings,
        graph: Graph,
        *,
        warnings: tuple[str, ...] = (),
        elapsed_ms: float = 0.0,
        csv: bool = False,
    ) -> None:
        self.columns = columns
        self.bindings = bindings
        self.graph = graph
        self.warnings = warnings
        self.elapsed_ms = elapsed_ms
        self.csv = csv
        self._rows: list[tuple[object, ...]] | None = None

    @property
    def rows(self) -> list[tuple[object, ...]]:
        """All rows as public values: None, bool, int, float, str, moments, Duration, list, dict, Node, Relationship,
        Path; cypher/values lists the classes."""
        if self._rows is None:
            if self.columns:
                cells = [self._cells(self.bindings.columns[name]) for name in self.columns]
                self._rows = list(zip(*cells, strict=True))
            else:
                self._rows = [()] * self.bindings.height
        return self._rows

    def _cells(self, column: BoundColumn) -> list[object]:
        if isinstance(column, ValueColumn):
            return column.series.to_list()
        return materialize_all(column_values(column), self.graph)

    def to_dicts(self) -> list[dict[str, object]]:
        """Every row as a map from column to value."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]

    def to_polars(self) -> "pl.DataFrame":
        """The rows as a polars DataFrame. Typed columns keep their types (Boolean, Int64, Float64, String, Date,
        Datetime in microseconds, lists of these); durations, times with a zone and the like are ISO text; columns of
        nodes, relationships, paths, maps and of values that differ in type are JSON text."""
        return frame_of([(name, self.bindings.columns[name]) for name in self.columns], self.graph, len(self))

    def to_arrow(self) -> Any:
        """The rows as a pyarrow Table, with the columns of ``to_polars``."""
        return cast("Any", self.to_polars()).to_arrow()

    def _repr_html_(self) -> str:
        """What a notebook shows: the first rows as a table."""
        return html_table(self.columns, self.rows[:SHOWN_ROWS], len(self))

    def __rich__(self) -> Any:
        """What rich prints in a terminal: the first rows as a table."""
        from rich.table import Table  # noqa: PLC0415 -- only where rich asks
        from rich.text import Text  # noqa: PLC0415 -- as above

        shown = self.rows[:SHOWN_ROWS]
        table = Table(caption=rest_line(len(shown), len(self)) or None, highlight=False)
        for name in self.columns:
            table.add_column(Text(name))
        for row in shown:
            table.add_row(*(Text(shown_cell(value)) for value in row))
        return table

    def __iter__(self) -> Iterator[tuple[object, ...]]:
        return iter(self.rows)

    def __len__(self) -> int:
        return self.bindings.height

    def __repr__(self) -> str:
        return f"Result(columns={self.columns!r}, rows={len(self)})"
