"""An edit of a few notes is taken in without building anew, and gives what building anew would give, byte for byte."""

import threading
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import vaultgraph
from vaultgraph.graph.build import with_file
from vaultgraph.graph.catalogue import catalogue_of
from vaultgraph.vault import background
from vaultgraph.vault import refresh as refreshing
from vaultgraph.vault import vault as door
from vaultgraph.vault.state import State

LINES = (
    "Words and words.",
    "",
    "[[b]] and [[b]] again, [[b|as c]]",
    "[[Nobody]] ![[gone.png]] [[b#No such heading]]",
    "# A heading",
    "## b",
    "#topic/sea and #other",
    "- item [[a/c]] ^one",
    "https://example.org/x",
    "![[pic.png|50]]",
    "```",
)
FRONT = "---\nparent: '[[b]]'\nauthor: '[[Ada]]'\ntags: [other, bad tag]\nrating: 3\n---\n"
RULES = "kglite_vault: 1\nhubs:\n  author: {label: Author, edge: WRITTEN_BY}\n"
UPWARD = RULES + "folder_notes: {direction: parent_to_child}\n"


def content(lines: list[str]) -> str:
    return FRONT + "\n".join(lines) + "\n"


def assert_as_new(vault: vaultgraph.Vault, folder: Path, tmp_path: Path) -> None:
    vault.refresh()
    vault.save()
    other = tmp_path / "new.kgl"
    other.unlink(missing_ok=True)
    vaultgraph.open(folder, cache=other).close()
    assert (tmp_path / "old.kgl").read_bytes() == other.read_bytes()


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether each refresh did without the builder; a builder that is called all the same still answers."""
    found: list[bool] = []
    build = refreshing._build  # pyright: ignore[reportPrivateUsage]

    def noted(*given: object) -> object:
        found.append(False)
        return build(*given)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(refreshing, "_build", noted)
    return found


@pytest.mark.parametrize(
    ("before", "after", "is_patched"),
    [
        (["one"], ["one", "two"], True),
        (["[[b]]"], ["text", "", "[[b]]"], True),
        (["[[b]]", "[[b]] [[Nobody]]"], ["", "[[b]]", "", "[[b]] [[Nobody]]"], True),
        (["[[b#No]] [[b#Never]]", "[[b#No]]"], ["x", "[[b#No]] [[b#Never]]", "", "[[b#No]]"], True),
        (["# H", "#t [[b]]"], ["# H", "words", "#t [[b]]"], True),
        (["[[b]] [[Nobody]]"], ["[[b]]", "[[Nobody]]"], True),
        (["[[b]]"], ["[[b]] [[a/c]]"], True),
        (["# H"], ["# H", "## I"], True),
        (["#t"], ["#u"], True),
        (["x ^one"], ["x ^two"], True),
        (["[[b]]"], ["[[Nobody]] https://example.org/y ![[pic.png]]"], True),
        (["# H", "![[pic.png]]"], ["# I", "![[pic.png]]"], True),  # which images say too
        (["# H", "[[H]]"], ["# I", "[[H]]"], False),  # the title: links may mean it
        (["# H", "[[i]]"], ["# I", "[[i]]"], False),
    ],
)
@pytest.mark.parametrize("rules", [None, RULES, UPWARD])
def test_an_edit_is_patched_where_no_other_note_depends_on_it(
    before: list[str],
    after: list[str],
    is_patched: bool,
    rules: str | None,
    write: Callable[[Mapping[str, str]], Path],
    folder: Path,
    tmp_path: Path,
    seen: list[bool],
) -> None:
    files = {"A.md": content(before), "b.md": "# b\n\n[[A]]\n", "a/c.md": content(["[[A]]", "[[b]]"])}
    write(files | ({".kglite/vault.yaml": rules} if rules else {}))
    with vaultgraph.open(folder, cache=tmp_path / "old.kgl") as vault:
        seen.clear()
        folder.joinpath("A.md").write_text(content(after), encoding="utf-8")
        vault.refresh()
        assert (not seen) == is_patched
        assert_as_new(vault, folder, tmp_path)


@pytest.mark.parametrize(
    ("link", "is_patched"),
    [
        ("[[Old title]]", False),
        ("[[old-title#x|shown]]", False),
        ("[[New_Title.md]]", False),
        ("[t](new%20title)", False),
        ("![[new title]]", False),
        ("[[A]] [[New title of it]] [[b]]", True),
    ],
)
def test_another_title_is_patched_unless_a_link_is_looked_up_by_it(
    link: str,
    is_patched: bool,
    write: Callable[[Mapping[str, str]], Path],
    folder: Path,
    tmp_path: Path,
    seen: list[bool],
) -> None:
    write({"A.md": "# Old title\n[[b]]\n", "b.md": "# b\n", "c.md": f"# Third\n{link}\n"})
    with vaultgraph.open(folder, cache=tmp_path / "old.kgl") as vault:
        seen.clear()
        folder.joinpath("A.md").write_text("# New title\n[[b]]\n", encoding="utf-8")
        vault.refresh()
        assert (not seen) == is_patched
        assert_as_new(vault, folder, tmp_path)
        folder.joinpath("c.md").write_text("# Third\n[[new title]] [[old title]]\n", encoding="utf-8")
        assert_as_new(vault, folder, tmp_path)
        rows = vault.query("MATCH (:Note {title: 'Third'})-[r]->(n) RETURN r.via, n.title ORDER BY n.title").rows
        assert rows == [("title", "New title"), (None, "old title")]


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(
    lines=st.lists(st.sampled_from(LINES), max_size=6),
    moves=st.lists(
        st.tuples(st.integers(0, 6), st.sampled_from(("", "More words.", "`code`"))), min_size=1, max_size=3
    ),
    rules=st.sampled_from(["", RULES, UPWARD]),
)
def test_moved_lines_give_what_building_anew_gives(
    lines: list[str], moves: list[tuple[int, str]], rules: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    base = tmp_path_factory.mktemp("vault")
    folder = base / "notes"
    for path, text in {
        "A.md": content(lines),
        "b.md": content(["# b", "[[A]] [[A]]"]),
        "a/c.md": FRONT.replace("[[b]]", "[[A]]") + "[[A]]\n",
        ".kglite/vault.yaml": rules or "kglite_vault: 1\n",
    }.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    with vaultgraph.open(folder, cache=base / "old.kgl") as vault:
        for at, line in moves:
            lines = [*lines[:at], line, *lines[at:]]
            (folder / "A.md").write_text(content(lines), encoding="utf-8")
            assert_as_new(vault, folder, base)


def test_many_changed_notes_are_left_to_the_builder(
    write: Callable[[Mapping[str, str]], Path], folder: Path, seen: list[bool]
) -> None:
    write({f"{number}.md": "text\n" for number in range(40)})
    with vaultgraph.open(folder, cache=None) as vault:
        seen.clear()
        for number in range(40):
            (folder / f"{number}.md").write_text(f"other text {number}\n", encoding="utf-8")
        vault.refresh()
        assert seen == [False]
        assert vault.query("MATCH (n {stem: '7'}) RETURN n.body").rows == [("other text 7\n",)]


MORE = (
    *LINES,
    "[[nobody]] [[NOBODY|x]]",
    "![[Gone.png|alt]] ![[pic.png|a caption]]",
    "[[doc.pdf#page=2]]",
    "[[b#b]] [[A#^one]] [[a/c#A heading]]",
    "#Topic/Sea #TOPIC/lake #new",
    '[z](nowhere.md "SUPPORTS") [q](b.md "CHILD_OF") [q](b.md "CONTAINS")',
    "[[c]] [[alias one]] ![[b]]",
    "author:: [[Ada]]",
    "[[a]] [[a/a]]",
)
KEYS = (
    "parent: '[[b]]'",
    "parent: '[[a/c#^one]]'",
    "author: [Bob, '[[Ada]]']",
    "author: ADA",
    "tags: [other, topic/x]",
    "rating: high",
    "rating: [1, 2]",
    "rating: 2.5",
    "when: soon",
    "aliases: [alias one]",
    "path: mine",
    "frontmatter.path: yours",
    "'child of': '[[b]]'",
    "mime: x",
    "text: words",
    "cover: '[[pic.png]]'",
    "type: Person",
    "id: '7'",
)
OF_VAULTS = (
    "kglite_vault: 1\n",
    RULES,
    UPWARD,
    "kglite_vault: 1\ntypes:\n  Note: {rating: int, when: date}\ntag_labels:\n  topic/*: {label: Topic, edge: ABOUT}\n",
    "kglite_vault: 1\nfolder_notes: {edge: PART_OF}\nheading_edges: {A heading: UNDER_A}\nhubs:\n  none: {label: N}\n",
    "kglite_vault: 1\nontology:\n  classes:\n    Note: {required_properties: [rating]}\n",
    "kglite_vault: 1\nedge_defaults:\n  LINKS_TO: {w: 1}\n",
)


@st.composite
def texts(draw: st.DrawFn) -> str:
    keys = draw(st.lists(st.sampled_from(KEYS), max_size=3, unique_by=lambda line: line.partition(":")[0]))
    lines = draw(st.lists(st.sampled_from(MORE), max_size=6))
    front = ["---", *keys, "---"] if keys else []
    return "\n".join([*front, *lines]) + "\n"


@settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(
    first=st.lists(texts(), min_size=5, max_size=5),
    edits=st.lists(st.lists(st.tuples(st.integers(0, 4), texts()), min_size=1, max_size=2), min_size=1, max_size=4),
    rules=st.sampled_from(OF_VAULTS),
)
def test_any_edits_of_statements_give_what_building_anew_gives(
    first: list[str], edits: list[list[tuple[int, str]]], rules: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    base = tmp_path_factory.mktemp("vault")
    folder = base / "notes"
    paths = ("A.md", "b.md", "a/c.md", "a/a.md", "a/d.md")
    for path, text in {**dict(zip(paths, first, strict=True)), ".kglite/vault.yaml": rules, "pic.png": ""}.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    with vaultgraph.open(folder, cache=base / "old.kgl") as vault:
        for edit in edits:
            for note, text in edit:
                (folder / paths[note]).write_text(text, encoding="utf-8")
            assert_as_new(vault, folder, base)


@pytest.mark.parametrize("is_asked", [False, True])
def test_after_a_start_from_the_cache_the_first_edit_is_taken_in_like_every_other(
    write: Callable[[Mapping[str, str]], Path],
    folder: Path,
    tmp_path: Path,
    seen: list[bool],
    monkeypatch: pytest.MonkeyPatch,
    is_asked: bool,
) -> None:
    write({"A.md": "# A\n", "b.md": "# b\n", "c.md": content(["[[A]]"])})
    vaultgraph.open(folder, cache=tmp_path / "old.kgl").close()
    ready = threading.Event()

    def noted(state: State) -> State:
        done = refreshing.prepared(state)
        ready.set()
        return done

    monkeypatch.setattr(door, "prepared", noted)
    monkeypatch.setattr(background, "READY_S", 3600.0 if is_asked else 0.0)
    monkeypatch.setattr(background, "SOON_S", 0.0)
    with vaultgraph.open(folder, cache=tmp_path / "old.kgl", watch="auto") as vault:
        assert vault.report.origin == "cache"
        if is_asked:
            vault.query("RETURN 1")
        assert ready.wait(60)
        seen.clear()
        write({"A.md": "# A\n\n[[b]] #new\n"})
        assert vault.query("MATCH (:Note {title: 'A'})-[r]->(n) RETURN type(r), n.title ORDER BY n.title").rows == [
            ("LINKS_TO", "b"),
            ("TAGGED", "new"),
        ]
        assert seen == []
        assert_as_new(vault, folder, tmp_path)


def test_rows_for_a_build_lie_in_one_piece_even_after_edits(
    write: Callable[[Mapping[str, str]], Path], folder: Path
) -> None:
    # Of columns cut in different places some expressions of polars read beyond the end of one.
    write({f"{number}.md": "---\nrating: 1\n---\n" for number in range(6)})
    with vaultgraph.open(folder, cache=None) as vault:
        for number in (1, 3, 5):
            (folder / f"{number}.md").write_text("---\nrating: high\n---\n", encoding="utf-8")
            vault.refresh()
        snapshot = vault.current()
        assert snapshot.records.properties.n_chunks() > 1
        rows = with_file(snapshot.records.properties, catalogue_of(snapshot.records, snapshot.stamps, snapshot.profile))
        assert {column.n_chunks() for column in rows.iter_columns()} == {1}
