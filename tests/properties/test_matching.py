"""The engine finds exactly the matches that a naive matcher finds, on random small graphs and random patterns."""

from collections import Counter
from dataclasses import dataclass

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vaultgraph.cypher.query import run_query

LABELS, TYPES, VARIABLES = ("A", "B"), ("R", "S"), ("a", "b", "c")


@dataclass(frozen=True)
class Hop:
    name: str
    kind: str | None
    direction: str
    length: tuple[int, int] | None

    def __str__(self):
        length = "" if self.length is None else "*{}..{}".format(*self.length)
        inside = f"[{self.name}{'' if self.kind is None else ':' + self.kind}{length}]"
        return ("<-" if self.direction == "in" else "-") + inside + ("->" if self.direction == "out" else "-")


@dataclass(frozen=True)
class Place:
    name: str
    label: str | None
    value: int | None

    def __str__(self):
        label = "" if self.label is None else f":{self.label}"
        value = "" if self.value is None else f" {{x: {self.value}}}"
        return f"({self.name}{label}{value})"


def matches(nodes, relationships, paths, start):
    """Every assignment of variables to node numbers and relationship number lists, by trying everything."""

    def fits(place, node, found):
        labels, data = nodes[node]
        return (
            found.get(place.name, node) == node
            and (place.label is None or place.label in labels)
            and (place.value is None or data.get("x") == place.value)
        )

    def steps(hop, node, used):
        for number, (source, kind, target, _) in enumerate(relationships):
            if number in used or hop.kind not in (None, kind):
                continue
            if hop.direction != "in" and source == node:
                yield number, target
            if hop.direction != "out" and target == node and (source != target or hop.direction == "in"):
                yield number, source

    def trails(hop, node, used):
        least, most = hop.length or (1, 1)
        waiting = [(node, ())]
        while waiting:
            at, trail = waiting.pop()
            if least <= len(trail):
                yield trail, at
            if len(trail) < most:
                waiting += [(far, (*trail, number)) for number, far in steps(hop, at, {*used, *trail})]

    def walk(path, position, node, found, used, rest):
        places, hops = path
        if position == len(hops):
            yield from begin(rest, found, used)
            return
        hop, place = hops[position], places[position + 1]
        for trail, far in trails(hop, node, used):
            if fits(place, far, found):
                now = found | {hop.name: trail, place.name: far}
                yield from walk(path, position + 1, far, now, used | set(trail), rest)

    def begin(paths, found, used):
        if not paths:
            yield found
            return
        first, *rest = paths
        for node in range(len(nodes)):
            if fits(first[0][0], node, found):
                yield from walk(first, 0, node, found | {first[0][0].name: node}, used, rest)

    return begin(paths, start, frozenset())


places = st.builds(
    Place, st.sampled_from(VARIABLES), st.sampled_from((None, None, *LABELS)), st.sampled_from((None, None, None, 0, 1))
)
LENGTHS = st.one_of(
    st.none(), st.none(), st.tuples(st.integers(0, 2), st.integers(0, 3)).map(lambda pair: (min(pair), max(pair)))
)


@st.composite
def patterns(draw, lengths=LENGTHS):
    paths = []
    for number in range(draw(st.integers(1, 2))):
        size = draw(st.integers(0, 2))
        hops = tuple(
            Hop(
                f"r{number}{position}",
                draw(st.sampled_from((None, *TYPES))),
                draw(st.sampled_from(("out", "in", "both"))),
                draw(lengths),
            )
            for position in range(size)
        )
        paths.append((tuple(draw(places) for _ in range(size + 1)), hops))
    return paths


@st.composite
def graphs(draw):
    size = draw(st.integers(1, 5))
    sets = st.sampled_from(((), ("A",), ("B",), ("A", "B")))
    nodes = [(draw(sets), {"id": number, "x": draw(st.integers(0, 1))}) for number in range(size)]
    ends = st.tuples(st.integers(0, size - 1), st.sampled_from(TYPES), st.integers(0, size - 1))
    relationships = [(*end, {"k": number}) for number, end in enumerate(draw(st.lists(ends, max_size=7)))]
    return nodes, relationships


def text_of(paths):
    return ", ".join(
        str(places[0]) + "".join(f"{hop}{place}" for hop, place in zip(hops, places[1:], strict=True))
        for places, hops in paths
    )


def shown(paths):
    """The RETURN items and, for a match, what they must be."""
    names = sorted({place.name for places, _ in paths for place in places})
    hops = [hop for _, hops in paths for hop in hops]
    items = [f"{name}.id" for name in names]
    items += [f"{hop.name}.k" if hop.length is None else f"[x IN {hop.name} | x.k]" for hop in hops]

    def row(found):
        trails = [found[hop.name][0] if hop.length is None else found[hop.name] for hop in hops]
        return (*(found[name] for name in names), *trails)

    return ", ".join(items), row


