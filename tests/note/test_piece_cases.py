"""Every case of tests/cases/pieces: a title, what is declared, a note, and its parts, separated by lines of one dot."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml
from _pytest.mark import ParameterSet

from vaultgraph.note.read import read_notes
from vaultgraph.note.records import LinkSyntax, PieceKind, RecordTable, ValueKind
from vaultgraph.profile.settings import (
    Callouts,
    Chunks,
    CodeFences,
    KeyFromHeading,
    OrderedLists,
    Reading,
    Sections,
    Structure,
    TableRule,
    Tasks,
)

FOLDER = Path(__file__).parents[1] / "cases" / "pieces"
CASE = re.compile(
    r"^(?!\.$)(?P<title>[^\n]+)\n\.\n(?P<declared>[^\n]*)\n\.\n(?P<note>.*?)^\.\n(?P<parts>.*?)^\.$",
    re.MULTILINE | re.DOTALL,
)
RULES = {
    "sections": Sections,
    "chunks": Chunks,
    "callouts": Callouts,
    "code_fences": CodeFences,
    "ordered_lists": OrderedLists,
    "key_from_heading": KeyFromHeading,
}


def reading_of(declared: str) -> Reading:
    """From YAML like ``sections: {}, chunks: {max_words: 8}, tasks: {}, inline_fields: true``."""
    stated: dict[str, Any] = yaml.safe_load("{" + declared + "}")
    rules: dict[str, Any] = {name: RULES[name](**stated[name]) for name in stated if name in RULES}
    if "tables" in stated:
        rules["tables"] = tuple(TableRule(**rule) for rule in stated["tables"])
    return Reading(
        structure=Structure(**rules) if rules else None,
        tasks=Tasks() if "tasks" in stated else None,
        inline_fields=bool(stated.get("inline_fields")),
    )


def cases() -> list[ParameterSet]:
    return [
        pytest.param(found["declared"], found["note"], found["parts"], id=f"{path.stem}: {found['title']}")
        for path in sorted(FOLDER.glob("*.md"))
        for found in CASE.finditer(path.read_text(encoding="utf-8"))
    ]


def parts_text(note: str | bytes, declared: str) -> str:
    content = note.encode() if isinstance(note, str) else note
    return "\n".join(part_lines(read_notes(["note.md"], [content], reading_of(declared))))


def part_lines(records: RecordTable) -> Iterator[str]:
    """One line a row: pieces with the cells of each below it, table links, properties of the note, problems."""
    pieces = records.pieces.rows(named=True)
    for place, piece in enumerate(pieces):
        yield piece_line(piece, pieces)
        for cell in records.cells.filter(piece=place).rows(named=True):
            yield f"  {cell['key']} = {json.dumps(cell['text'], ensure_ascii=False)} @{cell['line']}"
    is_told = (pl.col("syntax") == LinkSyntax.TABLE) | pl.col("property").is_not_null()
    for link in records.links.filter(is_told).rows(named=True):
        named = ("target", "anchor", "display", "section", "type", "property")
        yield f"link {link['line']} {LinkSyntax(link['syntax']).name}{attributes(link, named)}"
    for row in records.properties.rows(named=True):
        item = "" if row["ordinal"] < 0 else f"[{row['ordinal']}]"
        value = next((row[name] for name in ("number", "real", "text") if row[name] is not None), "")
        yield f"property {row['line']} {row['key']}{item} = {ValueKind(row['kind']).name} {value}".rstrip()
    for line, code, severity in records.problems.select("line", "code", "severity").rows():
        yield f"problem {line} {code} {severity}"


def piece_line(piece: Mapping[str, Any], pieces: Sequence[Mapping[str, Any]]) -> str:
    named = ("level", "title", "text", "word", "fold", "block", "size", "rule")
    parent = int(piece["parent"])
    holder = str(pieces[parent]["fragment"]) if parent >= 0 else "-"
    start = f"{PieceKind(piece['kind']).name} {piece['line']} {piece['fragment'] or '-'} in {holder} {piece['ordinal']}"
    return start + attributes(piece, named)


def attributes(row: Mapping[str, Any], names: tuple[str, ...]) -> str:
    return "".join(f" {name}={json.dumps(row[name], ensure_ascii=False)}" for name in names if row[name] is not None)


@pytest.mark.parametrize(("declared", "note", "parts"), cases())
def test_a_note_has_its_parts(declared: str, note: str, parts: str) -> None:
    assert parts_text(note, declared) == parts.removesuffix("\n")


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_line_ends_of_any_kind_and_a_byte_order_mark_make_the_same_parts(end: str) -> None:
    by_declared: dict[str, list[str]] = {}
    for case in cases():
        by_declared.setdefault(str(case.values[0]), []).append(str(case.values[1]))
    for declared, notes in by_declared.items():
        paths, reading = [f"{number:03}.md" for number in range(len(notes))], reading_of(declared)
        plain = read_notes(paths, [note.encode() for note in notes], reading)
        other = read_notes(paths, [b"\xef\xbb\xbf" + note.replace("\n", end).encode() for note in notes], reading)
        for name, frame in plain.tables().items():
            assert name == "notes" or frame.equals(other.tables()[name]), (declared, name)


def test_tasks_and_fields_are_the_same_with_and_without_parsing_every_body() -> None:
    notes = [str(case.values[1]).encode() for case in cases()]
    paths = [f"{number:03}.md" for number in range(len(notes))]
    alone = read_notes(paths, notes, reading_of("tasks: {}, inline_fields: true"))
    parsed = read_notes(paths, notes, reading_of("tasks: {}, inline_fields: true, code_fences: {langs: []}"))
    assert alone.pieces.height > 30
    for name, frame in alone.tables().items():
        assert frame.equals(parsed.tables()[name]), name


def test_a_canvas_has_no_parts() -> None:
    card = json.dumps({"nodes": [{"id": "a", "type": "text", "text": "# A\n- [ ] b\nc:: d"}]})
    records = read_notes(["a.canvas"], [card.encode()], reading_of("sections: {}, tasks: {}, inline_fields: true"))
    assert (records.pieces.height, records.properties.height) == (0, 0)


def test_a_chunk_has_the_sha_256_of_its_text() -> None:
    pieces = read_notes(["a.md"], ["Größe\n".encode()], reading_of("chunks: {}")).pieces
    assert pieces["hash"].to_list() == [hashlib.sha256("Größe".encode()).hexdigest()]


def test_no_piece_case_is_overlooked() -> None:
    for path in FOLDER.glob("*.md"):
        text = path.read_text(encoding="utf-8")
        assert len(re.findall(r"^\.$", text, re.MULTILINE)) == 4 * len(CASE.findall(text)), path.name
