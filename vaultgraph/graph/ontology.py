"""Holding a graph against the ontology a vault declares: what is not as it should be, as problem rows.

The last step of a build, on the finished Graph; it never changes one. Properties are judged in ontology_properties,
relationships in ontology_relationships; here is what is judged, how grave it is, and where a report shows it.
"""

from collections.abc import Iterator, Mapping
from typing import Final

import numpy as np
import polars as pl

from vaultgraph.graph.columns import Column, Ids
from vaultgraph.graph.graph import Graph, RelationshipTable
from vaultgraph.graph.ontology_places import (
    Extents,
    Flags,
    about_class,
    about_relationship,
    clipped,
    extents_of,
    integers_of,
    node_lines,
    node_places,
)
from vaultgraph.graph.ontology_properties import Broken, absent_keys, broken_properties, present
from vaultgraph.graph.ontology_relationships import (
    MOST_CHAINS,
    BrokenRelationships,
    repeated,
    without_return,
    without_shortcut,
    wrong_counts,
    wrong_ends,
)
from vaultgraph.graph.problems import PROBLEMS
from vaultgraph.profile.ontology import Class, Contract, Ontology, RelationshipClass
from vaultgraph.profile.settings import Profile
from vaultgraph.profile.vault_yaml import VAULT_FILE

MOST_ROWS: Final = 100_000
_FOUND: Final = pl.Schema(
    {"node": pl.Int64, "line": pl.Int64, "code": pl.String, "severity": pl.String, "message": pl.String}
)


def violations(graph: Graph, profile: Profile) -> pl.DataFrame:
    """What of ``profile.ontology`` the graph does not meet, as rows of PROBLEMS, in no order; none without one.

    A message begins with ``class <name>:`` or ``relationship <type>:``. At most MOST_ROWS of them, then a row says that
    there are more.
    """
    ontology = profile.ontology
    if ontology is None:
        return PROBLEMS.to_frame()
    frames: list[pl.DataFrame] = []
    left = MOST_ROWS
    for frame in _found(graph, ontology, profile.note_label):
        frames.append(frame.head(left))
        if frame.height > left:
            message = f"The ontology has more than {MOST_ROWS:,} violations; these are not all."
            frames.append(_general("ontology-value", "warning", message))
            break
        left -= frame.height
    return _placed(graph, pl.concat([_FOUND.to_frame(), *frames]))


def _found(graph: Graph, ontology: Ontology, note_label: str) -> Iterator[pl.DataFrame]:
    """All violations, a frame (node, line, code, severity, message) each rule; a null node is the vault itself."""
    extents = extents_of(graph, ontology)
    yield from _labels(extents, ontology, note_label)
    for name, declared in ontology.classes.items():
        ids = extents.ids(name)
        if len(ids):
            yield from _class(name, declared, ids, graph)
        else:
            what = "of a class below it" if declared.abstract else "of it: no note says it is with `type:`"
            message = f"{about_class(name)}no node is {what}. Check the spelling, or drop it from the ontology."
            yield _general("unused-class", "info", message)
    for name, declared in ontology.relationships.items():
        yield from _relationship(name, declared, extents)


def _labels(extents: Extents, ontology: Ontology, note_label: str) -> Iterator[pl.DataFrame]:
    """Nodes whose own label is an abstract class; with closed labels, notes whose own label is no class."""
    for group in extents.graph.groups:  # row loop: one step a set of labels
        own = group.labels[0] if group.labels else ""
        nodes = np.arange(group.first, group.stop, dtype=np.int64)
        declared = ontology.classes.get(own)
        if declared is not None and declared.abstract:
            message = f"{about_class(own)}it is abstract, so no node is only that. Use one of the classes below it."
            yield _frame(nodes, None, "ontology-label", _severity(declared, "abstract"), message)
        if ontology.closed_labels and declared is None and note_label in group.labels:
            severity = "info" if ontology.enforcement == "advisory" else "warning"
            message = f"The label {own} is no class, and labels are closed. Declare it, or use a class as `type:`."
            yield _frame(nodes, None, "ontology-label", severity, message)


def _class(name: str, declared: Class, ids: Ids, graph: Graph) -> Iterator[pl.DataFrame]:
    about = about_class(name)
    for broken in broken_properties(declared.contract, graph.node_columns, ids, "node"):
        yield _frame(broken.ids, None, broken.code, _severity(declared, broken.check), about + broken.messages)
    yield from _absent(about, declared.contract, graph.node_columns, ids)


