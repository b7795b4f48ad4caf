"""The one table of operations: names, what they say of themselves, their parameters, and what runs them.

Transports print this table and dispatch looks calls up in it; a new capability is a new row. Order is the order callers
see. Descriptions are short on purpose: all of them travel with every session. What few sessions begin with is imported
by its first call.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from vaultgraph.frozen import frozen
from vaultgraph.serve import guidance_skills, queries, recipes
from vaultgraph.serve.answers import Answer
from vaultgraph.serve.payload import RESPONSE_SCHEMA
from vaultgraph.serve.session import Call

MOST_DEPTH: Final = 4  # steps outward of `links`

Properties = Mapping[str, Mapping[str, Any]]


@frozen
class Operation:
    """``parameters`` is a closed JSON Schema. ``is_read_only``: it changes nothing a caller could see changed.

    ``output``: a JSON Schema of the structure of its answers, where they always have one.
    ``checks_itself``: its arguments come as they were given, and it tells what is wrong with them.
    ``is_quick``: it never waits for a query or the disk, so that it may run while all workers are busy.
    """

    name: str
    title: str
    description: str
    parameters: Mapping[str, Any]
    run: Callable[[Call], Answer]
    is_read_only: bool = True
    is_quick: bool = False
    checks_itself: bool = False
    output: Mapping[str, Any] | None = None


def _text(description: str = "") -> dict[str, Any]:
    return {"type": "string", "description": description} if description else {"type": "string"}


def _whole(description: str = "", minimum: int = 0) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "integer", "minimum": minimum}
    return {**schema, "description": description} if description else schema


def _flag(description: str = "") -> dict[str, Any]:
    return {"type": "boolean", "description": description} if description else {"type": "boolean"}


def _texts(description: str = "", **more: Any) -> dict[str, Any]:
    schema = {"type": "array", "items": {"type": "string"}, **more}
    return {**schema, "description": description} if description else schema


def _texts_or_flag(description: str) -> dict[str, Any]:
    return {"type": ["boolean", "array"], "items": {"type": "string"}, "description": description}


def _closed(properties: Properties, *required: str, has_budget: bool = True) -> dict[str, Any]:
    everything = {**properties, "_response": RESPONSE_SCHEMA} if has_budget else dict(properties)
    schema: dict[str, Any] = {"type": "object", "properties": everything, "additionalProperties": False}
    return {**schema, "required": list(required)} if required else schema


def links(call: Call) -> Answer:
    """What a note links to and what links to it: see serve/links."""
    from vaultgraph.serve import links  # noqa: PLC0415 -- by its first call

    return links.links(call)


def read_source(call: Call) -> Answer:
    """A file or part of one: see serve/sources."""
    from vaultgraph.serve import sources  # noqa: PLC0415 -- by its first call

    return sources.read_source(call)


def grep(call: Call) -> Answer:
    """Lines that match: see serve/sources."""
    from vaultgraph.serve import sources  # noqa: PLC0415 -- by its first call

    return sources.grep(call)


def list_source(call: Call) -> Answer:
    """The tree of a folder: see serve/sources."""
    from vaultgraph.serve import sources  # noqa: PLC0415 -- by its first call

    return sources.list_source(call)


def fetch_images(call: Call) -> Answer:
    """Pictures: see serve/images."""
    from vaultgraph.serve import images  # noqa: PLC0415 -- by its first call

    return images.fetch_images(call)


_TABLE: Final = (
    Operation(
        "graph_overview",
        "Graph overview",
        "Start here: labels, relationship types, freshness and problems of the vault's graph. Ask for details with "
        "the arguments.",
        _closed(
            {
                "types": _texts("labels: their properties, coverage, samples"),
                "connections": _texts_or_flag("relationship types, or true for all: ends, properties, samples"),
                "cypher": _texts_or_flag("query reference by topic or function name, or true for all"),
                "problems": _flag("list what the last build found faulty, by path and line"),
            }
        ),
        queries.graph_overview,
    ),
    Operation(
        "cypher_query",
        "Cypher query",
        "Run a read-only Cypher query on the graph of the notes, e.g. MATCH (n:Note)-[:LINKS_TO]->(m) RETURN n.path, "
        "m.title LIMIT 10. Rows come as a header and tab-separated lines. Every note is (:Note {path, title, body, "
        "…frontmatter}).",
        _closed(
            {
                "query": _text(),
                "params": {"type": "object", "description": "values of $parameters"},
                "timeout_ms": _whole("default 180000; 0 = none"),
                "format": {"type": "string", "enum": ["text", "json", "csv"]},
                "valid_at": _text("day to answer as of, today or all; where valid time is declared"),
            },
            "query",
        ),
        queries.cypher_query,
    ),
    # search takes its place here
    Operation(
        "links",
        "Links of a note",
        "What a note links to (out), what links to it (in) and what is linked to and not there (unresolved), with path "
        "and line.",
        _closed(
            {
                "note": _text("path, id, title or alias"),
                "direction": {"type": "string", "enum": ["both", "out", "in"]},
                "depth": {**_whole("2: also the links of the notes found; default 1", 1), "maximum": MOST_DEPTH},
            },
            "note",
        ),
        links,
    ),
    Operation(
        "read_source",
        "Read a file",
        "Read a note or another text file by vault-relative path (a note also by title, alias or [[link]]). "
        "Long files answer their outline and first part.",
        _closed(
            {
                "file_path": _text(),
                "start_line": _whole("first line, from 1", 1),
                "end_line": _whole("last line, inclusive", 1),
                "grep": _text("regex: only matching lines with context"),
                "grep_context": _whole("lines around a match, default 2"),
                "max_matches": _whole("of grep", 1),
                "max_chars": _whole("", 1),
                "heading": _text("only the section under this heading"),
            },
            "file_path",
        ),
        read_source,
    ),
    Operation(
        "grep",
        "Search lines",
        "Find lines by regex in the vault's text files: path:line:text.",
        _closed(
            {
                "pattern": _text(),
                "glob": _text("e.g. *.md or Folder/**"),
                "context": _whole("lines around each match"),
                "max_results": _whole("default 50", 1),
                "case_insensitive": _flag(),
            },
            "pattern",
        ),
        grep,
    ),
    Operation(
        "list_source",
        "List files",
        "Tree of a folder of the vault.",
        _closed(
            {
                "path": _text("default: the vault"),
                "depth": _whole("default 1; with glob all", 1),
                "glob": _text("only matching files"),
                "dirs_only": _flag(),
            }
        ),
        list_source,
    ),
    Operation(
        "fetch_images",
        "Fetch images",
        "Images (png, jpeg, gif, webp) by vault-relative path or unique file name; at most 4 a call, 4 MiB each.",
        _closed(
            {
                "items": _texts("paths or file names", minItems=1),
                "max_bytes": _whole("refuse larger images", 1),
                "max_edge": _whole("scale down to this many pixels a side", 1),
            },
            "items",
            has_budget=False,
        ),
        fetch_images,
    ),
    Operation(
        "rebuild_graph",
        "Rebuild the graph",
        "Build the graph again from the notes and report what was found. Edits are followed without it.",
        _closed({}),
        queries.rebuild_graph,
        is_read_only=False,
    ),
    Operation(
        "reload_graph",
        "Reload the graph",
        "Read the saved graph again now. A changed file is followed without it.",
        _closed({}),
        queries.reload_graph,
        is_read_only=False,
    ),
    Operation(
        "ping",
        "Ping",
        "A sign of life: version, generation, freshness.",
        _closed({"message": _text("echoed")}, has_budget=False),
        queries.ping,
        is_quick=True,
    ),
    Operation(
        "list_recipe_queries",
        "List recipes",
        "Ready-made queries in groups; with a group named, its queries and their parameters.",
        recipes.LIST_PARAMETERS,
        recipes.list_recipe_queries,
        checks_itself=True,
        output=recipes.LIST_OUTPUT,
    ),
    Operation(
        "run_recipe_query",
        "Run a recipe",
        "Run a query of list_recipe_queries; at most 200 rows, as JSON.",
        recipes.RUN_PARAMETERS,
        recipes.run_recipe_query,
        checks_itself=True,
        output=recipes.RUN_OUTPUT,
    ),
    Operation(
        "skill",
        "Advice by name",
        "Advice to read before a kind of task, by name; without a name, what there is.",
        _closed({"name": _text()}),
        guidance_skills.skill,
    ),
    Operation(
        "expand_response",
        "More of an answer",
        "The next part of an answer that said there is more.",
        _closed({"result_id": _text(), "offset": _whole("default: after the last part given")}, "result_id"),
        queries.expand_response,
        is_quick=True,
    ),
)

OPERATIONS: Final[Mapping[str, Operation]] = MappingProxyType({operation.name: operation for operation in _TABLE})
"""Every operation by name, in the order callers see."""
