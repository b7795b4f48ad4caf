"""One manifest while it is read: where its paths start, how far it is believed, and what it says to no effect.

Handed from manifest_yaml to the readers of the larger keys.
"""

from dataclasses import dataclass, field
from pathlib import Path

from vaultgraph.profile.yaml_tree import Entry
from vaultgraph.serve.manifest import Mode


@dataclass(slots=True)
class Reading:
    """One manifest being read: where relative paths start, whether it was named, what is served, and remarks.

    ``renamed``: the new names of built-in tools.
    """

    folder: Path
    is_named: bool
    mode: Mode
    remarks: list[str] = field(default_factory=list[str])
    is_embedder_allowed: bool = False
    renamed: dict[str, str] = field(default_factory=dict[str, str])

    def remark(self, entry: Entry, words: str) -> None:
        """Note that what is written at ``entry`` is without effect, or the like."""
        self.remarks.append(f"{entry.file}:{entry.line}: `{entry.key}` {words}")

    def path(self, entry: Entry) -> Path:
        """The path written at ``entry``; that of a found manifest stays in its folder."""
        written = entry.text()
        if "\0" in written:
            entry.refuse("must not hold a NUL character.")
        try:
            path = self.folder / Path(written).expanduser()
            path.exists()  # raises where that cannot be known: nobody who asks again has to expect it
            # Links are followed to where they lead: a manifest beside a vault must not reach out of it by one.
            is_within = self.is_named or path.resolve().is_relative_to(self.folder.resolve())
        except (OSError, RuntimeError) as reason:  # a name too long, a closed folder; no such user, links in a circle
            why = reason.strerror if isinstance(reason, OSError) else reason
            entry.refuse(f"names nothing that can be looked at ({why}).")
        if not is_within:
            entry.refuse(
                "leads out of the manifest's folder. A manifest that was found may not: name it with --mcp-config FILE."
            )
        return path

    def folder_at(self, entry: Entry) -> Path:
        """The path written at ``entry``, of a folder that is there."""
        path = self.path(entry)
        if not path.is_dir():
            entry.refuse(f"must be a folder; {path} is {'a file' if path.exists() else 'not there'}.")
        return path
