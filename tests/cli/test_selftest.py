"""The modes of serving from the command line: flags, the selftest, and the line a start ends in."""

import re
import socket
import subprocess
import sys

import pytest

NOTES = {
    "Home.md": "# Home\n\n[[Boat]] #sea\n",
    "Boat.md": "---\ntype: Boat\n---\n# Boat\n",
    "Long.md": "word\n" * 10,
}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--vault", "x", "--graph", "y.kgl"), "--vault and --graph exclude each other"),
        (("--vault", "x", "--source-root", "y"), "--vault and --source-root exclude each other"),
        (("--graph", "x.kgl", "build", "y"), "--graph serves; build takes the folder"),
        (("--vault", "x", "--selftest", "--http"), "over stdin and stdout, without --http"),
    ],
)
def test_flags_that_do_not_go_together_exit_2(vaultgraph, arguments, words):
    done = vaultgraph(*arguments)
    assert (done.code, done.out) == (2, "")
    assert words in done.err
    assert done.err.count("\n") == 1


def test_a_selftest_shakes_hands_uses_each_capability_and_exits_0(vaultgraph, write):
    folder = write({**NOTES, "workspace_mcp.yaml": "tools: [{name: one, cypher: RETURN 1}]\nbuiltins: {github: true}"})
    done = vaultgraph("--vault", folder, "--vault-cache", "none", "--watch", "off", "--name", "Quay", "--selftest")
    lines = done.out.splitlines()
    assert done.code == 0, done.out
    assert lines[0].startswith("note     workspace_mcp.yaml:2: `builtins.github` has no effect")
    assert re.search(r"^initialize +\S+ ms  ok  vaultgraph \(Quay\) \S+, protocol 20\d\d-\d\d-\d\d$", lines[1])
    assert lines[2].endswith(" ms  ok  12 tools")
    tried = [line.split()[0] for line in lines[1:-1]]
    assert tried[:4] == ["initialize", "tools/list", "graph_overview", "cypher_query"]
    assert {"links", "read_source", "grep", "list_source", "fetch_images", "one", "expand_response"} <= set(tried)
    assert tried[-2:] == ["prompts", "resources"]
    assert all(" ms  ok" in line or "not tried" in line for line in lines[1:-1])
    assert lines[-1].startswith("all ")
    assert not (folder / ".kglite").exists()


def test_a_selftest_inside_a_vault_runs_no_code_of_the_vault(vaultgraph, write, monkeypatch: pytest.MonkeyPatch):
    names = ("click", "polars", "mcp", "http", "vaultgraph")
    planted = {f"{name}.py": "open('ran', 'w').close()\n" for name in names}
    folder = write({**NOTES, **planted})
    monkeypatch.chdir(folder)
    done = vaultgraph("--vault", ".", "--vault-cache", "none", "--watch", "off", "--selftest")
    assert done.code == 0, done.out
    assert not (folder / "ran").exists()


def test_a_selftest_that_finds_a_fault_names_it_and_exits_1(vaultgraph, write):
    folder = write({**NOTES, "workspace_mcp.yaml": "tools: [{name: half, cypher: RETURN 1 / 0}]"})
    done = vaultgraph("--vault", folder, "--vault-cache", "none", "--watch", "off", "--selftest")
    assert done.code == 1
    (line,) = [line for line in done.out.splitlines() if line.startswith("half ")]
    assert "FAILED evaluation: " in line
    assert done.out.splitlines()[-1].endswith(" work")


def test_a_selftest_of_a_vault_that_cannot_be_built_says_why(vaultgraph, write):
    folder = write({**NOTES, ".kglite/vault.yaml": "kglite_vault: 1\nnonsense: 1\n"})
    done = vaultgraph("--vault", folder, "--vault-cache", "none", "--selftest")
    assert done.code == 1
    (line,) = [line for line in done.out.splitlines() if line.startswith("cypher_query ")]
    assert "`nonsense` is not a known key" in line
    assert " ms  ok" in next(line for line in done.out.splitlines() if line.startswith("read_source "))


def test_a_selftest_of_a_server_that_ends_at_once_says_its_last_words(vaultgraph, write):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        manifest = f"extensions: {{csv_http_server: {{port: {port}}}}}"
        folder = write({**NOTES, "workspace_mcp.yaml": manifest})
        done = vaultgraph("--vault", folder, "--vault-cache", "none", "--selftest")
    assert done.code == 1
    assert done.out.startswith("initialize ")
    assert "FAILED Connection closed; vaultgraph: " in done.out
    assert "csv_http_server: Address already in use" in done.out
    assert done.out.splitlines()[-1] == "0 of 1 work"


def test_a_selftest_of_what_cannot_be_served_is_one_line(vaultgraph, write):
    done = vaultgraph("--vault", write(NOTES) / "none", "--selftest")
    assert (done.code, done.out) == (1, "")
    assert "no such folder" in done.err


def test_a_selftest_of_a_saved_graph_and_of_files_alone(vaultgraph, write):
    folder = write(NOTES)
    vaultgraph("build", folder)
    graph = vaultgraph("--graph", folder / ".kglite/graph.kgl", "--source-root", folder, "--selftest")
    assert graph.code == 0
    assert "reload_graph" in graph.out
    files = vaultgraph("--source-root", folder, "--selftest")
    assert files.code == 0
    assert "cypher_query" not in files.out


def _stderr(*flags: object) -> str:
    command = [sys.executable, "-m", "vaultgraph.cli.main", *map(str, flags)]
    done = subprocess.run(command, input=_CALL, capture_output=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr.decode()
    return done.stderr.decode()


_CALL = (
    b'{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", '
    b'"capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}\n'
)


def test_a_start_ends_in_a_line_that_says_what_it_came_to(write):
    from vaultgraph.cli.boot import boot_line
    from vaultgraph.cli.opening import ServeOptions, open_session

    folder = write({**NOTES, ".kglite/vault.yaml": "kglite_vault: 1\n"})
    session, _ = open_session(ServeOptions(str(folder), "none", "Quay", "off", "warning"))
    told: list[str] = []
    session.start(lambda started: told.append(boot_line(started, 0.0)))
    assert session.wait_built(30)
    session.close()
    (line,) = told
    assert line.startswith('vaultgraph: vault "Quay" · 3 notes, ')
    assert " relationships · built from the notes · " in line or " relationship · built from the notes · " in line
    assert " ms · problems: " in line


def test_a_start_without_a_graph_says_why(write):
    from vaultgraph.cli.boot import boot_line
    from vaultgraph.cli.opening import ServeOptions, open_session

    folder = write({**NOTES, ".kglite/vault.yaml": "kglite_vault: 1\nnonsense: 1\n"})
    session, _ = open_session(ServeOptions(str(folder), "none", None, "off", "warning"))
    session.start()
    assert session.wait_built(30)
    line = boot_line(session, 0.0)
    session.close()
    assert "there is no graph yet: .kglite/vault.yaml:2: `nonsense` is not a known key" in line


def test_the_first_line_names_the_mode_and_the_manifest(write):
    folder = write({**NOTES, "workspace_mcp.yaml": "name: Quay\nbuiltins: {github: true}\n"})
    said = _stderr("--source-root", folder, "--mcp-config", folder / "workspace_mcp.yaml")
    assert f'serving "Quay" from {folder} · manifest {folder}/workspace_mcp.yaml' in said
    assert said.count("`builtins.github` has no effect") == 1
    assert 'vaultgraph: files "Quay" · file tools only · ' in said
