"""`tools:` of a manifest: read and checked at the start, and what a tool with a query does when it is called.

A query is parsed and bound while it is read, so that a tool that is offered can run. Arguments are held against the
tool's schema; what is not given is its default, or null where it is not required.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, cast

from vaultgraph.cypher.bind import bind
from vaultgraph.cypher.clauses import parse
from vaultgraph.errors import ParameterError, QueryError
from vaultgraph.profile.guidance import MOST_STATEMENT_CHARS, read_description, read_tool_name
from vaultgraph.profile.parameter_values import bind_values, schema_fault, value_issues
from vaultgraph.profile.statements import parameters_in, writing_word_in
from vaultgraph.profile.yaml_tree import Entry
from vaultgraph.serve.answers import Answer
from vaultgraph.serve.manifest import BundledTool, CypherTool
from vaultgraph.serve.manifest_reading import Reading
from vaultgraph.serve.operations import Operation
from vaultgraph.serve.parameters import check_arguments
from vaultgraph.serve.payload import RESPONSE_SCHEMA
from vaultgraph.serve.queries import answer_query
from vaultgraph.serve.session import Call
from vaultgraph.vault.valid_time import split_prefix

CYPHER_KEYS: Final = ("name", "description", "parameters", "cypher")
BUNDLED_KEYS: Final = ("bundled", "rename", "description", "hidden")
FIXED: Final = "expand_response"
MOST_TOOLS: Final = 100


def read_tools(reading: Reading, entry: Entry) -> tuple[CypherTool | BundledTool, ...]:
    """The tools of a manifest, in order.

    Raises:
        ProfileError: another shape, an unknown key or tool, a name that is no name, a query that cannot run.
    """
    items = entry.items("tools")
    if len(items) > MOST_TOOLS:
        entry.refuse(f"has {len(items)} tools; at most {MOST_TOOLS} are read.")
    tools = tuple(_tool(item) for item in items)
    if reading.mode == "files" and any(isinstance(tool, CypherTool) for tool in tools):
        reading.remark(entry, "has tools with queries, which have no effect without a graph")
        return tuple(tool for tool in tools if isinstance(tool, BundledTool))
    return tools


def _tool(entry: Entry) -> CypherTool | BundledTool:
    stated = entry.mapping()
    if "python" in stated or "function" in stated:
        entry.refuse("is a tool in Python, which is not run here. Write it as a query: `cypher:`.")
    if ("cypher" in stated) == ("bundled" in stated):
        entry.refuse("needs one of `cypher:` (a tool with a query) and `bundled:` (a built-in tool to change).")
    return _bundled(entry) if "bundled" in stated else _cypher(entry)


def _bundled(entry: Entry) -> BundledTool:
    stated = entry.stated(BUNDLED_KEYS)
    if "bundled" not in stated:
        entry.refuse("needs the name of a built-in tool in `bundled:`.")
    tool = BundledTool(
        bundled=stated["bundled"].text(),
        rename=read_tool_name(stated["rename"]) if "rename" in stated else None,
        description=read_description(stated["description"]) if "description" in stated else None,
        is_hidden="hidden" in stated and stated["hidden"].boolean(),
        entry=stated["bundled"],
    )
    if tool.bundled == FIXED and (tool.is_hidden or tool.rename):
        entry.refuse(f"cannot hide or rename `{FIXED}`: answers refer to it.")
    return tool


def _cypher(entry: Entry) -> CypherTool:
    stated = entry.stated(CYPHER_KEYS)
    for key in ("name", "cypher"):
        if key not in stated:
            entry.refuse(f"needs `{key}:`. Accepted here: {', '.join(CYPHER_KEYS)}.")
    query = read_query(stated["cypher"])
    return CypherTool(
        name=read_tool_name(stated["name"]),
        description=read_description(stated["description"])
        if "description" in stated
        else "A query of this server's own.",
        parameters=_parameters(entry, stated.get("parameters"), parameters_in(query)),
        cypher=query,
        entry=stated["name"],
    )


def read_query(entry: Entry) -> str:
    """A query that only reads and can be run.

    Raises:
        ProfileError: it writes, or is not right; the message has line and column within the query.
    """
    query = entry.text_within(MOST_STATEMENT_CHARS)
    if (word := writing_word_in(query)) is not None:
        entry.refuse(f"must only read: it holds {word}.")
    if (error := _fault(query)) is not None:
        advice = f" Did you mean {error.suggestion}?" if error.suggestion else ""
        where = f" (line {error.data['line']}, column {error.data['column']} of the query)" if error.data else ""
        entry.refuse(f"cannot run: {error.reason}{advice}{where}")
    return query


def _fault(query: str) -> QueryError | None:
    """Why a query cannot run, whatever its parameters are."""
    names, fault = parameters_in(query), None
    try:
        bare, _ = split_prefix(query)
    except QueryError as error:
        return error
    # What a parameter is for is not known here: null fits everywhere but in LIMIT and SKIP, where a number does.
    for value in (None, 1):
        try:
            bind(parse(bare), bare, None, dict.fromkeys(names, value))
        except QueryError as error:
            fault = error
        else:
            return None
    return fault


def _parameters(tool: Entry, entry: Entry | None, used: set[str]) -> Mapping[str, Any]:
    """The schema of a tool, closed; each $parameter of the query is declared, each default satisfies its own."""
    stated = cast("dict[str, Any]", entry.plain()) if entry and not entry.is_null and entry.mapping() else {}
    schema = {"type": "object", **stated, "additionalProperties": False}
    place = entry or tool
    if schema["type"] != "object":
        place.refuse("must have `type: object`.")
    if (fault := schema_fault(schema)) is not None:
        place.refuse(f"is not a schema that can be checked: {fault}")
    properties = cast("dict[str, dict[str, Any]]", schema.setdefault("properties", {}))
    if missing := sorted(used - set(properties)):
        place.refuse(f"must declare each $parameter of the query: {', '.join(missing)} is missing.")
    if "_response" in properties:
        place.refuse("must not declare `_response`: every tool has it.")
    if unknown := sorted(set(cast("list[str]", schema.get("required", []))) - set(properties)):
        place.refuse(f"requires {', '.join(unknown)}, which it does not declare.")
    for name, described in properties.items():
        if "default" in described and (issues := value_issues(described, described["default"])):
            place.refuse(f"has a default of `{name}` that {issues[0].message}.")
    return schema


def cypher_operations(tools: tuple[CypherTool | BundledTool, ...]) -> Iterator[Operation]:
    """The tools with a query, as operations."""
    for tool in tools:
        if isinstance(tool, CypherTool):
            properties = {**tool.parameters["properties"], "_response": RESPONSE_SCHEMA}
            schema = {**tool.parameters, "properties": properties}
            yield Operation(tool.name, tool.name, tool.description, schema, _runner(tool), checks_itself=True)


def _runner(tool: CypherTool) -> Callable[[Call], Answer]:
    def run(call: Call) -> Answer:
        return answer_query(call, tool.cypher, _bound(tool, call.arguments))

    return run


def _bound(tool: CypherTool, arguments: Mapping[str, Any]) -> dict[str, object]:
    """A value for every declared parameter.

    Raises:
        ParameterError: an argument is missing, unknown or of the wrong kind; all of them are named.
    """
    budget = {"_response": arguments["_response"]} if "_response" in arguments else {}
    check_arguments({"properties": {"_response": RESPONSE_SCHEMA}}, budget, tool.name)
    given = {name: value for name, value in arguments.items() if name != "_response"}
    properties = cast("Mapping[str, Mapping[str, object]]", tool.parameters["properties"])
    required = cast("list[str]", tool.parameters.get("required", []))
    left_out = {
        name
        for name, described in properties.items()
        if given.get(name) is None and name not in required and "default" not in described
    }
    asked = {name: described for name, described in properties.items() if name not in left_out}
    values, issues = bind_values(
        {"properties": asked}, {name: value for name, value in given.items() if name not in left_out}
    )
    if issues:
        faults = "; ".join(f"`{issue.path.removeprefix('$.')}` {issue.message}" for issue in issues)
        raise ParameterError(
            f"{tool.name}: {faults}.", {"name": issues[0].path.removeprefix("$."), "reason": issues[0].category}
        )
    return {**dict.fromkeys(left_out), **values}
