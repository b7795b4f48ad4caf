"""Is a vault after any edits the vault as if it were read for the first time? Random edits, every answer compared.

usage: python benchmarks/refresh_fuzz.py [--count N] [--seed N] [--only NUMBER]

Each run makes a small vault, with nearly every rule of the configuration on or only some, and edits it in several
steps: notes, canvases and attachments written, renamed, changed in case, removed, saved with size and time restored,
changed in a line or two; folders made, moved into each other, put in the place of a note; symlinks, pipes; other rules;
skills and recipes. After each step a vault that is refreshed and one that only follows events must give the nodes,
relationships, problems, counts and cache file of a new one, the latter byte for byte. Exit code 1 on a difference. The
tests check a few runs.
"""

import argparse
import hashlib
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
PLAIN_RULES: Final = """kglite_vault: 1
tag_labels:
  "topic/*": {label: Topic, edge: IS_ABOUT}
hubs:
  author: {label: Author, edge: WRITTEN_BY, case_insensitive: true}
heading_edges: {Sources: CITES}
types:
  Note: {rating: float}
"""
OTHER_RULES: Final = (
    RULES,
    PLAIN_RULES,
    PLAIN_RULES + "edge_defaults:\n  CITES: {weight: 1}\n",
    "kglite_vault: 1\nstructure:\n  sections: {label: Part}\n  callouts: {}\n",
    "kglite_vault: 1\nskip_dirs: [b]\n",
    "kglite_vault: 1\n",
)
OWN_RULES: Final = ("inline_fields: true\ntasks: true\n", "tasks: true\ncanvas: false\n", "tasks: true\n", "")
RECIPE: Final = """---
recipe: mine
name: linked
description: Linked notes.
---
```cypher
MATCH (n:Note)-[:LINKS_TO]->(m) RETURN m.path AS path
```
"""
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
LINES: Final = (
    "[[A]] again",
    "[[a]]",
    "[[b#A|shown]]",
    "[[c#^one]] and [[c#^q1]]",
    "[[c#New heading]]",
    "[[nobody]]",
    "[[Z]]",
    "[[a/A.md]] [x](../b.md) [y](b/deep/er/c.md#A)",
    "![[pic.png]]",
    "![[pic.png|other text|40]]",
    "![words](a/pic.png)",
    "![[list.pdf#page=2]]",
    "![[A]]",
    "# A",
    "## New heading",
    "### Sources",
    "# Crew",
    "words ^one",
    "words ^two",
    "#topic/sea",
    "#Topic/Sea",
    "#topic",
    "#a/b/c",
    "#A/B",
    "plain words",
    "",
    "%%",
    "```",
    "> [!note] Mind",
    "- [ ] open",
    "---",
    "seen:: [[b]]",
    "https://example.org",
    "[[#A]] [[#^one]] [[#nothing]]",
    "[[b#A#New heading]]",
    "[[../A]] [[/a/A]] [[a/]] [[Über]]",
    "![[pic.png|shown]] ![other](pic.png) ![[pic.png]]",
    "![[nothing.png|x]] ![[A#^one]]",
    "%% [[b]] #hidden %%",
    "`[[b]] #code` $[[c]]$",
    "[[b]] [[b]] [[b|x]] [[B]]",
    "#über #ÜBER #a/b/ #1 #2026-x",
    "author:: Ada",
    "(rating:: 9) [seen:: [[A]]]",
)
HEAD_LINES: Final = (
    "title: Other",
    "title: A",
    "id: A",
    "id: own",
    "aliases: [Z]",
    "aliases: [nobody, b]",
    "tags: [topic/wind, a/b]",
    "tags: topic/sea",
    "type: Api",
    "type: Page",
    "rating: 3",
    "rating: 3.5",
    "rating: high",
    "rating: [1, two]",
    "author: Ada",
    "author: '[[b]]'",
    "author: ['[[b]]', ADA, '[[nobody]]']",
    "related: '[[A#A]]'",
    "due: 2026-01-01",
    "due: soon",
    "cssclasses: x",
    "extra: {a: {b: 1}}",
    "name: Other",
    "path: elsewhere.md",
    "body: not this",
    "stem: A",
    "line: 3",
    "concept_id: A",
    "Title: A",
    "tags: [a b, '#x', 3, ~]",
    "rating: ~",
    "rating: 2026-01-01",
    "rating: '7'",
    "author: {name: Ada}",
    "author: [Ada, ada, ADA, 1]",
    "related: ['[[b]]', '[[nobody]]', '[[pic.png]]', '![[A]]', plain]",
    "related: https://example.org",
    "kg_skip: true",
    "parent: '[[A]]'",
)


def check(chance: random.Random, *, follow: bool) -> list[str]:
    """One run in a folder of its own; what differed, a line each. ``follow``: also by events, without `refresh`."""
    with tempfile.TemporaryDirectory(prefix="vaultgraph-refresh-") as base:
        folder = Path(base) / "vault"
        (folder / ".kglite").mkdir(parents=True)
        (Path(base) / "outside").mkdir()
        (Path(base) / "outside" / "far.md").write_text("# Far\n\n[[A]]\n")
        (folder / ".kglite/vaultgraph.yaml").write_text(chance.choice(OWN_RULES))
        (folder / ".kglite/vault.yaml").write_text(chance.choice((RULES, *OTHER_RULES)))
        for name in chance.sample(NOTES, chance.randrange(len(NOTES))):
            write(folder / name, some_text(chance))
        done: list[str] = []
        with vaultgraph.open(folder, cache=Path(base) / "kept.kgl") as vault:
            following = vaultgraph.open(folder, cache=Path(base) / "followed.kgl", watch="auto") if follow else None
            try:
                for _ in range(1 + chance.randrange(4)):
                    ways = ["touch_up"] if chance.random() < 0.5 else [""] * (1 + chance.randrange(4))
                    done += [edit(folder, chance, way) for way in ways]
                    differences = compare(folder, vault, following)
                    if differences:
                        return [f"after {'; '.join(done)}", *differences]
            finally:
                if following:
                    following.close()
        with vaultgraph.open(folder, cache=None) as fresh:
            expected = answers(fresh)
        with vaultgraph.open(folder, cache=Path(base) / "kept.kgl") as again:
            got = answers(again)
            if again.report.parsed or got != expected:
                said = f"read from the cache it is another; {again.report.parsed} parsed"
                return [f"after {'; '.join(done)}", said, *different("from the cache", expected, got)]
    return []


