"""Runs every test and ends with one line that counts them: N passed, N failed.

A test is a Go test function (its subtests are part of it), a pytest test or a test of node's runner.
Each check (formatting, vet, lint) and each suite that breaks before it has counted its tests is one failure.
Runs in the virtual environment that prepare.py made. With a file name in TEST_SUMMARY the counting line goes there.
"""

import json
import os
import re
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BIN = ROOT / ".venv" / "bin"
ARTIFACTS = ROOT / "artifacts"
BROWSER_TESTS = ROOT / "notebooks" / "tests" / "browser"
SUITE_TIMEOUT_S = 900


@dataclass
class Count:
    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other: "Count") -> "Count":
        return Count(self.passed + other.passed, self.failed + other.failed, self.skipped + other.skipped)

    def __str__(self) -> str:
        skipped = f", {self.skipped} skipped" if self.skipped else ""
        return f"{self.passed} passed, {self.failed} failed{skipped}"


def main() -> None:
    os.chdir(ROOT)
    ARTIFACTS.mkdir(exist_ok=True)
    total = Count()
    rows = []
    for title, suite in SUITES.items():
        print(f"\n== {title}", flush=True)
        began = time.monotonic()
        count = suite()
        rows.append(f"  {title:16} {count}  ({time.monotonic() - began:.0f} s)")
        total += count
    print("\n" + "\n".join(rows), flush=True)
    if summary := os.environ.get("TEST_SUMMARY"):
        Path(summary).write_text(f"{total}\n")
    else:
        print(total, flush=True)
    sys.exit(total.failed > 0)


def run(*args: object, on_line: Callable[[str], None] | None = None, **options: object) -> int:
    """Runs a command in a process group of its own, so that nothing of it outlives it. Its output goes to
    on_line, line by line, or to the terminal."""
    pipe = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True} if on_line else {}
    process = subprocess.Popen([str(a) for a in args], stdin=subprocess.DEVNULL, start_new_session=True, **pipe, **options)
    signal.signal(signal.SIGALRM, lambda *_: _end(process, f"ended: it took more than {SUITE_TIMEOUT_S} s"))
    signal.alarm(SUITE_TIMEOUT_S)
    try:
        for line in process.stdout or ():
            on_line(line)
        return process.wait()
    finally:
        signal.alarm(0)
        _end(process)


def _end(process: subprocess.Popen, message: str = "") -> None:
    if message:
        print(message, flush=True)
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def check(status: int) -> Count:
    return Count(failed=int(status != 0))


def formatting() -> Count:
    unformatted: list[str] = []
    folders = [f for f in ("fleet", "widgets") if (ROOT / f).is_dir()]
    status = run("gofmt", "-l", *folders, on_line=unformatted.append)
    if unformatted:
        print("make fmt would change:", *unformatted, sep="\n  ", end="")
    return check(status or len(unformatted))


def vet() -> Count:
    return check(run("go", "vet", "./..."))


def lint() -> Count:
    if not (BIN / "golangci-lint").exists():
        print("golangci-lint is not installed: skipped")
        return Count(skipped=1)
    return check(run(BIN / "golangci-lint", "run", "--allow-parallel-runners", "./..."))


def go_tests() -> Count:
    count = Count()
    output: dict[tuple[str, str], list[str]] = {}  # by package and top-level test
    failed_tests: set[str] = set()  # packages with a failed test

    def on_line(line: str) -> None:
        try:
            event = json.loads(line)
        except ValueError:
            print(line, end="", flush=True)
            return
        package, action = event.get("Package", event.get("ImportPath", "")), event["Action"]
        test = event.get("Test", "")
        top = test.split("/")[0]
        if action in ("output", "build-output"):
            output.setdefault((package, top), []).append(event["Output"])
        elif action in ("pass", "fail", "skip") and test and "/" not in test:
            count.passed += action == "pass"
            count.failed += action == "fail"
            count.skipped += action == "skip"
            text = "".join(output.pop((package, top), ()))
            if action == "fail":
                failed_tests.add(package)
                print(text, end="", flush=True)
        elif action in ("pass", "fail", "skip") and not test:
            text = "".join(output.pop((package, ""), ()))
            if action != "skip":
                print(text.removeprefix("PASS\n"), end="", flush=True)
            if action == "fail" and package not in failed_tests:
                count.failed += 1
        elif action == "build-fail":
            print("".join(output.pop((package, ""), ())), end="", flush=True)

    status = run("go", "test", "-json", "./...", on_line=on_line)
    if status and not count.failed:
        count.failed += 1
    return count


def pytest() -> Count:
    report = ARTIFACTS / "pytest.xml"
    report.unlink(missing_ok=True)
    status = run(BIN / "python", "-m", "pytest", "notebooks/tests", f"--junitxml={report}", "--durations=5", "-q")
    if not report.exists():
        return Count(failed=1)
    suite = xml.etree.ElementTree.parse(report).getroot().find("testsuite")
    total, failures, errors, skipped = (int(suite.get(k)) for k in ("tests", "failures", "errors", "skipped"))
    failed = failures + errors
    return Count(total - failed - skipped, failed or int(status != 0), skipped)


def browser() -> Count:
    report = ARTIFACTS / "browser.tap"
    report.unlink(missing_ok=True)
    tests = sorted(BROWSER_TESTS.glob("*.test.mjs"))
    status = run(
        "node", "--test", "--test-concurrency=1",
        "--test-reporter=spec", "--test-reporter-destination=stdout",
        "--test-reporter=tap", f"--test-reporter-destination={report}", *tests,
    )
    text = report.read_text() if report.exists() else ""
    found = dict(re.findall(r"^# (pass|fail|cancelled|skipped) (\d+)$", text, re.MULTILINE))
    if not found:
        return Count(failed=1)
    failed = int(found["fail"]) + int(found["cancelled"])
    return Count(int(found["pass"]), failed or int(status != 0), int(found["skipped"]))


SUITES = {
    "formatting": formatting,
    "vet": vet,
    "lint": lint,
    "go test": go_tests,
    "notebooks": pytest,
    "browser": browser,
}

if __name__ == "__main__":
    main()
