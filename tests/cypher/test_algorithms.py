"""Graph algorithms answer what slow and simple twins answer, on random graphs with loops and parallel relationships."""

import itertools
import math
import random
from collections import deque

import pytest

from vaultgraph.cypher.budget import Budget
from vaultgraph.cypher.query import run_query

DIRECTIONS = ("out", "in", "both")


class Case:
    """A random graph of two labels and two types, and its part with label N and type R as plain lists."""

    def __init__(self, make_graph, seed):
        chance = random.Random(seed)
        self.size = chance.randint(0, 9)
        hidden = chance.randint(0, 2)
        ids = range(self.size + hidden)
        nodes = [(("N",) if i < self.size else ("H",), {"i": i}) for i in ids]
        count = chance.randint(0, 3 * self.size) if ids else 0
        rows = [
            (chance.choice(ids), chance.choice("RRRS"), chance.choice(ids), {"w": chance.choice([0, 1, 1.5, 2, 7])})
            for _ in range(count)
        ]
        self.graph = make_graph(nodes, rows)
        self.links = [(a, b, float(data["w"])) for a, kind, b, data in rows if kind == "R" and max(a, b) < self.size]
        has = {kind for _, kind, _, _ in rows}
        self.options = {"labels": ["N"] if self.size else [], "types": ["R"] if "R" in has else []}

    def arcs(self, direction):
        out = [(a, b, w) for a, b, w in self.links]
        back = [(b, a, w) for a, b, w in self.links]
        if direction == "both":
            return out + [(a, b, w) for a, b, w in back if a != b]
        return out if direction == "out" else back

    def beside(self, direction):
        found = {i: set() for i in range(self.size)}
        for a, b, _ in self.arcs(direction):
            if a != b:
                found[a].add(b)
        return found

    def ask(self, name, columns, **options):
        """The named columns by the property ``i`` of the node."""
        text = f"CALL algo.{name}($options) YIELD node, {columns} RETURN node.i, {columns}"
        rows = run_query(self.graph, text, {"options": self.options | options}).rows
        assert len({row[0] for row in rows}) == len(rows)
        return {row[0]: row[1] if len(row) == 2 else row[1:] for row in rows}


@pytest.fixture(params=range(40))
def case(request, make_graph):
    return Case(make_graph, request.param)


@pytest.fixture(params=DIRECTIONS)
def direction(request):
    return request.param


def walk(beside, start):
    """Steps to each node that is reached."""
    steps, queue = {start: 0}, deque([start])
    while queue:
        here = queue.popleft()
        for there in beside[here]:
            if there not in steps:
                steps[there] = steps[here] + 1
                queue.append(there)
    return steps


def ways(beside, start):
    """Steps and number of shortest paths to each node."""
    steps, counts = walk(beside, start), {start: 1}
    for here in sorted(steps, key=lambda node: steps[node]):
        for there in beside[here]:
            if steps[there] == steps[here] + 1:
                counts[there] = counts.get(there, 0) + counts[here]
    return steps, counts


def test_degrees_count_every_relationship_and_add_weights(case, direction):
    found = case.ask("degree", "degree, strength", direction=direction, weight="w")
    arcs = case.arcs(direction)
    for i in range(case.size):
        mine = [w for a, _, w in arcs if a == i]
        assert found[i] == (len(mine), pytest.approx(sum(mine)))
    assert len(found) == case.size


@pytest.mark.parametrize("weight", [None, "w"])
def test_pagerank_is_where_a_random_walk_settles(case, direction, weight):
    found = case.ask("pagerank", "score", direction=direction, weight=weight, tolerance=0.0, iterations=300)
    arcs = [(a, b, w if weight else 1.0) for a, b, w in case.arcs(direction)]
    ranks = dict.fromkeys(range(case.size), 1 / max(case.size, 1))
    for _ in range(300):
        fresh = dict.fromkeys(ranks, 0.15 / max(case.size, 1))
        for i in ranks:
            mine = [(b, w) for a, b, w in arcs if a == i]
            whole = sum(w for _, w in mine)
            shares = [(b, w / whole) for b, w in mine] if whole else [(j, 1 / case.size) for j in ranks]
            for b, share in shares:
                fresh[b] += 0.85 * ranks[i] * share
        ranks = fresh
    assert found == pytest.approx(ranks, abs=1e-9)


def test_weak_components_are_what_hangs_together(case):
    found = case.ask("components", "component, size")
    beside = case.beside("both")
    parts = {frozenset(walk(beside, i)) for i in range(case.size)}
    assert {frozenset(i for i in found if found[i][0] == number) for number, _ in found.values()} == parts
    assert all(size == sum(number == other for other, _ in found.values()) for number, size in found.values())
    assert [size for _, size in found.values()] == sorted((size for _, size in found.values()), reverse=True)


