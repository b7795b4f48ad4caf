"""How to register the server with a client: the commands and settings, as text.

Pure text from the vault's path and the program's own path.
"""

import json
import shlex
import sys
from pathlib import Path


def module_command() -> list[str]:
    """What starts the program in this Python, from any working directory.

    Without -P it would import modules that lie there, which may be a downloaded vault.
    """
    return [sys.executable, "-P", "-m", "vaultgraph.cli.main"]


def server_command(vault: Path, name: str | None = None) -> list[str]:
    """The command that starts the server for ``vault``: the installed script beside this Python, or `python -m`."""
    script = Path(sys.executable).with_name("vaultgraph")
    start = [str(script)] if script.exists() else module_command()
    return [*start, "--vault", str(vault), *(["--name", name] if name else [])]


def register_text(vault: Path, name: str | None = None) -> str:
    """What to run or paste, for the clients in use."""
    command = server_command(vault, name)
    entry = {"command": command[0], "args": command[1:]}
    servers = json.dumps({"mcpServers": {"vaultgraph": entry}}, indent=2, ensure_ascii=False)
    vscode = json.dumps({"servers": {"vaultgraph": {"type": "stdio", **entry}}}, ensure_ascii=False)
    return "\n".join(
        [
            "Register it:",
            f"  Claude Code      claude mcp add vaultgraph -- {shlex.join(command)}",
            f"  VS Code          .vscode/mcp.json: {vscode}",
            "  Claude Desktop   claude_desktop_config.json, and Cursor in .cursor/mcp.json:",
            *(f"    {line}" for line in servers.splitlines()),
        ]
    )
