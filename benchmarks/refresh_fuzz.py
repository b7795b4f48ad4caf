"""Is a vault after any edits the vault as if it were read for the first time? Random edits, every answer compared.

usage: python benchmarks/refresh_fuzz.py [--count N] [--seed N] [--only NUMBER]

Each run makes a small vault with nearly every rule of the configuration on and edits it in several steps: notes,
canvases and attachments written, renamed, changed in case, removed, saved with size and time restored; folders made,
moved into each other, put in the place of a note; symlinks, pipes; other rules; skills. After each step a vault that is
refreshed and one that only follows events must give the nodes, relationships and problems of a new one; in the end the
cache file must have the same bytes. Exit code 1 on a difference. The tests check a few runs.
"""

import argparse
import os
import random
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

import vaultgraph
from vaultgraph import Vault

RULES: Final = """kglite_vault: 1
tag_labels:
  "topic/*": {label: Topic, edge: IS_ABOUT}
hubs:
  author: {label: Author, edge: WRITTEN_BY, case_insensitive: true}
heading_edges: {Sources: CITES}
edge_defaults:
  CITES: {weight: 1}
types:
  Note: {rating: float}
  Row: {size: int}
structure:
  sections: {}
  chunks: {max_words: 6, max_chars: 60}
  callouts: {}
  code_fences: {}
  ordered_lists: {min_items: 1}
  tables:
    - {under_heading: '^Crew$', edges: true, edge: SAILED_WITH}
    - {under_heading: '.', label: Row, key_column: name}
  key_from_heading: {under_label: Api}
  inherit: [rating, author]
  embed_text: "{title} {heading_path} {text}"
ontology:
  closed_labels: true
  classes:
    Note: {required_properties: [rating], property_types: {rating: number}}
    Row: {required_properties: [size]}
  relationships:
    CITES: {domain: Note, range: Note, cardinality: {max: 1}}
"""
OTHER_RULES: Final = (
    RULES,
    "kglite_vault: 1\nstructure:\n  sections: {label: Part}\n  callouts: {}\n",
    "kglite_vault: 1\nskip_dirs: [b]\n",
    "kglite_vault: 1\n",
)
OWN_RULES: Final = ("inline_fields: true\ntasks: true\n", "tasks: true\ncanvas: false\n", "")
SKILL: Final = "---\nname: tour\ndescription: What to look at first.\n---\n\nLook at A.\n"

NOTES: Final = ("A.md", "b.md", "a/A.md", "a/c.md", "a.md", "Über/Ü.md", "b/deep/er/c.md")
OTHERS: Final = ("A.canvas", "pic.png", "a/pic.png", "b/list.pdf")
FOLDERS: Final = ("a", "b", "b/deep", "Über", "x")
TARGETS: Final = ("A.md", "a", "../outside", "nothing", "pic.png", "b/deep", ".")
PARTS: Final = (
    "---\nauthor: Ada\nrating: 3\ntags: [topic/sea]\n---\n",
    "---\ntype: Api\nid: A\nauthor: [ada, '[[b]]']\nrating: high\n---\n",
    "---\nkg_skip: true\n---\n",
    "---\nbad: [\n---\n",
    "# A\n\n## lib.open(a) → B\n\ntext ^one\n\n",
    "# Sources\n\n[[A]] [[b#A]] [[c#^one]] ![[pic.png|x|30]]\n\n",
    "# Crew\n\n| who | since |\n|---|---|\n| [[b]] | 1999 |\n| Ghost | 2001 |\n| [[A#A]] | |\n\n",
    "# Rows\n\n| name | size | size |\n|---|---|---|\n| x | 1 | 2 |\n| x | y | |\n\n",
    "> [!note]- Mind\n> the gap #topic/sea\n> > [!tip]\n> > inside\n\n^q1\n\n",
    "1. one\n   1. deep\n2. two\n\nsay:\n```py\nx\n```\n\n",
    "- [ ] open ^t1\n- [x] done [due:: 2026-01-01] #topic/wind\n\n",
    "seen:: [[c]]\nrating:: 4\n\n[[nobody]] [[a/A]] [x](b/list.pdf) #a/b <!-- [[x]] -->\n\n",
    "one\r\rtwo\r# Three\r\x00\u2028\U0001f600\r\n",
    '{"nodes": [{"id": "1", "type": "text", "text": "# A\\n[[b]] #x", "x": 0, "y": 0, "width": 1, "height": 1}]}',
    "a b c d e f g h i j k l m n o p q r s t u v w x y z " * 3 + "\n\n",
)


