"""The reader agrees with what a running Obsidian recorded: tags, links, embeds, headings, block ids.

Targets are compared as written; which file a target resolves to is the graph's concern.
"""

import json
import os
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from vaultgraph.note.read import read_notes
from vaultgraph.note.records import LinkSyntax, RecordTable

SHARED = Path(os.environ.get("VAULTGRAPH_SHARED", Path(__file__).parents[3] / "shared"))
RECORDINGS = sorted((SHARED / "oracle" / "recordings").glob("*.json"))

pytestmark = pytest.mark.skipif(not RECORDINGS, reason=f"no recordings under {SHARED}")


@pytest.fixture(params=RECORDINGS, ids=lambda path: path.stem)
def recorded(request: pytest.FixtureRequest) -> tuple[dict[str, Any], RecordTable]:
    dump = json.loads(request.param.read_text(encoding="utf-8"))
    return dump, read_notes([dump["filePath"]], [dump["fileContents"].encode()])


def positions(entries: list[dict[str, Any]]) -> list[int]:
    return [entry["position"]["start"]["line"] + 1 for entry in entries]


def test_inline_tags_are_those_obsidian_recorded(recorded: tuple[dict[str, Any], RecordTable]) -> None:
    dump, records = recorded
    tags = dump["cachedMetadata"].get("tags", [])
    inline = records.tags.filter("is_inline")
    expected = list(zip(positions(tags), (tag["tag"].removeprefix("#") for tag in tags), strict=True))
    assert inline.select("line", "tag").rows() == expected


def test_frontmatter_and_inline_tags_together_are_those_obsidian_gives(
    recorded: tuple[dict[str, Any], RecordTable],
) -> None:
    dump, records = recorded
    assert [f"#{tag}" for tag in records.tags["tag"]] == dump["getAllTags"]
    stated = records.tags.filter(~pl.col("is_inline"))["tag"].to_list()
    assert [f"#{tag}" for tag in stated] == (dump["parseFrontMatterTags"] or [])


@pytest.mark.parametrize("field", ["links", "embeds"])
def test_links_are_those_obsidian_recorded(recorded: tuple[dict[str, Any], RecordTable], field: str) -> None:
    dump, records = recorded
    entries = dump["cachedMetadata"].get(field, [])
    rows = records.links.filter(
        pl.col("syntax").is_in([LinkSyntax.WIKILINK, LinkSyntax.MARKDOWN]) & (pl.col("is_embed") == (field == "embeds"))
    )
    written = pl.when(pl.col("anchor").is_null()).then("target").otherwise(pl.format("{}#{}", "target", "anchor"))
    found = rows.select("line", written, "display").rows()
    expected = [
        (line, entry["link"], entry["displayText"] if display is not None else None)
        for line, entry, (_, _, display) in zip(positions(entries), entries, found, strict=True)
    ]
    assert found == expected


def test_links_in_properties_are_those_obsidian_recorded(recorded: tuple[dict[str, Any], RecordTable]) -> None:
    dump, records = recorded
    rows = records.links.filter(pl.col("syntax") == LinkSyntax.FRONTMATTER)
    written = pl.when(pl.col("anchor").is_null()).then("target").otherwise(pl.format("{}#{}", "target", "anchor"))
    entries = dump["cachedMetadata"].get("frontmatterLinks", [])
    # an item of a list is recorded as `key.0`
    expected = [(entry["key"].rstrip("0123456789").rstrip("."), entry["link"]) for entry in entries]
    assert rows.select("property", written).rows() == expected


def test_headings_are_those_obsidian_recorded(recorded: tuple[dict[str, Any], RecordTable]) -> None:
    dump, records = recorded
    headings = dump["cachedMetadata"].get("headings", [])
    expected = [
        (line, heading["level"], heading["heading"])
        for line, heading in zip(positions(headings), headings, strict=True)
    ]
    assert records.headings.select("line", "level", "text").rows() == expected


def test_block_ids_are_those_obsidian_recorded(recorded: tuple[dict[str, Any], RecordTable]) -> None:
    dump, records = recorded
    blocks = dump["cachedMetadata"].get("blocks", {})
    assert sorted(records.blocks["id"]) == sorted(blocks)


def test_property_values_are_those_obsidian_recorded(recorded: tuple[dict[str, Any], RecordTable]) -> None:
    dump, records = recorded
    stated = {key for key, value in dump["cachedMetadata"].get("frontmatter", {}).items() if value is not None}
    assert set(records.properties["key"]) == stated
