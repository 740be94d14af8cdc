"""The linter's configuration really stops what fleet must not do."""

import shutil
import subprocess
import sys
from pathlib import Path

import books
import pytest

LINTER = Path(sys.prefix) / "bin" / "golangci-lint"

BAD = '''package fleet

import (
	"fmt"
	_ "html/template"
	_ "log/slog"
	"math/rand/v2"
	"os"
	"time"
)

func Undocumented() {
	began := time.Now()
	time.Sleep(time.Since(began))
	fmt.Println(rand.Float64())
	_, _ = fmt.Fprintln(os.Stderr, rand.New(rand.NewPCG(1, 2)).Float64())
}
'''

CAUGHT = {
    "time.Now": "the simulation has its own clock",
    "time.Sleep": "the simulation has its own clock",
    "time.Since": "the simulation has its own clock",
    "fmt.Println": "fleet prints nothing",
    "os.Stderr": "fleet prints nothing",
    "rand.Float64": "the global source has no seed",
    "log/slog": "fleet never logs",
    "html/template": "only widgets makes HTML",
    "Undocumented": "should have comment",
}


@pytest.fixture(scope="module")
def findings(tmp_path_factory):
    if not LINTER.exists():
        pytest.skip("golangci-lint is not installed")
    root = tmp_path_factory.mktemp("a fleet")
    (root / "fleet" / "cmd" / "tool").mkdir(parents=True)
    for name in (".golangci.yml", "go.mod", "go.sum"):
        shutil.copy(books.ROOT / name, root)
    (root / "fleet" / "bad.go").write_text(BAD)
    (root / "fleet" / "bad_test.go").write_text(BAD.replace("Undocumented", "undocumentedInTest"))
    command = BAD.replace("package fleet", "package main").replace("Undocumented", "main").replace('\t_ "html/template"\n', "")
    (root / "fleet" / "cmd" / "tool" / "main.go").write_text(command)
    done = subprocess.run([LINTER, "run", "--allow-parallel-runners", "--output.text.print-issued-lines=false", "--max-same-issues=0", "--uniq-by-line=false", "./..."],
                          cwd=root, capture_output=True, text=True)
    return done.stdout.splitlines()


@pytest.mark.parametrize("what", CAUGHT)
def test_catches_in_fleet(findings, what):
    assert any(line.startswith("fleet/bad.go") and what in line and CAUGHT[what] in line for line in findings), "\n".join(findings)


def test_allows_a_seeded_generator(findings):
    assert not any("rand.New" in line for line in findings), "\n".join(findings)


def test_leaves_tests_and_commands_the_clock(findings):
    quiet = ("fleet/bad_test.go", "fleet/cmd/")
    assert not any(line.startswith(quiet) and ("forbidigo" in line or "depguard" in line and "html" not in line) for line in findings), (
        "\n".join(findings))
