"""The case runner of notes: a note's record as lines of text."""

import json
from collections.abc import Callable, Iterator

import polars as pl
import pytest

from vaultgraph.note.read import read_notes
from vaultgraph.note.records import LinkSyntax, RecordTable, ValueKind


@pytest.fixture
def record_of() -> Callable[[str | bytes], str]:
    """Gives the record of one note, `note.md`, as text: one line a row, in the order of the tables."""
    return record_text


@pytest.fixture
def read_one() -> Callable[..., RecordTable]:
    """Reads one file, `note.md` unless told."""

    def read(content: str | bytes, path: str = "note.md") -> RecordTable:
        return read_notes([path], [content.encode() if isinstance(content, str) else content])

    return read


def record_text(content: str | bytes) -> str:
    records = read_notes(["note.md"], [content.encode() if isinstance(content, str) else content])
    return "\n".join(_record_lines(records))


def _record_lines(records: RecordTable) -> Iterator[str]:
    note = records.notes.row(0, named=True)
    if note["title"] != "note":
        yield f"title {note['title']}"
    if note["is_skipped"]:
        yield "skipped"
    for row in records.properties.iter_rows(named=True):
        item = "" if row["ordinal"] < 0 else f"[{row['ordinal']}]"
        value = next((row[name] for name in ("number", "real", "text") if row[name] is not None), "")
        yield f"property {row['line']} {row['key']}{item} = {ValueKind(row['kind']).name} {value}".rstrip()
    for row in records.links.iter_rows(named=True):
        yield _link_line(row)
    for row in records.tags.iter_rows(named=True):
        yield f"tag {row['line']} {row['tag']}" + ("" if row["is_inline"] else " (frontmatter)")
    for line, level, text in records.headings.select("line", "level", "text").iter_rows():
        yield f"heading {line} {level} {text}".rstrip()
    for line, name in records.blocks.select("line", "id").iter_rows():
        yield f"block {line} {name}"
    for line, code, severity in records.problems.select("line", "code", "severity").iter_rows():
        yield f"problem {line or '-'} {code} {severity}"


def _link_line(row: dict[str, object]) -> str:
    parts = [
        "embed" if row["is_embed"] else "link",
        str(row["line"]),
        LinkSyntax(int(str(row["syntax"]))).name,
        json.dumps(row["target"], ensure_ascii=False),
    ]
    if row["width"] is not None:
        parts.append(f"size={row['width']}" + (f"x{row['height']}" if row["height"] is not None else ""))
    named = ("anchor", "display", "section", "type", "property")
    parts += [f"{name}={json.dumps(row[name], ensure_ascii=False)}" for name in named if row[name] is not None]
    return " ".join(parts)


@pytest.fixture
def schemas_hold() -> Callable[[RecordTable], None]:
    """Checks that every table has its schema and is sorted by note."""
    from vaultgraph.note.records import SCHEMAS

    def check(records: RecordTable) -> None:
        for name, frame in records.tables().items():
            assert frame.schema == SCHEMAS[name], name
            if name != "notes":
                assert frame["note"].is_sorted(), name
        assert records.notes["path"].to_list() == sorted(records.notes["path"].to_list())
        assert records.links.filter(pl.col("target").is_null()).height == 0

    return check
