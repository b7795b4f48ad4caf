"""The command line: options, and exit codes.

`vaultgraph --vault DIR` serves; `build`, `check`, `status`, `query` and the commands of vault_commands answer and exit.
Bad flags exit 2, what cannot be done exits 1, each with one line that says what to do. The work is in serving and
commands, imported when needed.
"""

import io
import os
import sys
from collections.abc import Sequence

import click

from vaultgraph import __version__
from vaultgraph.cli.vault_commands import add_vault_commands
from vaultgraph.errors import VaultgraphError
from vaultgraph.serve.http_address import DEFAULT_ADDRESS, TOKEN_VARIABLE

_VAULT_CACHE = click.option(
    "--vault-cache",
    "cache",
    default="default",
    metavar="PATH|none",
    help="Cache file; default: .kglite/graph.kgl in the vault.",
)


@click.group(invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--vault", metavar="DIR", help="Serve this folder of notes over MCP on stdin and stdout.")
@_VAULT_CACHE
@click.option("--graph", metavar="FILE.kgl", help="Serve a saved graph; the file is read again when it changes.")
@click.option(
    "--source-root",
    metavar="DIR",
    help="Serve a folder's files without a graph; with --graph, the folder of its files.",
)
@click.option(
    "--mcp-config",
    metavar="FILE|none",
    help="Manifest; default: workspace_mcp.yaml in the vault, NAME_mcp.yaml beside NAME.kgl.",
)
@click.option(
    "--selftest", is_flag=True, help="Start a server, use all it offers over its protocol, say what worked, and exit."
)
@click.option(
    "--http",
    is_flag=False,
    flag_value=DEFAULT_ADDRESS,
    default=None,
    metavar="[HOST:PORT]",
    help=f"Serve over streamable HTTP instead of stdin and stdout; default {DEFAULT_ADDRESS}.",
)
@click.option(
    "--http-token-file",
    metavar="FILE",
    help=f"Clients must send this file's bearer token; or set {TOKEN_VARIABLE}.",
)
@click.option(
    "--http-allow", multiple=True, metavar="NAME", help="A host name clients and web pages may use; repeatable."
)
@click.option("--name", help="What clients call the vault; default: the folder's name.")
@click.option(
    "--watch",
    type=click.Choice(["auto", "poll", "off"]),
    default="auto",
    show_default=True,
    help="How edits are followed.",
)
@click.option(
    "--log-level",
    type=click.Choice(["error", "warning", "info", "debug"]),
    default="warning",
    show_default=True,
    help="What goes to stderr.",
)
@click.option(
    "--no-vault-guidance",
    "refuses_guidance",
    is_flag=True,
    help="Serve no skills and recipes that the vault carries.",
)
@click.version_option(__version__, prog_name="vaultgraph", message="%(prog)s %(version)s")
@click.pass_context
def cli(
    context: click.Context,
    *,
    vault: str | None,
    graph: str | None,
    source_root: str | None,
    mcp_config: str | None,
    cache: str,
    http: str | None,
    http_token_file: str | None,
    http_allow: tuple[str, ...],
    name: str | None,
    watch: str,
    log_level: str,
    refuses_guidance: bool,
    selftest: bool,
) -> None:
    """Serve a folder of Markdown notes to AI agents as a live knowledge graph."""
    served = {"--vault": vault, "--graph": graph, "--source-root": source_root}
    stated = [flag for flag, value in served.items() if value is not None]
    if context.invoked_subcommand is not None:
        if stated:
            raise click.UsageError(
                f"{stated[0]} serves; {context.invoked_subcommand} takes the folder as its argument."
            )
        return
    if http is None and (http_token_file is not None or http_allow):
        raise click.UsageError("--http-token-file and --http-allow need --http.")
    if not stated:
        raise click.UsageError("Name the folder to serve with --vault DIR, or a command; --help lists them.")
    if vault is not None and len(stated) > 1:
        raise click.UsageError(f"--vault and {stated[1]} exclude each other: a vault brings its graph and its files.")
    if selftest and http is not None:
        raise click.UsageError("--selftest talks over stdin and stdout, without --http.")
    _ask_libraries_for_less()
    from vaultgraph.cli.opening import HttpOptions, ServeOptions  # noqa: PLC0415 -- only this command needs it

    over_http = None if http is None else HttpOptions(http, http_token_file, http_allow)
    options = ServeOptions(
        vault, cache, name, watch, log_level, over_http, not refuses_guidance, graph, source_root, mcp_config
    )
    if selftest:
        from vaultgraph.cli.selftest import run_selftest  # noqa: PLC0415 -- as above

        context.exit(run_selftest(options))
    from vaultgraph.cli.serving import serve  # noqa: PLC0415 -- as above

    context.exit(serve(options))


@cli.command()
@click.argument("vault", metavar="DIR")
@_VAULT_CACHE
@click.pass_context
def build(context: click.Context, vault: str, cache: str) -> None:
    """Build the graph from the notes, write the cache, and report."""
    from vaultgraph.cli.commands import run_build  # noqa: PLC0415 -- loads the engine

    context.exit(run_build(vault, cache))


@cli.command()
@click.argument("vault", metavar="DIR")
@click.option("--strict", is_flag=True, help="Exit 1 on warnings too.")
@click.option("--json", "as_json", is_flag=True, help="The report as JSON.")
@click.pass_context
def check(context: click.Context, vault: str, *, strict: bool, as_json: bool) -> None:
    """Read the whole vault and list what is faulty, by path and line. Writes nothing; exits 1 on errors."""
    from vaultgraph.cli.commands import run_check  # noqa: PLC0415 -- loads the engine

    context.exit(run_check(vault, strict=strict, as_json=as_json))


@cli.command()
@click.argument("vault", metavar="DIR")
@_VAULT_CACHE
@click.pass_context
def status(context: click.Context, vault: str, cache: str) -> None:
    """Say what the vault holds and whether its cache is up to date. Writes nothing."""
    from vaultgraph.cli.commands import run_status  # noqa: PLC0415 -- loads the engine

    context.exit(run_status(vault, cache))


@cli.command()
@click.argument("vault", metavar="DIR|FILE")
@click.argument("text", metavar="CYPHER")
@click.option("--format", "shape", type=click.Choice(["table", "json", "csv"]), default=None, help="Default: table.")
@click.option("--param", "params", multiple=True, metavar="KEY=VALUE", help="A $parameter; the value is JSON or text.")
@click.option(
    "--valid-at", metavar="DAY|today|all", help="Leave out what did not hold then, where the vault declares it."
)
@_VAULT_CACHE
@click.pass_context
def query(
    context: click.Context,
    vault: str,
    text: str,
    shape: str | None,
    params: tuple[str, ...],
    valid_at: str | None,
    cache: str,
) -> None:
    """Run one Cypher query on a vault, or on a .kgl file."""
    from vaultgraph.cli.commands import run_query_command  # noqa: PLC0415 -- loads the engine

    if not all(map(_is_text, (text, *params))):
        raise click.UsageError("The query or a --param is not valid UTF-8.")
    context.exit(run_query_command(vault, text, shape, params, cache, valid_at))


add_vault_commands(cli)


@cli.command()
@click.argument("source", metavar="DIR|FILE.kgl")
@click.argument("out", metavar="OUT")
@click.option(
    "--to",
    "form",
    type=click.Choice(["vault", "parquet", "graphml", "neo4j"]),
    required=True,
    help="A vault of notes, or tables for other programs.",
)
@click.option("--force", is_flag=True, help="Overwrite files in OUT that are not the last export's.")
@click.option(
    "--source-root", metavar="DIR", help="The folder a .kgl file was made from, for pictures and other files."
)
@click.option(
    "--edge-table",
    "tables",
    multiple=True,
    metavar="TYPE=HEADING",
    help="Write relationships that only the graph has as a table below this heading; may be given several times.",
)
@click.pass_context
def export(
    context: click.Context,
    source: str,
    out: str,
    form: str,
    *,
    force: bool,
    source_root: str | None,
    tables: tuple[str, ...],
) -> None:
    """Write the graph to the folder OUT, as notes or as tables. The source is not touched."""
    from vaultgraph.cli.export import ExportOptions, run_export  # noqa: PLC0415 -- loads the engine

    context.exit(run_export(ExportOptions(source, form, out, source_root, tables, force)))


def _ask_libraries_for_less() -> None:
    """Set what native libraries read when they are loaded; what the user has set holds."""
    # polars' allocator: one arena instead of eight keeps a tenth less memory, no slower.
    os.environ.setdefault("_RJEM_MALLOC_CONF", "narenas:1")
    # numpy's linear algebra, which nothing here uses: its threads spin for a while when they are made.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def _is_text(argument: str) -> bool:
    """Whether the bytes given on the command line were text: what was none is there as lone surrogates."""
    try:
        argument.encode()
    except UnicodeEncodeError:
        return False
    return True


def run(arguments: Sequence[str]) -> int:
    """Run the command line; the exit code."""
    try:
        code = cli.main(list(arguments), prog_name="vaultgraph", standalone_mode=False)
    except click.ClickException as error:
        message = " ".join(error.format_message().split())
        hint = " To serve a folder: vaultgraph --vault DIR." if message.startswith("No such command") else ""
        _complain(f"{message}{hint}")
        return error.exit_code
    except VaultgraphError as error:
        from vaultgraph.serve.cells import error_text  # noqa: PLC0415 -- loads the engine

        _complain(error_text(error))
        return 1
    except click.Abort:
        return 130
    return code if isinstance(code, int) else 0


def _complain(message: str) -> None:
    """Say on stderr what went wrong; a message may quote a name that would act on the terminal."""
    from vaultgraph.serve.cells import plain_text  # noqa: PLC0415 -- loads the engine

    click.echo(f"vaultgraph: {plain_text(message)}", err=True)


def main() -> None:
    """The console script."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal that is not UTF-8 is no reason to fail
    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
