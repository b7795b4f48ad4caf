"""The command: what it prints, and how it exits."""

import json
from pathlib import Path

import pytest

from vaultgraph.cli.main import run

HANDBOOK = Path(__file__).resolve().parents[2] / "fixtures" / "handbook"


def test_it_says_what_was_written_and_what_is_not_carried_over(tmp_path, capsys):
    out = tmp_path / "out"
    assert run(["export", str(HANDBOOK), "--to", "vault", str(out)]) == 0
    first = capsys.readouterr().out
    assert " files written, 0 unchanged" in first
    assert "not carried over, line-moved: 1" in first
    assert run(["export", str(HANDBOOK), "--to", "vault", str(out)]) == 0
    assert ": 0 files written, " in capsys.readouterr().out


@pytest.mark.parametrize("form", ["vault", "parquet", "graphml", "neo4j"])
def test_every_form_is_written_and_refuses_files_of_a_person(write, tmp_path, capsys, form):
    folder = write({"a.md": "[[b]] #t\n", "b.md": "---\nk: 1\n---\n"})
    out = tmp_path / "out"
    arguments = ["export", str(folder), "--to", form, str(out)]
    assert run(arguments) == 0
    files = json.loads((out / ".kglite/export.json").read_bytes())["files"]
    edited = out / sorted(files)[0]
    edited.write_text("edited")
    capsys.readouterr()
    assert run(arguments) == 1
    message = capsys.readouterr().err
    assert sorted(files)[0] in message
    assert message.count("\n") == 1
    assert edited.read_text() == "edited"
    assert run([*arguments, "--force"]) == 0


def test_a_graph_file_is_exported_with_and_without_its_folder(write, tmp_path, capsys):
    folder = write({"a.md": "![[p.png]]\n", "p.png": b"png", "b.md": b"\xff"})
    assert run(["build", str(folder)]) == 0
    file = folder / ".kglite/graph.kgl"
    assert run(["export", str(file), "--to", "vault", str(tmp_path / "one")]) == 0
    printed = capsys.readouterr().out
    assert "file-not-copied: 1 (p.png: the source folder is not at hand)" in printed
    assert "note-lost: 1 (b.md: the original is not at hand)" in printed
    again = ["export", str(file), "--source-root", str(folder), "--to", "vault", str(tmp_path / "two")]
    assert run(again) == 0
    assert (tmp_path / "two/p.png").read_bytes() == b"png"
    assert (tmp_path / "two/b.md").read_bytes() == b"\xff"


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--to", "csv", "OUT"], 2, "csv"),
        (["OUT"], 2, "--to"),
        (["--to", "vault"], 2, "OUT"),
        (["--to", "vault", "OUT", "--edge-table", "NOTHING"], 2, "TYPE=HEADING"),
        (["--to", "graphml", "OUT", "--edge-table", "A=b"], 2, "--to vault"),
        (["--to", "vault", "OUT", "--edge-table", "LNKS_TO=Lots"], 2, "Did you mean LINKS_TO?"),
        (["--to", "vault", "OUT", "--source-root", "."], 2, ".kgl"),
        (["--to", "vault", "IN"], 1, "lies in the vault"),
        (["--to", "vault", "IN/sub"], 1, "lies in the vault"),
        (["--to", "vault", "OUT/no/such"], 1, "no such folder"),
    ],
)
def test_what_cannot_be_done_is_one_line_with_an_exit_code(write, tmp_path, capsys, arguments, code, words):
    folder = write({"a.md": "[[a]]"})
    named = [text.replace("OUT", str(tmp_path / "out")).replace("IN", str(folder)) for text in arguments]
    assert run(["export", str(folder), *named]) == code
    message = capsys.readouterr().err
    assert words in message
    assert message.count("\n") == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("source", ["missing", "missing.kgl", "bad.kgl", "bad-yaml"])
def test_a_source_that_cannot_be_read_is_one_line(tmp_path, capsys, source):
    (tmp_path / "bad.kgl").write_text("nothing")
    (tmp_path / "bad-yaml/.kglite").mkdir(parents=True)
    (tmp_path / "bad-yaml/.kglite/vault.yaml").write_text("kglite_vault: 1\nbogus: 1\n")
    assert run(["export", str(tmp_path / source), "--to", "vault", str(tmp_path / "out")]) == 1
    message = capsys.readouterr().err
    assert source in message or "bogus" in message
    assert message.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_names_that_would_act_on_a_terminal_are_shown_as_escapes(write, tmp_path, capsys):
    out = tmp_path / "out"
    source = write({"a\x1b[31m\x9b\u202e.md": "text\n"})
    assert run(["export", str(source), str(out), "--to", "vault"]) == 0
    (out / "a\x1b[31m\x9b\u202e.md").write_text("mine")
    assert run(["export", str(source), str(out), "--to", "vault"]) == 1
    (source / "a\x1b[31m\x9b\u202e.md").unlink()
    assert run(["export", str(source), str(out), "--to", "vault"]) == 0
    said = capsys.readouterr()
    assert "a\\u001b[31m\\u009b\\u202e.md" in said.out
    assert "a\\u001b[31m\\u009b\\u202e.md" in said.err
    assert not set("\x1b\x9b\u202e").intersection(said.out + said.err)