def compare(folder: Path, vault: Vault, following: Vault | None) -> list[str]:
    """How the refreshed vault, and the one that follows events, differ from a new one."""
    vault.refresh()
    place = folder.with_name("made.kgl")
    place.unlink(missing_ok=True)
    with vaultgraph.open(folder, cache=place) as fresh:
        expected = answers(fresh)
        expected["cache"] = saved(fresh, place)
    lines: list[str] = []
    for name, other in (("refreshed", vault), ("followed", following)):
        if other is None:
            continue
        got = answers(other)
        cache = folder.with_name("kept.kgl" if other is vault else "followed.kgl")
        got["cache"] = saved(other, cache) or expected["cache"]
        lines += different(name, expected, got)
    return lines


def different(name: str, expected: dict[str, list[str]], got: dict[str, list[str]]) -> list[str]:
    """What is not as expected, a line for each kind of answer."""
    lines: list[str] = []
    for kind in expected:
        missing = [row for row in expected[kind] if row not in got[kind]]
        added = [row for row in got[kind] if row not in expected[kind]]
        if expected[kind] != got[kind]:
            lines.append(f"{name}: {kind}: missing {missing}, added {added}")
    return lines


def saved(vault: Vault, cache: Path) -> list[str]:
    """A mark of the bytes of the cache file, where the vault has one."""
    vault.save()
    return [hashlib.sha256(cache.read_bytes()).hexdigest()] if cache.exists() else []


def answers(vault: Vault) -> dict[str, list[str]]:
    """Nodes, relationships, problems and skills."""
    nodes = vault.query("MATCH (n) RETURN labels(n), properties(n)").rows
    ends = vault.query("MATCH (a)-[r]->(b) RETURN a.id, a.path, type(r), properties(r), b.id, b.path").rows
    return {
        "nodes": sorted(map(repr, nodes)),
        "relationships": sorted(map(repr, ends)),
        "problems": [repr(row) for row in vault.current().problems.rows()],
        "counts": [repr(sorted(vault.report.counts.items())), repr(vault.report.derived)],
        "names": [repr(dict(vault.report.labels)), repr(dict(vault.report.types))],
        "guidance": [*vault.report.skills, *vault.report.recipes],
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


def touch_up(folder: Path, chance: random.Random) -> str:
    """A line or two of one or two notes that are there: come, gone, doubled, moved or spelled otherwise."""
    notes = [name for name in NOTES if (folder / name).is_file() and not (folder / name).is_symlink()]
    said: list[str] = []
    for name in chance.sample(notes, min(len(notes), chance.choice((1, 1, 1, 2)))):
        lines = (folder / name).read_text(encoding="utf-8").split("\n")
        said += [f"{name} {change_line(lines, chance)}" for _ in range(chance.choice((1, 1, 2)))]
        write(folder / name, "\n".join(lines))
    return ", ".join(said)


def change_line(lines: list[str], chance: random.Random) -> str:
    at = chance.randrange(len(lines))
    has_head = lines[0] == "---" and "---" in lines[1:]
    match chance.randrange(7):
        case 0:
            lines.insert(at, chance.choice(LINES))
            return f"+{at} {lines[at]!r}"
        case 1 if has_head:
            lines.insert(1, chance.choice(HEAD_LINES))
            return f"+1 {lines[1]!r}"
        case 1:
            lines[:0] = ["---", chance.choice(HEAD_LINES), "---"]
            return f"+head {lines[1]!r}"
        case 2 if len(lines) > 1:
            return f"-{at} {lines.pop(at)!r}"
        case 3:
            lines.insert(chance.randrange(len(lines)), lines[at])
            return f"doubled {at}"
        case 4:
            lines[at] = lines[at].swapcase()
            return f"~{at} {lines[at]!r}"
        case 5:
            lines[at] = chance.choice(LINES)
            return f"={at} {lines[at]!r}"
        case _:
            lines[at] = f"{lines[at]} {chance.choice(LINES)}"
            return f"…{at} {lines[at]!r}"


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
    return guide(folder / ".kglite/skills/tour.md", SKILL, chance)


def recipe(folder: Path, chance: random.Random) -> str:
    return guide(folder / ".kglite/recipes/linked.md", RECIPE, chance)


def guide(file: Path, text: str, chance: random.Random) -> str:
    if file.exists() and chance.random() < 0.5:
        shutil.rmtree(file.parent)
        return "removed"
    write(file, chance.choice((text, text.replace("notes", "other notes"), "neither")))
    return "written"


WAYS: Final[dict[str, Callable[[Path, random.Random], str]]] = {
    way.__name__: way
    for way in (
        write_note,
        touch_up,
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
        recipe,
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
