"""Starting at a terminal: the server shows that it works, says how to register it, and serves."""

import io
import os
import signal
import subprocess
import sys

import pytest
from PIL import Image

pty = pytest.importorskip("pty", reason="no pseudo-terminals here")


def picture():
    target = io.BytesIO()
    Image.new("RGB", (8, 6), "red").save(target, "PNG")
    return target.getvalue()


@pytest.fixture
def at_a_terminal():
    """Start the server with a terminal on stdin; the lines of stderr up to the last of the welcome."""
    started = []

    def start(folder, *flags):
        ours, theirs = pty.openpty()
        command = [sys.executable, "-m", "vaultgraph.cli.main", "--vault", str(folder), *flags]
        process = subprocess.Popen(
            command, stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8"
        )
        started.append((process, ours, theirs))
        lines = []
        for line in process.stderr:
            lines.append(line.rstrip("\n"))
            if "Ctrl-C ends it" in line:
                break
        return process, lines

    yield start
    for process, ours, theirs in started:
        process.kill()
        process.wait()
        process.stdout.close()
        process.stderr.close()
        os.close(ours)
        os.close(theirs)


def test_a_person_sees_summary_three_answers_and_how_to_register(at_a_terminal, write):
    folder = write({"A.md": "# Alpha\n![[pic.png]]", "B.md": "[[A]]", "pic.png": picture()})
    process, lines = at_a_terminal(folder, "--name", "Sea")
    text = "\n".join(lines)
    assert lines[0].startswith("vaultgraph 0.") and 'serving "Sea" from ' in lines[0]  # noqa: PT018 - one line
    assert lines[1].startswith("2 notes, 3 nodes, ")
    assert "problems: none" in lines[1]
    for call in ("> graph_overview()", "> cypher_query(query=", "> fetch_images(items=['pic.png'])"):
        assert call in text
    assert "  A.md\t1" in text
    assert "pic.png (image/png, " in text
    assert "8 × 6" in text
    assert "claude mcp add vaultgraph -- " in text
    os.kill(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert out == ""
    assert "Traceback" not in err


def test_a_vault_that_cannot_be_built_is_shown_as_such_and_still_served(at_a_terminal, write):
    folder = write({"A.md": "a", "pic.png": picture(), ".kglite/vault.yaml": "kglite_vault: 1\nbogus: 1\n"})
    process, lines = at_a_terminal(folder)
    text = "\n".join(lines)
    assert "bogus" in text
    assert "> fetch_images(items=['pic.png'])" in text
    assert "claude mcp add" in text
    assert process.poll() is None
