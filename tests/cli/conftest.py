"""Small vaults on disk, and the command line run in this process."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from vaultgraph.cli.main import run

Write = Callable[[Mapping[str, str | bytes]], Path]


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str


@pytest.fixture
def vaultgraph(capfd: pytest.CaptureFixture[str]) -> Callable[..., Done]:
    """Run the command line: `vaultgraph("check", folder)`."""

    def execute(*arguments: object) -> Done:
        code = run([str(argument) for argument in arguments])
        captured = capfd.readouterr()
        return Done(code, captured.out, captured.err)

    return execute


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
