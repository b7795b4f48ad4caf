"""Rule: two hops that can never be the same relationship are not compared.

One relationship seen by two hops in a row, both walked along its direction (or both against it), leads from a node to
itself. Where no relationship of the types does, every pair of such hops differs.
"""

from dataclasses import replace

from vaultgraph.cypher.estimate import Statistics, chosen_tables
from vaultgraph.cypher.operators import Degree, Expand, Plan
from vaultgraph.cypher.plans import transform, walk


def drop_unlike(plan: Plan, statistics: Statistics) -> Plan:
    """The plan without comparisons whose outcome is known."""

    def change(part: Plan) -> Plan:
        if not isinstance(part, Expand | Degree) or not part.unlike:
            return part
        kept = tuple(name for name in part.unlike if not _always_differs(part, name, statistics))
        return part if kept == part.unlike else replace(part, unlike=kept)

    return transform(plan, change)


def _always_differs(hop: Expand | Degree, name: str, statistics: Statistics) -> bool:
    """Whether ``hop`` and the earlier hop that made the relationship ``name`` are the same only on a loop, and there
    is none."""
    earlier = next((part for part in walk(hop.input) if isinstance(part, Expand) and part.relationship == name), None)
    if earlier is None or "both" in (hop.direction, earlier.direction):
        return False
    first, second = _ends(earlier), _ends(hop)
    if first[1] != second[0] and first[0] != second[1]:
        return False
    types = set(hop.types) & set(earlier.types) if hop.types and earlier.types else {*hop.types, *earlier.types}
    tables = chosen_tables(statistics.graph, sorted(types))
    return not any(statistics.facts.has_loops(table.type) for table in tables)


def _ends(hop: Expand | Degree) -> tuple[str, str]:
    """The variables of the node a relationship leaves and of the one it enters; "" for one that has no name."""
    far = hop.target if isinstance(hop, Expand) else ""
    return (hop.source, far) if hop.direction == "out" else (far, hop.source)