def check(chance: random.Random, *, follow: bool) -> list[str]:
    """One run in a folder of its own; what differed, a line each. ``follow``: also by events, without `refresh`."""
    with tempfile.TemporaryDirectory(prefix="vaultgraph-refresh-") as base:
        folder = Path(base) / "vault"
        (folder / ".kglite").mkdir(parents=True)
        (Path(base) / "outside").mkdir()
        (Path(base) / "outside" / "far.md").write_text("# Far\n\n[[A]]\n")
        (folder / ".kglite/vaultgraph.yaml").write_text(OWN_RULES[0])
        (folder / ".kglite/vault.yaml").write_text(RULES)
        for name in chance.sample(NOTES, chance.randrange(len(NOTES))):
            write(folder / name, some_text(chance))
        kept, made = Path(base) / "kept.kgl", Path(base) / "made.kgl"
        done: list[str] = []
        with vaultgraph.open(folder, cache=str(kept)) as vault:
            following = vaultgraph.open(folder, cache=None, watch="auto") if follow else None
            try:
                for _ in range(1 + chance.randrange(3)):
                    done += [edit(folder, chance) for _ in range(1 + chance.randrange(4))]
                    differences = compare(folder, vault, following)
                    if differences:
                        return [f"after {'; '.join(done)}", *differences]
            finally:
                if following:
                    following.close()
        with vaultgraph.open(folder, cache=str(made)) as fresh:
            expected = answers(fresh)
        if kept.read_bytes() != made.read_bytes():
            return [f"after {'; '.join(done)}", "the cache file has other bytes"]
        with vaultgraph.open(folder, cache=str(kept)) as again:
            if again.report.parsed or answers(again) != expected:
                return [f"after {'; '.join(done)}", f"read from the cache it is another; {again.report.parsed} parsed"]
    return []


def compare(folder: Path, vault: Vault, following: Vault | None) -> list[str]:
    """How the refreshed vault, and the one that follows events, differ from a new one."""
    vault.refresh()
    with vaultgraph.open(folder, cache=None) as fresh:
        expected = answers(fresh)
    found = [("refreshed", answers(vault)), *([("followed", answers(following))] if following else [])]
    lines: list[str] = []
    for name, got in found:
        for kind in expected:
            missing = [row for row in expected[kind] if row not in got[kind]]
            added = [row for row in got[kind] if row not in expected[kind]]
            if expected[kind] != got[kind]:
                lines.append(f"{name}: {kind}: missing {missing}, added {added}")
    return lines


def answers(vault: Vault) -> dict[str, list[str]]:
    """Nodes, relationships, problems and skills."""
    nodes = vault.query("MATCH (n) RETURN labels(n), properties(n)").rows
    ends = vault.query("MATCH (a)-[r]->(b) RETURN a.id, a.path, type(r), properties(r), b.id, b.path").rows
    return {
        "nodes": sorted(map(repr, nodes)),
        "relationships": sorted(map(repr, ends)),
        "problems": [repr(row) for row in vault.current().problems.rows()],
        "skills": list(vault.report.skills),
    }


def edit(folder: Path, chance: random.Random, name: str = "") -> str:
    """Do one thing to the vault, drawn or named; what it was. What cannot be done (no such file, say) is left."""
    way = WAYS[name or chance.choice(list(WAYS) + ["write_note"] * 3)]
    try:
        return f"{way.__name__} {way(folder, chance)}"
    except OSError as error:
        return f"{way.__name__} refused ({type(error).__name__})"


def write(file: Path, text: str) -> None:
    """A new file in place of what was there, never through a symlink."""
    file.parent.mkdir(parents=True, exist_ok=True)
    if file.is_symlink() or file.is_fifo():
        file.unlink()
    file.write_text(text, encoding="utf-8", newline="")


def some_text(chance: random.Random) -> str:
    """A note of a few parts."""
    return "".join(chance.choice(PARTS) for _ in range(chance.randrange(5)))


def write_note(folder: Path, chance: random.Random) -> str:
    name, text = chance.choice(NOTES), some_text(chance)
    write(folder / name, text)
    return f"{name} {text!r}"


def write_other(folder: Path, chance: random.Random) -> str:
    name = chance.choice(OTHERS)
    write(folder / name, chance.choice(PARTS))
    return name


def restore(folder: Path, chance: random.Random) -> str:
    """The same size and time, other content."""
    file = folder / chance.choice(NOTES)
    if not file.is_file() or file.is_symlink():
        return "nothing"
    before, data = file.stat(), file.read_bytes()
    file.write_bytes(data.swapcase())
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    return file.name


