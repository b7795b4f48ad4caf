"""Small vaults on disk, and the command line run in this process."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from vaultgraph.cli.main import run


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
