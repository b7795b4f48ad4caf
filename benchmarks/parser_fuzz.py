"""Queries made to be misread, through reading, binding and planning: every one is answered or refused, and quickly.

    python benchmarks/parser_fuzz.py [--count 100000] [--seed 1] [--features FOLDER] [--run]

Inputs are queries of the openCypher TCK (where its kit is found, see VAULTGRAPH_SHARED) and of the case files, changed
token by token and character by character, and soups of tokens. An input fails that raises anything but a QueryError, or
that takes longer than a second. With ``--run`` what can be planned is also run, on a small graph. The tests check a few
thousand inputs.
"""

import argparse
import os
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
if str(REPOSITORY) not in sys.path:
    sys.path.insert(0, str(REPOSITORY))

import polars as pl  # noqa: E402 -- found only now

from vaultgraph.cypher.bind import bind  # noqa: E402
from vaultgraph.cypher.budget import Budget  # noqa: E402
from vaultgraph.cypher.clauses import parse  # noqa: E402
from vaultgraph.cypher.estimate import Statistics  # noqa: E402
from vaultgraph.cypher.optimise import optimise  # noqa: E402
from vaultgraph.cypher.planner import plan_query  # noqa: E402
from vaultgraph.cypher.printer import print_query  # noqa: E402
from vaultgraph.cypher.query import run_query  # noqa: E402
from vaultgraph.errors import QueryError  # noqa: E402
from vaultgraph.graph.facts import Facts  # noqa: E402
from vaultgraph.graph.graph import Graph  # noqa: E402
from vaultgraph.graph.schema import Schema  # noqa: E402

SHARED = Path(os.environ.get("VAULTGRAPH_SHARED", REPOSITORY.parent / "shared"))
SLOW_SECONDS = 1.0
PIECE = re.compile(r"\w+|'[^'\n]*'|\"[^\"\n]*\"|`[^`\n]*`|\s+|<>|<=|>=|->|<-|\.\.|.", re.DOTALL)
COMPARED = ("=", "<>", "<", ">", "<=", ">=")
CALCULATED = ("+", "*", "/", "%", "^")
SOUP = """
MATCH OPTIONAL WHERE WITH RETURN UNWIND UNION ALL CALL YIELD AS DISTINCT ORDER BY SKIP LIMIT OFFSET FINISH SHOW
FUNCTIONS EXPLAIN PROFILE FORMAT CSV EXISTS COUNT COLLECT CASE WHEN THEN ELSE END AND OR XOR NOT IN IS NULL STARTS
ENDS CONTAINS any all none single reduce shortestPath allShortestPaths size trim BOTH FROM count collect sum
percentileCont coalesce toLower date duration n m r p x xs a b n.x n.y m.name $p $list 0 1 -1 2.5 1e3 0x1F
9223372036854775807 'text' "t" `odd` true false null [ ] ( ) { } [ ] ( ) { } , , . .. : ; | & ! % + - * / ^
= <> < > <= >= =~ -- --> <-- -[ ]-> <-[ ]- :A :T CREATE MERGE SET DELETE db.labels vault.outline
"""
WORDS = tuple(SOUP.split())
ODD = (
    "\x00",
    "\\",
    "'",
    '"',
    "`",
    "é",
    "\u202e",
    "🎉",
    "\ud800",
    "\u0301",
    "0" * 5000,
    "((((((((",
    "-" * 200,
    "/*",
    "//",
)
VALUES = ("0", "-1", "9223372036854775807", "1.5", "'x'", "null", "true", "$p", "[1, null]", "{a: 1}", "n", "count(*)")
WRAPPERS = (
    ("EXISTS { ", " }"),
    ("COUNT { ", " }"),
    ("COLLECT { ", " }"),
    ("CALL { ", " }"),
    ("CALL (*) { ", " }"),
    ("[x IN ", " | x]"),
    ("[x IN xs WHERE ", "]"),
    ("(", ")"),
    ("NOT (", ")"),
    ("-(", ")"),
    ("reduce(a = 0, x IN ", " | a)"),
    ("CASE WHEN ", " THEN 1 END"),
    ("all(x IN [1] WHERE ", ")"),
    ("{a: ", "}"),
    ("count(", ")"),
    ("toLower(", ")"),
    ("WITH ", " AS n "),
)
PARAMETERS = {"p": 1, "list": [1, 2]}


def queries(features: Path, cases: Path) -> list[str]:
    """The queries that are changed: those of feature files, and of case files."""
    found: dict[str, None] = {}
    for file in sorted(features.rglob("*.feature")) if features.is_dir() else []:
        for text in re.findall(r'"""\n(.*?)"""', file.read_text(encoding="utf-8"), re.DOTALL):
            found[" ".join(text.split())] = None
    for file in sorted(cases.glob("*.md")):
        for text in re.findall(r"```cypher\n(.*?)\n```", file.read_text(encoding="utf-8"), re.DOTALL):
            found[" ".join(text.split())] = None
    return [text for text in found if text and _is_read(text)]


def _is_read(text: str) -> bool:
    try:
        parse(text)
    except QueryError:
        return False
    return True


def inputs(known: Sequence[str], count: int, seed: int) -> Iterator[str]:
    """``count`` inputs, always the same for a seed: most are changed queries, some a soup of tokens."""
    chance = random.Random(seed)
    for number in range(count):
        if number % 4 == 3 or not known:
            yield " ".join(chance.choice(WORDS) for _ in range(chance.randint(1, 40)))
        else:
            yield changed(chance.choice(known), known, chance)


