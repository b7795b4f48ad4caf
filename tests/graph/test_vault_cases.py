"""Every case of tests/cases/vaults: a title, the files of a vault, and what its graph says, parted by lines of one dot.

A line ``=== path`` begins a file. Relationships (but CONTAINS) and problems are shown whole in every case; nodes, and
CONTAINS, whole where a case shows one of them; properties of nodes are those the case asks for.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from vaultgraph.graph.build import build_graph
from vaultgraph.note.read import read_notes
from vaultgraph.profile.vault_yaml import load_profile

FOLDER = Path(__file__).parents[1] / "cases" / "vaults"
CASE = re.compile(r"^(?!\.$)(?P<title>[^\n]+)\n\.\n(?P<files>.*?)^\.\n(?P<facts>.*?)^\.$", re.MULTILINE | re.DOTALL)
PROPERTY = re.compile(r"^\((?P<name>.+)\)\.(?P<key>[^()=]+) = (?P<value>.+)$")
TOLD = ("line", "count", "section", "anchor", "display", "alt", "width", "height", "ordinal", "property", "via",
        "ambiguous")  # fmt: skip


def cases() -> list[ParameterSet]:
    return [
        pytest.param(found["files"], found["facts"], id=f"{path.stem}: {found['title']}")
        for path in sorted(FOLDER.glob("*.md"))
        for found in CASE.finditer(path.read_text(encoding="utf-8"))
    ]


def plain(text: str) -> str:
    """``\\uXXXX`` in a case stands for the character, so that composed and decomposed accents can be told apart."""
    return re.sub(r"\\u([0-9a-f]{4})", lambda found: chr(int(found[1], 16)), text)


def files_of(text: str) -> dict[str, bytes]:
    """The files of a case by path."""
    parts = re.split(r"^=== (.+)\n", plain(text), flags=re.MULTILINE)
    assert parts[0] == "", "a case begins with a file"
    return {path: content.encode() for path, content in zip(parts[1::2], parts[2::2], strict=True)}


def kinds_shown(facts: list[str]) -> set[str]:
    """Which kinds of lines a case shows although they may be left out."""
    return {"node" for fact in facts if fact.startswith("(") and re.search(r" :[^()]*\)$", fact)} | {
        "CONTAINS" for fact in facts if "-[CONTAINS]->" in fact
    }


def relationship_lines(found, shown: set[str]) -> Iterator[str]:
    keys = [key for key in TOLD if any(key in table.columns for table in found.graph.relationships.values())]
    for source, kind, target, *values in found.relationships(None, *keys):
        if kind == "CONTAINS" and "CONTAINS" not in shown:
            continue
        told = {key: value for key, value in zip(keys, values, strict=True) if value is not None}
        if told.get("count") == 1:
            del told["count"]
        written = ", ".join(f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in told.items())
        yield f"({source}) -[{kind}{' {' + written + '}' if written else ''}]-> ({target})"


def fact_lines(found, asked: list[str]) -> list[str]:
    """What a graph says, of the kinds that ``asked`` shows."""
    shown = kinds_shown(asked)
    lines = [*relationship_lines(found, shown)]
    for path, line, code, severity in found.built.problems.select("path", "line", "code", "severity").iter_rows():
        lines.append(f"problem {path}:{line or '-'} {code} {severity}")
    if "node" in shown:
        lines += [f"({name} {''.join(':' + label for label in found.labels(name))})" for name in found.names()]
    for fact in asked:
        if wanted := PROPERTY.match(fact):
            value = found.properties(wanted["name"]).get(wanted["key"])
            lines.append(f"({wanted['name']}).{wanted['key']} = {json.dumps(value, ensure_ascii=False, default=str)}")
    return lines


@pytest.mark.parametrize(("files", "facts"), cases())
def test_a_vault_gives_its_graph(files: str, facts: str, makers, answers_of) -> None:
    contents = files_of(files)
    notes = sorted(path for path in contents if path.lower().endswith((".md", ".canvas")))
    records = read_notes(notes, [contents[path] for path in notes])
    _, make_stamps = makers
    stamps = make_stamps({path: len(data) for path, data in contents.items() if not path.startswith(".kglite/")})
    found = answers_of(build_graph(records, stamps, load_profile(contents.get)))
    asked = plain(facts).splitlines()
    assert sorted(fact_lines(found, asked)) == sorted(asked)


def test_no_vault_case_is_overlooked() -> None:
    for path in FOLDER.glob("*.md"):
        text = path.read_text(encoding="utf-8")
        assert len(re.findall(r"^\.$", text, re.MULTILINE)) == 3 * len(CASE.findall(text)), path.name
