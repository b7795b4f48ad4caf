"""How to register the server: text that can be pasted."""

import json
import shlex
import sys
from pathlib import Path

from vaultgraph.cli.register import register_text, server_command


def test_the_command_survives_spaces_and_quotes():
    vault = Path("/home/me/My notes/it's")
    line = next(line for line in register_text(vault).splitlines() if "claude mcp add" in line)
    words = shlex.split(line.split("Claude Code", 1)[1])
    assert words[:5] == ["claude", "mcp", "add", "vaultgraph", "--"]
    assert words[-2:] == ["--vault", str(vault)]


def test_the_settings_are_json_with_the_whole_command():
    text = register_text(Path("/v/ウミウシ"), "Sea")
    settings = json.loads(text[text.index("{\n") :])
    entry = settings["mcpServers"]["vaultgraph"]
    assert [entry["command"], *entry["args"]] == server_command(Path("/v/ウミウシ"), "Sea")
    assert entry["args"][-4:] == ["--vault", "/v/ウミウシ", "--name", "Sea"]
    vscode = next(line for line in text.splitlines() if "mcp.json" in line and "VS Code" in line)
    assert json.loads(vscode[vscode.index("{") :])["servers"]["vaultgraph"]["type"] == "stdio"


def test_without_the_script_nothing_is_imported_from_where_the_client_runs(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    command = server_command(Path("/v"))
    assert command == [str(tmp_path / "python"), "-P", "-m", "vaultgraph.cli.main", "--vault", "/v"]
