"""Vaults whose notes state pieces and cells directly, as reading would give them.

As in ``tests/graph/conftest.py``; ``pieces`` is a list of dicts with the columns of PIECES (what is left out has a
default), ``cells`` a list of (piece, key, text, line), ``rows`` the links of tables in the order of their pieces,
``fields`` the keys of inline fields by the line of the link in them.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from hashlib import sha256

import polars as pl
import pytest

from vaultgraph.graph.build import build_graph
from vaultgraph.note.records import CELLS, LINKS, PIECES, LinkSyntax, PieceKind, RecordTable
from vaultgraph.profile.settings import Profile

Vault = Mapping[str, object]


def piece(kind: PieceKind, fragment: str, **more: object) -> dict[str, object]:
    """A piece with the defaults of one that hangs on its note."""
    text = more.get("text")
    hashed = sha256(str(text).encode()).hexdigest() if kind == PieceKind.CHUNK else None
    plain = {"line": 1, "parent": -1, "section": more.get("parent", -1), "ordinal": 0, "hash": hashed}
    return plain | {"kind": kind.value, "fragment": fragment} | more


def state_pieces(records: RecordTable, vault: Vault) -> RecordTable:
    """``records`` with the pieces, cells and links of tables that the vault states."""
    pieces, cells, links = [], [], []
    stated = [vault[path] for path in records.notes["path"]]
    for note, what in enumerate(stated):
        pieces += [{"note": note} | row for row in what.get("pieces", [])]
        cells += [(note, *row) for row in what.get("cells", [])]
        links += [
            {"note": note, "syntax": LinkSyntax.TABLE.value, "is_embed": False} | row for row in what.get("rows", [])
        ]
    tabled = pl.DataFrame(links, schema=LINKS)
    fields = [(note, line, key) for note, what in enumerate(stated) for line, key in what.get("fields", {}).items()]
    keys = pl.DataFrame(fields, schema={"note": pl.UInt32, "line": pl.Int32, "property": pl.String}, orient="row")
    return replace(
        records,
        pieces=pl.DataFrame(pieces, schema=PIECES),
        cells=pl.DataFrame(cells, schema=CELLS, orient="row"),
        links=pl.concat([records.links.update(keys, on=["note", "line"]), tabled]).sort("note", maintain_order=True),
    )


@pytest.fixture(scope="session")
def of() -> Callable[..., dict[str, object]]:
    """One piece: ``of(kind, fragment, **columns)``; its section is its parent unless said."""
    return piece


@pytest.fixture(scope="session")
def with_pieces() -> Callable[[RecordTable, Vault], RecordTable]:
    """Records of a described vault with its pieces, cells and links of tables."""
    return state_pieces


@pytest.fixture
def derive(build, makers):
    """Build a described vault with pieces: ``derive({path: what}, profile)``."""
    make_records, make_stamps = makers

    class Answers(type(build({}))):
        def names(self) -> list[str]:
            """As for notes; the `path` of a section is a list of titles, which names nothing."""
            labels = [group.labels[0] for group in self.graph.groups for _ in range(group.first, group.stop)]
            named = zip(labels, self.cells("id"), self.cells("path"), strict=True)
            return [
                path if isinstance(path, str) and label != "Folder" else f"{label}:{key}" for label, key, path in named
            ]

    def run(vault: Vault, profile: Profile | None = None):
        records = state_pieces(make_records(vault), vault)
        return Answers(build_graph(records, make_stamps(vault), profile or Profile()))

    return run
