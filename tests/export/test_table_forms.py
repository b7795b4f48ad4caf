"""Parquet, GraphML and files for Neo4j: what is in the graph is in the files, typed, and the same each time."""

import csv
import io
import json
import subprocess
import xml.etree.ElementTree as ET
from datetime import date, datetime

import polars as pl
import pyarrow.parquet as pq
import pytest

from vaultgraph.export.graphml import plan_graphml
from vaultgraph.export.neo4j import DELIMITER, plan_neo4j
from vaultgraph.export.parquet import plan_parquet
from vaultgraph.export.plan import pieces_of

NODES = [
    (("Person", "Note"), {"title": "Ada", "age": 36, "born": date(1815, 12, 10), "tags": ["a", "b;c"], "odd": 1}),
    (
        ("Person", "Note"),
        {"title": 'Bo "b", <&>\n\x01x', "height": 1.5, "seen": datetime(2026, 5, 1, 9, 30), "odd": "one"},
    ),
    (("Tag",), {"title": "", "flag": True, "_node": "mine", "a:b": "c"}),
    ((), {"title": "nobody"}),
]
RELATIONSHIPS = [
    (0, "KNOWS", 1, {"since": 1840}),
    (1, "KNOWS", 0, {"since": 1841, "how": "post"}),
    (0, "sea/`d`", 2, {}),
]


@pytest.fixture(scope="module")
def graph(make_graph):
    return make_graph(NODES, RELATIONSHIPS)


def contents(plan):
    return {path: b"".join(pieces_of(content)) for path, content in plan.files.items()}


@pytest.mark.parametrize("plan", [plan_parquet, plan_graphml, plan_neo4j])
def test_the_same_graph_gives_the_same_bytes(graph, make_graph, plan):
    assert contents(plan(graph)) == contents(plan(make_graph(NODES, RELATIONSHIPS)))


@pytest.mark.parametrize("plan", [plan_parquet, plan_graphml, plan_neo4j])
def test_an_empty_graph_can_be_exported(make_graph, plan):
    assert contents(plan(make_graph([], [])))


def test_parquet_has_typed_columns_by_label_set_and_type(graph):
    files = contents(plan_parquet(graph))
    people = pl.read_parquet(files["nodes/Person-Note.parquet"])
    assert people.schema == {
        "_node": pl.UInt32, "age": pl.Int64, "born": pl.Date, "height": pl.Float64, "odd": pl.String,
        "seen": pl.Datetime("us"), "tags": pl.List(pl.String), "title": pl.String,
    }  # fmt: skip
    assert people["odd"].to_list() == ["1", '"one"']
    assert people["tags"].to_list() == [["a", "b;c"], None]
    known = pl.read_parquet(files["relationships/KNOWS.parquet"])
    assert known.select("_source", "_target", "since").rows() == [(0, 1, 1840), (1, 0, 1841)]
    assert pl.read_parquet(files["nodes/Tag.parquet"]).columns == ["_node", "_node_", "a:b", "flag", "title"]


def test_parquet_says_which_columns_are_json(graph):
    files = contents(plan_parquet(graph))
    metadata = pq.read_metadata(io.BytesIO(files["nodes/Person-Note.parquet"])).metadata
    assert json.loads(metadata[b"vaultgraph.json_columns"]) == ["odd"]
    about = json.loads(files["graph.json"])
    assert about["nodes"][0]["labels"] == ["Person", "Note"]
    assert {"column": "odd", "property": "odd", "type": "JSON"} in about["nodes"][0]["columns"]
    assert [entry["type"] for entry in about["relationships"]] == ["KNOWS", "sea/`d`"]
    assert about["relationships"][1]["file"] == "relationships/sea_d_.parquet"


def test_graphml_is_valid_and_typed(graph):
    plan = plan_graphml(graph)
    data = contents(plan)["graph.graphml"]
    root = ET.fromstring(data)
    space = "{http://graphml.graphdrawing.org/xmlns}"
    keys = {key.get("id"): (key.get("attr.name"), key.get("attr.type")) for key in root.iter(f"{space}key")}
    assert ("age", "long") in keys.values()
    assert ("height", "double") in keys.values()
    assert ("flag", "boolean") in keys.values()
    assert ("odd", "string") in keys.values()
    nodes = {
        node.get("id"): {keys[data.get("key")][0]: data.text for data in node} for node in root.iter(f"{space}node")
    }
    assert nodes["n0"] == {
        "labels": ":Person:Note", "title": "Ada", "age": "36", "born": "1815-12-10", "tags": '["a", "b;c"]', "odd": "1",
    }  # fmt: skip
    assert nodes["n1"]["title"] == 'Bo "b", <&>\n\ufffdx'
    edges = [(edge.get("source"), edge.get("target"), edge.get("label")) for edge in root.iter(f"{space}edge")]
    assert edges == [("n0", "n1", "KNOWS"), ("n1", "n0", "KNOWS"), ("n0", "n2", "sea/`d`")]
    assert plan.report() == {"characters-replaced": {"count": 1, "examples": ["title of nodes: 1 values"]}}