def test_strong_components_are_what_reaches_each_other(case):
    found = case.ask("components", "component", kind="strong")
    reach = {i: set(walk(case.beside("out"), i)) for i in range(case.size)}
    for a, b in itertools.product(range(case.size), repeat=2):
        assert (found[a] == found[b]) == (b in reach[a] and a in reach[b])


def test_core_numbers_are_what_is_left_when_weak_nodes_go(case):
    found = case.ask("coreness", "core")
    beside, expected = case.beside("both"), {}
    for k in range(case.size + 1):
        left = set(range(case.size))
        while weak := {i for i in left if len(beside[i] & left) < k}:
            left -= weak
        expected |= dict.fromkeys(left, k)
    assert found == expected


def test_triangles_are_three_nodes_that_are_all_neighbours(case):
    found = case.ask("triangles", "triangles, coefficient")
    beside = case.beside("both")
    for i in range(case.size):
        pairs = list(itertools.combinations(sorted(beside[i]), 2))
        closed = sum(b in beside[a] for a, b in pairs)
        assert found[i] == (closed, pytest.approx(closed / len(pairs) if pairs else 0.0))
    assert len(found) == case.size


def test_closeness_is_made_of_the_distances_to_all_others(case, direction):
    found = case.ask("closeness", "score, harmonic", direction=direction)
    for i in range(case.size):
        far = [steps for steps in walk(case.beside(direction), i).values() if steps]
        others = max(case.size - 1, 1)
        score = len(far) / others * len(far) / sum(far) if far else 0.0
        assert found[i] == pytest.approx((score, sum(1 / steps for steps in far) / others))
    assert len(found) == case.size


@pytest.mark.parametrize("normalized", [True, False])
def test_betweenness_counts_the_shortest_paths_through_a_node(case, direction, normalized):
    found = case.ask("betweenness", "score", direction=direction, normalized=normalized)
    all_ways = [ways(case.beside(direction), i) for i in range(case.size)]
    expected = dict.fromkeys(range(case.size), 0.0)
    for a, b, i in itertools.permutations(range(case.size), 3):
        steps, counts = all_ways[a]
        if b in steps and i in steps and b in all_ways[i][0] and steps[i] + all_ways[i][0][b] == steps[b]:
            expected[i] += counts[i] * all_ways[i][1][b] / counts[b]
    pairs = max((case.size - 1) * (case.size - 2), 1) if normalized else 2 if direction == "both" else 1
    assert found == pytest.approx({i: score / pairs for i, score in expected.items()})


@pytest.mark.parametrize("weight", [None, "w"])
def test_shortest_paths_are_as_short_as_can_be_and_are_paths(case, direction, weight):
    if not case.size:
        return
    arcs = [(a, b, w if weight else 1.0) for a, b, w in case.arcs(direction)]
    lengths = dict.fromkeys(range(case.size), math.inf) | {0: 0.0}
    for _ in range(case.size):
        for a, b, w in arcs:
            lengths[b] = min(lengths[b], lengths[a] + w)
    text = """MATCH (s:N {i: 0}) WITH s, $options AS o
        CALL algo.shortestPaths({labels: o.labels, types: o.types, direction: o.direction, weight: o.weight, source: s,
                                 paths: true})
        YIELD node, distance, steps, path
        RETURN node.i, distance, steps, [n IN nodes(path) | n.i], [r IN relationships(path) | r.w]"""
    options = case.options | {"direction": direction, "weight": weight}
    rows = run_query(case.graph, text, {"options": options}).rows
    assert {i: distance for i, distance, *_ in rows} == pytest.approx(
        {i: length for i, length in lengths.items() if length < math.inf}
    )
    assert [row[1] for row in rows] == sorted(row[1] for row in rows)
    for i, distance, steps, nodes, weights in rows:
        assert (nodes[0], nodes[-1], len(nodes)) == (0, i, steps + 1)
        assert len(set(nodes)) == len(nodes)
        assert distance == pytest.approx(sum(weights) if weight else len(weights))
        for (a, b), w in zip(itertools.pairwise(nodes), weights, strict=True):
            assert (a, b, w) in [(x, y, z) for x, y, z in case.arcs(direction)]


def modularity(links, groups):
    whole = sum(w for _, _, w in links)
    inside = sum(w for a, b, w in links if groups[a] == groups[b]) / whole
    ends = dict.fromkeys(groups.values(), 0.0)
    for a, b, w in links:
        ends[groups[a]] += w / 2 / whole
        ends[groups[b]] += w / 2 / whole
    return inside - sum(end * end for end in ends.values())


