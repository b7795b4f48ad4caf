"""Commands with Obsidian's own names: links, backlinks, unresolved, orphans, deadends, outline, tags.

Each runs one query of serve/vault_queries on the vault and prints its rows. A note is named as a link would name it.
"""

import sys
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import click

from vaultgraph.cli.progress import progress_bar
from vaultgraph.frozen import frozen
from vaultgraph.serve.vault_queries import NOTE, query_of

if TYPE_CHECKING:  # the engine is imported when a command runs
    from vaultgraph.cypher.result import Result
    from vaultgraph.graph.graph import Graph
    from vaultgraph.vault.vault import Vault

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


@frozen
class Asked:
    """What the options of a command say: ``shape`` "table", "json" or "csv"; ``total``: only how many rows."""

    vault: str
    shape: str
    total: bool
    cache: str


HELP: Final = {
    "links": "List what a note links to and embeds, in order of line.",
    "backlinks": "List what links to a note or embeds it, by path and line.",
    "unresolved": "List what is linked to and not there, most wanted first, with every note that asks for it.",
    "orphans": "List the notes that no other file links to.",
    "deadends": "List the notes that link to nothing in the vault.",
    "outline": "List the headings of a note.",
    "tags": "List the tags with their counts of notes, or those of one note.",
}


def add_vault_commands(group: click.Group) -> None:
    """Add the commands to the command line."""
    for name, text in HELP.items():
        note = {"links": True, "backlinks": True, "outline": True, "tags": False}.get(name)
        group.add_command(_command(name, text, note))


def _command(name: str, text: str, is_note_required: bool | None) -> click.Command:
    """The command ``name``; ``is_note_required`` None: it takes no note."""

    def run(vault: str, shape: str, cache: str, note: str | None = None, *, total: bool) -> None:
        click.get_current_context().exit(run_vault_command(name, Asked(vault, shape, total, cache), note))

    parameters: list[click.Parameter] = [click.Argument(["vault"], metavar="DIR")]
    if is_note_required is not None:
        shown = "NOTE" if is_note_required else "[NOTE]"
        parameters.append(click.Argument(["note"], metavar=shown, required=is_note_required))
    parameters += [
        click.Option(
            ["--format", "shape"], type=click.Choice(["table", "json", "csv"]), default="table", show_default=True
        ),
        click.Option(["--total"], is_flag=True, help="Only how many there are."),
        click.Option(
            ["--vault-cache", "cache"],
            default="default",
            metavar="PATH|none",
            help="Cache file; default: .kglite/graph.kgl in the vault.",
        ),
    ]
    return click.Command(name, callback=run, params=parameters, help=text)


def run_vault_command(name: str, asked: Asked, note: str | None) -> int:
    """Run the command's query and print the rows, or how many there are.

    Raises:
        click.ClickException: nothing in the vault is called ``note``, or it is no note of the graph.
        VaultgraphError: the vault cannot be opened, or several notes are called so.
    """
    from vaultgraph.cli.tables import print_rows  # noqa: PLC0415 -- loads the engine
    from vaultgraph.vault.tables import despite_damage  # noqa: PLC0415 -- as above
    from vaultgraph.vault.vault import open_vault  # noqa: PLC0415 -- as above

    with progress_bar() as progress:
        opened = open_vault(asked.vault, None if asked.cache == "none" else asked.cache, progress=progress)
    with opened:
        result = despite_damage(partial(_listed, opened, name, note))
        if asked.total:
            click.echo(len(result.rows))
        else:
            print_rows(result.columns, result.rows, asked.shape, sys.stdout)
    return 0


def _listed(vault: "Vault", name: str, note: str | None) -> "Result":
    parameters: dict[str, object] = {} if note is None else {"path": _note_path(vault, note)}
    graph, label = vault.current().graph, vault.current().profile.note_label
    text = command_query(f"{name} of a note" if name == "tags" and note is not None else name, graph, label)
    return vault.run(text, parameters)[0]


def command_query(name: str, graph: "Graph", note_label: str) -> str:
    """The text of a command's query for this graph."""
    from vaultgraph.serve.overview import quoted  # noqa: PLC0415 -- loads the engine

    return query_of(name, graph).replace(NOTE, f"(n:{quoted(note_label)})")


def _note_path(vault: "Vault", text: str) -> str:
    """The path of the note that ``text`` names: a path, a name, a title, an alias, a link."""
    from vaultgraph.errors import MissingFileError  # noqa: PLC0415 -- as the engine
    from vaultgraph.files.stamps import is_canvas, is_note  # noqa: PLC0415 -- as above
    from vaultgraph.serve.cells import one_line  # noqa: PLC0415 -- as above
    from vaultgraph.serve.lookup import file_called, short  # noqa: PLC0415 -- as above

    if not text.isprintable() and any("\ud800" <= char <= "\udfff" for char in text):
        raise click.UsageError("NOTE is not valid UTF-8.")
    if not text.strip():
        raise click.ClickException("NOTE is empty: name a note by its path, name, title or alias.")
    snapshot = vault.current()
    try:
        path, _ = file_called(vault.root, lambda: snapshot, text)
    except MissingFileError as error:
        nearest = error.data.get("nearest")
        advice = (
            f"Did you mean {' or '.join(map(one_line, nearest))}?"
            if nearest
            else "Name it by its path, name, title or alias."
        )
        raise click.ClickException(f"{short(text)}: there is no such note. {advice}") from error
    if not (is_note(path) or is_canvas(path)):
        raise click.ClickException(f"{short(path or text)}: is not a note.")
    known = snapshot.records.listing.filter(snapshot.records.listing["path"] == path)
    if not known.height or known["is_skipped"].any():
        raise click.ClickException(f"{short(path)}: is not in the graph (kg_skip, or a folder that is not scanned).")
    return path
