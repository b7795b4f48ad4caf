"""Rules of `structure:` that make nothing anywhere in the vault, as problems.

A pattern that is spelled wrong would otherwise look like a vault without such parts. It only looks at what was made.
"""

from typing import Final

import polars as pl

from vaultgraph.note.records import PieceKind
from vaultgraph.profile.settings import Structure
from vaultgraph.profile.vault_yaml import VAULT_FILE

_NAMES: Final = {
    PieceKind.SECTION: "sections",
    PieceKind.CHUNK: "chunks",
    PieceKind.CALLOUT: "callouts",
    PieceKind.FENCE: "code_fences",
    PieceKind.LIST: "ordered_lists",
}
_SYMBOLS: Final = "key_from_heading"


def rules_made(rows: pl.DataFrame, relations: pl.DataFrame) -> frozenset[str]:
    """The rules that made something: ``sections``, …, ``tables[0]``.

    ``rows``: (kind, is_symbol, rule) of the pieces that are nodes; ``relations``: (rule) of those that are none.
    """
    named = {kind.value: name for kind, name in _NAMES.items()}
    names = rows["kind"].unique().replace_strict(named, default=None, return_dtype=pl.String).drop_nulls().to_list()
    tables = pl.concat([rows["rule"], relations["rule"]]).drop_nulls().unique().to_list()
    symbols = [_SYMBOLS] if rows["is_symbol"].any() else []
    return frozenset([*names, *symbols, *(_table(at) for at in tables)])


def unused_rules(structure: Structure, made: frozenset[str]) -> pl.DataFrame:
    """A problem for each declared rule that is not in ``made``: path, line, code, severity, message."""
    stated = {
        "sections": structure.sections,
        "chunks": structure.chunks,
        "callouts": structure.callouts,
        "code_fences": structure.code_fences,
        "ordered_lists": structure.ordered_lists,
        _SYMBOLS: structure.key_from_heading,
    }
    declared = [name for name, rule in stated.items() if rule]
    declared += [_table(at) for at in range(len(structure.tables))]
    names = pl.DataFrame({"name": [name for name in declared if name not in made]}, schema={"name": pl.String})
    return names.select(
        pl.lit(VAULT_FILE).alias("path"),
        pl.lit(None, pl.Int32).alias("line"),
        pl.lit("unused-rule").alias("code"),
        pl.lit("warning").alias("severity"),
        message=pl.format(
            "structure.{} makes nothing: no note holds what it describes. Correct it or remove it.", "name"
        ),
    )


def _table(at: int) -> str:
    return f"tables[{at}]"
