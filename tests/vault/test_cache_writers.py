"""Many processes, one cache file: one writes at a time, nobody waits, a crash leaves the old file or the new one."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from vaultgraph.durable import TEMPORARY_PREFIX, one_at_a_time, remove_leftovers
from vaultgraph.vault.cache import DEFAULT_CACHE
from vaultgraph.vault.stamp_file import lock_path
from vaultgraph.vault.vault import open_vault

FAULTS = Path(__file__).resolve().parents[2] / "benchmarks" / "cache_faults.py"
HOLD = """
import sys
from vaultgraph.durable import one_at_a_time
with one_at_a_time(sys.argv[1]) as is_ours:
    print(is_ours, flush=True)
    sys.stdin.read()
"""


def holder(lock: Path) -> subprocess.Popen[str]:
    """Another process that has the lock."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(lock)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "True\n"
    return process


def end(process: subprocess.Popen[str], number: int) -> None:
    process.send_signal(number)
    process.communicate(timeout=30)


def test_a_server_that_finds_another_one_writing_answers_and_writes_later(write):
    folder = write({"a.md": "[[b]]"})
    lock = lock_path(folder / DEFAULT_CACHE)
    assert lock is not None
    with open_vault(folder) as vault:
        with one_at_a_time(lock) as is_ours:
            assert is_ours
            assert vault.save() == "not written: another vaultgraph is writing it"
            assert not (folder / DEFAULT_CACHE).exists()
            assert vault.query("MATCH (n:Note) RETURN count(n)").rows == [(1,)]
            assert not vault.is_cache_refused
        remark = vault.save()
        assert remark is not None
        assert remark.startswith("written to")
    with open_vault(folder) as vault:
        assert vault.report.origin == "cache"


def test_a_lock_ends_with_the_process_that_was_killed(tmp_path):
    lock = tmp_path / "made" / "x.lock"
    process = holder(lock)
    with one_at_a_time(lock) as is_ours:
        assert not is_ours
    end(process, signal.SIGKILL)
    with one_at_a_time(lock) as is_ours:
        assert is_ours


@pytest.mark.parametrize("kind", ["folder", "link", "nowhere"])
def test_a_lock_that_cannot_be_made_hinders_nobody(tmp_path, kind):
    lock = tmp_path / "x.lock"
    if kind == "folder":
        lock.mkdir()
    elif kind == "link":
        lock.symlink_to(tmp_path / "other")
    else:
        (tmp_path / "file").write_text("x")
        lock = tmp_path / "file" / "x.lock"
    with one_at_a_time(lock) as is_ours:
        assert is_ours
    assert not (tmp_path / "other").exists()


def test_a_temporary_file_is_removed_when_its_writer_is_gone_and_not_before(tmp_path):
    place = tmp_path / f"{TEMPORARY_PREFIX}{'a' * 16}.tmp"
    process = holder(place)  # locks it, as a writer does
    os.utime(place, (0, 0))
    remove_leftovers(tmp_path)
    assert place.exists()
    end(process, signal.SIGKILL)
    os.utime(place)  # young: it may be about to be locked
    remove_leftovers(tmp_path)
    assert place.exists()
    os.utime(place, (0, 0))
    remove_leftovers(tmp_path)
    assert not place.exists()


def test_two_servers_with_one_cache_both_answer_what_is_on_disk(write):
    folder = write({"a.md": "[[b]]", "b.md": "x"})
    with open_vault(folder) as one, open_vault(folder) as two:
        one.save()
        (folder / "a.md").write_text("[[c]]", encoding="utf-8")
        two.refresh()
        two.save()
        one.refresh()
        one.save()
        text = "MATCH (:Note)-[r]->(m) RETURN m.title"
        assert one.query(text).rows == two.query(text).rows == [("c",)]
    with open_vault(folder) as three:
        assert three.report.origin == "cache"
        assert three.report.parsed == 0


def test_writers_that_are_killed_and_caches_that_are_damaged_lose_nothing_and_say_nothing_wrong():
    done = subprocess.run(
        [sys.executable, FAULTS, "--writes", "80", "--damages", "60", "--lies", "60", "--opens", "4", "--saves", "2"],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert '"killed"' in done.stdout
    assert '"damaged: refused"' in done.stdout