def rename(folder: Path, chance: random.Random) -> str:
    old, new = chance.choice(NOTES + OTHERS), chance.choice(NOTES + OTHERS)
    (folder / new).parent.mkdir(parents=True, exist_ok=True)
    (folder / old).replace(folder / new)
    return f"{old} → {new}"


def change_case(folder: Path, chance: random.Random) -> str:
    old = folder / chance.choice(NOTES + FOLDERS)
    new = old.with_name(old.name.swapcase())
    old.rename(new)
    return f"{old.name} → {new.name}"


def remove(folder: Path, chance: random.Random) -> str:
    name = chance.choice(NOTES + OTHERS)
    (folder / name).unlink()
    return name


def rename_folder(folder: Path, chance: random.Random) -> str:
    old, new = chance.choice(FOLDERS), chance.choice(FOLDERS)
    shutil.rmtree(folder / "gone", ignore_errors=True)
    if (folder / new).is_dir() and not new.startswith(old) and not old.startswith(new):
        (folder / new).rename(folder / "gone")
    (folder / old).rename(folder / new)
    return f"{old} → {new}"


def remove_folder(folder: Path, chance: random.Random) -> str:
    name = chance.choice(FOLDERS)
    shutil.rmtree(folder / name)
    return name


def take_the_place(folder: Path, chance: random.Random) -> str:
    """A folder where a note was, or a note where a folder was."""
    if chance.random() < 0.5:
        name = chance.choice(NOTES)
        (folder / name).unlink(missing_ok=True)
        write(folder / name / "inside.md", some_text(chance))
    else:
        name = chance.choice(FOLDERS)
        shutil.rmtree(folder / name, ignore_errors=True)
        write(folder / name, some_text(chance))
    return name


def link(folder: Path, chance: random.Random) -> str:
    name, target = chance.choice(NOTES + FOLDERS), chance.choice(TARGETS)
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    if file.is_file() or file.is_symlink():
        file.unlink()
    file.symlink_to(os.path.relpath(folder / target, file.parent))
    return f"{name} → {target}"


def pipe(folder: Path, chance: random.Random) -> str:
    if not hasattr(os, "mkfifo"):
        return "none on this system"
    name = chance.choice(NOTES)
    (folder / name).unlink(missing_ok=True)
    os.mkfifo(folder / name)
    return name


def rules(folder: Path, chance: random.Random) -> str:
    if chance.random() < 0.3:
        (folder / ".kglite/vaultgraph.yaml").write_text(chance.choice(OWN_RULES))
        return "of our own"
    if chance.random() < 0.2:
        (folder / ".kglite/vault.yaml").unlink(missing_ok=True)
        return "removed"
    number = chance.randrange(len(OTHER_RULES))
    (folder / ".kglite/vault.yaml").write_text(OTHER_RULES[number])
    return str(number)


def misplace(folder: Path, chance: random.Random) -> str:
    """Rules where they are not read, which is a problem while there are none in the right place."""
    name = chance.choice(("vault.yml", "sub/vault.yaml"))
    file = folder / ".kglite" / name
    if file.exists():
        file.unlink()
    else:
        write(file, OTHER_RULES[-1])
    if chance.random() < 0.5:
        (folder / ".kglite/vault.yaml").unlink(missing_ok=True)
    return name


def skill(folder: Path, chance: random.Random) -> str:
    file = folder / ".kglite/skills/tour.md"
    if file.exists() and chance.random() < 0.5:
        shutil.rmtree(file.parent)
        return "removed"
    write(file, chance.choice((SKILL, "no skill")))
    return "written"


WAYS: Final[dict[str, Callable[[Path, random.Random], str]]] = {
    way.__name__: way
    for way in (
        write_note,
        write_other,
        restore,
        rename,
        change_case,
        remove,
        rename_folder,
        remove_folder,
        take_the_place,
        link,
        pipe,
        rules,
        misplace,
        skill,
    )
}


def main() -> int:
    """Run and print differences."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, help="one run, by the number that was printed")
    options = parser.parse_args()
    wrong = 0
    for number in range(options.count) if options.only is None else [options.only]:
        differences = check(random.Random(f"{options.seed} {number}"), follow=True)
        if differences:
            wrong += 1
            print(f"run {number}:", *differences, sep="\n  ", flush=True)
    print(f"{options.count if options.only is None else 1} runs, {wrong} with differences")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
