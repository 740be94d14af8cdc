"""What the notebook tests share. Run by make test, in the project's virtual environment.

Fixtures:
  execute    execute(book, allow_errors=False, cell_timeout=120, env=None, cwd=None) runs a notebook (a path or a
             node) through the Go kernel and returns the executed copy. A failing cell fails the test with its text.
  released   released(path_of_a_source_notebook) is the path of its student form, as nbgrader generate_assignment makes it.
  home       the empty home folder that the whole run has; Jupyter's folders are in it.

Functions, to import from the module `books`: source_notebooks, read, code, text_of, go_notebook.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import books
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError

sys.path.insert(0, str(books.ROOT / "notebooks" / "setup"))


def pytest_configure() -> None:
    if Path(sys.prefix).resolve() != (books.ROOT / ".venv").resolve():
        pytest.exit("these tests need the project's own environment: run them with make test, "
                    "or .venv/bin/python -m pytest notebooks/tests after make setup", returncode=2)


@pytest.fixture(scope="session", autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory):
    """Nothing that the user has in their home folder reaches a test, and no test writes there."""
    folder = tmp_path_factory.mktemp("home")
    apart = {"HOME": folder, "IPYTHONDIR": folder / "ipython", "JUPYTER_CONFIG_DIR": folder / "config",
             "JUPYTER_DATA_DIR": folder / "data", "JUPYTER_RUNTIME_DIR": folder / "runtime"}
    with pytest.MonkeyPatch.context() as patch:
        for name, path in apart.items():
            path.mkdir(exist_ok=True)
            patch.setenv(name, str(path))
        patch.setenv("JUPYTER_PREFER_ENV_PATH", "1")
        patch.setenv("PATH", f"{Path(sys.prefix) / 'bin'}{os.pathsep}{os.environ.get('PATH', '')}")  # nbgrader finds its own programs there
        for name in ("JUPYTER_PATH", "JUPYTER_CONFIG_PATH", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
            patch.delenv(name, raising=False)
        yield folder


@pytest.fixture(scope="session")
def execute(home, tmp_path_factory: pytest.TempPathFactory):
    def run(book, allow_errors=False, cell_timeout=120, env=None, cwd=None):
        book = books.read(book)
        client = NotebookClient(book, timeout=cell_timeout, kernel_name="gonb", allow_errors=allow_errors,
                                resources={"metadata": {"path": str(cwd or tmp_path_factory.mktemp("run"))}})
        try:
            client.execute(**({"env": env} if env is not None else {}))
        except CellTimeoutError as e:
            pytest.fail(f"a cell did not end within {cell_timeout} s:\n{e}", pytrace=False)
        except CellExecutionError as e:
            pytest.fail(f"a cell failed:\n{e}", pytrace=False)
        return book

    return run


@pytest.fixture(scope="session")
def released(home, tmp_path_factory: pytest.TempPathFactory):
    course = tmp_path_factory.mktemp("course")
    done: set[str] = set()

    def release(source: Path) -> Path:
        assignment = source.parent.name
        if assignment not in done:
            shutil.copytree(source.parent, course / "source" / assignment, ignore=shutil.ignore_patterns(".*"))
            shutil.copy(books.ROOT / "notebooks" / "nbgrader_config.py", course)
            made = subprocess.run(
                [sys.executable, "-m", "nbgrader", "generate_assignment", assignment, "--create", "--force"],
                cwd=course, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120,
            )
            if made.returncode:
                pytest.fail(f"nbgrader generate_assignment {assignment} failed:\n{made.stderr}", pytrace=False)
            done.add(assignment)
        return course / "release" / assignment / source.name

    return release
