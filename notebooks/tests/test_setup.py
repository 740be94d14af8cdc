"""What the set-up says when something is missing, in a folder with a space."""

import os
import shutil
import stat
import subprocess

import books
import pytest

GOOD_GO = 'echo go1.26.8'
GOOD_PYTHON = 'exit 0'


@pytest.fixture
def need(tmp_path):
    """Runs the check with only those commands that are given, each as the body of a shell script."""

    def run(**commands):
        folder = tmp_path / "a folder with spaces"
        shutil.copytree(books.ROOT / "notebooks" / "setup", folder / "notebooks" / "setup")
        shutil.copy(books.ROOT / "Makefile", folder)
        bin = folder / "bin"
        bin.mkdir()
        for name in ("sh", "sed", "cut", "make"):
            (bin / name).symlink_to(shutil.which(name))
        for name, body in commands.items():
            script = bin / name
            script.write_text(f"#!/bin/sh\n{body}\n")
            script.chmod(script.stat().st_mode | stat.S_IXUSR)
        return subprocess.run(["make", "need"], cwd=folder, env={"PATH": str(bin)}, capture_output=True, text=True)

    return run


@pytest.mark.parametrize("commands, says", [
    ({"python3": GOOD_PYTHON}, "Go is missing"),
    ({"go": "echo go1.25.3", "python3": GOOD_PYTHON}, "Go is too old: this lab needs Go 1.26 or newer, and the go on PATH is go1.25.3"),
    ({"go": '[ "$1" = version ] && echo go version go1.19.8 linux/amd64', "python3": GOOD_PYTHON}, "go1.19.8"),
    ({"go": GOOD_GO}, "Python is missing"),
    ({"go": GOOD_GO, "python3": '[ "$1" = -V ] && echo Python 3.9.2; exit 1'}, "python3 is Python 3.9.2"),
    ({"go": GOOD_GO, "python3": 'case "$2" in *venv*) exit 1;; esac'}, "sudo apt-get install python3-venv"),
], ids=["no go", "old go", "very old go", "no python", "old python", "no venv"])
def test_says_what_is_missing_in_one_line(need, commands, says):
    done = need(**commands)
    lines = [line for line in done.stderr.splitlines() if not line.startswith("make: ***")]
    assert done.returncode != 0
    assert len(lines) == 1 and says in lines[0]


@pytest.mark.parametrize("version", ["go1.26.0", "go1.27rc1", "go2.0.1", "devel go1.28-abcdef"])
def test_takes_a_newer_go(need, version):
    assert need(go=f"echo {version}", python3=GOOD_PYTHON).returncode == 0


def test_help_lists_the_targets():
    text = subprocess.run(["make", "help"], cwd=books.ROOT, env=os.environ, capture_output=True, text=True).stdout
    for target in ("make lab", "make test", "make author", "make lint", "make bench"):
        assert target in text
