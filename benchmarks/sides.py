"""The two programs that are measured, and how each is started: as a library and as a server.

A side is a Python environment. vaultgraph is measured in the environment that runs the benchmark; kglite in the same
one when it is installed there (the `bench` extra), or in the one named by `--kglite-python`.
"""

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
CACHE = ".kglite/graph.kgl"  # both programs keep their graph here by default


class SideError(Exception):
    """A side did not do what was asked; the text is shown in the report instead of a figure."""


@dataclass(frozen=True, slots=True)
class Side:
    """``name`` is also the distribution's name; ``server`` the console script beside ``python``."""

    name: str
    python: str
    server: str

    def version(self) -> str:
        """The installed version.

        Raises: SideError when it is not installed.
        """
        code = f"import importlib.metadata as m; print(m.version({self.name!r}))"
        try:
            done = subprocess.run([self.python, "-c", code], capture_output=True, text=True, timeout=60, check=False)
        except OSError as error:
            raise SideError(f"{self.python} cannot be run: {error.strerror}") from error
        if done.returncode:
            raise SideError(f"{self.name} is not installed for {self.python}")
        return done.stdout.strip()

    def server_command(self, vault: Path, *, cached: bool) -> list[str]:
        """The command line that serves ``vault`` over stdio, with the default cache or none."""
        script = Path(self.python).parent / self.server
        return [str(script), "--vault", str(vault), *([] if cached else ["--vault-cache", "none"])]

    def library(self, vault: Path, *, cached: bool, home: Path | None = None) -> dict[str, float | str]:
        """Open ``vault`` once in a fresh process; see ``library_run`` for the figures.

        ``home``: the folder for what a program keeps about vaults on this machine; None: the user's.

        Raises: SideError with the last line the process wrote.
        """
        command = [self.python, str(HERE / "library_run.py"), self.name, str(vault), "cache" if cached else "none"]
        try:
            places = {**os.environ, "XDG_CACHE_HOME": str(home)} if home else None
            done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False, env=places)
        except subprocess.TimeoutExpired as error:
            raise SideError("no graph after 600 s") from error
        if done.returncode:
            raise SideError((done.stderr.strip().splitlines() or ["it ended without a word"])[-1])
        return json.loads(done.stdout.splitlines()[-1])


def both_sides(own_python: str, kglite_python: str) -> list[Side]:
    """vaultgraph first: ratios are vaultgraph / kglite."""
    return [Side("vaultgraph", own_python, "vaultgraph"), Side("kglite", kglite_python, "kglite-mcp-server")]
