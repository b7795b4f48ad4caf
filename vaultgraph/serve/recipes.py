"""Recipes as callers see them: the list, running one, and a recipe's own tool. Faults are answers with structure.

A recipe is a read-only query with a closed schema of its variables, from the vault or the manifest (serve/guidance says
which are offered). Everything is answered as JSON, as structure and as the same text; nothing is raised to dispatch but
what it must handle itself.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any, Final, Protocol, cast

from vaultgraph.errors import ParameterError, QueryError, VaultgraphError
from vaultgraph.frozen import frozen
from vaultgraph.profile.parameter_values import Issue, bind_values
from vaultgraph.serve.answers import Answer, TextPart
from vaultgraph.serve.asking import ask
from vaultgraph.serve.cells import compact_json, one_line
from vaultgraph.serve.guidance import SHOWN_DESCRIPTION_CHARS, Guides, ServedRecipe, guides_of
from vaultgraph.serve.parameters import check_arguments, nearest
from vaultgraph.serve.payload import RESPONSE_SCHEMA, RowPages, reply_bytes, wire_bytes
from vaultgraph.serve.rows import ResultRows
from vaultgraph.serve.session import Call, Session, StillBuilding
from vaultgraph.serve.tool_names import in_callers_words
from vaultgraph.vault.tables import despite_damage

MOST_ROWS: Final = 200
DEADLINE_MS: Final = 180_000
LIST_DESCRIPTION_CHARS: Final = 1_000
NAME_CHARS: Final = 100
LEAST_ROOM: Final = 1_500  # bytes of rows, however long what stands around them
LIST_BYTES: Final = 6_500  # of a list, which is sent as structure and as text

LIST_PARAMETERS: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {"recipe": {"type": "string", "description": "only this group, with its queries' parameters"}},
    "additionalProperties": False,
}
RUN_PARAMETERS: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {
        "recipe": {"type": "string", "description": "group"},
        "query": {"type": "string", "description": "name within the group"},
        "variables": {"type": "object"},
        "include_cypher": {"type": "boolean"},
        "valid_at": {"type": "string"},
        "_response": RESPONSE_SCHEMA,
    },
    "additionalProperties": False,
    "required": ["recipe", "query"],
}

LIST_OUTPUT: Final[Mapping[str, Any]] = {"type": "object", "properties": {"recipes": {"type": "array"}}}
RUN_OUTPUT: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {
        "result": {
            "type": "object",
            "properties": {"columns": {"type": "array"}, "rows": {"type": "array"}, "row_count": {"type": "integer"}},
        },
        "generation": {"type": "integer"},
        "as_of": {"type": "string"},
    },
}
TOOL_OUTPUT: Final[Mapping[str, Any]] = {"type": "object", "properties": {"result": {"type": "object"}}}
"""What answers that are no errors hold; the shape of a row is its query's, and those of own tools are said once."""


class _RefusedError(Exception):
    """A call that cannot be answered; ``answer`` says why."""

    def __init__(self, code: str, message: str, **details: Any) -> None:
        super().__init__(message)
        data = {"code": code, "message": message, "details": details}
        self.answer = Answer((TextPart(compact_json(data)),), structured=data, is_error=True)


BESIDE_VARIABLES: Final[Mapping[str, Any]] = {"valid_at": {"type": "string"}, "_response": RESPONSE_SCHEMA}


class Work(Protocol):
    """What one of the operations does with checked arguments."""

    def __call__(self, call: Call, arguments: dict[str, Any], /) -> Answer: ...


@frozen
class RecipeTool:
    """What a recipe's own tool is called, says of itself and takes, and what runs it."""

    name: str
    title: str
    description: str
    parameters: Mapping[str, Any]
    run: partial[Answer]


def list_recipe_queries(call: Call) -> Answer:
    """The groups of recipes; with one named, its queries and their parameters. Never a query's text."""
    return _answered(call, call.arguments, LIST_PARAMETERS, "list_recipe_queries", _list)


def run_recipe_query(call: Call) -> Answer:
    """The rows of one recipe."""
    return _answered(call, call.arguments, RUN_PARAMETERS, "run_recipe_query", _run_named)


def run_recipe_tool(key: tuple[str, str], call: Call) -> Answer:
    """The rows of the recipe whose own tool was called: its variables are the arguments."""

    def work(call: Call, _none: dict[str, Any]) -> Answer:
        served = _find(guides_of(call.session, call.session.offered or {}), *key)
        beside = _beside_variables(served)
        variables = {name: value for name, value in call.arguments.items() if name not in beside}
        given = check_arguments({"properties": beside}, _only(call.arguments, beside), key[1])
        return _run(call, served, variables, most_bytes=reply_bytes(given), valid_at=given.get("valid_at"))

    return _answered(call, {}, {"properties": {}}, key[1], work)


