"""What a stat pass sees, and reading many files at once."""

import os
import subprocess

import polars as pl
import pytest

from vaultgraph.errors import BuildError, PathEscapeError
from vaultgraph.files.stamps import FILE_PROBLEMS, STAMPS, is_canvas, is_note, read_files, restat, scan


def problems_of(stamps) -> dict[str, str]:
    return dict(zip(stamps.problems["path"], stamps.problems["code"], strict=True))


def test_every_kept_file_is_stamped_in_path_order(make_vault, folder):
    root = make_vault({"b.md": "22", "B.md": "1", "ä.md": "", "A/x.png": "333", "A/b/c.canvas": "{}"})
    os.utime(folder / "b.md", ns=(5, 1_700_000_000_123_456_789))
    stamps = scan(root)
    assert stamps.files.schema == STAMPS
    assert stamps.files["path"].to_list() == ["A/b/c.canvas", "A/x.png", "B.md", "b.md", "ä.md"]
    assert stamps.files["size_bytes"].to_list() == [2, 3, 1, 2, 0]
    assert stamps.files["mtime_ns"].to_list()[3] == 1_700_000_000_123_456_789
    assert stamps.folders == ["A", "A/b"]
    assert stamps.problems.schema == FILE_PROBLEMS
    assert stamps.problems.is_empty()


def test_dot_names_and_machine_folders_are_pruned(make_vault):
    root = make_vault({
        ".hidden.md": "", ".git/a.md": "", ".kglite/vault.yaml": "", "node_modules/a.md": "", "A/__pycache__/a.md": "",
        "venv/a.md": "", "site-packages/a.md": "", "Venv2/a.md": "", "Note.md": "", "A/.x/a.md": "",
    })  # fmt: skip
    stamps = scan(root)
    assert stamps.files["path"].to_list() == ["Note.md", "Venv2/a.md"]
    assert stamps.folders == ["A", "Venv2"]


def test_skip_dirs_are_bare_names_at_any_depth_or_paths_from_the_root(make_vault):
    root = make_vault({
        "Archive/a.md": "", "A/archive/b.md": "", "Old/Deep/c.md": "", "A/Old/Deep/d.md": "", "Old/e.md": "",
    })  # fmt: skip
    assert scan(root, ["archive", "Old/Deep"]).files["path"].to_list() == ["A/Old/Deep/d.md", "Old/e.md"]
    assert scan(root, ["/Old/", ""]).files["path"].to_list() == ["A/Old/Deep/d.md", "A/archive/b.md", "Archive/a.md"]


def test_links_inside_are_aliases_and_never_walked(make_vault, folder):
    root = make_vault({"A/Note.md": "x", "B/Other.md": "y"})
    (folder / "Alias.md").symlink_to("A/Note.md")
    (folder / "Chain.md").symlink_to("Alias.md")
    (folder / "A" / "loop").symlink_to("..")
    (folder / "Shortcut").symlink_to("B")
    stamps = scan(root)
    assert stamps.files["path"].to_list() == ["A/Note.md", "B/Other.md"]
    assert stamps.aliases.rows() == [
        ("A/loop", ""),
        ("Alias.md", "A/Note.md"),
        ("Chain.md", "A/Note.md"),
        ("Shortcut", "B"),
    ]
    assert stamps.problems.is_empty()


def test_links_outside_and_to_nothing_are_problems(make_vault, folder, tmp_path):
    (tmp_path / "secret.md").write_text("s")
    root = make_vault({".git/config": "x", "Note.md": ""})
    (folder / "out.md").symlink_to("../secret.md")
    (folder / "etc").symlink_to("/etc")
    (folder / "hidden.md").symlink_to(".git/config")
    (folder / "dangling.md").symlink_to("nothing.md")
    (folder / "circle.md").symlink_to("circle.md")
    (folder / ".dotlink").symlink_to("/etc")
    stamps = scan(root)
    assert problems_of(stamps) == {
        "out.md": "symlink-outside",
        "etc": "symlink-outside",
        "hidden.md": "symlink-outside",
        "dangling.md": "symlink-broken",
        "circle.md": "symlink-broken",
    }
    assert set(stamps.problems["severity"]) == {"info"}
    assert stamps.files["path"].to_list() == ["Note.md"]


def test_a_farm_of_links_is_walked_once(make_vault, folder):
    root = make_vault({"Note.md": "x"})
    for number in range(300):
        (folder / f"link{number:03}").symlink_to(f"link{number - 1:03}" if number else ".")
    stamps = scan(root)
    assert stamps.files.height == 1
    assert stamps.aliases["target"].to_list() == [""] * 40
    assert set(problems_of(stamps).values()) == {"symlink-broken"}


