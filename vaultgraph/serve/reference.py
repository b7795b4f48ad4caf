"""A short reference of the queries this server runs, by topic; function lists come from the engine's own registry.

A topic may also be the name of one function or aggregate. Says nothing about a particular vault.
"""

import re
from collections.abc import Sequence
from typing import Final

from vaultgraph.cypher.functions import registry
from vaultgraph.cypher.functions.aggregates import AGGREGATES
from vaultgraph.errors import ParameterError
from vaultgraph.serve.parameters import nearest

_TOPICS: Final = {
    "graph": """\
Every note is a node (:Note) with a second, more specific label where it has one (its `type:`, else its top folder).
Always there: path, title, id, stem, folder, body, size_bytes, mtime. Every frontmatter key is a property, typed.
Dotted keys and odd names need backticks: n.`depth.min`. Other labels: Image, Attachment, Folder, Tag, Source, and
Concept for link targets without a note (_provisional: true).
Links are [:LINKS_TO {section, anchor, display, line, count}], embeds [:EMBEDS], [:HAS_IMAGE {alt, width, height}],
[:HAS_ATTACHMENT], [:TAGGED], [:CONTAINS] folder → note, [:CHILD_OF], [:LINKS_OUT] to a Source; a wikilink in the
property `my key:` is [:MY_KEY]. The way from a note to its picture: (n)-[:HAS_IMAGE]->(i:Image) RETURN i.path,
then fetch_images([path]).""",
    "clauses": """\
MATCH, OPTIONAL MATCH, WHERE, WITH, RETURN [DISTINCT], ORDER BY … [DESC], SKIP or OFFSET, LIMIT, UNWIND list AS x,
UNION [ALL], CALL procedure(…) YIELD …, CALL (n) { MATCH (n)-->(m) RETURN m LIMIT 3 }: for each row,
sees the variables named (CALL (*) all); OPTIONAL CALL keeps rows without an answer.
Before a query EXPLAIN: its plan; PROFILE: with rows and ms of each operator. After it FORMAT CSV. One statement;
no CREATE, SET, DELETE, MERGE: notes change by editing their files.""",
    "patterns": """\
(n:Label {key: value}) · (n:A|B) · (n:A&!B) · (n:%) any label · -[r:TYPE]-> <-[:A|B]- -[:!A]- -[r]-
Several hops -[:T*1..3]-> or -[:T]->{1,3}, -[:T]->+ · p = (a)-->(b) names a path · shortestPath((a)-[*..5]->(b))
(n WHERE n.x > 1)-[r WHERE r.line < 9]->(m) · several patterns: MATCH (a)-->(b), (b)-->(c)
As a condition: WHERE (n)-->(:Tag), NOT (n)-[:LINKS_TO]->(), EXISTS { (n)-->(m) WHERE … }, COUNT { (n)-->() } > 3
EXISTS, COUNT and COLLECT { MATCH … WITH … RETURN x ORDER BY x LIMIT 3 } hold whole queries, too.
Labels and types are case-sensitive; a name with spaces or signs needs backticks: (n:`My Label`).""",
    "operators": """\
+ - * / % ^ · = <> < <= > >= (chains: 1 < x <= 5) · AND OR XOR NOT · IN · IS NULL, IS NOT NULL · || joins
STARTS WITH, ENDS WITH, CONTAINS · =~ 'regex' matches the whole text; (?i) ignores case
A comparison with null is null, which WHERE drops. list[0], list[-1], list[1..3], map.key, map['key'], n['key']""",
    "expressions": """\
CASE WHEN c THEN a ELSE b END · CASE x WHEN 1 THEN … END · [x IN list WHERE p | e] · any/all/none/single(x IN list
WHERE p) · reduce(acc = 0, x IN list | acc + x) · [(n)-->(m) | m.title] · n {.title, .path, .*, key: value} ·
$parameter""",
    "values": """\
STRING, INTEGER, FLOAT, BOOLEAN, LIST, MAP, DATE, LOCAL DATETIME, ZONED DATETIME, LOCAL TIME, ZONED TIME, DURATION,
NODE, RELATIONSHIP, PATH, NULL. Notes' datetimes with an offset are kept in UTC. A property may hold another type in
another note: valueType(n.key) tells. Dates: n.due < date(), date('2026-05-01') + duration('P7D'), n.created.year,
date.truncate('month', n.date), datetime('2026-05-01T09:00[Europe/Berlin]'), time('09:30+02:00').""",
    "procedures": """\
CALL vault.problems() YIELD path, line, code, severity, message: what the last build found faulty.
CALL vault.headings() YIELD path, line, level, text: the headings of all notes; vault.outline(path): those of one.
CALL vault.links() YIELD path, line, target, anchor, display, is_embed, section, property: links as they are written.
CALL vault.orphans() YIELD path, title: notes nothing links to. CALL vault.unresolved() YIELD target, path, line.
CALL db.labels(), db.relationshipTypes(), db.propertyKeys(), db.indexes(), db.schema.nodeTypeProperties(),
db.schema.relTypeProperties(), dbms.functions(), dbms.procedures(); SHOW PROCEDURES lists them with signatures.
CALL algo.pagerank({labels: 'Note', types: 'LINKS_TO'}) YIELD node, score: of a part of the graph; algo.betweenness(…),
algo.closeness(…), algo.communities(…), algo.components(…), algo.coreness(…), algo.degree(…), algo.triangles(…)
likewise; algo.shortestPaths({source: n, target: m}) YIELD node, distance, path.
Always with YIELD when more clauses follow.""",
    "examples": """\
Backlinks: MATCH (n:Note)-[r:LINKS_TO]->(m {path: 'A.md'}) RETURN n.path, r.line
Orphans: MATCH (n:Note) WHERE NOT EXISTS { (n)<-[r]-(m) WHERE r.line IS NOT NULL AND m <> n } RETURN n.path LIMIT 20
Outline: CALL vault.outline('A.md') YIELD line, level, text RETURN level, text, line
Tag counts: MATCH (n:Note)-[:TAGGED]->(t:Tag) RETURN t.title, count(n) AS notes ORDER BY notes DESC LIMIT 10
Dangling links: MATCH (n)-[r:LINKS_TO]->(c:Concept) WHERE c._provisional RETURN n.path, r.line, c.title
Text: MATCH (n:Note) WHERE toLower(n.body) CONTAINS 'tide' RETURN n.path LIMIT 10 (grep is quicker for lines)""",
}
TOPICS: Final = (*_TOPICS, "functions", "aggregates")
DOCUMENTING: Final = ("clauses", "patterns", "operators", "expressions", "values", "procedures", "graph")
_KEYWORD: Final = re.compile(r"\b[A-Z_]{2,}\b|\b[\w.]+(?=[({/])|(?<=/)\w+")
"""What a topic documents: words in capitals, and names before a bracket or in a list such as any/all."""


