"""What the bell hears: every write made before it is asked, at once."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import vaultgraph
from vaultgraph.vault.bell import ANYTHING, Bell

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has inotify")


@pytest.fixture
def bell(folder: Path):
    (folder / "sub" / "deep").mkdir(parents=True)
    (folder / ".kglite").mkdir()
    (folder / ".obsidian" / "x").mkdir(parents=True)
    bell = Bell.hang(folder.resolve())
    assert bell is not None
    yield bell
    bell.close()


def test_no_other_program_is_started_to_listen(tmp_path: Path) -> None:
    code = """
        import sys
        from pathlib import Path
        from vaultgraph.vault.bell import Bell

        started = []
        sys.addaudithook(lambda event, _: started.append(event) if event in ("subprocess.Popen", "os.system") else None)
        Bell.hang(Path(sys.argv[1])).close()
        print(started)
    """
    command = [sys.executable, "-c", textwrap.dedent(code), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_nothing_written_is_nothing_heard(bell: Bell) -> None:
    assert bell.heard() == set()


def test_a_write_is_heard_when_the_call_returns(folder: Path, bell: Bell) -> None:
    (folder / "A.md").write_text("a")
    (folder / "sub" / "deep" / "B.md").write_text("b")
    assert bell.heard() == {"A.md", "sub/deep/B.md"}
    assert bell.heard() == set()


def test_an_edit_that_restores_size_and_time_is_heard(folder: Path, bell: Bell) -> None:
    note = folder / "A.md"
    note.write_text("one")
    bell.heard()
    before = note.stat()
    note.write_text("two")
    os.utime(note, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert bell.heard() == {"A.md"}


def test_removing_and_renaming_are_heard(folder: Path, bell: Bell) -> None:
    (folder / "A.md").write_text("a")
    bell.heard()
    (folder / "A.md").rename(folder / "sub" / "B.md")
    assert bell.heard() == {"A.md", "sub/B.md"}
    (folder / "sub" / "B.md").unlink()
    assert bell.heard() == {"sub/B.md"}


def test_a_new_folder_is_listened_to_with_all_below_it(folder: Path, bell: Bell) -> None:
    (folder / "new" / "er").mkdir(parents=True)
    (folder / "new" / "er" / "A.md").write_text("a")
    assert ANYTHING in bell.heard()  # what was written before it was listened to
    (folder / "new" / "er" / "B.md").write_text("b")
    assert bell.heard() == {"new/er/B.md"}


def test_a_moved_folder_is_known_by_its_new_name(folder: Path, bell: Bell) -> None:
    (folder / "sub").rename(folder / "away")
    assert ANYTHING in bell.heard()
    (folder / "away" / "deep" / "C.md").write_text("c")
    assert bell.heard() == {"away/deep/C.md"}


def test_a_folder_that_comes_back_is_listened_to_again(folder: Path, bell: Bell) -> None:
    (folder / "sub" / "deep").rmdir()
    bell.heard()
    (folder / "sub" / "deep").mkdir()
    bell.heard()
    (folder / "sub" / "deep" / "D.md").write_text("d")
    assert bell.heard() == {"sub/deep/D.md"}


def test_dot_folders_are_not_listened_to_but_the_configuration_is(folder: Path, bell: Bell) -> None:
    (folder / ".obsidian" / "workspace.json").write_text("{}")
    (folder / ".obsidian" / "x" / "y").write_text("{}")
    (folder / ".kglite" / "vault.yaml").write_text("kglite_vault: 1")
    assert bell.heard() == {".kglite/vault.yaml"}


def test_a_name_that_is_not_utf8_may_be_anything(folder: Path, bell: Bell) -> None:
    with open(os.fsencode(folder) + b"/\xff.md", "wb"):  # noqa: PTH123 -- a path of bytes
        pass
    assert bell.heard() == {ANYTHING}


def test_every_edit_is_in_the_answer_that_follows_it(folder: Path) -> None:
    note = folder / "A.md"
    note.write_text("# 0")
    with vaultgraph.open(folder, cache=None, watch="auto") as vault:
        vault.query("RETURN 1")
        for number in range(1, 60):
            note.write_text(f"# {number}")
            assert vault.query("MATCH (n:Note) RETURN n.title").rows == [(str(number),)]
