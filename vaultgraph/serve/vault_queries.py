"""Obsidian's commands as Cypher queries: the text of each, and of its form for vaults with nodes for parts of notes.

Run by `links` and by the command line, and shown in docs/queries.md, which a test keeps equal. ``$path`` is the path of
a note.
"""

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from vaultgraph.graph.graph import Graph

NOTE: Final = "(n:Note)"
"""How a query asks for notes; a vault that renames the label replaces it."""

QUERIES: Final[dict[str, str]] = {
    "links": """\
MATCH (n {path: $path})-[r]->(m)
WHERE r.line IS NOT NULL AND (m.path IS NOT NULL OR m._provisional)
RETURN r.line AS line, type(r) AS type, coalesce(m.path, m.title) AS target, r.anchor AS anchor,
       coalesce(NOT (m._provisional OR m.missing), true) AS resolved
ORDER BY line, target, type, anchor""",
    "backlinks": """\
MATCH (n {path: $path})<-[r]-(m)
WHERE r.line IS NOT NULL
RETURN m.path AS path, r.line AS line, type(r) AS type, r.anchor AS anchor
ORDER BY path, line, type, anchor""",
    "unresolved": """\
MATCH (n)-[r]->(m)
WHERE r.line IS NOT NULL AND (m._provisional OR m.missing)
WITH m.title AS target, coalesce(r.count, 1) AS times, n.path + ':' + r.line AS source
ORDER BY source
RETURN target, sum(times) AS links, collect(DISTINCT source) AS sources
ORDER BY links DESC, target""",
    "orphans": """\
MATCH (n:Note)
WHERE NOT EXISTS { (n)<-[r]-(m) WHERE r.line IS NOT NULL AND m <> n }
RETURN n.path AS path
ORDER BY path""",
    "deadends": """\
MATCH (n:Note)
WHERE NOT EXISTS { (n)-[r]->(m) WHERE r.line IS NOT NULL AND (m.path IS NOT NULL OR m._provisional) }
RETURN n.path AS path
ORDER BY path""",
    "outline": """\
CALL vault.headings() YIELD path, line, level, text
WHERE path = $path
RETURN level, text, line
ORDER BY line""",
    "tags": """\
MATCH (n)-[:TAGGED]->(t)
RETURN '#' + t.title AS tag, count(DISTINCT n) AS notes
ORDER BY notes DESC, tag""",
    "tags of a note": """\
MATCH (n {path: $path})-[r:TAGGED]->(t)
RETURN '#' + t.title AS tag, r.line AS line
ORDER BY line, tag""",
}
"""The queries by command."""

WITH_PARTS: Final[dict[str, str]] = {
    "links": """\
MATCH (n {path: $path})-[r]->(m)
WHERE r.line IS NOT NULL AND (m.path IS NOT NULL OR m.note_id IS NOT NULL OR m._provisional)
OPTIONAL MATCH (whole {id: m.note_id}) WHERE whole.file_path IS NOT NULL
RETURN r.line AS line, type(r) AS type, coalesce(whole.file_path, m.file_path, m.id) AS target, r.anchor AS anchor,
       coalesce(NOT (m._provisional OR m.missing), true) AS resolved
ORDER BY line, target, type, anchor""",
    "backlinks": """\
MATCH (n {path: $path})
MATCH (part) WHERE part = n OR part.note_id = n.id
MATCH (part)<-[r]-(m)
WHERE r.line IS NOT NULL
RETURN m.path AS path, r.line AS line, type(r) AS type, r.anchor AS anchor
ORDER BY path, line, type, anchor""",
    "orphans": """\
MATCH (part)<-[r]-(m)
WHERE part.note_id <> m.id AND r.line IS NOT NULL
WITH collect(DISTINCT part.note_id) AS linked
MATCH (n:Note)
WHERE NOT n.id IN linked AND NOT EXISTS { (n)<-[r]-(m) WHERE r.line IS NOT NULL AND m <> n }
RETURN n.path AS path
ORDER BY path""",
    "deadends": """\
MATCH (n:Note)
WHERE NOT EXISTS {
  (n)-[r]->(m) WHERE r.line IS NOT NULL AND (m.path IS NOT NULL OR m.note_id IS NOT NULL OR m._provisional)
}
RETURN n.path AS path
ORDER BY path""",
}
"""For graphs in which links lead to sections and other parts of notes (they have the property `note_id`)."""

WITH_ROWS: Final[dict[str, str]] = {
    "unresolved": """\
MATCH (n)-[r]->(m)
WHERE r.line IS NOT NULL AND (m._provisional OR m.missing)
WITH m.title AS target, n.path + ':' + r.line AS source,
     sum(CASE WHEN r.row IS NULL THEN coalesce(r.count, 1) ELSE 0 END) AS written, count(r.row) AS rows
ORDER BY source
RETURN target, sum(CASE WHEN written > 0 THEN written ELSE rows END) AS links, collect(source) AS sources
ORDER BY links DESC, target""",
}
"""For graphs in which rows of tables make relationships (with the property `row`): a link in a cell counts once."""


def query_of(name: str, graph: "Graph") -> str:
    """The text of the query ``name`` in its form for ``graph``."""
    text = WITH_PARTS.get(name, QUERIES[name]) if "note_id" in graph.node_columns else QUERIES[name]
    if any("row" in table.columns for table in graph.relationships.values()):
        text = WITH_ROWS.get(name, text)
    return text


def of_several(text: str) -> str:
    """A query about the note ``$path`` as one about all notes ``$paths``; the first column says of which a row is."""
    asked = text.replace("{path: $path}", "{path: asked}").replace("RETURN ", "RETURN asked AS of, ", 1)
    return f"UNWIND $paths AS asked\n{asked}"
