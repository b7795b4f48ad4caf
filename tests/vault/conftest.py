"""Small vaults on disk."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

Write = Callable[[Mapping[str, str | bytes]], Path]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "vault"
    root.mkdir()
    return root


@pytest.fixture
def write(folder: Path) -> Write:
    """Write files (path → text or bytes) into the vault folder, which is returned."""

    def write_files(files: Mapping[str, str | bytes]) -> Path:
        for path, content in files.items():
            file = folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return folder

    return write_files