@pytest.mark.parametrize("weight", [None, "w"])
def test_communities_hang_together_and_are_no_worse_than_none_or_one(case, weight):
    found = case.ask("communities", "community", weight=weight)
    links = [(a, b, w if weight else 1.0) for a, b, w in case.links]
    beside = {i: set() for i in range(case.size)}
    for a, b, w in links:
        if found[a] == found[b] and w:
            beside[a].add(b)
            beside[b].add(a)
    for i in range(case.size):
        assert set(walk(beside, i)) == {j for j in found if found[j] == found[i]}
    if sum(w for _, _, w in links):
        score = modularity(links, found)
        assert score >= modularity(links, {i: i for i in found}) - 1e-9
        assert score >= -1e-9 or not any(a != b for a, b, _ in links)


def test_communities_of_cliques_in_a_ring_are_the_cliques(make_graph):
    inside = [(8 * c + a, "R", 8 * c + b, {}) for c in range(12) for a in range(8) for b in range(a)]
    ring = [(8 * c, "R", (8 * c + 9) % 96, {}) for c in range(12)]
    graph = make_graph([(("N",), {"i": i}) for i in range(96)], inside + ring)
    text = (
        "CALL algo.communities() YIELD node, community, size RETURN community, size, collect(node.i) ORDER BY community"
    )
    rows = run_query(graph, text).rows
    assert rows == [(c, 8, list(range(8 * c, 8 * c + 8))) for c in range(12)]


def test_weights_decide_between_communities(make_graph):
    pairs = [(a, b) for a in range(6) for b in range(a)]
    graph = make_graph(
        [(("N",), {"i": i}) for i in range(6)], [(a, "R", b, {"w": 9.0 if a // 3 == b // 3 else 0.1}) for a, b in pairs]
    )
    text = "CALL algo.communities({weight: 'w'}) YIELD node, community RETURN community, collect(node.i)"
    assert sorted(row[1] for row in run_query(graph, text).rows) == [[0, 1, 2], [3, 4, 5]]


@pytest.mark.parametrize("name", ["betweenness", "closeness"])
def test_samples_estimate_scores_and_all_of_them_are_exact(make_graph, name):
    chance = random.Random(7)
    graph = make_graph(
        [(("N",), {"i": i}) for i in range(80)],
        [(chance.randrange(80), "R", chance.randrange(80), {}) for _ in range(200)],
    )

    def ask(**options):
        text = f"CALL algo.{name}($options) YIELD node, score RETURN node.i, score"
        return dict(run_query(graph, text, {"options": options}).rows)

    exact = ask()
    assert ask(samples=80) == exact
    assert ask(samples=40) == ask(samples=40)
    assert ask(samples=40) != ask(samples=40, seed=1)
    estimate = ask(samples=40)
    top = sorted(exact, key=exact.get, reverse=True)[:5]
    assert len(set(top) & set(sorted(estimate, key=estimate.get, reverse=True)[:10])) >= 4


@pytest.mark.parametrize("name", ["pagerank", "communities", "betweenness", "closeness", "coreness", "triangles"])
def test_answers_come_in_the_same_order_every_time(make_graph, name):
    chance = random.Random(3)
    graph = make_graph(
        [(("N",), {"i": i}) for i in range(50)],
        [(chance.randrange(50), "R", chance.randrange(50), {}) for _ in range(120)],
    )
    text = f"CALL algo.{name}()"
    first = run_query(graph, text).rows
    assert len(first) == 50
    assert run_query(graph, text, budget=Budget()).rows == first


def test_a_personal_pagerank_stays_near_its_source(make_graph):
    graph = make_graph(
        [(("N",), {"i": i}) for i in range(4)], [(0, "R", 1, {}), (1, "R", 0, {}), (2, "R", 3, {}), (3, "R", 2, {})]
    )
    text = "MATCH (s {i: 0}) CALL algo.pagerank({source: s}) YIELD node, score RETURN node.i, score"
    found = dict(run_query(graph, text).rows)
    assert found[0] > found[1] > 0
    assert found[2] == found[3] == 0
    assert sum(found.values()) == pytest.approx(1)


def test_a_long_chain_needs_no_recursion(make_graph):
    size = 5000
    graph = make_graph([(("N",), {"i": i}) for i in range(size)], [(i, "R", i + 1, {"w": 2}) for i in range(size - 1)])
    text = """CALL algo.shortestPaths({source: $s, weight: 'w', target: $t}) YIELD distance, path
        RETURN distance, length(path)"""
    ends = run_query(graph, "MATCH (a {i: 0}), (b {i: 4999}) RETURN a, b").rows[0]
    assert run_query(graph, text, {"s": ends[0], "t": ends[1]}).rows == [(2.0 * (size - 1), size - 1)]
    for name, column, least in (("components", "component", 0), ("coreness", "core", 1)):
        rows = run_query(graph, f"CALL algo.{name}() YIELD {column} RETURN DISTINCT {column}").rows
        assert rows == [(least,)]
