"""What the graph operations do: overview, query, rebuild, ping and the later parts of long answers.

Each function takes a Call and gives an Answer; the table of operations names them, dispatch calls them.
"""

from datetime import UTC, datetime
from typing import Any, Final, cast

from vaultgraph import __version__
from vaultgraph.serve.answers import Answer, text_answer
from vaultgraph.serve.overview import freshness, overview_text
from vaultgraph.serve.overview_detail import connections_text, types_text
from vaultgraph.serve.payload import Format, RowPages, TextPages, fitting, reply_bytes
from vaultgraph.serve.problems import problem_lines, problem_summary
from vaultgraph.serve.reference import reference_text
from vaultgraph.serve.report import report_text
from vaultgraph.serve.rows import ResultRows
from vaultgraph.serve.session import Call
from vaultgraph.vault.snapshot import Snapshot

DEADLINE_MS: Final = 180_000
ECHO_BYTES: Final = 1024


def cypher_query(call: Call) -> Answer:
    """Run a query; rows as text, CSV or structure."""
    arguments = call.arguments
    result, snapshot = call.session.vault().run(
        arguments["query"],
        cast("dict[str, object]", arguments.get("params", {})),
        timeout_ms=arguments.get("timeout_ms", DEADLINE_MS),
        cancelled=call.cancelled,
    )
    notes = [f"warning: {warning}" for warning in result.warnings] + _stale(snapshot)
    shape: Format = arguments.get("format") or ("csv" if result.csv else "text")
    pages = RowPages(result.columns, ResultRows(result), shape, snapshot.generation, tuple(notes))
    return call.session.results.answer(pages, reply_bytes(arguments))


def graph_overview(call: Call) -> Answer:
    """The overview, or the details that were asked for."""
    arguments = call.arguments
    parts: list[str] = []
    cypher = arguments.get("cypher")
    if cypher:
        parts.append(reference_text(None if cypher is True else cypher))
    wants_graph = any(arguments.get(name) for name in ("types", "connections", "problems"))
    if wants_graph or not parts:
        snapshot = call.session.vault().current()
        parts += _details(snapshot, arguments) or [overview_text(call.session.name, snapshot, datetime.now(UTC))]
        if wants_graph:
            parts += _stale(snapshot)
    return call.session.results.answer(TextPages("\n\n".join(parts)), reply_bytes(arguments))


def rebuild_graph(call: Call) -> Answer:
    """Build again from the notes and report."""
    vault = call.session.vault()
    report = vault.rebuild()
    text = f"{report_text(report)}\n{freshness(vault.current(), datetime.now(UTC))}"
    return call.session.results.answer(TextPages(text), reply_bytes(call.arguments))


def ping(call: Call) -> Answer:
    """A sign of life, with version and freshness; never waits for the graph."""
    lines = [fitting(call.arguments.get("message") or "pong", ECHO_BYTES), f"vaultgraph {__version__}"]
    if call.session.is_built():
        lines.append(freshness(call.session.vault().current(), datetime.now(UTC)))
    else:
        lines.append(call.session.progress())
    return text_answer("\n".join(lines))


def expand_response(call: Call) -> Answer:
    """The next part of an earlier answer."""
    arguments = call.arguments
    return call.session.results.more(arguments["result_id"], arguments.get("offset"), reply_bytes(arguments))


def _details(snapshot: Snapshot, arguments: dict[str, Any]) -> list[str]:
    parts: list[str] = []
    if arguments.get("types"):
        parts.append(types_text(snapshot, arguments["types"]))
    connections = arguments.get("connections")
    if connections:
        parts.append(connections_text(snapshot, None if connections is True else connections))
    if arguments.get("problems"):
        lines = [f"Problems: {problem_summary(snapshot.problems)}", *problem_lines(snapshot.problems)]
        parts.append("\n".join(lines))
    return parts


def _stale(snapshot: Snapshot) -> list[str]:
    return [f"stale {snapshot.stale}"] if snapshot.stale else []
