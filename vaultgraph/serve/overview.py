"""The first answer a caller needs: what is in the graph, how fresh it is, and how to look closer.

Text within a small budget at any size of vault; the details of labels and relationship types are in overview_detail.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

from vaultgraph.graph.schema import Schema
from vaultgraph.serve.cells import compact_json, counted, one_line
from vaultgraph.serve.overview_ontology import ontology_line
from vaultgraph.serve.payload import wire_bytes
from vaultgraph.serve.problems import problem_summary
from vaultgraph.vault.snapshot import Snapshot

LABEL_BYTES: Final = 1000  # with TYPE_BYTES: the whole stays under 4 KB
TYPE_BYTES: Final = 1700
PAIRS_SHOWN: Final = 3
NO_LABEL: Final = "(none)"


def overview_text(name: str, snapshot: Snapshot, now: datetime) -> str:
    """The bare overview: name and freshness, labels, relationship types with their ends, problems, next steps."""
    report, note = snapshot.report, shown_name(snapshot.profile.note_label)
    counts = [(report.notes, "note"), (report.nodes, "node"), (report.relationships, "relationship")]
    labels = [f"{shown_name(label)} {count:,}" for label, count in report.labels.items()]
    types = [_type_line(snapshot.schema, name, count) for name, count in report.types.items()]
    example = one_line(compact_json([_cut(_example_label(snapshot), 30)]))
    lines = [
        f"{_short(name)} · {', '.join(counted(count, noun) for count, noun in counts)}",
        freshness(snapshot, now),
        "",
        "Labels (nodes):",
        _capped(labels, " · ", LABEL_BYTES, 'ask types:["…"]'),
        "",
        "Relationship types (count: from → to):",
        _capped(types, "\n", TYPE_BYTES, "ask connections:true"),
        "",
        *([declared] if (declared := ontology_line(snapshot)) else []),
        *([interval] if (interval := _valid_time_line(snapshot)) else []),
        f"Problems: {problem_summary(report.problems)}" + ("" if report.problems.is_empty() else " (problems:true)"),
        f"Closer: types:{example} properties · connections:true · cypher:true what queries can do",
        f"Example query: MATCH (n:{note})-[r:LINKS_TO]->(m) RETURN m.path, count(r) AS links ORDER BY links DESC",
    ]
    return "\n".join(lines)


def _valid_time_line(snapshot: Snapshot) -> str:
    """What is answered as of a day, where the vault declares it; the counts above are of all times."""
    declared = snapshot.profile.valid_time
    names = _capped([*map(one_line, (*declared.labels, *declared.types))], ", ", 200, "see .kglite/vaultgraph.yaml")
    return f"Valid time: {names} are answered as of a day (valid_at); counts here are of all times" if declared else ""


def freshness(snapshot: Snapshot, now: datetime) -> str:
    """The generation, its age, and "fresh", "stale since …" or that nobody looks for edits."""
    age_s = max(0, int((now.astimezone(UTC) - snapshot.built_at).total_seconds()))
    age = f"{age_s} s" if age_s < 120 else f"{age_s // 60} min" if age_s < 7200 else f"{age_s // 3600} h"
    followed = "not watched: later edits show after rebuild_graph" if snapshot.watch == "off" else "fresh"
    state = one_line(f"stale {snapshot.stale}") if snapshot.stale else followed
    return f"gen {snapshot.generation} · built {snapshot.built_at:%Y-%m-%dT%H:%M:%SZ} ({age} ago) · {state}"


def endpoint_pairs(schema: Schema, type_name: str) -> list[tuple[str, str, int]]:
    """(label of the source, label of the target, count) of a type, most first; the label is the first a node shows."""
    return [(ends.source or NO_LABEL, ends.target or NO_LABEL, ends.count) for ends in schema.endpoints(type_name)]


def quoted(name: str) -> str:
    """A label or type as it is written in a query: in backticks where it needs them."""
    return name if name.isidentifier() else f"`{name.replace('`', '``')}`"


def shown_name(name: str) -> str:
    """A label, type or key in a line of text: as in a query, but for what would break the line or act on a terminal."""
    return one_line(quoted(name))


def _example_label(snapshot: Snapshot) -> str:
    """The most frequent label that only some notes have; the label of all notes where there is none."""
    note_label = snapshot.profile.note_label
    of_notes = {label for group in snapshot.graph.groups if note_label in group.labels for label in group.labels}
    return next((name for name in snapshot.report.labels if name in of_notes and name != note_label), note_label)


def _type_line(schema: Schema, type_name: str, count: int) -> str:
    pairs = endpoint_pairs(schema, type_name)
    shown = ", ".join(f"{_short(source)} → {_short(target)}" for source, target, _ in pairs[:PAIRS_SHOWN])
    more = f", +{len(pairs) - PAIRS_SHOWN} more" if len(pairs) > PAIRS_SHOWN else ""
    return f"{shown_name(type_name)} {count:,}: {shown}{more}"


def _capped(items: Sequence[str], separator: str, most_bytes: int, advice: str) -> str:
    """The first items within ``most_bytes``, then how many more there are and how to ask for them."""
    shown: list[str] = []
    used = 0
    for item in items:
        used += wire_bytes(item) + len(separator) + 1
        if used > most_bytes:
            shown.append(f"+{len(items) - len(shown):,} more, {advice}")
            break
        shown.append(item)
    return separator.join(shown) or "none"


def _short(name: str, most_chars: int = 60) -> str:
    return _cut(one_line(name), most_chars)


def _cut(text: str, most_chars: int) -> str:
    return text if len(text) <= most_chars else text[: most_chars - 1] + "…"
