"""Asking a session's graph: one query as of a day, with the values written as the operator has it.

The one way from an operation to rows: cypher_query, links, tools with a query and recipes come through here.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from threading import Event
from typing import TYPE_CHECKING, cast

from vaultgraph.cypher.budget import budget_for
from vaultgraph.frozen import frozen
from vaultgraph.serve.marks import Marks, marks_of
from vaultgraph.serve.session import Session
from vaultgraph.vault.valid_time import TODAY, ViewStore, run_as_of

if TYPE_CHECKING:
    from vaultgraph.cypher.budget import Budget
    from vaultgraph.cypher.result import Result
    from vaultgraph.vault.snapshot import Snapshot


@frozen
class Asked:
    """The rows, what the answer says of its truth, and warnings, a line each: ``remarks`` are those about the day."""

    result: "Result"
    marks: Marks
    warnings: tuple[str, ...]
    remarks: tuple[str, ...] = ()


def ask(
    session: Session,
    query: str,
    parameters: Mapping[str, object],
    *,
    timeout_ms: int,
    cancelled: Event,
    valid_at: str | None = None,
) -> Asked:
    """Run a query as of the day that its prefix, ``valid_at`` or the operator says, else today.

    Raises:
        ParameterError: ``valid_at`` is no day, differs from the prefix, or nothing declares valid time.
        QueryError: the query is wrong, over its deadline, or cancelled.
    """
    budget = budget_for(timeout_ms, cancelled)
    return ask_of(session, asked_snapshot(session), query, parameters, budget, valid_at=valid_at)


def ask_of(
    session: Session,
    of: "tuple[Snapshot, datetime]",
    query: str,
    parameters: Mapping[str, object],
    budget: "Budget",
    *,
    valid_at: str | None = None,
) -> Asked:
    """As ``ask``, of what ``asked_snapshot`` gave: several queries of one call ask the same generation."""
    snapshot, asked = of
    default = session.manifest.valid_time or TODAY
    found = run_as_of(snapshot, _views(session), query, parameters, budget, valid_at=valid_at, default=default)
    remarks = (f"{found.undated:,} ends of validity are no dates and count as open",) if found.undated else ()
    marks = marks_of(found.snapshot, asked, found.valid_at)
    return Asked(found.result, marks, (*found.result.warnings, *remarks), remarks)


def asked_snapshot(session: Session) -> "tuple[Snapshot, datetime]":
    """The snapshot to answer from, and a moment up to which it holds all edits where edits are followed.

    Raises:
        StillBuilding: the first build goes on.
        VaultgraphError: there is no graph.
    """
    vault = session.vault()
    asked = datetime.now(UTC)
    snapshot = vault.current()
    vault.asked()
    if session.manifest.value_codecs:
        from vaultgraph.serve.value_codecs import coded  # noqa: PLC0415 -- few manifests state any

        snapshot = coded(session, snapshot)
    return snapshot, asked


def _views(session: Session) -> ViewStore:
    if session.views is None:
        session.views = ViewStore()
    return cast("ViewStore", session.views)
