"""Flags, exit codes and the start of the server."""

import os
import subprocess
import sys

import pytest

from vaultgraph import __version__


def test_the_version_is_printed(vaultgraph):
    done = vaultgraph("--version")
    assert (done.code, done.out) == (0, f"vaultgraph {__version__}\n")


def test_help_lists_the_commands(vaultgraph):
    done = vaultgraph("--help")
    assert done.code == 0
    assert all(word in done.out for word in ("--vault", "build", "check", "status", "query"))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "--vault DIR"),
        (("--vault",), "--vault"),
        (("--nope",), "--nope"),
        (("--vault", "x", "--watch", "often"), "auto"),
        (("--vault", "x", "build", "y"), "build takes the folder"),
        (("buidl", "x"), "buidl"),
        (("/some/vault",), "To serve a folder: vaultgraph --vault DIR."),
        (("build",), "DIR"),
        (("query", "x"), "CYPHER"),
        (("query", "x", "RETURN 1", "--format", "xml"), "table"),
        (("query", "x", "RETURN $a", "--param", "a=" + "[" * 100_000), "nested too deeply"),
        (("query", "x", "RETURN '\udcff'"), "not valid UTF-8"),
        (("query", "x", "RETURN $a", "--param", "a=\udcff"), "not valid UTF-8"),
    ],
)
def test_bad_flags_exit_2_with_one_line_that_names_the_flag(vaultgraph, arguments, words):
    done = vaultgraph(*arguments)
    assert done.code == 2
    assert done.out == ""
    assert done.err.startswith("vaultgraph: ")
    assert done.err.count("\n") == 1
    assert words in done.err


def test_a_folder_that_cannot_be_served_exits_1_with_one_line(vaultgraph, write):
    folder = write({"A.md": "a"})
    for path, reason in [(folder / "nope", "no such folder"), (folder / "A.md", "is a file")]:
        done = vaultgraph("--vault", path)
        assert done.code == 1
        assert reason in done.err
        assert done.err.count("\n") == 1


def test_starting_imports_neither_the_engine_nor_the_protocol():
    code = (
        "import sys, vaultgraph.cli.main as m; m.run(['--version']); "
        "print([n for n in ('polars', 'mcp', 'rich', 'pyarrow', 'numpy', 'PIL') if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("arguments", [("--vault", ""), ("check", ""), ("build", ""), ("query", "", "RETURN 1")])
def test_an_empty_folder_name_is_never_the_current_folder(vaultgraph, arguments):
    done = vaultgraph(*arguments)
    assert done.code == 1
    assert (
        done.err == "vaultgraph: The name of the folder is empty. Name the folder of your vault, or . for this one.\n"
    )


def test_output_that_the_terminal_cannot_spell_is_escaped(write):
    folder = write({"日記.md": ""})
    done = subprocess.run(
        [sys.executable, "-m", "vaultgraph.cli.main", "query", str(folder), "MATCH (n:Note) RETURN n.title"],
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "\\u65e5\\u8a18" in done.stdout


def test_help_shows_what_holds_without_a_flag(vaultgraph):
    out = " ".join(vaultgraph("--help").out.split())
    assert "[default: auto]" in out
    assert "[default: warning]" in out