def reference_text(topics: Sequence[str] | None) -> str:
    """The reference of the given topics, of all of them for None.

    Raises:
        ParameterError: an unknown topic; the message names the nearest and lists them.
    """
    return "\n\n".join(_topic(topic) for topic in (TOPICS if topics is None else topics))


def _topic(name: str) -> str:
    key = name.strip().casefold()
    one = registry.find(key)
    if key not in TOPICS and one is not None:
        return one.signature
    topic = key if key in TOPICS else "aggregates" if key in AGGREGATES else _topic_with(key)
    match topic:
        case None:
            raise _unknown(name)
        case "functions":
            text = "\n".join(_signatures())
        case "aggregates":
            text = "count(*)\n" + "\n".join(one.signature for one in AGGREGATES.values())
        case _:
            text = _TOPICS[topic]
    return f"{topic.upper()}\n{text}"


def _topic_with(word: str) -> str | None:
    """The topic that documents a keyword, a sign, a procedure or a name such as `reduce`; None where none does."""
    for topic in DOCUMENTING:
        text = _TOPICS[topic]
        words = {found[0].casefold() for found in _KEYWORD.finditer(text)}
        words |= {sign for sign in text.split() if not any(map(str.isalnum, sign))}
        if word and words.issuperset(word.split()):
            return topic
    return None


def _signatures() -> list[str]:
    return [one.signature for one in map(registry.find, registry.names()) if one is not None]


def _unknown(name: str) -> ParameterError:
    close = nearest(name, [*TOPICS, *registry.names(), *AGGREGATES])
    advice = f" Did you mean `{close}`?" if close else ""
    return ParameterError(
        f"There is no topic `{name}`.{advice} Topics: {', '.join(TOPICS)}; a function name works too.",
        {"name": "cypher", "reason": "unknown", "nearest": close},
    )
