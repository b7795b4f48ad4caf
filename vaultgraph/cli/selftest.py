"""`--selftest`: the server started as a child, the handshake of a client, each capability used once, a line for each.

Everything goes over stdio through the official client. Arguments are taken from what is served, so that a vault of any
content can be tested; nothing is written but what serving itself writes.
"""

import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any, Final, Literal, TextIO, cast

import anyio
import click

from vaultgraph.cli.opening import ServeOptions, open_session
from vaultgraph.cli.register import module_command
from vaultgraph.files.root import askable
from vaultgraph.files.stamps import scan
from vaultgraph.serve.answers import Answer, ImagePart
from vaultgraph.serve.cells import counted, one_line, plain_text
from vaultgraph.serve.child import Child, started_child
from vaultgraph.serve.guidance import guides_of
from vaultgraph.serve.operations import Operation
from vaultgraph.serve.session import Session
from vaultgraph.serve.surface import operations_of, static_operations

BUILD_S: Final = 600.0
AGAIN_S: Final = 0.2
SHOWN_CHARS: Final = 160
IMAGES: Final = (".png", ".jpg", ".jpeg", ".gif", ".webp")
TEXTS: Final = (".md", ".txt", ".canvas", ".yaml", ".json")
LAST: Final = ("expand_response",)  # needs an answer that said there is more

Outcome = Literal["ok", "failed", "not tried"]
Line = tuple[str, float | None, str | None, str]
"""A name, milliseconds where it was tried, the fault, and what there is to say where all went well."""


def run_selftest(options: ServeOptions) -> int:
    """Start a server with the same flags, use all it offers, print a line each; 0 where all went well.

    Raises:
        SettingsError: what is to be served cannot be.
    """
    session, remarks = open_session(options)
    for remark in remarks:
        click.echo(plain_text(f"note     {remark}"))
    try:
        outcomes = anyio.run(_tried, session, options)
    finally:
        session.close()
    failed, tried = outcomes.count("failed"), len(outcomes) - outcomes.count("not tried")
    click.echo(f"{tried - failed} of {tried} work" if failed else f"all {tried} work")
    return 1 if failed else 0


async def _tried(session: Session, options: ServeOptions) -> list[Outcome]:
    outcomes: list[Outcome] = []
    started = time.perf_counter()
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errors:
        try:
            async with started_child(_command(options), errors) as child:
                outcomes.append(_print("initialize", _ms(started), None, child.introduction))
                async for line in _results(session, child):
                    outcomes.append(_print(*line))  # noqa: PERF401 -- a line is shown when it is known
        except ConnectionError as error:
            fault = f"{error}; {_last_line(errors)}"
            outcomes.append(_print("connection" if outcomes else "initialize", _ms(started), fault, ""))
    return outcomes


def _command(options: ServeOptions) -> list[str]:
    """What starts the server that the flags ask for."""
    stated = {
        "--vault": options.vault,
        "--graph": options.graph,
        "--source-root": options.source_root,
        "--mcp-config": options.mcp_config,
        "--name": options.name,
        "--vault-cache": options.cache,
        "--watch": options.watch,
        "--log-level": options.log_level,
    }
    flags = [part for name, value in stated.items() if value is not None for part in (name, value)]
    refused = [] if options.takes_guidance else ["--no-vault-guidance"]
    return [*module_command(), *flags, *refused]


def _ms(started: float) -> float:
    return (time.perf_counter() - started) * 1000


def _last_line(errors: TextIO) -> str:
    errors.seek(0)
    lines = errors.read().splitlines()
    return lines[-1] if lines else "nothing on stderr"


def _print(name: str, spent_ms: float | None, fault: str | None, told: str) -> Outcome:
    """One line."""
    if spent_ms is None:
        click.echo(f"{name:<24} {'-':>9}     not tried: there is nothing to call it with")
        return "not tried"
    well = f"ok  {told}".rstrip()
    outcome = well if fault is None else f"FAILED {one_line(fault)[:SHOWN_CHARS]}"
    click.echo(plain_text(f"{name:<24} {spent_ms:>9,.1f} ms  {outcome}"))
    return "ok" if fault is None else "failed"


async def _results(session: Session, child: Child) -> AsyncIterator[Line]:
    """What came of the lists, of each tool, of a prompt and of a resource."""
    started = time.perf_counter()
    offered = await child.tools()
    yield "tools/list", _ms(started), None if offered else "there is no tool", counted(len(offered), "tool")
    known = _Known(session, child, offered)
    for name in sorted(offered, key=lambda name: name in LAST):
        arguments = await known.arguments(name)
        if arguments is None:
            yield name, None, None, ""
            continue
        started = time.perf_counter()
        answer = await known.call(name, arguments)
        yield name, _ms(started), f"{answer.text} (called with {arguments})" if answer.is_error else None, ""
    yield await _listed("prompts", child.prompts, child.prompt)
    yield await _listed("resources", child.resources, child.resource)


