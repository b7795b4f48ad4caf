"""Random queries on random small graphs: what the engine answers, against a naive matcher that tries everything.

    python benchmarks/query_fuzz.py [--count 5000] [--seed 1] [--only NUMBER]

Queries are put together clause by clause: patterns of one hop and of several, labels, WHERE with three-valued logic,
 OPTIONAL MATCH, UNWIND, WITH, DISTINCT, aggregates in groups, ORDER BY with SKIP and LIMIT, EXISTS and COUNT,
shortest paths, UNION. Every piece is a text and a function that computes it row by row. Differences are printed with
the graph, and then the exit code is 1. The tests check a few hundred queries.
"""

import argparse
import random
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
if str(REPOSITORY) not in sys.path:
    sys.path.insert(0, str(REPOSITORY))

from query_naive import (  # noqa: E402 -- found only now
    MOST_ROWS,
    Row,
    TooMuchError,
    Value,
    World,
    place,
    plain,
    steps,
)
from query_pieces import Making, filtered, number, patterns, truth  # noqa: E402

from vaultgraph.cypher.plan_cache import PlanCache  # noqa: E402 -- found only now
from vaultgraph.cypher.query import run_query  # noqa: E402
from vaultgraph.errors import BudgetError, QueryError  # noqa: E402
from vaultgraph.graph.freezing import freeze  # noqa: E402
from vaultgraph.graph.mutable import MutableGraph  # noqa: E402
from vaultgraph.graph.schema import schema_of  # noqa: E402

ATTEMPTS = 4  # at a query that answers something
TYPES = ("R", "S")


def random_world(chance: random.Random) -> World:
    size = chance.choice((1, 3, 4, 4, 5, 6))
    nodes = []
    for one in range(size):
        data = {"id": one}
        if chance.random() < 0.8:
            data["x"] = chance.randrange(3)
        if chance.random() < 0.6:
            data["s"] = chance.choice(("", "a", "ab", "b"))
        nodes.append((chance.choice(((), ("A",), ("B",), ("A", "B"))), data))
    hops = []
    for one in range(chance.choice((0, 6, 8, 9, 10, 12))):
        data = {"k": one} if chance.random() < 0.5 else {"k": one, "w": chance.randrange(3)}
        hops.append((chance.randrange(size), chance.choice(TYPES), chance.randrange(size), data))
    return World(nodes, hops)


# Clauses: each a text, and the rows it makes of rows

Clause = tuple[str, Callable[[list[Row]], list[Row]]]


def match(making: Making, *, optional: bool) -> Clause:
    before = set(making.scope)
    text, find = patterns(making)
    if making.chance.random() < 0.25:
        condition, test = truth(making)
        text, find = f"{text} WHERE {condition}", filtered(find, test)
    nothing = dict.fromkeys(set(making.scope) - before)

    def run(rows: list[Row]) -> list[Row]:
        found = []
        for row in rows:
            here = find(row)
            found += here or ([row | nothing] if optional else [])
            if len(found) > MOST_ROWS:
                raise TooMuchError
        return found

    return f"{'OPTIONAL ' if optional else ''}MATCH {text}", run


def unwind(making: Making) -> Clause:
    items = [making.chance.choice((0, 1, 2, None)) for _ in range(making.chance.choice((0, 1, 2, 2, 3)))]
    name = making.new("value", "v")
    shown = ", ".join("null" if item is None else str(item) for item in items)
    return f"UNWIND [{shown}] AS {name}", lambda rows: [row | {name: item} for row in rows for item in items]


def shortest(making: Making) -> Clause | None:
    nodes = making.of("node")
    if len(nodes) < 2:
        return None
    chance, world = making.chance, making.world
    one, other = chance.sample(nodes, 2)
    types, most = chance.choice(((), ("R",))), chance.choice((None, 2))
    direction = chance.choice(("out", "in", "both"))
    path, length = making.new("path", "p"), making.new("value", "v")
    hop = f"[{':R' if types else ''}*..{'' if most is None else most}]"
    arrow = f"{'<-' if direction == 'in' else '-'}{hop}{'->' if direction == 'out' else '-'}"

    def run(rows: list[Row]) -> list[Row]:
        found = []
        for row in rows:
            if row[one] is None or row[other] is None or row[one] == row[other]:
                continue
            level, seen, depth = {row[one][1]}, {row[one][1]}, 0
            while level and row[other][1] not in level and (most is None or depth < most):
                level = {far for node in level for _, far in steps(world, types, direction, node)} - seen
                seen |= level
                depth += 1
            if row[other][1] in level:
                found.append(row | {path: None, length: depth})
        return found

    text = f"WITH * WHERE {one} <> {other} MATCH {path} = shortestPath(({one}){arrow}({other}))"
    return f"{text} WITH *, length({path}) AS {length}", run


