"""An export never touches a file that is not its own, and finishes what an earlier run began."""

import json

import pytest

from vaultgraph.durable import replace_file
from vaultgraph.errors import ExportError
from vaultgraph.export import owned
from vaultgraph.export.owned import check_out, write_plan
from vaultgraph.export.plan import Plan


def test_a_second_export_writes_nothing_and_leaves_the_same_bytes(put, snapshot):
    out = put({"a.md": b"1", "x/b.md": b"2"})
    before = snapshot(out)
    times = {path: path.stat().st_mtime_ns for path in out.rglob("*")}
    written = write_plan(Plan("vault", {"a.md": b"1", "x/b.md": b"2"}), out)
    assert (written.written, written.unchanged, written.deleted) == (0, 2, 0)
    assert snapshot(out) == before
    assert {path: path.stat().st_mtime_ns for path in out.rglob("*")} == times


def test_a_file_of_a_person_is_refused_and_nothing_is_written(tmp_path, put, snapshot):
    out = tmp_path / "out"
    (out / "x").mkdir(parents=True)
    (out / "x/b.md").write_text("mine")
    before = snapshot(out)
    with pytest.raises(ExportError, match=r"x/b\.md") as caught:
        put({"a.md": b"1", "x/b.md": b"2"})
    assert caught.value.data["paths"] == ["x/b.md"]
    assert snapshot(out) == before


def test_an_edited_file_is_refused_unless_it_is_forced(put, snapshot):
    out = put({"a.md": b"1", "b.md": b"1"})
    (out / "a.md").write_text("edited")
    with pytest.raises(ExportError, match=r"a\.md"):
        put({"a.md": b"2", "b.md": b"2"})
    assert snapshot(out)["b.md"] == b"1"
    put({"a.md": b"2", "b.md": b"2"}, force=True)
    assert snapshot(out)["a.md"] == b"2"


def test_files_that_are_no_longer_made_are_deleted_only_where_unedited(put):
    out = put({"a.md": b"1", "x/y/b.md": b"1", "c.md": b"1"})
    (out / "c.md").write_text("edited")
    written = write_plan(Plan("vault", {"a.md": b"1"}), out)
    assert (written.deleted, written.kept) == (1, ("c.md",))
    assert not (out / "x").exists()
    assert (out / "c.md").read_text() == "edited"


def test_a_folder_with_a_file_of_a_person_stays(put):
    out = put({"x/b.md": b"1"})
    (out / "x/mine.md").write_text("mine")
    write_plan(Plan("vault", {}), out)
    assert [path.name for path in (out / "x").iterdir()] == ["mine.md"]


def test_a_file_that_already_is_what_would_be_written_counts_as_own(tmp_path, put):
    (tmp_path / "out").mkdir()
    (tmp_path / "out/a.md").write_bytes(b"1")
    out = put({"a.md": b"1"})
    assert "a.md" in json.loads((out / ".kglite/export.json").read_bytes())["files"]


@pytest.mark.parametrize("survivors", [0, 1, 2, 3, 4])
def test_a_run_that_was_cut_off_is_finished_by_the_next(put, monkeypatch, survivors, snapshot):
    out = put({"a.md": b"1", "b.md": b"1", "old.md": b"1"})
    count = 0

    def cut_off(*arguments, **more):
        nonlocal count
        count += 1
        if count > survivors:
            raise OSError(5, "power is gone", str(arguments[0]))
        return replace_file(*arguments, **more)

    monkeypatch.setattr(owned, "replace_file", cut_off)
    with pytest.raises(ExportError, match="power is gone"):
        put({"a.md": b"2", "b.md": b"2", "c.md": b"2"})
    monkeypatch.undo()
    put({"a.md": b"2", "b.md": b"2", "c.md": b"2"})
    found = snapshot(out)
    assert json.loads(found.pop(".kglite/export.json"))["files"].keys() == {"a.md", "b.md", "c.md"}
    assert found == {"a.md": b"2", "b.md": b"2", "c.md": b"2"}


