"""Other titles of a few notes: what links may call them by, where no link does.

Part of graph/patch. A title is one of a note's names, so another one can change where links of other notes lead. It
does not as long as no link in the vault has to be looked up by it; otherwise the graph is built anew.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np
import polars as pl

from vaultgraph.graph.columns import Ids
from vaultgraph.graph.ground import Ground
from vaultgraph.graph.known import Names, in_order
from vaultgraph.graph.links import Destination, LinkRows, found_by_name
from vaultgraph.graph.names import fold, slug, without_md
from vaultgraph.graph.texts import Sorted, numbers_of

_LOST: Final = (Destination.CONCEPT.value, Destination.MISSING.value)

Titles = Mapping[int, tuple[str, str]]  # by file row: before and after


def retitled(ground: Ground, titles: Titles, links: Sequence[LinkRows]) -> Ground | None:
    """The ground with other ``titles``; None where a link depends on them, in the vault or among ``links``."""
    called = ground.names.called
    if not titles or not called.height:
        return ground
    before, after = (fold(pl.Series([pair[side] for pair in titles.values()])) for side in (0, 1))
    asked = [ground.by_name["key"], _lost(ground.elsewhere)]
    for side in links:
        asked += [found_by_name(side)["key"], _lost(side.elsewhere)]
    keys = pl.concat([key.alias("key") for key in asked]).unique()
    # What is lost has its key without `.md` already, unless it is a file.
    meant = pl.concat([slug(keys), slug(without_md(keys))])
    if meant.is_in(pl.concat([slug(before), slug(after)]).implode()).any():
        return None
    return replace(ground, names=_renamed(in_order(ground.names), np.array(list(titles), dtype=np.int64), after))


def _lost(elsewhere: pl.DataFrame) -> pl.Series:
    """What links are called that lead to nothing."""
    return elsewhere.filter(elsewhere["destination"].is_in(_LOST))["key"]


def _renamed(names: Names, files: Ids, titles: pl.Series) -> Names:
    """The names with other folded ``titles`` for some ``files``; ``called`` is laid out as resolve.other_names does."""
    called, by_call = names.called, names.by_call
    assert by_call is not None
    end = called.height
    # Behind the aliases: titles, slugs of stems, slugs of titles, one of each for every note.
    rows = np.concatenate([end - 3 * names.note_count + files, end - names.note_count + files])
    keys = pl.concat([titles, slug(titles)])
    changed = called.with_columns(called["key"].clone().scatter(rows, keys).alias("key"))
    return replace(names, called=changed, by_call=_moved(by_call, rows, keys))


def _moved(known: Sorted, rows: Ids, texts: pl.Series) -> Sorted:
    """``known`` with other ``texts`` at ``rows``."""
    order = texts.arg_sort()
    fresh, fresh_rows = texts[order], rows[order.to_numpy()]
    is_kept = ~np.isin(known.rows, rows)
    kept = known.texts.filter(pl.Series(is_kept))
    places = numbers_of(kept.search_sorted(fresh))
    at = np.insert(np.arange(len(kept)), places, len(kept) + np.arange(len(fresh)))
    both = pl.concat([kept.alias(""), fresh.alias("")]).rechunk()
    return Sorted(both[at], np.insert(known.rows[is_kept], places, fresh_rows.astype(np.uint32)))