def test_pipes_and_devices_are_not_files(make_vault, folder):
    root = make_vault({"Note.md": "x"})
    os.mkfifo(folder / "pipe.md")
    assert scan(root).files["path"].to_list() == ["Note.md"]


def test_cloud_placeholders_are_listed_with_a_problem_and_never_read(make_vault, folder):
    root = make_vault({"Here.md": "x" * 5000, "Small.md": "s", ".Stub.md.icloud": "plist", "A/.Deep.md.icloud": "p"})
    with (folder / "Sparse.md").open("wb") as file:
        file.truncate(100_000)
    if (folder / "Sparse.md").stat().st_blocks:
        pytest.skip("this file system stores empty ranges")
    stamps = scan(root)
    assert stamps.files["path"].to_list() == ["A/Deep.md", "Here.md", "Small.md", "Sparse.md", "Stub.md"]
    assert problems_of(stamps) == {"A/Deep.md": "offline", "Sparse.md": "offline", "Stub.md": "offline"}
    contents, problems = read_files(root, stamps.files["path"].to_list(), stamps.files["size_bytes"].to_list())
    assert [data is None for data in contents] == [True, False, False, True, True]
    assert [problem[2] for problem in problems] == ["offline"] * 3


def test_a_file_system_that_counts_no_blocks_has_no_placeholders(make_vault, folder):
    root = make_vault({})
    for name in ("a.md", "b.md"):
        with (folder / name).open("wb") as file:
            file.truncate(100_000)
    stamps = scan(root)
    assert stamps.problems.is_empty()
    contents, problems = read_files(root, ["a.md", "b.md"], [100_000, 100_000])
    assert contents == [bytes(100_000)] * 2
    assert problems == []


def test_names_that_are_not_utf8_are_left_out_with_a_problem(make_vault, folder):
    root = make_vault({"Note.md": "x"})
    with open(os.fsencode(folder) + b"/caf\xe9.md", "wb") as file:  # noqa: PTH123
        file.write(b"x")
    os.mkdir(os.fsencode(folder) + b"/d\xff")  # noqa: PTH102
    stamps = scan(root)
    assert stamps.files["path"].to_list() == ["Note.md"]
    assert stamps.problems.select("path", "code", "severity").rows() == [
        ("caf\ufffd.md", "bad-name", "warning"),
        ("d\ufffd", "bad-name", "warning"),
    ]


def test_symlinks_to_names_that_are_not_utf8_are_not_followed(make_vault, folder):
    root = make_vault({"Note.md": "x"})
    base = os.fsencode(folder)
    with open(base + b"/caf\xe9.md", "wb") as file:  # noqa: PTH123
        file.write(b"x")
    os.mkdir(base + b"/d\xff")  # noqa: PTH102
    with open(base + b"/d\xff/in.md", "wb") as file:  # noqa: PTH123
        file.write(b"x")
    for name, target in ((b"a", b"caf\xe9.md"), (b"b", b"d\xff"), (b"c", b"d\xff/in.md"), (b"d", b"Note.md")):
        os.symlink(target, base + b"/" + name + b".md")  # noqa: PTH211
    os.symlink(b"../out\xff.md", base + b"/e.md")  # noqa: PTH211
    os.symlink(b"gone\xff.md", base + b"/f.md")  # noqa: PTH211
    stamps = scan(root)
    assert stamps.files["path"].to_list() == ["Note.md"]
    assert stamps.aliases.rows() == [("d.md", "Note.md")]
    found = stamps.problems.filter(stamps.problems["path"].str.contains(r"^[a-f]\.md$"))
    assert found.select("path", "code").rows() == [
        ("a.md", "symlink-broken"),
        ("b.md", "symlink-broken"),
        ("c.md", "symlink-broken"),
        ("e.md", "symlink-outside"),
        ("f.md", "symlink-broken"),
    ]
    assert found["message"][0] == "Not followed: it leads to caf\ufffd.md, whose name is not UTF-8."


def test_an_unreadable_folder_is_a_problem_and_the_rest_is_kept(make_vault, folder):
    root = make_vault({"Locked/a.md": "x", "Note.md": "y"})
    (folder / "Locked").chmod(0)
    try:
        if os.access(folder / "Locked", os.R_OK):
            pytest.skip("this user reads every folder")
        stamps = scan(root)
    finally:
        (folder / "Locked").chmod(0o755)
    assert stamps.files["path"].to_list() == ["Note.md"]
    assert problems_of(stamps) == {"Locked": "unreadable"}


def test_folders_nested_too_deep_are_a_problem(make_vault, folder):
    root = make_vault({"Note.md": "y"})
    subprocess.run(["mkdir", "-p", str(folder / ("d/" * 400))], check=True)
    stamps = scan(root)
    assert len(stamps.folders) == 257
    assert list(problems_of(stamps).values()) == ["unreadable"]
    assert "folders deep" in stamps.problems["message"][0]


