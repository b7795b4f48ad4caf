"""A graph and its records as a vault of notes that builds the same graph.

Notes come from records, what only the graph has from its properties; whatever relationship the text does not state is
then written into the note it starts from. What was planned is read, built and held against the source: the rest is
lost, and reported. Nothing is written here (`owned`), and the source is not touched.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import polars as pl

from vaultgraph.errors import ExportError, ProfileError
from vaultgraph.export.compare import as_losses, differences
from vaultgraph.export.graph_notes import Places, graph_notes, places_of, relationship_additions
from vaultgraph.export.identity import missing_triples, node_keys
from vaultgraph.export.notes import Additions, written_notes
from vaultgraph.export.originals import Originals, copied_files, originals_of, stamps_of
from vaultgraph.export.plan import CONFIGURATION_FOLDER, Content, Loss, Plan, check_targets
from vaultgraph.export.rules import checked_configuration, profile_of, with_table_rules
from vaultgraph.files.root import VaultRoot
from vaultgraph.files.stamps import is_canvas, is_note
from vaultgraph.files.walk import SkipRule, skip_rule
from vaultgraph.graph.build import build_graph
from vaultgraph.graph.graph import Graph
from vaultgraph.note.read import read_notes
from vaultgraph.note.records import RecordTable, concat_records, content_hash, merge_records, without_paths
from vaultgraph.profile.settings import Profile

FORM: Final = "vault"
_BATCH_BYTES: Final = 8_000_000


@dataclass(frozen=True, slots=True)
class Source:
    """What is exported. ``root``: the folder the notes were read from, None where it is not at hand."""

    records: RecordTable
    graph: Graph
    configuration: Mapping[str, str]
    root: VaultRoot | None = None


def plan_vault(source: Source, tables: Mapping[str, str] | None = None) -> Plan:
    """The files of a vault that builds ``source.graph``; ``tables``: relationship types to write as tables, with the
    heading of each, beside those of the configuration's `export.edge_tables`.

    Raises:
        ExportError: the source names a path that no vault has.
        ProfileError: its configuration is refused.
        BuildError: the source folder cannot be read.
    """
    profile = profile_of(source.configuration)
    configured = checked_configuration(source.configuration)
    check_targets(source.records.notes["path"].to_list())
    originals = originals_of(source.root, source.records, source.graph, profile)
    losses: list[Loss] = []
    copied = copied_files(originals, source.graph, losses)
    read = set(source.records.notes["path"].to_list())
    kept = {path: content for path, content in copied.items() if path not in read}
    notes = written_notes(source.records, originals.read, {})
    losses += notes.losses
    stated = build_graph(source.records, originals.stamps, profile).graph
    lonely = _lonely(source.graph, stated)
    taken = [*kept, *notes.files]
    places = places_of(source.graph, lonely, taken, profile.note_label)
    alone = [node for node in lonely if node in places.notes and places.notes[node] not in notes.files]
    files: dict[str, bytes] = dict(notes.files)
    keys = dict(notes.keys)
    for path, data, found in graph_notes(source.graph, alone, places, profile, {}):
        files[path], keys[path] = data, found
    check_targets([*files, *kept])
    wanted = {**profile.edge_tables, **(tables or {})}
    configuration = dict(source.configuration)
    placed = {node: places.notes[node] for node in lonely if node in places.notes}
    draft = _Draft(source, originals, profile, places, alone)
    built, records = _rebuilt(source, files, kept, configuration, None)
    missing = missing_triples(source.graph, placed, stated, built)
    if missing.height:
        additions, used = relationship_additions(source.graph, missing, places, keys, wanted)
        configuration = with_table_rules(configuration, profile, used)
        files |= _added_to(draft, additions)
        built, _ = _rebuilt(source, files, kept, configuration, records)
    configured |= checked_configuration(configuration)
    losses += [Loss(kind, what) for kind, what in as_losses(differences(source.graph, built, placed))]
    return Plan(FORM, {**kept, **files, **configured}, losses)


@dataclass(frozen=True, slots=True)
class _Draft:
    """What is needed to write a note again."""

    source: Source
    originals: Originals
    profile: Profile
    places: Places
    alone: list[int]


def _added_to(draft: _Draft, additions: Mapping[str, Additions]) -> dict[str, bytes]:
    """The notes that are given something, written anew."""
    files = written_notes(draft.source.records, draft.originals.read, additions, frozenset(additions)).files
    again = [node for node in draft.alone if draft.places.notes[node] in additions]
    written = graph_notes(draft.source.graph, again, draft.places, draft.profile, additions)
    return {**files, **{path: data for path, data, _ in written}}


def _lonely(graph: Graph, stated: Graph) -> list[int]:
    """The nodes that the records do not make."""
    keys = node_keys(graph)
    return (~keys.is_in(node_keys(stated).implode())).arg_true().to_list()


def _rebuilt(
    source: Source,
    files: Mapping[str, bytes],
    kept: Mapping[str, Content],
    configuration: Mapping[str, str],
    before: RecordTable | None,
) -> tuple[Graph, RecordTable]:
    """The graph that the planned files make; ``before``: records of an earlier draft.

    What did not change is not read again: equal bytes read by equal rules give equal records.
    """
    try:
        profile = profile_of(configuration)
    except ProfileError as reason:
        raise ExportError(
            f"The configuration cannot be written with the table rules added: {reason.message}"
        ) from reason
    rule = skip_rule(profile.skip_dirs)
    files = {path: data for path, data in files.items() if not _is_skipped(rule, path)}
    is_same = profile.reading == profile_of(source.configuration).reading
    known = (before or source.records) if is_same else None
    records = _read_again(files, profile, known)
    copied = [(p, 0) for p in kept if not p.startswith(CONFIGURATION_FOLDER) and not _is_skipped(rule, p)]
    stamps = stamps_of([*((path, len(data)) for path, data in files.items()), *copied])
    return build_graph(records, stamps, profile).graph, records


def _is_skipped(rule: SkipRule, path: str) -> bool:
    """Whether a folder on the way to ``path`` is one that is not read."""
    if not rule.names and not rule.paths:
        return False
    parts = path.split("/")[:-1]
    return any(rule.holds("/".join(parts[: at + 1]), name) for at, name in enumerate(parts))


def _read_again(files: Mapping[str, bytes], profile: Profile, known: RecordTable | None) -> RecordTable:
    hashes = dict(zip(known.notes["path"], known.notes["hash"], strict=True)) if known else {}
    readable = {p: data for p, data in files.items() if is_note(p) or (profile.canvas and is_canvas(p))}
    changed = sorted(path for path, data in readable.items() if hashes.get(path) != content_hash(data))
    parts: list[RecordTable] = []
    first, size = 0, 0
    for at, path in enumerate([*changed, None]):
        if at > first and (path is None or size > _BATCH_BYTES):
            batch = changed[first:at]
            parts.append(read_notes(batch, [readable[name] for name in batch], profile.reading))
            first, size = at, 0
        size += len(readable[path]) if path else 0
    fresh = concat_records(parts)
    if known is None:
        return fresh
    stale = without_paths(known, known.notes.filter(~pl.col("path").is_in(list(readable)))["path"].to_list())
    return merge_records(stale, fresh) if fresh.notes.height else stale
