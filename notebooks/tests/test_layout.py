"""make lab lays the notebooks out and never overwrites or loses what a student did."""

import layout
import pytest


@pytest.fixture
def folders(tmp_path):
    release, lab = tmp_path / "a release", tmp_path / "my lab"
    (release / "act").mkdir(parents=True)
    (release / "act" / "1.ipynb").write_text("version 1")
    return release, lab


def version(folders, text):
    (folders[0] / "act" / "1.ipynb").write_text(text)
    return layout.lay_out(*folders)


def content(folders):
    """All files of the lab but the manifest."""
    lab = folders[1]
    return {p.relative_to(lab).as_posix(): p.read_text() for p in lab.rglob("*") if p.is_file() and p.name != layout.MANIFEST}


def test_lays_out_into_nothing(folders):
    assert layout.lay_out(*folders) == []
    assert content(folders) == {"act/1.ipynb": "version 1"}


def test_second_run_changes_nothing(folders):
    layout.lay_out(*folders)
    before = {p: p.stat().st_mtime_ns for p in folders[1].rglob("*.ipynb")}
    assert layout.lay_out(*folders) == []
    assert {p: p.stat().st_mtime_ns for p in folders[1].rglob("*.ipynb")} == before


def test_updates_an_unchanged_file(folders):
    layout.lay_out(*folders)
    assert "updated" in version(folders, "version 2")[0]
    assert content(folders) == {"act/1.ipynb": "version 2"}


def test_keeps_a_changed_file_and_puts_the_new_version_beside_it(folders):
    layout.lay_out(*folders)
    (folders[1] / "act" / "1.ipynb").write_text("my answers")
    assert layout.lay_out(*folders) == [], "nothing is new yet"
    (message,) = version(folders, "version 2")
    assert "yours is kept" in message and "1.new-version.ipynb" in message
    assert content(folders) == {"act/1.ipynb": "my answers", "act/1.new-version.ipynb": "version 2"}


def test_offers_a_new_version_once(folders):
    layout.lay_out(*folders)
    (folders[1] / "act" / "1.ipynb").write_text("my answers")
    version(folders, "version 2")
    (folders[1] / "act" / "1.new-version.ipynb").unlink()
    assert layout.lay_out(*folders) == []
    assert content(folders) == {"act/1.ipynb": "my answers"}


def test_keeps_work_in_an_offered_version_too(folders):
    layout.lay_out(*folders)
    (folders[1] / "act" / "1.ipynb").write_text("my answers")
    version(folders, "version 2")
    (folders[1] / "act" / "1.new-version.ipynb").write_text("more answers")
    version(folders, "version 3")
    assert content(folders) == {
        "act/1.ipynb": "my answers", "act/1.new-version.ipynb": "more answers", "act/1.new-version-2.ipynb": "version 3"}


def test_a_return_to_the_offered_version_is_followed_again(folders):
    layout.lay_out(*folders)
    (folders[1] / "act" / "1.ipynb").write_text("my answers")
    version(folders, "version 2")
    (folders[1] / "act" / "1.ipynb").write_text("version 2")
    layout.lay_out(*folders)
    assert "updated" in version(folders, "version 3")[0]
    assert content(folders)["act/1.ipynb"] == "version 3"


def test_restores_a_deleted_file(folders):
    layout.lay_out(*folders)
    (folders[1] / "act" / "1.ipynb").unlink()
    layout.lay_out(*folders)
    assert content(folders) == {"act/1.ipynb": "version 1"}


def test_leaves_other_files_and_withdrawn_ones_alone(folders):
    layout.lay_out(*folders)
    (folders[1] / "act" / "notes.md").write_text("mine")
    (folders[0] / "act" / "1.ipynb").unlink()
    layout.lay_out(*folders)
    assert content(folders) == {"act/1.ipynb": "version 1", "act/notes.md": "mine"}


@pytest.mark.parametrize("broken", ["", '{"act/1.ip', "[1, 2]", '{"act/1.ipynb": 3}'])
def test_a_broken_manifest_loses_nothing(folders, broken):
    layout.lay_out(*folders)
    (folders[1] / "act" / "1.ipynb").write_text("my answers")
    (folders[1] / layout.MANIFEST).write_text(broken)
    messages = version(folders, "version 2")
    assert any("could not be read" in m for m in messages)
    assert content(folders) == {"act/1.ipynb": "my answers", "act/1.new-version.ipynb": "version 2"}


def test_a_file_that_was_there_before_is_kept(folders):
    (folders[1] / "act").mkdir(parents=True)
    (folders[1] / "act" / "1.ipynb").write_text("made by hand")
    layout.lay_out(*folders)
    assert content(folders) == {"act/1.ipynb": "made by hand", "act/1.new-version.ipynb": "version 1"}


def test_a_folder_in_the_way_is_kept(folders):
    (folders[1] / "act" / "1.ipynb").mkdir(parents=True)
    layout.lay_out(*folders)
    assert content(folders) == {"act/1.new-version.ipynb": "version 1"}


def test_a_file_in_place_of_the_lab_is_an_error(folders):
    folders[1].write_text("mine")
    with pytest.raises(NotADirectoryError, match="in the way"):
        layout.lay_out(*folders)
    assert folders[1].read_text() == "mine"


def test_leaves_no_temporary_files(folders):
    layout.lay_out(*folders)
    version(folders, "version 2")
    assert sorted(p.name for p in folders[1].rglob("*") if p.is_file()) == [layout.MANIFEST, "1.ipynb"]


def test_nothing_is_written_where_nothing_changes(tmp_path):
    """A lab folder that may only be read is no reason to stop (root may write anywhere, so the files' times tell)."""
    release, lab = tmp_path / "release", tmp_path / "lab"
    release.mkdir()
    (release / "act.ipynb").write_text("{}")
    layout.lay_out(release, lab)
    before = {p: p.stat().st_mtime_ns for p in lab.rglob("*")}
    assert layout.lay_out(release, lab) == []
    assert {p: p.stat().st_mtime_ns for p in lab.rglob("*")} == before