def test_scanning_twice_sees_the_same(make_vault):
    root = make_vault({f"{letter}/{number}.md": "x" for letter in "abc" for number in range(20)})
    first, second = scan(root), scan(root)
    assert first.files.equals(second.files)
    assert first.folders == second.folders


def test_a_vault_that_is_gone_is_a_build_error(make_vault, folder):
    root = make_vault({"Note.md": "x"})
    folder.rename(folder.with_name("moved"))
    with pytest.raises(BuildError, match="gone"):
        scan(root)


def test_files_are_read_whole_whatever_size_was_expected(make_vault):
    files = {"a.md": b"x" * 10, "b/c.md": b"y" * 3_000_000, "d.md": b"", "b/e/f.md": b"z"}
    root = make_vault(files)
    for sizes in ([10, 3_000_000, 0, 1], [0, 0, 0, 0], [99, 5, 1, 9_999_999]):
        contents, problems = read_files(root, list(files), sizes)
        assert contents == list(files.values())
        assert problems == []


def test_what_cannot_be_read_is_none_with_a_reason(make_vault, folder, tmp_path):
    (tmp_path / "secret.md").write_text("s")
    root = make_vault({"a.md": "x", "A/b.md": "y"})
    os.mkfifo(folder / "pipe.md")
    (folder / "out.md").symlink_to(tmp_path / "secret.md")
    (folder / "outside").symlink_to(tmp_path)
    paths = ["a.md", "gone.md", "pipe.md", "out.md", "outside/secret.md", "A", "A/b.md"]
    contents, problems = read_files(root, paths, [1] * len(paths))
    assert contents == [b"x", None, None, None, None, None, b"y"]
    assert [(problem[0], problem[2], problem[3]) for problem in problems] == [
        (path, "unreadable", "warning") for path in paths[1:-1]
    ]


@pytest.mark.parametrize("path", ["../secret.md", "/etc/passwd", ".env", "A/../../secret.md", "A/.env", "x\0y"])
def test_bulk_reading_refuses_what_no_scan_answers(make_vault, path):
    root = make_vault({"A/b.md": "y"})
    with pytest.raises(PathEscapeError):
        read_files(root, ["A/b.md", path], [1, 1])


def test_stamps_and_contents_leave_no_handle_open(make_vault, count_handles):
    root = make_vault({f"{letter}/{letter}/{number}.md": "x" for letter in "abc" for number in range(3)})
    before = count_handles()
    stamps = scan(root)
    read_files(root, stamps.files["path"].to_list(), [1] * 9)
    assert count_handles() == before


def test_files_known_to_be_written_are_seen_as_a_walk_sees_them(make_vault, folder):
    root = make_vault({"a.md": "x", "A/b.md": "y", "A/ü.md": "z", "pic.png": "p"})
    old = scan(root)
    (folder / "A/b.md").write_text("longer")
    (folder / "A/ü.md").write_text("longer still")
    found = restat(root, old, {"A/b.md", "A/ü.md", "A/b.md.tmp", ".kglite/vault.yaml"})
    assert found is not None
    assert found.files.equals(scan(root).files)
    assert found.taken_ns >= old.taken_ns


@pytest.mark.parametrize("change", ["new", "gone", "folder", "other kind", "inside a new folder", "symlink"])
def test_what_comes_and_goes_is_left_to_a_walk(make_vault, folder, change):
    root = make_vault({"a.md": "x", "A/b.md": "y"})
    (folder / "link.md").symlink_to("a.md")
    old = scan(root)
    match change:
        case "new":
            (folder / "A/c.md").write_text("new")
            written = {"A/c.md"}
        case "gone":
            (folder / "A/b.md").unlink()
            written = {"A/b.md"}
        case "folder":
            written = {"A"}
        case "other kind":
            (folder / "a.md").unlink()
            os.mkfifo(folder / "a.md")
            written = {"a.md"}
        case "inside a new folder":
            (folder / "B").mkdir()
            (folder / "B/d.md").write_text("new")
            written = {"B/d.md"}
        case _:
            (folder / "link.md").unlink()
            written = {"link.md"}
    assert restat(root, old, written) is None


def test_kinds_are_told_by_the_suffix_in_any_case():
    assert [is_note(path) for path in ("a.md", "A.MD", "b.Md", "md", "a.markdown", "a.md.txt")] == [
        True, True, True, False, False, False,
    ]  # fmt: skip
    assert is_canvas("A/b.Canvas")
    assert not is_canvas("canvas.md")
    assert pl.Series(["a"]).dtype == STAMPS["path"]
