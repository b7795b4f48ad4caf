"""The order of the rules: each is a pure function from plan to plan, in cypher/rules.

Called by cypher/query and by execute/pattern_runner.
"""

from vaultgraph.cypher.estimate import Statistics
from vaultgraph.cypher.operators import Plan
from vaultgraph.cypher.rules.count_only import count_only
from vaultgraph.cypher.rules.count_rows import count_rows
from vaultgraph.cypher.rules.drop_labels import drop_labels
from vaultgraph.cypher.rules.drop_unlike import drop_unlike
from vaultgraph.cypher.rules.group_nodes import group_nodes
from vaultgraph.cypher.rules.hash_join import hash_join
from vaultgraph.cypher.rules.prune import prune
from vaultgraph.cypher.rules.push_filters import push_filters
from vaultgraph.cypher.rules.push_labels import push_labels
from vaultgraph.cypher.rules.push_limit import push_limit
from vaultgraph.cypher.rules.reach import reach
from vaultgraph.cypher.rules.seek import seek
from vaultgraph.cypher.rules.topk import topk
from vaultgraph.cypher.rules.weigh import weigh

RULES = (
    push_filters,
    push_labels,
    seek,
    hash_join,
    drop_unlike,
    count_rows,
    count_only,
    weigh,
    group_nodes,
    drop_labels,
    topk,
    push_limit,
)


def optimise(plan: Plan, needed: frozenset[str], statistics: Statistics) -> Plan:
    """The plan after every rule; ``needed`` are the columns that are read from its rows."""
    for rule in RULES:
        plan = rule(plan, statistics)
    return reach(prune(plan, needed))