def changed(text: str, known: Sequence[str], chance: random.Random) -> str:
    """A query with a few changes, most of them small."""
    pieces = PIECE.findall(text)
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        shown = [place for place, piece in enumerate(pieces) if not piece.isspace()] or [0]
        place = chance.choice(shown)
        if chance.random() < 0.75:
            _replace_alike(pieces, place, shown, chance)
        else:
            _change(pieces, place, known, chance)
    return "".join(pieces)


def _replace_alike(pieces: list[str], place: int, shown: Sequence[int], chance: random.Random) -> None:
    """One token in place of another of its sort, so that more is still a query."""
    piece = pieces[place] if pieces else ""
    if piece[:1].isalpha():
        others = [pieces[one] for one in shown if pieces[one][:1].isalpha()]
    elif piece[:1] in "0123456789'\"":
        others = [
            "0",
            "-1",
            "9223372036854775807",
            "1.5",
            "'x'",
            "null",
            "true",
            "$p",
            "[1, null]",
            "{a: 1}",
            "n",
            "count(*)",
        ]
    elif piece in COMPARED:
        others = [*COMPARED, " IN ", " STARTS WITH ", " + ", " AND "]
    elif piece in CALCULATED:
        others = [*CALCULATED, "<>", " OR ", "||"]
    else:
        others = ["+", "-", "=", " IN ", " AND ", ",", ".", ":", "|", "&", "..", "->", "-", "*", ")", "]"]
    pieces[place : place + 1] = [chance.choice(others)]


def _change(pieces: list[str], place: int, known: Sequence[str], chance: random.Random) -> None:
    match chance.randrange(9):
        case 0:
            del pieces[place : place + chance.randint(1, 3)]
        case 1:
            pieces.insert(place, " " + chance.choice(WORDS) + " ")
        case 2:
            pieces[place : place + 1] = [" " + chance.choice(WORDS) + " "]
        case 3:
            other = chance.randrange(len(pieces) + 1)
            pieces[place:place] = pieces[min(place, other) : max(place, other)]
        case 4:
            taken = PIECE.findall(chance.choice(known))
            start = chance.randrange(len(taken))
            pieces[place:place] = taken[start : start + chance.randint(1, 12)]
        case 5:
            pieces.insert(place, chance.choice(ODD))
        case 6:
            del pieces[place:]
        case 7:
            opener, closer = chance.choice(WRAPPERS)
            pieces.insert(chance.randint(place, len(pieces)), closer)
            pieces.insert(place, opener)
        case _:
            pieces[place : place + 3] = pieces[place : place + 3] * chance.choice((2, 5, 60))


class Checker:
    """Reads, binds and plans inputs against one graph; ``outcomes`` counts how they ended."""

    def __init__(self, graph: Graph, *, runs: bool = False) -> None:
        self.graph = graph
        self.runs = runs
        self.schema = Schema(graph)
        self.statistics = Statistics(Facts(graph))
        self.outcomes: Counter[str] = Counter()

    def check(self, text: str) -> str | None:
        """What is wrong with how an input was taken; None where nothing is."""
        started = time.perf_counter()
        try:
            self._plan(text)
            self.outcomes["planned"] += 1
        except QueryError as error:
            self.outcomes[error.code] += 1
            if not 0 <= error.start <= error.end <= len(error.text or text):
                return f"a span of {error.start} to {error.end}"
        except Exception as error:  # noqa: BLE001 -- the point: nothing else may come
            return f"{type(error).__name__}: {error}"
        seconds = time.perf_counter() - started
        return f"{seconds:.1f} s" if seconds > SLOW_SECONDS else None

    def _plan(self, text: str) -> None:
        tree = parse(text)
        again = parse(print_query(tree))
        assert again == tree, "printed, it reads as another query"
        bound = bind(tree, text, self.schema, PARAMETERS)
        plan = plan_query(bound.query, bound.columns, self.statistics, PARAMETERS)
        optimise(plan, frozenset(bound.columns), self.statistics)
        if self.runs:
            budget = Budget(deadline=time.monotonic() + SLOW_SECONDS / 2, most_rows=100_000, most_bytes=50_000_000)
            list(run_query(self.graph, text, PARAMETERS, budget=budget).rows)


def small_graph() -> Graph:
    """A few nodes and relationships with the labels and keys that the queries know."""
    names = pl.DataFrame({"id": [1, 2, 3], "name": ["a", "b", "c"], "num": [1, 2, None], "x": [1.5, None, -1.0]})
    others = pl.DataFrame({"id": [4, 5], "name": ["d", None], "list": [[1, 2], [3]], "x": ["s", "t"]})
    ends = pl.DataFrame({"from": [1, 1, 2, 3], "to": [2, 3, 3, 1], "since": [2020, None, 2021, 2022]})
    across = pl.DataFrame({"from": [1, 2], "to": [4, 5]})
    return Graph.from_tables(
        {"A": names, "B": others}, [("T", ends, "A", "A"), ("KNOWS", ends, "A", "A"), ("LIKES", across, "A", "B")]
    )


def main(arguments: Sequence[str]) -> int:
    """Check inputs and print those that fail."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--features", type=Path, default=SHARED / "tck" / "features")
    parser.add_argument("--run", action="store_true")
    options = parser.parse_args(arguments)
    known = queries(options.features, REPOSITORY / "tests" / "cases" / "queries")
    checker, failures, started = Checker(small_graph(), runs=options.run), 0, time.perf_counter()
    for text in inputs(known, options.count, options.seed):
        wrong = checker.check(text)
        if wrong is not None:
            failures += 1
            if failures <= 50:
                print(f"{wrong}\n    {text[:400]!r}")
    seconds = time.perf_counter() - started
    print(f"{options.count:,} inputs from {len(known):,} queries in {seconds:.0f} s, {failures} failures")
    print(", ".join(f"{name} {number:,}" for name, number in checker.outcomes.most_common()))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