def aggregate(making: Making) -> tuple[str, Callable[[list[Row]], Value]]:
    kind = making.chance.choice(("rows", "count", "distinct", "sum", "min", "max", "avg", "collect", "nodes"))
    if kind == "rows":
        return "count(*)", len
    entities = making.of("node", "hop")
    if kind == "nodes" and entities:
        name = making.chance.choice(entities)
        return f"count(DISTINCT {name})", lambda rows: len({row[name] for row in rows} - {None})
    text, read = number(making)

    def values(rows: list[Row]) -> list:
        return [value for row in rows if (value := read(row)) is not None]

    match kind:
        case "sum":
            return f"sum({text})", lambda rows: sum(values(rows))
        case "min" | "max":
            pick = min if kind == "min" else max
            return f"{kind}({text})", lambda rows: pick(values(rows), default=None)
        case "avg":
            return f"avg({text})", lambda rows: sum(found) / len(found) if (found := values(rows)) else None
        case "collect":
            return f"size(collect({text}))", lambda rows: len(values(rows))
        case "distinct":
            return f"count(DISTINCT {text})", lambda rows: len(set(values(rows)))
        case _:
            return f"count({text})", lambda rows: len(values(rows))


def shown_value(name: str, kind: str) -> str:
    """What tells two values of a column apart: a number, or a list of numbers."""
    return {"node": f"{name}.id", "hop": f"{name}.k", "trail": f"[one IN {name} | one.k]"}.get(kind, name)


def projection(making: Making, *, final: bool) -> Clause:
    """WITH or RETURN."""
    chance, world = making.chance, making.world
    items: list[tuple[str, str, str, Callable[[Row], object]]] = []  # name, kind, text, value
    calls: list[tuple[str, str, Callable[[list[Row]], Value]]] = []
    carried = [name for name in making.of("node", "hop", "trail", "value") if chance.random() < 0.6]
    for name in carried:
        kind = making.scope[name]
        if final and kind != "value":
            text = shown_value(name, kind)
            items.append((f"c{len(items)}", "value", text, lambda row, name=name: plain(world, row[name])))
        else:
            items.append((name, kind, name, lambda row, name=name: row[name]))
    for _ in range(chance.choice((0, 0, 1)) if items else 1):
        text, read = number(making)
        making.names += 1
        items.append((f"v{making.names}", "value", text, read))
    if chance.random() < 0.35:
        for _ in range(chance.choice((1, 1, 2))):
            text, read = aggregate(making)
            making.names += 1
            calls.append((f"v{making.names}", text, read))
        items = [item for item in items if chance.random() < 0.6]
    distinct = chance.random() < 0.3
    making.scope = {name: kind for name, kind, _, _ in items} | {name: "value" for name, _, _ in calls}
    columns = dict(making.scope)
    shown = ", ".join(
        [
            *(name if name == text else f"{text} AS {name}" for name, _, text, _ in items),
            *(f"{text} AS {name}" for name, text, _ in calls),
        ]
    )
    tail, start, stop, condition, test = "", 0, None, "", None
    flags = [chance.random() < 0.5 for _ in columns]
    is_ordered = chance.random() < 0.4
    if is_ordered:
        keys = (
            shown_value(name, kind) + (" DESC" if flag else "")
            for (name, kind), flag in zip(columns.items(), flags, strict=True)
        )
        tail = f" ORDER BY {', '.join(keys)}"
        if chance.random() < 0.7:
            start = chance.randrange(3)
            tail += f" SKIP {start}" if start else ""
            if chance.random() < 0.8:
                stop = start + chance.randrange(5)
                tail += f" LIMIT {stop - start}"
    if not final and chance.random() < 0.3:
        condition, test = truth(making)
        condition = f" WHERE {condition}"

    def run(rows: list[Row]) -> list[Row]:
        if calls:
            groups: dict[tuple, list[Row]] = {} if items else {(): []}
            for row in rows:
                groups.setdefault(tuple(read(row) for _, _, _, read in items), []).append(row)
            made = [
                dict(zip(columns, (*key, *(read(group) for _, _, read in calls)), strict=True))
                for key, group in groups.items()
            ]
        else:
            made = [{name: read(row) for name, _, _, read in items} for row in rows]
        if distinct:
            made = list({tuple(row.values()): row for row in made}.values())
        if is_ordered:
            for (name, _), flag in reversed(list(zip(columns.items(), flags, strict=True))):
                made.sort(key=lambda row, name=name: place(plain(world, row[name])), reverse=flag)
            made = made[start:stop]
        return [row for row in made if test is None or test(row) is True]

    word = "RETURN" if final else "WITH"
    return f"{word} {'DISTINCT ' if distinct else ''}{shown}{tail}{condition}", run