def recipe_tools(session: Session, guides: Guides) -> list[RecipeTool]:
    """The tools of recipes that state one and whose name is free, each labelled where its words are the vault's."""
    tools: list[RecipeTool] = []
    for key, served in guides.recipes.items():
        if served.tool is None:
            continue
        said = _short(served.recipe.description, SHOWN_DESCRIPTION_CHARS)
        label = (
            f'Recipe of the vault "{_short(session.name, 60)}", its author says: ' if served.source == "vault" else ""
        )
        properties = cast("Mapping[str, Any]", served.recipe.parameters["properties"])
        parameters = {**served.recipe.parameters, "properties": {**properties, **_beside_variables(served)}}
        run = partial(run_recipe_tool, key)
        tools.append(RecipeTool(served.tool, ".".join(key), label + said, parameters, run))
    return tools


def _beside_variables(served: ServedRecipe) -> dict[str, Any]:
    """What a recipe's own tool takes beside its variables, which come first where one is called so."""
    own = cast("Mapping[str, Any]", served.recipe.parameters["properties"])
    return {name: schema for name, schema in BESIDE_VARIABLES.items() if name not in own}


def _only(arguments: Mapping[str, Any], names: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in arguments.items() if name in names}


def _answered(call: Call, given: Mapping[str, Any], schema: Mapping[str, Any], name: str, work: Work) -> Answer:
    """The answer of ``work``; whatever is wrong with the call, the vault or the query is structure too."""
    try:
        try:
            # Here and not in dispatch, so that a second failure is told as any other.
            return despite_damage(lambda: work(call, check_arguments(schema, given, name)))
        except ParameterError as error:
            raise _RefusedError("invalid_request", error.message, reason=error.message) from None
        except StillBuilding as waiting:
            raise _RefusedError("building", waiting.text, retry=True) from None
        except QueryError as error:
            raise _RefusedError("query_failed", error.message, cause=_cause(error)) from None
        except VaultgraphError as error:
            raise _RefusedError("no_active_graph", error.message, cause={"category": error.code}) from None
    except _RefusedError as refused:
        return refused.answer


def _cause(error: QueryError) -> dict[str, Any]:
    place = {name: error.data[name] for name in ("line", "column") if name in error.data}
    return {"category": error.code, "message": error.reason, "position": place or None}


def _list(call: Call, arguments: dict[str, Any]) -> Answer:
    guides = guides_of(call.session, call.session.offered or {})
    wanted = arguments.get("recipe")
    groups: dict[str, list[ServedRecipe]] = {}
    for (group, _), served in guides.recipes.items():
        groups.setdefault(group, []).append(served)
    if wanted is not None and wanted not in groups:
        raise _unknown_recipe(guides, wanted)
    if wanted is None:
        shown, left_out = _fitting([_group(call.session, name, groups[name]) for name in groups])
        return _structured({"recipes": shown, **({"left_out": left_out} if left_out else {})})
    queries, left_out = _fitting([_query(one) for one in groups[wanted]])
    group = {**_group(call.session, wanted, groups[wanted]), "queries": queries}
    return _structured({"recipes": [{**group, "left_out": left_out} if left_out else group]})


def _fitting(entries: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], list[str]]:
    """The entries a list has room for, and the names of the others: those can be run all the same."""
    shown: list[dict[str, Any]] = []
    left_out: list[str] = []
    used = 0
    for entry in entries:
        size = len(compact_json(entry))
        if used + size > LIST_BYTES:
            left_out.append(str(entry["name"]))
            used += len(left_out[-1])
        else:
            shown.append(entry)
            used += size
    return shown, left_out


def _group(session: Session, name: str, members: list[ServedRecipe]) -> dict[str, Any]:
    about = next((one.recipe.recipe_description for one in members if one.recipe.recipe_description), "")
    data: dict[str, Any] = {
        "name": name,
        "description": _short(about, SHOWN_DESCRIPTION_CHARS),
        "query_count": len(members),
    }
    carried = any(one.source == "vault" for one in members)
    return {**data, "from": f'the author of vault "{session.name}"'} if carried else data


def _query(served: ServedRecipe) -> dict[str, Any]:
    one = served.recipe
    data: dict[str, Any] = {
        "name": one.name,
        "description": _short(one.description, LIST_DESCRIPTION_CHARS),
        "parameters": one.parameters,
    }
    if one.tool and served.tool is None:
        data["note"] = f"not offered as a tool of its own: the name {one.tool} is taken, or there is no room for more"
    return {**data, "tool": served.tool} if served.tool else data


