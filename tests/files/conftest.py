"""A small vault on disk for the tests of files/."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from vaultgraph.files.root import VaultRoot

MakeVault = Callable[[Mapping[str, bytes | str]], VaultRoot]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of the vault; `tmp_path` itself is outside of it."""
    place = tmp_path / "vault"
    place.mkdir()
    return place


@pytest.fixture
def make_vault(folder: Path) -> Iterator[MakeVault]:
    """Writes files (path: content) into `folder` and opens it."""
    opened: list[VaultRoot] = []

    def make(files: Mapping[str, bytes | str]) -> VaultRoot:
        for path, content in files.items():
            place = folder / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content.encode() if isinstance(content, str) else content)
        opened.append(VaultRoot.open(folder))
        return opened[-1]

    yield make
    for root in opened:
        root.close()


@pytest.fixture
def count_handles() -> Callable[[], int]:
    """How many files this process has open."""
    place = Path("/proc/self/fd")
    if not place.is_dir():
        pytest.skip("open handles cannot be counted here")
    return lambda: sum(1 for _ in place.iterdir())
