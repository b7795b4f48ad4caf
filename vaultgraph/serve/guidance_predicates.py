"""Whether a skill applies: the predicates of `applies_when:` against a graph, the tools offered and the manifest.

All that are stated must hold; profile/guidance refuses others. Asked for each skill whenever skills are looked at.
"""

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, cast

from vaultgraph.serve.manifest import Manifest

if TYPE_CHECKING:
    from vaultgraph.vault.snapshot import Snapshot


def applies(stated: object, snapshot: "Snapshot | None", tools: Collection[str], manifest: Manifest) -> bool:
    """Whether all predicates hold; without a graph none about it does."""
    if not isinstance(stated, dict):
        return stated is None
    return all(
        _holds(name, wanted, snapshot, tools, manifest) for name, wanted in cast("dict[str, object]", stated).items()
    )


def _holds(name: str, wanted: object, snapshot: "Snapshot | None", tools: Collection[str], manifest: Manifest) -> bool:
    match name:
        case "graph_has_node_type":
            return snapshot is not None and any(label in snapshot.report.labels for label in _names(wanted))
        case "graph_has_property" if isinstance(wanted, dict):
            of = cast("Mapping[str, object]", wanted)
            label = str(of.get("node_type"))
            return snapshot is not None and str(of.get("prop_name")) in snapshot.schema.property_keys(label)
        case "tool_registered":
            return all(tool in tools for tool in _names(wanted))
        case "extension_enabled":
            enabled = _extensions(manifest)
            return all(extension in enabled for extension in _names(wanted))
        case _:
            return False


def _names(wanted: object) -> list[str]:
    return [str(name) for name in cast("list[object]", wanted)] if isinstance(wanted, list) else [str(wanted)]


def _extensions(manifest: Manifest) -> set[str]:
    """The extensions of the manifest that have an effect, by their keys there."""
    stated = {
        "cypher_recipes": manifest.recipes,
        "csv_http_server": manifest.csv_server,
        "embedder": manifest.embedder,
        "value_codecs": manifest.value_codecs,
        "valid_time": manifest.valid_time,
        "tools_allow": manifest.tools_allow is not None,
    }
    return {name for name, value in stated.items() if value}
