"""Every case of tests/cases/notes: a title, a note, and its record, separated by lines of one dot."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from vaultgraph.note.read import read_notes

FOLDER = Path(__file__).parents[1] / "cases" / "notes"
CASE = re.compile(r"^(?!\.$)(?P<title>[^\n]+)\n\.\n(?P<note>.*?)^\.\n(?P<record>.*?)^\.$", re.MULTILINE | re.DOTALL)


def cases() -> list[ParameterSet]:
    return [
        pytest.param(found["note"], found["record"], id=f"{path.stem}: {found['title']}")
        for path in sorted(FOLDER.glob("*.md"))
        for found in CASE.finditer(path.read_text(encoding="utf-8"))
    ]


@pytest.mark.parametrize(("note", "record"), cases())
def test_a_note_states_its_record(note: str, record: str, record_of: Callable[[str], str]) -> None:
    assert record_of(note) == record.removesuffix("\n")


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_line_ends_of_any_kind_state_the_same(end: str) -> None:
    notes = [str(case.values[0]) for case in cases()]
    paths = [f"{number:04}.md" for number in range(len(notes))]
    plain = read_notes(paths, [note.encode() for note in notes])
    other = read_notes(paths, [note.replace("\n", end).encode() for note in notes])
    for name, frame in plain.tables().items():
        if name != "notes":
            assert frame.equals(other.tables()[name]), name


def test_no_case_is_overlooked() -> None:
    for path in FOLDER.glob("*.md"):
        text = path.read_text(encoding="utf-8")
        assert len(re.findall(r"^\.$", text, re.MULTILINE)) == 3 * len(CASE.findall(text)), path.name
