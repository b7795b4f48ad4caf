"""What a vault's configuration declares and the graph has nothing of: rules that do nothing, and violations.

Called at the end of a build, on the finished Graph; costs nothing where nothing is declared. A rule without effect is
often a typing error, and never a reason to refuse a vault.
"""

from collections.abc import Iterator, Mapping
from typing import Final

import numpy as np
import polars as pl

from vaultgraph.graph.graph import Graph, ranges_of_label
from vaultgraph.graph.ontology import violations
from vaultgraph.graph.ontology_properties import present
from vaultgraph.graph.problems import PROBLEMS
from vaultgraph.profile.settings import Profile
from vaultgraph.profile.vault_yaml import VAULT_FILE

UNUSED: Final = "unused-rule"


def unmet(graph: Graph, profile: Profile) -> list[pl.DataFrame]:
    """Rows of PROBLEMS about what ``profile`` declares; no frame where it declares nothing of the kind."""
    rows = [(VAULT_FILE, None, UNUSED, severity, message) for severity, message in _unused(graph, profile)]
    frames = [pl.DataFrame(rows, schema=PROBLEMS, orient="row")] if rows else []
    return [*frames, violations(graph, profile)] if profile.ontology else frames


def _unused(graph: Graph, profile: Profile) -> Iterator[tuple[str, str]]:
    """(severity, message) of every rule without effect."""
    for _, key in _lacking(graph, {profile.note_label: tuple(profile.hubs)}):
        yield "warning", f"hubs.{key}: no note has this property. Check the spelling."
    for prefix, rule in profile.tag_labels.items():
        if rule.edge not in graph.relationships:
            yield "warning", f"tag_labels.{prefix}/*: no note has a tag below this prefix. Check the spelling."
    for heading, name in profile.heading_edges.items():
        if name not in graph.relationships:
            yield "warning", f"heading_edges.{heading}: no link is below such a heading. Check the spelling."
    for name in profile.edge_tables:
        if name not in graph.relationships:
            yield "warning", f"export.edge_tables.{name}: there is no relationship of this type. Check the spelling."
    for name, values in profile.edge_defaults.items():
        if values and name not in graph.relationships:
            yield "warning", f"edge_defaults.{name}: there is no relationship of this type. Check the spelling."
    for label, key in _lacking(graph, profile.indexes):
        yield "warning", f"indexes.{label}: no node with this label has the property '{key}'. Check the spelling."
    for label, key in _lacking(graph, {label: tuple(types) for label, types in profile.types.items()}):
        table = graph.relationships.get(label)  # a type of table rows is declared by the same key
        if table is None or key not in table.columns:
            yield "info", f"types.{label}.{key}: no node with this label has the property. Check the spelling."


def _lacking(graph: Graph, declared: Mapping[str, tuple[str, ...]]) -> Iterator[tuple[str, str]]:
    """(label, key) where no node of the label has a value of the property."""
    for label, keys in declared.items():
        spans = [np.arange(first, stop, dtype=np.int64) for first, stop in ranges_of_label(graph, label)]
        nodes = np.concatenate(spans) if spans else np.zeros(0, dtype=np.int64)
        for key in keys:
            if not present(graph.node_columns.get(key), nodes).any():
                yield label, key
