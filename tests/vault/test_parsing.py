"""Batches of files are parsed in threads, in the order they were given, and state what reading at once states."""

import sys

import pytest

from vaultgraph.note.read import read_notes
from vaultgraph.note.records import concat_records, content_hash
from vaultgraph.profile.settings import Reading
from vaultgraph.vault.parsing import BATCH_BYTES, Batch, batches_of, changed_of, parse_batches


def notes(count: int) -> list[tuple[str, bytes]]:
    return [
        (
            f"{number:04}.md",
            f"---\ntags: [t{number % 7}]\nn: {number}\n---\n# H{number}\n[[{number + 1}]] #x\n".encode(),
        )
        for number in range(count)
    ]


def batch_of(files: list[tuple[str, bytes | None]]) -> Batch:
    return changed_of([path for path, _ in files], [data for _, data in files], {})


@pytest.mark.parametrize("parts", [1, 2, 7])
def test_batches_state_what_all_files_at_once_state(parts: int) -> None:
    files = notes(140)
    step = len(files) // parts
    interval_s = sys.getswitchinterval()
    cuts = [(first, first + step) for first in range(0, len(files), step)]
    found = concat_records(parse_batches(Reading(), cuts, lambda first, stop: batch_of([*files[first:stop]])))
    expected = read_notes([path for path, _ in files], [data for _, data in files])
    assert [frame.rows() for frame in found.tables().values()] == [frame.rows() for frame in expected.tables().values()]
    assert sys.getswitchinterval() == interval_s


def test_what_cannot_be_read_in_one_batch_is_told_and_no_further_batch_is_begun() -> None:
    begun: list[int] = []

    def read(first: int, stop: int) -> Batch:
        begun.append(first)
        raise OSError(f"{first} to {stop}")

    with pytest.raises(OSError, match="to"):
        parse_batches(Reading(), [(number, number + 1) for number in range(9)], read)
    assert len(begun) <= 2


def test_a_file_without_content_has_no_hash_and_no_body() -> None:
    [part] = parse_batches(Reading(), [(0, 2)], lambda _first, _stop: batch_of([("a.md", None), ("b.md", b"x")]))
    assert part.notes["body"].to_list() == [None, "x"]
    assert part.notes["hash"][0] == b""


def test_only_files_whose_content_differs_are_parsed() -> None:
    known = {"same.md": content_hash(b"x"), "other.md": content_hash(b"x"), "gone.md": content_hash(b"x")}
    contents = {"gone.md": None, "new.md": b"", "other.md": b"y", "same.md": b"x", "shut.md": None}
    found = changed_of(list(contents), list(contents.values()), known)
    assert found.paths == ["new.md", "other.md", "shut.md"]
    assert found.contents.to_list() == [b"", b"y", b""]
    assert found.hashes == [content_hash(b""), content_hash(b"y"), b""]
    assert found.unread == ["shut.md"]


@pytest.mark.parametrize(
    ("sizes", "batches"),
    [
        ([], 0),
        ([0, 0], 1),
        ([10] * 100, 1),
        ([1_000_000] * 4, 2),
        ([1_000_000] * 16, 2),
        ([1_000_000] * 64, 8),
        ([1, BATCH_BYTES * 2, 1], 3),
    ],
)
def test_a_batch_is_no_larger_than_allowed_and_a_large_vault_has_several(sizes: list[int], batches: int) -> None:
    cuts = batches_of(sizes)
    assert len(cuts) == batches
    assert [number for first, stop in cuts for number in range(first, stop)] == list(range(len(sizes)))
    assert all(sum(sizes[first:stop]) <= BATCH_BYTES or stop - first == 1 for first, stop in cuts)