def test_after_a_cut_off_run_another_plan_still_knows_its_files(put, monkeypatch, snapshot):
    out = put({"a.md": b"1", "b.md": b"1"})
    real, calls = replace_file, []

    def cut_off(path, pieces, **more):
        calls.append(path)
        if len(calls) > 2:
            raise OSError(5, "power is gone", str(path))
        return real(path, pieces, **more)

    monkeypatch.setattr(owned, "replace_file", cut_off)
    for content in (b"2", b"3"):
        calls.clear()
        with pytest.raises(ExportError):
            put({"a.md": content, "b.md": content})
    monkeypatch.undo()
    put({"a.md": b"4", "b.md": b"4"})
    assert snapshot(out)["b.md"] == b"4"


def test_symlinks_in_the_target_are_not_followed(tmp_path, put):
    away = tmp_path / "away"
    away.mkdir()
    (away / "b.md").write_text("1")
    out = tmp_path / "out"
    out.mkdir()
    (out / "x").symlink_to(away)
    (out / "a.md").symlink_to(away / "b.md")
    with pytest.raises(ExportError, match="x is a symlink"):
        put({"x/b.md": b"2"}, force=True)
    with pytest.raises(ExportError, match=r"a\.md"):
        put({"a.md": b"2"})
    put({"a.md": b"2"}, force=True)
    assert (away / "b.md").read_text() == "1"
    assert not (out / "a.md").is_symlink()


def test_a_list_kept_behind_a_symlink_is_refused(tmp_path, put):
    away = tmp_path / "away"
    away.mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "out/.kglite").symlink_to(away)
    with pytest.raises(ExportError, match="symlink"):
        put({"a.md": b"1"})
    assert list(away.iterdir()) == []


@pytest.mark.parametrize("path", ["../mine.md", "/etc/mine.md", "a/../../mine.md"])
def test_a_list_that_names_files_elsewhere_deletes_nothing(tmp_path, put, path):
    mine = tmp_path / "mine.md"
    mine.write_bytes(b"1")
    digest = "6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b"
    (tmp_path / "out/.kglite").mkdir(parents=True)
    (tmp_path / "out/.kglite/export.json").write_text(json.dumps({"version": 1, "files": {path: digest}}))
    with pytest.raises(ExportError, match="list of an export"):
        put({"a.md": b"1"})
    put({"a.md": b"1"}, force=True)
    assert mine.read_bytes() == b"1"


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"version": 2, "files": {}}', '{"version": 1, "files": [1]}', "[" * 9999]
)
def test_a_damaged_list_is_refused(tmp_path, put, text):
    (tmp_path / "out/.kglite").mkdir(parents=True)
    (tmp_path / "out/.kglite/export.json").write_text(text)
    with pytest.raises(ExportError, match="list of an export"):
        put({"a.md": b"1"})


def test_twenty_refused_files_are_named_and_the_rest_counted(tmp_path, put):
    (tmp_path / "out").mkdir()
    files = {f"{number:02}.md": b"1" for number in range(25)}
    for path in files:
        (tmp_path / "out" / path).write_text("mine")
    with pytest.raises(ExportError, match="and 5 more") as caught:
        put(files)
    assert "19.md" in caught.value.message
    assert "20.md" not in caught.value.message


def test_a_folder_in_the_way_is_refused_even_by_force(tmp_path, put):
    (tmp_path / "out/a.md").mkdir(parents=True)
    with pytest.raises(ExportError, match="is a folder"):
        put({"a.md": b"1"}, force=True)


def test_the_target_may_not_be_in_the_source(tmp_path, write):
    folder = write({"a.md": "x"})
    link = tmp_path / "link"
    link.symlink_to(folder)
    for target in (folder, folder / "sub", link, link / "sub", folder / "x" / ".." / "y"):
        with pytest.raises(ExportError, match=r"lies in the vault|no such folder"):
            check_out(target, folder)
    assert check_out(tmp_path / "vault2", folder) == tmp_path / "vault2"


def test_a_target_that_is_a_file_or_has_no_parent_is_refused(tmp_path):
    (tmp_path / "f").write_text("")
    for target in ("f", "none/out", "f/out"):
        with pytest.raises(ExportError):
            check_out(tmp_path / target, None)
    with pytest.raises(ExportError, match="empty"):
        check_out("", None)
