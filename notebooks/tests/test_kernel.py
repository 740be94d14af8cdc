"""The Go kernel as the set-up installs it. The case numbers are those of the issue list of the field (see CONTRIBUTING.md)."""

import json
import os
import shutil
import sys
from pathlib import Path

import books
import kernel
import pytest

FLEET = f'import "fmt"\nimport "{books.MODULE}/fleet"\n%%\nfmt.Println("seed", fleet.Default().Seed)'


def test_finds_the_projects_packages_from_anywhere(execute, tmp_path):
    deep = tmp_path / "autograded" / "a student" / "fleet_orch"
    deep.mkdir(parents=True)
    assert "seed" in books.text_of(execute(books.go_notebook(FLEET), cwd=deep).cells[0])


def test_n11_runs_with_a_minimal_path(execute, home):
    """gonb#175: goimports, or go itself, is not on the PATH that the kernel inherits."""
    bare = {"PATH": "/usr/bin:/bin", "HOME": str(home)}
    assert "seed" in books.text_of(execute(books.go_notebook(FLEET), env=bare).cells[0])


def test_runs_with_an_empty_environment(execute):
    assert "seed" in books.text_of(execute(books.go_notebook(FLEET), env={}).cells[0])


def test_nothing_of_it_is_in_the_home_folder(home):
    spec = Path(sys.prefix) / "share" / "jupyter" / "kernels" / "gonb" / "kernel.json"
    settings = json.loads(spec.read_text())
    assert settings["language"] == "go"
    assert Path(settings["argv"][0]).is_relative_to(sys.prefix)
    assert not list(home.rglob("kernels/gonb"))


@pytest.mark.parametrize("failing", ['panic("broken")', 'os.Exit(3)', 'return "no int"'])
def test_a_failing_cell_gives_an_error_output(execute, failing):
    """Without one nbgrader gives full marks to a wrong answer, as with GoNB before 0.11.4."""
    cell = f'import "os"\nfunc broken() int {{ _ = os.Args; {failing}; return 0 }}\n%%\nbroken()'
    assert books.errors(execute(books.go_notebook(cell), allow_errors=True).cells[0])


def test_works_in_a_folder_with_a_space(execute, tmp_path, monkeypatch):
    root = tmp_path / "a folder with spaces"
    venv = root / ".venv"
    (venv / "bin").mkdir(parents=True)
    for name in ("gonb", "goimports"):
        shutil.copy(Path(sys.prefix) / "bin" / name, venv / "bin")
    for name in ("go.mod", "go.sum"):
        shutil.copy(books.ROOT / name, root)
    shutil.copytree(books.ROOT / "fleet", root / "fleet")
    # A seed that only this copy has shows which one the kernel builds.
    (root / "fleet" / "here.go").write_text('package fleet\n\nconst Here = "in the copy"\n')
    with monkeypatch.context() as patch:
        own = Path(sys.prefix) / "share" / "jupyter" / "kernels" / "gonb" / "kernel.json"
        for name in kernel.GO_SETTINGS:
            patch.setenv(name, json.loads(own.read_text())["env"][name])
        kernel.install(root, venv, kernel.environment(venv, None))
    monkeypatch.setenv("JUPYTER_PATH", str(venv / "share" / "jupyter"))
    cell = f'import "fmt"\nimport "{books.MODULE}/fleet"\n%%\nfmt.Println(fleet.Here)'
    assert "in the copy" in books.text_of(execute(books.go_notebook(cell), env=dict(os.environ), cwd=root).cells[0])