def single(making: Making) -> tuple[str, Callable[[], list[tuple]]]:
    """One query without UNION: its text, and its rows in order."""
    chance = making.chance
    clauses = [match(making, optional=chance.random() < 0.1)]
    for _ in range(chance.choice((0, 1, 1, 2, 2, 3, 4))):
        kind = chance.choice(("match", "match", "optional", "unwind", "with", "with", "shortest"))
        made = {
            "match": lambda: match(making, optional=False),
            "optional": lambda: match(making, optional=True),
            "unwind": lambda: unwind(making),
            "with": lambda: projection(making, final=False),
            "shortest": lambda: shortest(making),
        }[kind]()
        if made is not None:
            clauses.append(made)
    clauses.append(projection(making, final=True))

    def run() -> list[tuple]:
        rows: list[Row] = [{}]
        for _, step in clauses:
            rows = step(rows)
            if len(rows) > MOST_ROWS:
                raise TooMuchError
        return [tuple(plain(making.world, value) for value in row.values()) for row in rows]

    return " ".join(text for text, _ in clauses), run


def graph_of(world: World):
    mutable = MutableGraph.filled(
        [(labels, dict(data)) for labels, data in world.nodes],
        [(kind, source, target, dict(data)) for source, kind, target, data in world.hops],
    )
    return freeze(mutable).graph


def answer(graph, schema, plans: PlanCache, query: str) -> list[tuple]:
    rows = run_query(graph, query, schema=schema, plans=plans).rows
    return [tuple(tuple(cell) if isinstance(cell, list) else cell for cell in row) for row in rows]


def check(seed: int, case: int) -> str | None:
    """None where the engine agrees, else what it does; "" where the query was too much."""
    expected: list[tuple] = []
    query = ""
    for attempt in range(ATTEMPTS):
        chance = random.Random(f"{seed} {case} {attempt}")
        world = random_world(chance)
        query, run = single(Making(chance, world))
        try:
            expected = run()
        except TooMuchError:
            query = ""
            continue
        if expected:
            break
    if not query:
        return ""
    graph = graph_of(world)
    schema = schema_of(graph, {"A": ("x", "id"), "B": ("s", "x")})
    plans = PlanCache()
    is_ordered = " ORDER BY " in query[query.rindex("RETURN ") :]
    for _ in range(2):  # the second time with the plan kept and indexes
        try:
            found = answer(graph, schema, plans, query)
        except BudgetError:
            return ""
        except QueryError as error:
            return f"{query}\n  refused: {error}\n  {world}"
        same = found == expected if is_ordered else Counter(found) == Counter(expected)
        if not same:
            return f"{query}\n  engine {found}\n  naive  {expected}\n  {world}"
    if is_ordered and (" SKIP " in query or " LIMIT " in query):
        return None
    for word in ("UNION ALL", "UNION"):
        union = f"{query} {word} {query}"
        rows = expected + expected if word == "UNION ALL" else list(dict.fromkeys(expected))
        if Counter(answer(graph, schema, plans, union)) != Counter(rows):
            return f"{union}\n  engine {answer(graph, schema, plans, union)}\n  naive  {rows}\n  {world}"
    return None


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int)
    given = parser.parse_args()
    bad = skipped = 0
    for case in range(given.count) if given.only is None else [given.only]:
        difference = check(given.seed, case)
        skipped += difference == ""
        if difference:
            bad += 1
            print(f"-- {case}: {difference}", flush=True)
    print(f"{given.count} queries, {skipped} too large to try, {bad} differences")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