def _run_named(call: Call, arguments: dict[str, Any]) -> Answer:
    guides = guides_of(call.session, call.session.offered or {})
    served = _find(guides, arguments["recipe"], arguments["query"])
    variables: dict[str, Any] = arguments.get("variables", {})
    has_cypher = bool(arguments.get("include_cypher"))
    valid_at = arguments.get("valid_at")
    return _run(call, served, variables, most_bytes=reply_bytes(arguments), has_cypher=has_cypher, valid_at=valid_at)


def _find(guides: Guides, group: str, name: str) -> ServedRecipe:
    served = guides.recipes.get((group, name))
    if served is not None:
        return served
    names = [query for recipe, query in guides.recipes if recipe == group]
    if not names:
        raise _unknown_recipe(guides, group)
    close = nearest(name, names)
    advice = f" Did you mean `{close}`?" if close else ""
    message = f"`{group}` has no query `{name[:NAME_CHARS]}`.{advice} It has: {_short(', '.join(names), 500)}."
    details = {"recipe": group, "query": name[:NAME_CHARS], "nearest": close}
    return _raise("unknown_query", message, details)


def _unknown_recipe(guides: Guides, group: str) -> _RefusedError:
    groups = list(dict.fromkeys(recipe for recipe, _ in guides.recipes))
    close = nearest(group, groups)
    advice = f" Did you mean `{close}`?" if close else ""
    message = f"There is no recipe `{group[:NAME_CHARS]}`.{advice} There are: {_short(', '.join(groups), 500)}."
    return _RefusedError("unknown_recipe", message, recipe=group[:NAME_CHARS], nearest=close)


def _raise(code: str, message: str, details: dict[str, Any]) -> Any:
    raise _RefusedError(code, message, **details)


def _run(
    call: Call,
    served: ServedRecipe,
    variables: Mapping[str, Any],
    *,
    most_bytes: int,
    has_cypher: bool = False,
    valid_at: str | None = None,
) -> Answer:
    one = served.recipe
    place = {"recipe": one.recipe, "query": one.name}
    bound, issues = bind_values(one.parameters, variables)
    if issues:
        raise _invalid(place, issues)
    asked = ask(call.session, one.cypher, bound, timeout_ms=DEADLINE_MS, cancelled=call.cancelled, valid_at=valid_at)
    result = asked.result
    if asked.marks.stale:
        raise _stale(call.session, asked.marks.stale)
    if len(result) > MOST_ROWS:
        message = (
            f"The query found {len(result):,} rows, and a recipe answers {MOST_ROWS} at most. Narrow its variables, or "
            "ask for part of it with a query of your own."
        )
        raise _RefusedError("result_limit_exceeded", message, limit=MOST_ROWS, observed_count=len(result), **place)
    extra = {"cypher": one.cypher, "parameters": bound} if has_cypher else {}
    # Everything is sent as structure and as text, so that the rows have half of the room, and what stands around them.
    room = (most_bytes - 2 * wire_bytes(compact_json({**place, **extra}))) // 2
    pages = RowPages(result.columns, ResultRows(result), "json", asked.marks)
    rows = dict(call.session.results.answer(pages, max(room, LEAST_ROOM)).structured or {})
    marks = asked.marks.data
    rows = {name: value for name, value in rows.items() if name not in marks}
    rows["diagnostics"] = {"warnings": list(asked.warnings)}
    del marks["stale"]  # a stale graph is refused
    return _structured({**place, **extra, "result": rows, **marks})


def _invalid(place: dict[str, Any], issues: list[Issue]) -> _RefusedError:
    by_category = {
        category: [issue.path.removeprefix("$.") for issue in issues if issue.category == category]
        for category in ("missing", "unknown")
    }
    told = [{"path": issue.path, "category": issue.category, "message": issue.message} for issue in issues]
    first = "; ".join(f"{issue.path} {issue.message}" for issue in issues[:3])
    message = f"The variables do not fit {place['recipe']}.{place['query']}: {first}."
    return _RefusedError("invalid_variables", message, **place, **by_category, issues=told)


def _stale(session: Session, stale: str) -> _RefusedError:
    since, _, reason = stale.partition(": ")
    recovery = "Mend what the failure names; the next call tries again. cypher_query answers from the last good graph."
    return _RefusedError(
        "stale_graph",
        f"The graph is stale {since}: {reason}",
        reason="refresh_failed",
        failure_message=reason,
        failed_at=since.removeprefix("since "),
        recovery=in_callers_words(session, recovery),
    )


def _structured(data: dict[str, Any]) -> Answer:
    return Answer((TextPart(compact_json(data)),), structured=data)


def _short(text: str, most_chars: int) -> str:
    line = one_line(text)
    return line if len(line) <= most_chars else line[: most_chars - 1] + "…"
