"""The commands that answer and exit: build, check, status, query. Each gives its exit code.

They use the library's door and print what it says; text of reports and cells comes from serve/.
"""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click

from vaultgraph.cli.opening import saved_graph
from vaultgraph.cli.progress import progress_bar
from vaultgraph.cli.tables import print_rows
from vaultgraph.cypher.result import Result
from vaultgraph.cypher.tokens import split_tokens
from vaultgraph.serve.cells import counted, one_line, plain_text
from vaultgraph.serve.problems import problem_summary, severity_counts
from vaultgraph.serve.report import report_data, report_text
from vaultgraph.vault.vault import Vault, open_vault


def cache_choice(text: str) -> str | None:
    """The library's cache choice for the value of ``--vault-cache``."""
    return None if text == "none" else text


def run_build(vault: str, cache: str) -> int:
    """Build from the notes, write the cache, print the report; 1 where the cache could not be written."""
    with progress_bar() as progress:
        opened = open_vault(vault, cache_choice(cache), progress=progress, build=False)
        with opened:
            report = opened.rebuild()
            remark = opened.save()
            is_refused = opened.is_cache_refused
    click.echo(report_text(report))
    if is_refused:
        click.echo(one_line(f"vaultgraph: the cache is {remark}"), err=True)
    elif remark and remark != report.cache:
        click.echo(one_line(f"cache: {remark}"))
    return 1 if is_refused else 0


def run_check(vault: str, *, strict: bool, as_json: bool) -> int:
    """Build without a cache, print the report; 1 on errors, with ``strict`` on warnings too."""
    report = _opened(vault, None).report
    as_data = plain_text(json.dumps(report_data(report), ensure_ascii=False, indent=1)) if as_json else None
    click.echo(as_data or report_text(report))
    counts = severity_counts(report.problems)
    return 1 if counts["error"] or (strict and counts["warning"]) else 0


def run_status(vault: str, cache: str) -> int:
    """A few lines on the vault and its cache."""
    opened = _opened(vault, cache_choice(cache))
    report = opened.report
    state = {"cache": "read from the cache", "built": "built, no usable cache"}.get(report.origin, report.origin)
    click.echo(one_line(f"{opened.name} ({opened.root.path})"))
    nouns = {"note": report.notes, "file": report.files, "node": report.nodes, "relationship": report.relationships}
    click.echo(", ".join(counted(count, noun) for noun, count in nouns.items()))
    differ = f"; {counted(report.parsed, 'note differs', 'notes differ')} from it"
    click.echo(f"{state}{differ}" if report.origin == "cache" else state)
    facts = opened.cache_facts()
    if facts:
        match = f"{facts.matching:,} of {counted(facts.notes, 'note')} as on disk"
        click.echo(one_line(f"cache: {facts.path}, {facts.size_bytes:,} bytes, vaultgraph {facts.version}; {match}"))
    if report.cache or not facts:
        click.echo(one_line(f"cache: {report.cache or 'none'}"))
    phases = ", ".join(f"{name} {cost:,.1f}" for name, cost in report.phases_ms.items())
    made = f"{opened.current().built_at:%Y-%m-%dT%H:%M:%SZ}"
    click.echo(f"last refresh: {made}, {sum(report.phases_ms.values()):,.1f} ms ({phases})")
    click.echo(f"problems: {problem_summary(report.problems)}")
    opened.root.close()
    return 0


def run_query_command(
    vault: str, text: str, shape: str | None, params: Sequence[str], cache: str, valid_at: str | None = None
) -> int:
    """One query on a folder or a `.kgl` file, with ``valid_at`` as of a day; warnings go to stderr."""
    parameters = dict(parse_parameter(text) for text in params)
    result = _query(vault, text, parameters, cache, valid_at)
    for warning in (*result.warnings, *_unused(text, parameters)):
        click.echo(one_line(f"warning: {warning}"), err=True)
    print_rows(result.columns, result.rows, shape or ("csv" if result.csv else "table"), sys.stdout)
    return 0


def _unused(text: str, parameters: Mapping[str, object]) -> Iterator[str]:
    """A warning for each parameter that the query ``text`` does not name."""
    tokens = split_tokens(text)
    used = dict.fromkeys(
        f"${value}" for kind, value in zip(tokens.kinds, tokens.values, strict=True) if kind == "parameter"
    )
    for name in parameters:
        if f"${name}" not in used:
            yield f"--param {name}: the query does not use ${name}; its parameters are: {', '.join(used) or 'none'}"


def parse_parameter(text: str) -> tuple[str, Any]:
    """``key=value``: the value is JSON where it parses as such, else text.

    Raises:
        click.UsageError: there is no key, or the value is nested too deeply.
    """
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise click.UsageError(f"--param takes KEY=VALUE, not {text!r}.")
    try:
        return key, json.loads(value)
    except RecursionError as error:
        raise click.UsageError(f"--param {key}: the value is nested too deeply.") from error
    except ValueError:
        return key, value


def _opened(vault: str, cache: str | None) -> Vault:
    """The vault, built; it is left open for the process's life, and its cache is not written."""
    saved_graph(vault)  # which says that there is none; what is there is no folder
    with progress_bar() as progress:
        return open_vault(vault, cache, progress=progress)


def _query(vault: str, text: str, parameters: dict[str, object], cache: str, valid_at: str | None) -> Result:
    if (path := saved_graph(vault)) is not None:
        from vaultgraph.serve.graph_file import GraphFile  # noqa: PLC0415 -- few queries are about one

        return GraphFile(path).query(text, parameters, valid_at=valid_at)
    with progress_bar() as progress:
        opened = open_vault(vault, cache_choice(cache), progress=progress)
    with opened:
        return opened.run(text, parameters, valid_at=valid_at)[0]