async def _listed(
    name: str, names: Callable[[], Awaitable[list[str]]], one: Callable[[str], Awaitable[object]]
) -> Line:
    """What came of a list and of asking for the first of it."""
    started = time.perf_counter()
    found = await names()
    if not found:
        return name, None, None, ""
    fault = None if await one(found[0]) else f"{found[0]} is empty"
    return name, _ms(started), fault, f"{len(found)} listed, one read"


class _Known:
    """What calls can be made with: a file, an image, a recipe, a long answer. Waits for the first build."""

    def __init__(self, session: Session, child: Child, offered: Mapping[str, Mapping[str, Any]]) -> None:
        self._session = session
        self._child = child
        self._schemas = offered
        self._operations: Mapping[str, Operation] = operations_of(session)
        paths: list[str] = scan(session.folder()).files["path"].to_list()
        self._text = next((path for end in TEXTS for path in paths if path.lower().endswith(end)), None)
        self._images = [path for path in paths if path.lower().endswith(IMAGES)]

    async def call(self, name: str, arguments: Mapping[str, Any]) -> Answer:
        """The answer, once the graph is built."""
        deadline = time.monotonic() + BUILD_S
        while True:
            answer = await self._child.call(name, arguments)
            is_building = "The graph is being built, " in answer.text[:200]
            if not is_building or time.monotonic() > deadline:
                return answer
            await anyio.sleep(AGAIN_S)

    async def arguments(self, name: str) -> dict[str, Any] | None:
        """Arguments for a call; None where there is nothing to make one with, which is no fault."""
        match self._bundled(name):
            case "cypher_query":
                return {"query": "MATCH (n) RETURN count(n) AS nodes"}
            case "read_source":
                return {"file_path": askable(self._text), "max_chars": 1000} if self._text else None
            case "grep":
                return {"pattern": ".", "max_results": 1}
            case "links":
                return await self._a_note()
            case "fetch_images":
                return await self._an_image(name)
            case "run_recipe_query":
                return self._a_recipe()
            case "expand_response":
                return await self._more()
            case _:
                return _made_up(self._schemas[name])

    def _bundled(self, name: str) -> str:
        """What a tool is called before the manifest renames it; "" for one that is not built in."""
        operation = self._operations.get(name)
        return getattr(operation.run, "__name__", "") if operation is not None else ""

    async def _an_image(self, name: str) -> dict[str, Any] | None:
        """The first image that is delivered, so that one damaged picture is no fault of the server."""
        for path in self._images[:20]:
            arguments = {"items": [askable(path)], "max_edge": 64}
            if any(isinstance(part, ImagePart) for part in (await self.call(name, arguments)).parts):
                return arguments
        return {"items": [askable(self._images[0])]} if self._images else None

    async def _a_note(self) -> dict[str, Any] | None:
        """A note of the graph."""
        query = "MATCH (n) WHERE n.path ENDS WITH '.md' RETURN n.path LIMIT 1"
        answer = await self._asked({"query": query, "format": "json"})
        rows = (answer.structured or {}).get("rows") if answer else None
        return {"note": rows[0][0]} if rows else None

    async def _asked(self, arguments: dict[str, Any]) -> Answer | None:
        """The answer to a query; None where no tool takes one."""
        asking = next((name for name in self._schemas if self._bundled(name) == "cypher_query"), None)
        return None if asking is None else await self.call(asking, arguments)

    def _a_recipe(self) -> dict[str, Any] | None:
        recipes = guides_of(self._session, static_operations(self._session)).recipes.values()
        for served in recipes:
            variables = _made_up(served.recipe.parameters)
            return {"recipe": served.recipe.recipe, "query": served.recipe.name, "variables": variables}
        return None

    async def _more(self) -> dict[str, Any] | None:
        """A result to ask more of: a long answer is made for it."""
        answer = await self._asked(
            {"query": "UNWIND range(1, 5000) AS number RETURN number, 'a row of a long answer' AS text"}
        )
        _, found, rest = (answer.text if answer else "").partition('expand_response(result_id="')
        return {"result_id": rest.split('"', 1)[0]} if found else None


def _made_up(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A value for each required argument of a schema."""
    properties = cast("Mapping[str, Mapping[str, Any]]", schema.get("properties", {}))
    return {name: _value(properties[name]) for name in schema.get("required", ())}


def _value(schema: Mapping[str, Any]) -> Any:
    """A value that satisfies a simple schema."""
    if "default" in schema:
        return schema["default"]
    if schema.get("enum"):
        return schema["enum"][0]
    kind = schema.get("type", "string")
    match kind if isinstance(kind, str) else kind[0]:
        case "integer" | "number":
            return schema.get("minimum", schema.get("maximum", 1))
        case "boolean":
            return True
        case "array":
            return [_value(schema.get("items", {}))] * max(1, schema.get("minItems", 0))
        case "object":
            return _made_up(schema)
        case _:
            return "a" * max(1, schema.get("minLength", 0))
