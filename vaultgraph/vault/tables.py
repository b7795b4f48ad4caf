"""The tables that belong to a vault beside its graph: problems, headings, and links as they are written.

Handed to the query engine for the procedures of these names; a table is made only when a query calls its procedure. The
same for a snapshot, on which `run_on` runs a query, and for what is stored in a cache file.
"""

from collections.abc import Callable, Mapping
from typing import TypeVar

import polars as pl

from vaultgraph.cypher.budget import Budget
from vaultgraph.cypher.procedure_rows import INDEXES
from vaultgraph.cypher.procedures import Tables
from vaultgraph.cypher.query import run_query
from vaultgraph.cypher.result import Result
from vaultgraph.errors import CorruptKglError
from vaultgraph.note.records import RecordTable
from vaultgraph.profile.settings import Profile
from vaultgraph.vault.snapshot import Snapshot

Answered = TypeVar("Answered")


def despite_damage(work: Callable[[], Answered]) -> Answered:
    """What ``work`` gives, tried again where a cache file was damaged since it was opened: the vault then builds anew.

    Most of the file is read only when it is asked for, so that no earlier look finds this. Stands once at each door:
    the library's, the server's and that of the commands; ``work`` takes the current snapshot itself.
    """
    try:
        return work()
    except CorruptKglError:
        return work()


def run_on(snapshot: Snapshot, text: str, parameters: Mapping[str, object], budget: Budget) -> Result:
    """A query on one snapshot, with its names, tables and kept plans.

    Raises:
        QueryError: the query is wrong, over its budget, or cancelled.
    """
    return run_query(
        snapshot.graph,
        text,
        parameters,
        budget=budget,
        schema=snapshot.schema,
        tables=procedure_tables(snapshot.records, snapshot.problems, snapshot.profile),
        plans=snapshot.plans,
    )


def procedure_tables(records: RecordTable, problems: pl.DataFrame, profile: Profile | None = None) -> Tables:
    """What makes the tables of `vault.problems`, `vault.headings`, `vault.links` and, of a profile, `db.indexes`; and
    the label of notes.

    Headings and links are those of the notes and canvases of the graph, in order of path and line.
    """
    return {
        "vault.problems": lambda: problems,
        "vault.headings": lambda: _with_paths(records.headings, records.listing),
        "vault.links": lambda: _with_paths(records.links, records.listing),
        "vault.note_label": lambda: pl.DataFrame({"label": [profile.note_label if profile else "Note"]}),
        "db.indexes": lambda: _indexes(profile),
    }


def _indexes(profile: Profile | None) -> pl.DataFrame:
    """What the profile declares to be looked up and searched often, a row a label."""
    declared = () if profile is None else (("RANGE", profile.indexes), ("FULLTEXT", profile.text_indexes))
    rows = [
        (f"{kind.lower()}_{label}", kind, label, list(keys))
        for kind, by_label in declared
        for label, keys in sorted(by_label.items())
    ]
    return pl.DataFrame(rows, schema=INDEXES, orient="row")


def _with_paths(rows: pl.DataFrame, notes: pl.DataFrame) -> pl.DataFrame:
    """``rows`` of the notes that are in the graph, with ``path``; in order of path and line."""
    listed = notes.select("path", "is_skipped").with_row_index("note")
    kept = rows.join(listed, on="note", how="left", maintain_order="left").filter(~pl.col("is_skipped"))
    return kept.sort("note", "line", maintain_order=True, nulls_last=True)