def test_graphml_comes_in_pieces(make_graph):
    graph = make_graph([(("N",), {"title": str(number)}) for number in range(4500)], [])
    content = plan_graphml(graph).files["graph.graphml"]
    pieces = list(pieces_of(content))
    assert len(pieces) == 5
    assert list(pieces_of(content)) == pieces


def test_neo4j_files_have_typed_headers_and_arrays(graph):
    files = contents(plan_neo4j(graph))
    rows = list(csv.reader(io.StringIO(files["nodes/Person-Note.csv"].decode(), newline="")))
    assert rows[0] == [
        "_node:ID", ":LABEL", "age:long", "born:date", "height:double", "odd:string", "seen:localdatetime",
        "tags:string[]", "title:string",
    ]  # fmt: skip
    assert rows[1] == ["0", "Person;Note", "36", "1815-12-10", "", "1", "", f"a{DELIMITER}b;c", "Ada"]
    assert rows[2][8] == 'Bo "b", <&>\n\x01x'
    assert rows[2][6].startswith("2026-05-01T09:30:00")
    ends = list(csv.reader(io.StringIO(files["relationships/KNOWS.csv"].decode())))
    assert ends[0] == [":START_ID", ":END_ID", ":TYPE", "how:string", "since:long"]
    assert ends[1] == ["0", "1", "KNOWS", "", "1840"]


def test_an_empty_text_is_not_a_missing_one_for_neo4j(graph):
    files = contents(plan_neo4j(graph))
    assert files["nodes/Tag.csv"].decode().splitlines()[1].endswith('true,""')


def test_names_neo4j_cannot_read_are_changed_and_reported(graph):
    plan = plan_neo4j(graph)
    assert contents(plan)["nodes/Tag.csv"].decode().startswith("_node:ID,:LABEL,_node_:string,a_b:string,")
    assert plan.report()["property-renamed"]["examples"] == [
        "nodes/Tag.csv: _node is _node_",
        "nodes/Tag.csv: a:b is a_b",
    ]


def test_the_delimiter_of_lists_never_splits_an_item(make_graph):
    plan = plan_neo4j(make_graph([(("N",), {"l": [f"a{DELIMITER}b", "c"], "e": []}), (("N",), {"l": ["x"]})], []))
    assert f"a\ufffdb{DELIMITER}c" in contents(plan)["nodes/N.csv"].decode()
    assert plan.report()["characters-replaced"]["count"] == 1


def test_scripts_name_every_file_and_quote_names(graph):
    files = contents(plan_neo4j(graph))
    script, statements = files["import.sh"].decode(), files["load.cypher"].decode()
    for path in files:
        if path.endswith(".csv"):
            assert path in script
            assert f"file:///{path}" in statements
    assert "`sea/``d```" in statements
    assert "split(row.`tags:string[]`, '\\u001F')" in statements
    subprocess.run(["sh", "-n"], input=files["import.sh"], check=True, timeout=30)


def test_no_label_or_type_breaks_out_of_a_script(make_graph, tmp_path):
    bad = "x`}) DETACH DELETE n //\\u0060 $(touch owned) '; touch owned"
    nodes = [((bad,), {"title": "t", bad: "v"}), (("N",), {"title": "u"})]
    files = contents(plan_neo4j(make_graph(nodes, [(0, bad, 1, {bad: 1})])))
    script = files["import.sh"].decode().replace("exec neo4j-admin", "printf '%s\\n'")
    (tmp_path / "import.sh").write_text(script)
    done = subprocess.run(["sh", "import.sh"], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=30)
    assert done.stdout.count("--nodes=") == 2
    assert [path.name for path in tmp_path.iterdir()] == ["import.sh"]
    assert "\\u0060" not in files["load.cypher"].decode()
    for line in files["load.cypher"].decode().splitlines():
        assert line.replace("``", "").count("`") % 2 == 0


def test_names_of_files_do_not_collide(make_graph):
    graph = make_graph([((name,), {"title": "t"}) for name in ("a/b", "a:b", "A?b")], [])
    for plan in (plan_parquet, plan_neo4j):
        nodes = [path for path in plan(graph).files if path.startswith("nodes/")]
        assert len({path.lower() for path in nodes}) == 3
