"""Runs tests/cases/queries/*.md: a graph, a query, and the rows or the error it must give.

A file starts with its graph; a case is a level-two heading, a `cypher` block, perhaps a `params` block (JSON), then a
`rows` block (the header, then a row a line, cells parted by ` | `; `rows in order` also checks their order) or an
`error` block (`code @ start..end`). A case may have its own `graph` block.
"""

import json
import re
from datetime import date, datetime
from pathlib import Path

import pytest

from vaultgraph.cypher.query import run_query
from vaultgraph.cypher.values import Node, Relationship
from vaultgraph.cypher.values import Path as PathValue
from vaultgraph.errors import QueryError

CASES = Path(__file__).resolve().parents[1] / "cases" / "queries"
BLOCK = re.compile(r"^```([^\n]*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
NODE = re.compile(r"\((\w*)((?::\w+)*)\s*")
ARROW = re.compile(r"(<?)-\[:(\w+)\s*")


def cases():
    for file in sorted(CASES.glob("*.md")):
        head, *parts = re.split(r"^## ", file.read_text(encoding="utf-8"), flags=re.MULTILINE)
        shared = blocks(head).get("graph", "")
        for part in parts:
            title, _, body = part.partition("\n")
            yield pytest.param({"graph": shared} | blocks(body), id=f"{file.stem}: {title}")


def blocks(text):
    return dict(BLOCK.findall(text))


def read_graph(text):
    """Nodes and relationships from lines like `(a:Person {"age": 3})-[:KNOWS {"since": 1}]->(b)`."""
    nodes, relationships, names = [], [], {}
    for line in text.splitlines():
        at, left = 0, None
        while at < len(line):
            if left is not None:
                arrow = ARROW.match(line, at)
                data, at = read_map(line, arrow.end())
                at += len("]-") if arrow[1] else len("]->")
            found = NODE.match(line, at)
            data_of_node, at = read_map(line, found.end())
            at += 1
            if not found[1] or found[1] not in names:
                names[found[1]] = len(nodes)
                nodes.append(([label for label in found[2].split(":") if label], data_of_node))
                number = len(nodes) - 1
            else:
                number = names[found[1]]
            if left is not None:
                ends = (number, arrow[2], left) if arrow[1] else (left, arrow[2], number)
                relationships.append((*ends, data))
            left = number
    return nodes, relationships


def read_map(line, at):
    if line[at] != "{":
        return {}, at
    data, length = json.JSONDecoder(object_hook=read_dates).raw_decode(line[at:])
    return data, at + length


def read_dates(data):
    return {key: read_date(value) for key, value in data.items()}


def read_date(value):
    if isinstance(value, str) and re.fullmatch(r"\d{4}-\d\d-\d\d", value):
        return date.fromisoformat(value)
    return value


def show(value):
    """A value as the case files write it."""
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case str():
            return f"'{value}'"
        case datetime() | date():
            return value.isoformat()
        case list():
            return "[" + ", ".join(map(show, value)) + "]"
        case dict():
            return "{" + ", ".join(f"{key}: {show(item)}" for key, item in value.items()) + "}"
        case Node(_, labels, properties):
            return "(" + "".join(f":{label}" for label in labels) + details(properties, bool(labels)) + ")"
        case Relationship(_, kind, _, _, properties):
            return f"[:{kind}" + details(properties, True) + "]"
        case PathValue(nodes, relationships):
            text = show(nodes[0])
            for relationship, before, after in zip(relationships, nodes, nodes[1:], strict=False):
                is_forward = (relationship.source, relationship.target) == (before.id, after.id)
                text += f"-{show(relationship)}->" if is_forward else f"<-{show(relationship)}-"
                text += show(after)
            return text
        case _:
            return str(value)


def details(properties, after_name):
    return (" " if after_name else "") + show(properties) if properties else ""


@pytest.mark.parametrize("case", list(cases()))
def test_query_gives_what_its_case_says(case, make_graph):
    graph = make_graph(*read_graph(case["graph"]))
    parameters = json.loads(case.get("params", "{}"))
    if "error" in case:
        code, start, end = re.fullmatch(r"(\w+) @ (\d+)\.\.(\d+)", case["error"].strip()).groups()
        with pytest.raises(QueryError) as caught:
            assert run_query(graph, case["cypher"], parameters).rows is None
        found = caught.value
        assert (found.code, found.start, found.end) == (code, int(start), int(end)), str(found)
        return
    result = run_query(graph, case["cypher"], parameters)
    name = next(name for name in case if name.startswith("rows"))
    header, *expected = case[name].strip("\n").split("\n")
    got = [" | ".join(map(show, row)) for row in result.rows]
    assert " | ".join(result.columns) == header
    if name == "rows in order":
        assert got == expected
    else:
        assert sorted(got) == sorted(expected)