def _relationship(name: str, declared: RelationshipClass, extents: Extents) -> Iterator[pl.DataFrame]:
    about = about_relationship(name)
    tables = extents.graph.relationships
    table = tables.get(name)
    if declared.required and declared.domain is None:
        message = f"{about}`required` has no effect without a `domain`: it says whose nodes need one."
        yield _general("unused-rule", "info", message)
    for found in wrong_counts(declared, table.outgoing if table else None, extents):
        yield _frame(found.nodes, None, found.code, _severity(declared, found.check), about + found.messages)
    if table is None:
        message = f"{about}there is none. Check the spelling, or drop it from the ontology."
        yield _general("unused-class", "info", message)
        return
    back = tables.get(declared.inverse_name) if declared.inverse_name else None
    judged: list[BrokenRelationships] = [
        *wrong_ends(declared, table, extents, _provisional(extents.graph)),
        *repeated(declared, table, extents),
        *without_return(declared, table, back, extents),
    ]
    if declared.transitive:
        broken, is_whole = without_shortcut(table, extents)
        judged.append(broken)
        if not is_whole:
            message = f"{about}only the first {MOST_CHAINS:,} chains were looked at for `transitive`."
            yield _general("ontology-pair", "info", message)
    for one in judged:
        yield _of_rows(table, one.rows, one.code, _severity(declared, one.check), about + one.messages)
    yield from _properties(about, declared, table, extents)


def _properties(
    about: str, declared: RelationshipClass, table: RelationshipTable, extents: Extents
) -> Iterator[pl.DataFrame]:
    """Violations of the contract of a relationship type, and of the contracts by class of the source."""
    sources = table.sources.astype(np.int64)
    rows = np.arange(len(sources), dtype=np.int64)
    contracts = [(declared.contract, rows)]
    contracts += [(one, rows[extents.have(sources, source)]) for source, one in declared.by_source.items()]
    for contract, judged in contracts:
        if contract.is_empty or not len(judged):
            continue
        for broken in broken_properties(contract, table.columns, judged, "relationship"):
            kept = _not_exempt(broken, declared, sources, extents)
            messages = about + broken.messages.filter(pl.Series(kept))
            severity = _severity(declared, broken.check)
            yield _of_rows(table, broken.ids[kept], broken.code, severity, messages)
        yield from _absent(about, contract, table.columns, judged)


def _not_exempt(broken: Broken, declared: RelationshipClass, sources: Ids, extents: Extents) -> Flags:
    exempt = declared.exempt.get(broken.check)
    if not exempt:
        return np.ones(len(broken.ids), dtype=np.bool_)
    return ~extents.have(sources[broken.ids], *exempt)


def _absent(about: str, contract: Contract, columns: Mapping[str, Column], ids: Ids) -> Iterator[pl.DataFrame]:
    for key in absent_keys(contract, columns, ids):
        yield _general("unused-rule", "info", f"{about}nothing has the property '{clipped(key)}'. Check the spelling.")


def _provisional(graph: Graph) -> Flags:
    """Node by node, whether it is only named by links."""
    return present(graph.node_columns.get("_provisional"), np.arange(graph.node_count, dtype=np.int64))


def _severity(declared: Class | RelationshipClass, check: str) -> str:
    return "info" if declared.overrides.get(check, declared.enforcement) == "advisory" else "warning"


def _of_rows(table: RelationshipTable, rows: Ids, code: str, severity: str, messages: pl.Series | str) -> pl.DataFrame:
    """Problems of relationships: at their source, in the line that states them."""
    lines = integers_of(table.columns.get("line"), rows)
    return _frame(table.sources[rows].astype(np.int64), lines, code, severity, messages)


def _frame(nodes: Ids, lines: pl.Series | None, code: str, severity: str, messages: pl.Series | str) -> pl.DataFrame:
    count = len(nodes)
    columns = {
        "node": nodes,
        "line": pl.repeat(None, count, dtype=pl.Int64, eager=True) if lines is None else lines,
        "code": pl.repeat(code, count, eager=True),
        "severity": pl.repeat(severity, count, eager=True),
        "message": pl.repeat(messages, count, eager=True) if isinstance(messages, str) else messages,
    }
    return pl.DataFrame(columns, schema=_FOUND)


def _general(code: str, severity: str, message: str) -> pl.DataFrame:
    """A problem of the vault's configuration."""
    return pl.DataFrame([(None, None, code, severity, message)], schema=_FOUND, orient="row")


def _placed(graph: Graph, found: pl.DataFrame) -> pl.DataFrame:
    """Nodes as paths, and lines of parts of notes where a row has none."""
    nodes = found["node"].drop_nulls().unique().sort()
    ids = nodes.to_numpy().astype(np.int64)
    places = pl.DataFrame({"node": nodes, "path": node_places(graph, ids), "begin": node_lines(graph, ids)})
    placed = found.join(places, on="node", how="left", maintain_order="left")
    return placed.select(
        pl.col("path").fill_null(VAULT_FILE),
        pl.coalesce("line", "begin").cast(pl.Int32).alias("line"),
        "code",
        "severity",
        "message",
    )
