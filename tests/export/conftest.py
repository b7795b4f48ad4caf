"""Vaults exported and built again."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from vaultgraph.export.compare import Differences, differences
from vaultgraph.export.owned import Written, check_out, write_plan
from vaultgraph.export.plan import Plan, pieces_of
from vaultgraph.export.vault import Source, plan_vault
from vaultgraph.files.root import VaultRoot
from vaultgraph.graph.graph import Graph
from vaultgraph.note.records import empty_records
from vaultgraph.vault.refresh import refresh

Read = Callable[[Path], Source]
Export = Callable[[Path], Written]


def read_source(folder: Path) -> Source:
    with VaultRoot.open(folder) as root:
        state = refresh(root, None, (), None).state
    return Source(state.records, state.built.graph, state.configuration)


@pytest.fixture(scope="session")
def read() -> Read:
    """What a vault folder holds, without the folder."""
    return read_source


@pytest.fixture(scope="session")
def planned() -> Callable[[Path], Plan]:
    """The plan of a vault export from a folder, its contents read."""

    def plan(folder: Path) -> Plan:
        with VaultRoot.open(folder) as root:
            state = refresh(root, None, (), None).state
            found = plan_vault(Source(state.records, state.built.graph, state.configuration, root))
            files = {path: b"".join(pieces_of(content)) for path, content in found.files.items()}
        return Plan(found.form, files, found.losses)

    return plan


@pytest.fixture(scope="session")
def compared() -> Callable[[Path, Path], Differences]:
    """How the graph of the second folder differs from that of the first."""
    return lambda first, second: differences(read_source(first).graph, read_source(second).graph)


@pytest.fixture
def put(tmp_path: Path) -> Callable[..., Path]:
    """Write files as an export would, without a source; returns the folder."""

    def write(files: Mapping[str, bytes], *, force: bool = False) -> Path:
        out = check_out(tmp_path / "out", None)
        write_plan(Plan("vault", files), out, force=force)
        return out

    return write


@pytest.fixture(scope="session")
def plan_of_graph() -> Callable[..., Plan]:
    """The plan of a graph that no notes made."""

    def plan(graph: Graph, tables: Mapping[str, str] | None = None, yaml: str = "") -> Plan:
        configuration = {".kglite/vault.yaml": yaml} if yaml else {}
        return plan_vault(Source(empty_records(), graph, configuration), tables)

    return plan


@pytest.fixture(scope="session")
def snapshot() -> Callable[[Path], dict[str, bytes]]:
    """Every file below a folder with its bytes."""

    def files(folder: Path) -> dict[str, bytes]:
        found: Sequence[Path] = sorted(path for path in folder.rglob("*") if path.is_file())
        return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}

    return files
