"""The official TypeScript client against the real server, over stdio and HTTP.

Needs node, and the folder `node_modules` where `@modelcontextprotocol/sdk` was installed, named by
VAULTGRAPH_NODE_MODULES.
"""

import json
import os
import shutil
import subprocess
import sys
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image

MODULES = os.environ.get("VAULTGRAPH_NODE_MODULES", "")
pytestmark = pytest.mark.skipif(
    not shutil.which("node") or not (Path(MODULES) / "@modelcontextprotocol/sdk").is_dir(),
    reason="needs node, and VAULTGRAPH_NODE_MODULES naming a node_modules folder with @modelcontextprotocol/sdk",
)


@pytest.fixture
def vault(write):
    picture = BytesIO()
    Image.new("RGB", (8, 6), "red").save(picture, "PNG")
    boats = {f"Boats/{name}.md": f"---\ntype: Boat\n---\n# {name}\n" for name in ("Fulmar", "Selkie")}
    return write({"Home.md": "[[Selkie]]", "media/selkie.png": picture.getvalue(), **boats})


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_the_typescript_client_is_answered_told_and_obeyed(vault, tmp_path, transport):
    place = tmp_path / "client"
    place.mkdir()
    (place / "node_modules").symlink_to(Path(MODULES).resolve())
    script = shutil.copy(Path(__file__).parent / "typescript_client.mjs", place)
    command = [sys.executable, "-m", "vaultgraph.cli.main", "--vault", str(vault), "--vault-cache", "none"]
    server, where = None, command
    if transport == "http":
        server = subprocess.Popen([*command, "--http", "127.0.0.1:0"], stderr=subprocess.PIPE, text=True)
        line = next(line for line in server.stderr if "listening on" in line)
        where = [line.split("listening on ")[1].split()[0]]
    try:
        done = subprocess.run(
            ["node", script, str(vault), transport, *where], capture_output=True, text=True, timeout=120, check=False
        )
    finally:
        if server is not None:
            server.terminate()
            server.communicate(timeout=60)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["rows"][1].split("\n")[:3] == ["boat", "Fulmar", "Selkie"]
    assert found["wrong"][0]
    assert "Did you mean RETURN?" in found["wrong"][1]
    assert found["image"][1].startswith("image/png\ndelivered 1")
    assert found["resources"] == [
        "vault://Boats/Fulmar.md",
        "vault://Boats/Selkie.md",
        "vault://Home.md",
        "vault://media/selkie.png",
    ]
    assert (found["template"], found["note"], found["completion"]) == (
        ["vault://{+path}"],
        "text/markdown",
        ["Boats/Selkie.md"],
    )
    assert (found["updated"], found["cancelled"], found["pong"]) == ("vault://Home.md", True, True)
    assert found["instructions"]
    assert found["prompts"]
    assert {"graph_overview", "cypher_query", "read_source", "grep"} <= set(found["tools"])
