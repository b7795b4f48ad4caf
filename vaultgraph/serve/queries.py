"""What the graph operations do: overview, query, rebuild, ping and the later parts of long answers.

Each function takes a Call and gives an Answer; the table of operations names them, dispatch calls them.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final, cast

from vaultgraph import __version__
from vaultgraph.serve.answers import Answer, text_answer
from vaultgraph.serve.asking import ask, asked_snapshot
from vaultgraph.serve.cells import counted, error_text, one_line
from vaultgraph.serve.guidance_skills import eager_texts, guidance_lines
from vaultgraph.serve.marks import marks_of
from vaultgraph.serve.payload import Format, RowPages, TextPages, fitting, reply_bytes, wire_bytes
from vaultgraph.serve.problems import problem_lines, problem_summary
from vaultgraph.serve.rows import ResultRows
from vaultgraph.serve.session import Call
from vaultgraph.serve.tool_names import in_callers_words
from vaultgraph.vault.snapshot import Snapshot

DEADLINE_MS: Final = 180_000
ECHO_BYTES: Final = 1024


def cypher_query(call: Call) -> Answer:
    """Run a query; rows as text, CSV or structure."""
    arguments = call.arguments
    return answer_query(
        call,
        arguments["query"],
        cast("dict[str, object]", arguments.get("params", {})),
        timeout_ms=arguments.get("timeout_ms", DEADLINE_MS),
        wanted=arguments.get("format"),
        valid_at=arguments.get("valid_at"),
    )


def answer_query(
    call: Call,
    query: str,
    parameters: Mapping[str, object],
    *,
    timeout_ms: int = DEADLINE_MS,
    wanted: Format | None = None,
    valid_at: str | None = None,
) -> Answer:
    """The rows of ``query`` within the budget of the call; ``wanted`` None is text, or CSV where the query says so.

    Raises:
        QueryError: it is wrong, over its deadline, or cancelled.
    """
    asked = ask(call.session, query, parameters, timeout_ms=timeout_ms, cancelled=call.cancelled, valid_at=valid_at)
    notes = [f"warning: {warning}" for warning in asked.warnings]
    shape: Format = wanted or ("csv" if asked.result.csv else "text")
    pages = RowPages(asked.result.columns, ResultRows(asked.result), shape, asked.marks, tuple(notes))
    most_bytes = reply_bytes(call.arguments)
    if shape == "csv" and call.session.csv_files is not None and not pages.fits(most_bytes):
        written = call.session.csv_files.publish(pages.csv_lines())
        if written is not None:
            address, size = written
            text = f"FORMAT CSV: {counted(len(pages.rows), 'row')} ({size:,} bytes) for 10 minutes at {address}"
            notes = [*map(one_line, notes), *asked.marks.stale_lines, asked.marks.line]
            return text_answer("\n".join([text, f"Fetch with: curl -sS {address}", *notes]))
    return call.session.results.answer(pages, most_bytes)


def graph_overview(call: Call) -> Answer:
    """The overview, or the details that were asked for."""
    arguments = call.arguments
    parts: list[str] = []
    cypher = arguments.get("cypher")
    if cypher:
        from vaultgraph.serve.reference import reference_text  # noqa: PLC0415 -- only for who asks

        parts.append(reference_text(None if cypher is True else cypher))
    wants_graph = any(arguments.get(name) for name in ("types", "connections", "problems"))
    if wants_graph or not parts:
        snapshot, asked = asked_snapshot(call.session)
        parts += _details(snapshot, arguments) or _overview(call, snapshot)
        if wants_graph:
            marks = marks_of(snapshot, asked)
            parts.append("\n".join([*marks.stale_lines, marks.line]))
    return call.session.results.answer(TextPages("\n\n".join(parts)), reply_bytes(arguments))


def rebuild_graph(call: Call) -> Answer:
    """Build again from the notes and report."""
    from vaultgraph.serve.report import report_text  # noqa: PLC0415 -- only for who asks

    vault = call.session.vault()
    report = vault.rebuild()
    text = f"{report_text(report)}\n{_freshness(call, vault.current())}"
    return call.session.results.answer(TextPages(text), reply_bytes(call.arguments))


def reload_graph(call: Call) -> Answer:
    """Read the saved graph again and say what is in it."""
    vault = call.session.vault()
    report = vault.rebuild()
    counts = [(report.notes, "note"), (report.nodes, "node"), (report.relationships, "relationship")]
    found = ", ".join(counted(count, noun) for count, noun in counts)
    return text_answer(f"{one_line(call.session.name)}: {found}\n{_freshness(call, vault.current())}")


def ping(call: Call) -> Answer:
    """A sign of life, with version and freshness; never waits for the graph."""
    lines = [fitting(call.arguments.get("message") or "pong", ECHO_BYTES), f"vaultgraph {__version__}"]
    if call.session.is_built():
        lines.append(_freshness(call, call.session.vault().current()))
    elif (fault := call.session.fault) is not None:
        lines.append(f"no graph: {fault.code}: {error_text(fault)}")
    else:
        lines.append(call.session.progress())
    return text_answer("\n".join(lines))


def expand_response(call: Call) -> Answer:
    """The next part of an earlier answer."""
    arguments = call.arguments
    return call.session.results.more(arguments["result_id"], arguments.get("offset"), reply_bytes(arguments))


def _overview(call: Call, snapshot: Snapshot) -> list[str]:
    """The operator's words, the bare overview with what guides callers, and skills that are to be read at once."""
    from vaultgraph.serve.overview import overview_text  # noqa: PLC0415 -- only for who asks

    prefix = call.session.manifest.overview_prefix
    text = in_callers_words(call.session, overview_text(call.session.name, snapshot, datetime.now(UTC)))
    text = "\n".join([text, *guidance_lines(call.session)])
    parts = [prefix, text] if prefix else [text]
    return [*parts, *eager_texts(call.session, sum(map(wire_bytes, parts)))]


def _freshness(call: Call, snapshot: Snapshot) -> str:
    from vaultgraph.serve.overview import freshness  # noqa: PLC0415 -- only for who asks

    return in_callers_words(call.session, freshness(snapshot, datetime.now(UTC)))


def _details(snapshot: Snapshot, arguments: dict[str, Any]) -> list[str]:
    from vaultgraph.serve.overview_detail import connections_text, types_text  # noqa: PLC0415 -- only for who asks

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