def answer(graph, query):
    rows = run_query(graph, query).rows
    return Counter(tuple(tuple(cell) if isinstance(cell, list) else cell for cell in row) for row in rows)


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(graph=graphs(), paths=patterns())
def test_match_finds_what_the_naive_matcher_finds(graph, paths, make_graph):
    items, row = shown(paths)
    expected = Counter(row(found) for found in matches(*graph, paths, {}))
    assert answer(make_graph(*graph), f"MATCH {text_of(paths)} RETURN {items}") == expected
    counted = run_query(make_graph(*graph), f"MATCH {text_of(paths)} RETURN count(*)").rows
    assert counted == [(expected.total(),)]


@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(graph=graphs(), paths=patterns(), data=st.data())
def test_groups_hold_what_the_naive_matcher_finds(graph, paths, data, make_graph):
    names = sorted({place.name for places, _ in paths for place in places})
    keys = data.draw(st.lists(st.sampled_from(names), max_size=2, unique=True))
    key = data.draw(st.sampled_from(("id", "x")))
    other = data.draw(st.sampled_from(names))
    groups: dict[tuple, list[int]] = {}
    for found in matches(*graph, paths, {}):
        group = tuple(found[name] if key == "id" else graph[0][found[name]][1]["x"] for name in keys)
        groups.setdefault(group, []).append(found[other])
    expected = Counter((*group, len(ids), sum(ids), len(ids), min(ids), len(set(ids))) for group, ids in groups.items())
    if not keys and not groups:
        expected = Counter([(0, 0, 0, None, 0)])
    items = [f"{name}.{key}" for name in keys]
    calls = ["count(*)", f"sum({other}.id)", f"count({other}.x)", f"min({other}.id)", f"count(DISTINCT {other})"]
    query = f"MATCH {text_of(paths)} RETURN {', '.join([*items, *calls])}"
    assert answer(make_graph(*graph), query) == expected
    shown_calls = data.draw(st.lists(st.sampled_from(range(3)), min_size=1, unique=True))
    query = f"MATCH {text_of(paths)} RETURN {', '.join([*items, *(calls[at] for at in shown_calls)])}"
    part = Counter()
    for row, times in expected.items():
        part[(*row[: len(keys)], *(row[len(keys) + at] for at in shown_calls))] += times
    assert answer(make_graph(*graph), query) == part


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(graph=graphs(), paths=patterns(st.tuples(st.integers(0, 1), st.integers(1, 4))))
def test_distinct_ends_are_those_of_all_trails(graph, paths, make_graph):
    names = sorted({place.name for places, _ in paths for place in places})
    expected = {tuple(found[name] for name in names) for found in matches(*graph, paths, {})}
    items = ", ".join(f"{name}.id" for name in names)
    assert answer(make_graph(*graph), f"MATCH {text_of(paths)} RETURN DISTINCT {items}") == Counter(expected)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(graph=graphs(), first=places, paths=patterns())
def test_optional_match_keeps_every_row(graph, first, paths, make_graph):
    first = Place("a", first.label, first.value)
    items, row = shown([((Place("a", None, None),), ()), *paths])
    expected = Counter()
    for start in matches(*graph, [((first,), ())], {}):
        found = [row(one) for one in matches(*graph, paths, start)]
        width = len(items.split(", "))
        expected.update(found or [(start["a"], *[None] * (width - 1))])
    query = f"MATCH {first} OPTIONAL MATCH {text_of(paths)} RETURN {items}"
    assert answer(make_graph(*graph), query) == expected


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(graph=graphs(), paths=patterns())
def test_exists_and_count_see_the_same_matches(graph, paths, make_graph):
    pattern = text_of(paths)
    query = f"MATCH (a) RETURN a.id, EXISTS {{ {pattern} }}, COUNT {{ {pattern} }}"
    expected = Counter()
    for node in range(len(graph[0])):
        total = sum(1 for _ in matches(*graph, paths, {"a": node}))
        expected[node, total > 0, total] += 1
    assert answer(make_graph(*graph), query) == expected


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(graph=graphs(), hops=st.tuples(*[st.sampled_from(("-->", "<--", "--", "-[:R]->", "<-[:S]-"))] * 3))
def test_counting_several_hops_by_weights_is_counting_their_rows(graph, hops, make_graph):
    pattern = f"(a){hops[0]}(b){hops[1]}(){hops[2]}(:A)"
    made = make_graph(*graph)
    counted = run_query(made, f"MATCH (a) RETURN a.id, COUNT {{ {pattern} }} ORDER BY a.id").rows
    listed = run_query(made, f"MATCH (a) RETURN a.id, size([{pattern} | b.id]) ORDER BY a.id").rows
    collected = run_query(
        made,
        f"MATCH (a) OPTIONAL MATCH {pattern} WITH a, collect(b.id) AS found RETURN a.id, size(found) ORDER BY a.id",
    ).rows
    assert counted == listed == collected
