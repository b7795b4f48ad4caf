"""A query within braces, run once for all rows, gives what it gives when it is run for each row by itself."""

import random

import pytest

from vaultgraph.cypher.query import run_query

INNER = (
    "MATCH (n)-->(m) RETURN m.x AS y",
    "MATCH (n)-->(m) RETURN DISTINCT m.x AS y",
    "MATCH (n)-->(m) RETURN m.x AS y ORDER BY m.x DESC, id(m) LIMIT 2",
    "MATCH (n)-->(m) RETURN m.x AS y ORDER BY id(m) SKIP 1 LIMIT 1",
    "MATCH (n)-->(m) RETURN count(*) AS y",
    "MATCH (n)-->(m) WITH sum(m.x) AS v WHERE v < 4 RETURN v + 1 AS y",
    "MATCH (n)-->(m) RETURN m.x AS y, count(*) AS c ORDER BY c DESC, y LIMIT 1",
    "MATCH (n)-->(m) WITH m ORDER BY id(m) LIMIT 2 RETURN collect(m.x) AS y",
    "MATCH (n)-->(m) WITH m.x AS v, count(*) AS c WHERE c > 1 RETURN v AS y",
    "MATCH (n)-[*1..2]->(m) RETURN count(DISTINCT m) AS y",
    "OPTIONAL MATCH (n)-->(m) WHERE m.x > n.x RETURN id(m) AS y",
    "OPTIONAL MATCH (n)-[r:T]->(m) WITH n, max(m.x) AS v WHERE v > 0 RETURN v AS y",
    "MATCH (m) WHERE m.x = n.x RETURN count(m) AS y",
    "MATCH (m:B) RETURN m.x + n.x AS y ORDER BY id(m) LIMIT 1",
    "UNWIND range(1, n.x) AS i RETURN i AS y",
    "UNWIND [3, 1, 2] AS i WITH i ORDER BY i LIMIT 2 RETURN collect(i) AS y",
    "MATCH (n)-->(m) RETURN m.x AS y UNION MATCH (n)<--(m) RETURN m.x AS y",
    "MATCH (n)-->(m) RETURN m.x AS y UNION ALL MATCH (n)<--(m) RETURN count(m) AS y",
    "MATCH (n)-->(m) WHERE EXISTS { MATCH (m)-->(k) WITH k.x AS v WHERE v = n.x RETURN v } RETURN id(m) AS y",
    "MATCH (n)-->(m) CALL (n, m) { MATCH (m)-->(k) WHERE k <> n RETURN count(k) AS ks } RETURN sum(ks) AS y",
    "MATCH (n)-->(m) RETURN COLLECT { MATCH (m)-->(k) RETURN k.x ORDER BY id(k) LIMIT 1 } AS y ORDER BY id(m)",
)


@pytest.fixture(scope="module")
def graphs():
    """A few random graphs of some nodes, some without any relationship."""
    made = []
    for seed in range(4):
        chance = random.Random(seed)
        nodes = [(chance.choice((["A"], ["B"], ["A", "B"])), {"x": chance.randrange(4)}) for _ in range(9)]
        relationships = [
            (chance.randrange(8), chance.choice("TU"), chance.randrange(8), {}) for _ in range(chance.randrange(5, 20))
        ]
        made.append((nodes, relationships))
    return made


@pytest.mark.parametrize("inner", INNER)
def test_a_subquery_for_all_rows_is_the_subquery_for_each_row(graphs, make_graph, inner):
    for nodes, relationships in graphs:
        graph = make_graph(nodes, relationships)
        alone = []
        for number in range(len(nodes)):
            parts = inner.split(" UNION ALL ") if " UNION ALL " in inner else inner.split(" UNION ")
            word = " UNION ALL " if " UNION ALL " in inner else " UNION "
            given = "MATCH (n) WHERE id(n) = $number WITH n "
            rows = run_query(graph, word.join(given + part for part in parts), {"number": number}).rows
            alone += [(number, *row) for row in rows]
        columns = ", c" if "AS c ORDER" in inner else ""
        found = run_query(graph, f"MATCH (n) CALL (n) {{ {inner} }} RETURN id(n), y{columns}").rows
        if "ORDER BY" in inner:
            assert found == alone
        else:
            assert sorted(found, key=repr) == sorted(alone, key=repr)


@pytest.mark.parametrize("inner", INNER)
def test_a_subquery_as_a_value_counts_what_it_returns(graphs, make_graph, inner):
    for nodes, relationships in graphs:
        graph = make_graph(nodes, relationships)
        called = run_query(graph, f"MATCH (n) CALL (n) {{ {inner} }} RETURN id(n)").rows
        ids = [number for (number,) in called]
        counted = run_query(graph, f"MATCH (n) RETURN COUNT {{ {inner} }}, EXISTS {{ {inner} }} ORDER BY id(n)").rows
        assert counted == [(ids.count(number), number in ids) for number in range(len(nodes))]
