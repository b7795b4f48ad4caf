"""`--selftest`: the server started in this process, each of its tools used once, and a line on stdout for each.

Calls go through dispatch, as a client's do. Arguments are taken from what is served, so that a vault of any content can
be tested; nothing is written but what serving itself writes.
"""

import time
from collections.abc import Mapping
from typing import Any, Final, Literal, cast

import click

from vaultgraph.cli.boot import boot_line
from vaultgraph.cli.opening import ServeOptions, open_session
from vaultgraph.errors import VaultgraphError
from vaultgraph.files.root import askable
from vaultgraph.files.stamps import scan
from vaultgraph.serve.answers import ImagePart
from vaultgraph.serve.cells import one_line, plain_text
from vaultgraph.serve.dispatch import dispatch
from vaultgraph.serve.operations import Operation
from vaultgraph.serve.session import Session
from vaultgraph.serve.surface import operations_of

BUILD_S: Final = 600.0
SHOWN_CHARS: Final = 120
IMAGES: Final = (".png", ".jpg", ".jpeg", ".gif", ".webp")
TEXTS: Final = (".md", ".txt", ".canvas", ".yaml", ".json")
LAST: Final = ("expand_response",)  # needs an answer that said there is more

Outcome = Literal["ok", "failed", "not tried"]
Line = tuple[str, float | None, str | None]
"""A name, milliseconds where it was tried, and the fault."""


def run_selftest(options: ServeOptions) -> int:
    """Start, use each tool, print a line each; 0 where all went well.

    Raises:
        SettingsError: what is to be served cannot be.
    """
    since = time.perf_counter()
    session, remarks = open_session(options)
    for remark in remarks:
        click.echo(plain_text(f"note     {remark}"))
    session.start()
    session.wait_built(BUILD_S)
    try:
        outcomes = [_print(*line) for line in _results(session, since)]
    finally:
        session.close()
    failed, tried = outcomes.count("failed"), len(outcomes) - outcomes.count("not tried")
    click.echo(f"{tried - failed} of {tried} work" if failed else f"all {tried} work")
    return 1 if failed else 0


def _print(name: str, spent_ms: float | None, fault: str | None) -> Outcome:
    """One line."""
    if spent_ms is None:
        click.echo(f"{name:<24} {'-':>9}     not tried: there is nothing to call it with")
        return "not tried"
    outcome = "ok" if fault is None else f"FAILED {one_line(fault)[:SHOWN_CHARS]}"
    click.echo(plain_text(f"{name:<24} {spent_ms:>9,.1f} ms  {outcome}"))
    return "ok" if fault is None else "failed"


def _results(session: Session, since: float) -> list[Line]:
    """Name, milliseconds and fault of the start and of each tool."""
    built = session.mode == "files" or session.is_built()
    fault = None if built else boot_line(session, since)
    results: list[Line] = [("start", (time.perf_counter() - since) * 1000, fault)]
    known = _Known(session)
    offered = operations_of(session)
    for name in sorted(offered, key=lambda name: name in LAST):
        arguments = known.arguments(offered[name])
        if arguments is None:
            results.append((name, None, None))
            continue
        started = time.perf_counter()
        answer = dispatch(session, name, arguments)
        spent_ms = (time.perf_counter() - started) * 1000
        results.append((name, spent_ms, f"{answer.text} (called with {arguments})" if answer.is_error else None))
    return results


class _Known:
    """Names that calls can be made with: a file, an image, a recipe, a skill, a long answer."""

    def __init__(self, session: Session) -> None:
        self._session = session
        paths: list[str] = scan(session.folder()).files["path"].to_list()
        self._text = next((path for end in TEXTS for path in paths if path.lower().endswith(end)), None)
        self._images = [path for path in paths if path.lower().endswith(IMAGES)]

    def arguments(self, operation: Operation) -> dict[str, Any] | None:
        """Arguments for a call; None where there is nothing to make one with, which is no fault."""
        match operation.run.__name__ if hasattr(operation.run, "__name__") else "":
            case "cypher_query":
                return {"query": "MATCH (n) RETURN count(n) AS nodes"}
            case "read_source":
                return {"file_path": askable(self._text), "max_chars": 1000} if self._text else None
            case "grep":
                return {"pattern": ".", "max_results": 1}
            case "fetch_images":
                return self._an_image(operation)
            case "run_recipe_query":
                return self._a_recipe()
            case "expand_response":
                return self._more()
            case _:
                return _made_up(operation.parameters)

    def _an_image(self, operation: Operation) -> dict[str, Any] | None:
        """The first image that is delivered, so that one damaged picture is no fault of the server."""
        for path in self._images[:20]:
            arguments = {"items": [askable(path)], "max_edge": 64}
            if any(isinstance(part, ImagePart) for part in dispatch(self._session, operation.name, arguments).parts):
                return arguments
        return {"items": [askable(self._images[0])]} if self._images else None

    def _a_recipe(self) -> dict[str, Any] | None:
        from vaultgraph.serve.guidance import guides_of  # noqa: PLC0415 -- only where there are recipes
        from vaultgraph.serve.surface import static_operations  # noqa: PLC0415 -- as above

        recipes = guides_of(self._session, static_operations(self._session)).recipes.values()
        for served in recipes:
            variables = _made_up(served.recipe.parameters)
            return {"recipe": served.recipe.recipe, "query": served.recipe.name, "variables": variables}
        return None

    def _more(self) -> dict[str, Any] | None:
        """A result to ask more of: a long answer is made for it."""
        try:
            if not self._session.is_built():
                return None
            query = "UNWIND range(1, 5000) AS number RETURN number, 'a row of a long answer' AS text"
            self._session.vault().current()
        except VaultgraphError:
            return None
        long = dispatch(self._session, self._name_of("cypher_query"), {"query": query})
        _, found, rest = long.text.partition('expand_response(result_id="')
        return {"result_id": rest.split('"', 1)[0]} if found else None

    def _name_of(self, bundled: str) -> str:
        names = [
            name for name, one in operations_of(self._session).items() if getattr(one.run, "__name__", "") == bundled
        ]
        return names[0] if names else bundled


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
