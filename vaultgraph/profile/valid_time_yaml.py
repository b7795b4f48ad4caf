"""Reading `valid_time:`: which labels and relationship types say from when to when they hold, and by which properties.

Used by vault_yaml; what it means for a query is graph/valid_time's business.
"""

from vaultgraph.profile.settings import Interval, ValidTime
from vaultgraph.profile.yaml_tree import Entry


def read_valid_time(entry: Entry | None) -> ValidTime:
    """Intervals by label and by type; `labels: [A]` means the properties `valid_from` and `valid_to`.

    Raises:
        ProfileError: another shape, an unknown key, a name that is none.
    """
    if entry is None or entry.is_null:
        return ValidTime()
    stated = entry.stated(("labels", "types"))
    if not stated:
        entry.refuse("must have `labels:` or `types:`.")
    return ValidTime(labels=_intervals(stated.get("labels")), types=_intervals(stated.get("types")))


def _intervals(entry: Entry | None) -> dict[str, Interval]:
    if entry is None:
        return {}
    if not entry.is_mapping:
        return dict.fromkeys(entry.names(), Interval())
    return {name: _interval(described) for name, described in entry.named().items()}


def _interval(entry: Entry) -> Interval:
    if entry.is_null:
        return Interval()
    default = Interval()
    stated = entry.stated(("from", "to"))
    found = Interval(
        start=stated["from"].name() if "from" in stated else default.start,
        stop=stated["to"].name() if "to" in stated else default.stop,
    )
    if found.start == found.stop:
        entry.refuse("has one property for both ends.")
    return found
