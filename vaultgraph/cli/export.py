"""The command that exports: a vault or a `.kgl` file as a vault of notes, or as tables for other programs.

It opens the source, lets export/ plan and write, and prints what was written and what is not carried over.
"""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import click

from vaultgraph.cli.opening import saved_graph
from vaultgraph.cli.progress import progress_bar
from vaultgraph.errors import SettingsError
from vaultgraph.export.graphml import plan_graphml
from vaultgraph.export.neo4j import plan_neo4j
from vaultgraph.export.owned import Written, check_out, write_plan
from vaultgraph.export.parquet import plan_parquet
from vaultgraph.export.plan import MANIFEST, Plan
from vaultgraph.export.vault import Source, plan_vault
from vaultgraph.files.root import VaultRoot
from vaultgraph.graph.store import load
from vaultgraph.serve.cells import counted, one_line
from vaultgraph.serve.parameters import nearest
from vaultgraph.vault.refresh import refresh

_MOST_SHOWN = 5


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """What the command was given; ``tables`` are ``TYPE=HEADING``."""

    source: str
    form: str
    out: str
    source_root: str | None
    tables: Sequence[str]
    force: bool


def run_export(options: ExportOptions) -> int:
    """Export and print what was done.

    Raises:
        click.UsageError: a flag that does not fit the source or the form.
        VaultgraphError: it cannot be done; nothing was written then, but for a disk that fails half-way.
    """
    tables = dict(_table_of(text) for text in options.tables)
    if tables and options.form != "vault":
        raise click.UsageError("--edge-table goes with --to vault.")
    path = saved_graph(options.source)
    if options.source_root is not None and path is None:
        raise click.UsageError("--source-root goes with a .kgl file; a folder is its own source.")
    with ExitStack() as stack:
        source = _from_file(path, options.source_root, stack) if path else _from_folder(options.source, stack)
        for kind in tables:
            if kind not in source.graph.relationships:
                close = nearest(kind, list(source.graph.relationships))
                advice = f" Did you mean {close}?" if close else ""
                raise click.UsageError(f"--edge-table: there is no relationship of the type {kind!r}.{advice}")
        out = check_out(options.out, source.root.path if source.root else None)
        written = write_plan(plan := _plan(source, options.form, tables), out, force=options.force)
    _report(plan, written, out)
    return 0


def _table_of(text: str) -> tuple[str, str]:
    kind, equals, heading = text.partition("=")
    if not equals or not kind or not heading.strip() or "\n" in heading:
        raise click.UsageError(f"--edge-table takes TYPE=HEADING, not {text!r}.")
    return kind, heading.strip()


def _from_file(path: Path, source_root: str | None, stack: ExitStack) -> Source:
    stored = load(path)
    root = stack.enter_context(VaultRoot.open(source_root)) if source_root is not None else None
    return Source(stored.records, stored.graph, stored.configuration, root)


def _from_folder(folder: str, stack: ExitStack) -> Source:
    root = stack.enter_context(VaultRoot.open(folder))
    with progress_bar() as progress:
        state = refresh(root, None, (), progress).state
    return Source(state.records, state.built.graph, state.configuration, root)


def _plan(source: Source, form: str, tables: dict[str, str]) -> Plan:
    match form:
        case "vault":
            return plan_vault(source, tables)
        case "parquet":
            return plan_parquet(source.graph)
        case "graphml":
            return plan_graphml(source.graph)
        case "neo4j":
            return plan_neo4j(source.graph)
        case _:
            raise SettingsError(f"{form}: no such form of export. It is vault, parquet, graphml or neo4j.")


def _report(plan: Plan, written: Written, out: Path) -> None:
    parts = [f"{counted(written.written, 'file')} written", f"{written.unchanged} unchanged"]
    if written.deleted:
        parts.append(f"{written.deleted} deleted")
    click.echo(one_line(f"{out}: {', '.join(parts)}"))
    for path in written.kept[:_MOST_SHOWN]:
        click.echo(one_line(f"kept, because it was edited since the last export: {path}"))
    if len(written.kept) > _MOST_SHOWN:
        click.echo(f"… and {len(written.kept) - _MOST_SHOWN} more that were edited")
    report = plan.report()
    for kind, found in report.items():
        shown = "; ".join(found["examples"][:_MOST_SHOWN])
        more = " …" if found["count"] > _MOST_SHOWN else ""
        click.echo(one_line(f"not carried over, {kind}: {found['count']} ({shown}{more})"))
    if any(found["count"] > _MOST_SHOWN for found in report.values()):
        click.echo(one_line(f"more of it is listed in {out / MANIFEST}"))
