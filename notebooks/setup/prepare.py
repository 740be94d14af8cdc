"""Sets the lab up, step by step: prepare.py lab | test | lint.

Each step keeps a stamp with the hash of what it was made from and runs again only when that changes,
so a second run takes seconds. Runs before there is a virtual environment: standard library only.
"""

import fcntl
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import kernel
import layout

ROOT = Path(__file__).resolve().parents[2]
MODULE = "github.com/fleetlab/fleetlab"
VENV = ROOT / ".venv"
BIN = VENV / "bin"
PYTHON = BIN / "python"
CACHE = ROOT / ".cache"
LAB = ROOT / "lab"
NOTEBOOKS = ROOT / "notebooks"
BROWSER_TESTS = NOTEBOOKS / "tests" / "browser"
STAMPS = CACHE / "stamps"
LOG = CACHE / "setup.log"

GOPLS = "golang.org/x/tools/gopls@v0.23.0"
GOLANGCI_LINT = "github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0"
# The last release of the 5.x line, which go-echarts 2.6 writes its options for.
ECHARTS_VERSION = "5.6.0"
ECHARTS_SHA256 = "55974cf42cc160e6cf9099cd3ed8cdedfaa9779919fcee7e2272c85f6ca30e27"
ECHARTS = CACHE / f"echarts-{ECHARTS_VERSION}" / "echarts.common.min.js"
# The packages that notebooks import, as far as they have Go files.
NOTEBOOK_PACKAGES = ("fleet", "fleet/check", "fleet/checkpoint", "fleet/facts", "fleet/scenario", "widgets")


class Stop(Exception):
    """Why the set-up can't go on, in one line."""


@dataclass
class Step:
    title: str
    key: Callable[[], object]  # what the result depends on, as anything that json can write
    done: Callable[[], bool]  # whether the result is still there
    make: Callable[[], str | None]  # makes the result; returns a note for the user
    optional: bool = False  # whether the set-up goes on after a failure; the next run tries again


def main() -> None:
    goal = sys.argv[1]
    CACHE.mkdir(exist_ok=True)
    os.chdir(ROOT)
    with open(CACHE / "setup.lock", "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("Waiting for another set-up of this folder to end.", flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            for step in GOALS[goal]:
                run(step)
        except Stop as e:
            sys.exit(str(e))


def run(step: Step) -> None:
    stamp = STAMPS / step.title.replace(" ", "-")
    key = digest(step.key())
    if stamp.exists() and stamp.read_text() == key and step.done():
        print(f"  {step.title}: ready", flush=True)
        return
    print(f"  {step.title} …", end="", flush=True)
    began = time.monotonic()
    try:
        note = step.make()
    except (subprocess.CalledProcessError, OSError) as e:
        reason = last_line(e)
        if not step.optional:
            print(" failed", flush=True)
            raise Stop(f"{step.title}: {reason} (the whole output is in {LOG.relative_to(ROOT)})") from e
        print(f" left out: {reason}", flush=True)
        return
    print(f" {time.monotonic() - began:.1f} s" + (f" – {note}" if note else ""), flush=True)
    stamp.parent.mkdir(parents=True, exist_ok=True)
    stamp.write_text(key)


def last_line(e: Exception) -> str:
    """The line of a failed command's output that says most: the last one that isn't a hint or blank."""
    text = (getattr(e, "stderr", "") or "") + (getattr(e, "stdout", "") or "")
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith(("[notice]", "npm notice"))]
    named = [line for line in lines if re.match(r"[\w.]*(Error|Exception|ERROR)\b", line)]
    wanted = named or [line for line in lines if "error" in line.lower()] or lines
    return wanted[-1] if wanted else str(e)


def command(*args: object, tries: int = 1, **options: object) -> str:
    """Runs a command and returns what it printed. All output goes to the log too. `tries` is for the network."""
    options.setdefault("cwd", ROOT)
    for left in reversed(range(tries)):
        began = time.monotonic()
        done = subprocess.run(
            [str(a) for a in args], capture_output=True, text=True, stdin=subprocess.DEVNULL, **options
        )
        with open(LOG, "a") as log:
            log.write(f"$ {' '.join(str(a) for a in args)}\n{done.stdout}{done.stderr}")
            log.write(f"→ {done.returncode} after {time.monotonic() - began:.1f} s\n")
        if done.returncode == 0:
            return done.stdout
        if not left:
            raise subprocess.CalledProcessError(done.returncode, args, done.stdout, done.stderr)
        time.sleep(2)
    raise AssertionError("unreachable")


def digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()


def files(*patterns: str) -> dict[str, str]:
    """The hash of each file that a pattern names, by its path in the project."""
    found = {p for pattern in patterns for p in ROOT.glob(pattern) if p.is_file()}
    return {p.relative_to(ROOT).as_posix(): hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(found)}


def go_version() -> str:
    return subprocess.run(["go", "env", "GOVERSION"], cwd=ROOT, capture_output=True, text=True).stdout.strip()


# The steps.


def make_venv() -> None:
    shutil.rmtree(STAMPS, ignore_errors=True)  # the other steps put things into it
    command(sys.executable, "-m", "venv", "--clear", VENV)


def venv_runs() -> bool:
    return PYTHON.exists() and subprocess.run([PYTHON, "-c", ""], capture_output=True).returncode == 0


def make_packages() -> None:
    command(PYTHON, "-m", "pip", "install", "--disable-pip-version-check", "--quiet",
            "-r", "notebooks/requirements.txt", "-c", "notebooks/constraints.txt", tries=2)
    # No question about news on a student's first screen.
    overrides = VENV / "share" / "jupyter" / "lab" / "settings" / "overrides.json"
    overrides.parent.mkdir(parents=True, exist_ok=True)
    quiet = {"fetchNews": "false", "checkForUpdates": False}
    overrides.write_text(json.dumps({"@jupyterlab/apputils-extension:notification": quiet}) + "\n")


def make_test_packages() -> None:
    command(PYTHON, "-m", "pip", "install", "--disable-pip-version-check", "--quiet",
            "-r", "notebooks/requirements-test.txt", "-c", "notebooks/constraints.txt", tries=2)


def go_install(*what: str) -> None:
    command("go", "install", *what, tries=2, env=os.environ | {"GOBIN": str(BIN)})


def make_echarts() -> str | None:
    from_cdn = "left to the CDN"
    if not shutil.which("npm"):
        return f"{from_cdn}, as npm is missing"
    ECHARTS.parent.mkdir(parents=True, exist_ok=True)
    package = f"echarts-{ECHARTS_VERSION}.tgz"
    try:
        command("npm", "pack", "--silent", "--cache", CACHE / "npm", "--fetch-retries=0", f"echarts@{ECHARTS_VERSION}",
                tries=2, cwd=ECHARTS.parent)
    except subprocess.CalledProcessError as e:
        return f"{from_cdn}, as npm could not fetch it: {last_line(e)}"
    command("tar", "-xzf", package, "--strip-components=2", "package/dist/echarts.common.min.js", cwd=ECHARTS.parent)
    (ECHARTS.parent / package).unlink()
    if hashlib.sha256(ECHARTS.read_bytes()).hexdigest() != ECHARTS_SHA256:
        ECHARTS.unlink()
        return f"{from_cdn}, as what npm fetched is not the file that this lab was tested with"
    return None


def kernel_environment() -> dict[str, str]:
    return kernel.environment(VENV, ECHARTS if ECHARTS.exists() else None)


def make_kernel() -> None:
    kernel.install(ROOT, VENV, kernel_environment())


def kernel_there() -> bool:
    return (VENV / "share" / "jupyter" / "kernels" / "gonb" / "kernel.json").exists()


def packages_with_go() -> list[str]:
    def has_go(package: str) -> bool:
        return any(not p.name.endswith("_test.go") for p in (ROOT / package).glob("*.go"))

    return [f"{MODULE}/{p}" for p in NOTEBOOK_PACKAGES if has_go(p)]


def jupyter_apart() -> dict[str, str]:
    """An environment in which Jupyter's tools neither read nor write anything in the home folder. nbgrader finds
    its own programs by PATH only."""
    apart = {f"JUPYTER_{kind}_DIR": CACHE / "jupyter" / kind.lower() for kind in ("CONFIG", "DATA", "RUNTIME")}
    apart["IPYTHONDIR"] = CACHE / "jupyter" / "ipython"
    for folder in apart.values():
        folder.mkdir(parents=True, exist_ok=True)
    path = os.pathsep.join([str(BIN), os.environ.get("PATH", "")])
    return os.environ | {name: str(folder) for name, folder in apart.items()} | {"JUPYTER_PREFER_ENV_PATH": "1", "PATH": path}


def make_warm() -> None:
    command(PYTHON, "notebooks/setup/warm.py", *packages_with_go(), env=jupyter_apart())


def assignments() -> list[str]:
    return sorted({p.parent.name for p in (NOTEBOOKS / "source").glob("*/*.ipynb")})


def make_release() -> str | None:
    """The student's form of each assignment, made by nbgrader in a folder of its own."""
    course = CACHE / "course"
    shutil.rmtree(course, ignore_errors=True)
    if not assignments():
        return "there are no notebooks yet"
    ignore = shutil.ignore_patterns(".ipynb_checkpoints")
    shutil.copytree(NOTEBOOKS / "source", course / "source", ignore=ignore)
    shutil.copy(NOTEBOOKS / "nbgrader_config.py", course)
    for name in assignments():
        command(PYTHON, "-m", "nbgrader", "generate_assignment", name, "--force", "--create", cwd=course, env=jupyter_apart())
    return None


def make_layout() -> str | None:
    release = CACHE / "course" / "release"
    messages = layout.lay_out(release, LAB) if release.exists() else []
    LAB.mkdir(exist_ok=True)
    return "".join(f"\n    lab/{m}" for m in messages) or None


def find_browser() -> str | None:
    named = os.environ.get("CHROMIUM")
    found = [shutil.which(name) for name in ((named,) if named else ("chromium", "chromium-browser", "google-chrome"))]
    return next((path for path in found if path), None)


def missing_for_tests() -> list[str]:
    wanted = {"chromium": find_browser(), "nodejs": shutil.which("node"), "npm": shutil.which("npm")}
    return [package for package, found in wanted.items() if not found]


def make_browser() -> None:
    """Chromium, and node with npm to drive it, from the distribution. That needs root."""
    missing = missing_for_tests()
    if not missing:
        return
    install = f"apt-get install -y --no-install-recommends {' '.join(missing)} fonts-dejavu-core"
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        raise Stop(f"the tests need {', '.join(missing)}; installing needs root, so run this once: sudo apt-get update && sudo {install}")
    apart = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    command("apt-get", "update", tries=2, env=apart)
    command(*install.split(), tries=2, env=apart)


def make_playwright() -> None:
    command("npm", "ci", "--no-audit", "--no-fund", "--cache", CACHE / "npm", tries=2, cwd=BROWSER_TESTS)


VENV_STEP = Step("virtual environment", lambda: [str(ROOT), sys.version, sys.executable], venv_runs, make_venv)
PACKAGES = Step("JupyterLab and nbgrader", lambda: [str(ROOT), sys.version, files("notebooks/requirements.txt", "notebooks/constraints.txt")],
                (VENV / "share" / "jupyter" / "lab" / "settings" / "overrides.json").exists, make_packages)
TOOLS = Step("Go kernel", lambda: [go_version(), files("go.mod", "go.sum")],
             lambda: (BIN / "gonb").exists() and (BIN / "goimports").exists(), lambda: go_install("tool"))
GOPLS_STEP = Step("completion in Go cells", lambda: [str(ROOT), go_version(), GOPLS], venv_runs, lambda: go_install(GOPLS), optional=True)
ECHARTS_STEP = Step("chart library", lambda: ECHARTS_SHA256, ECHARTS.exists, make_echarts, optional=True)
KERNEL = Step("kernel settings", lambda: [str(ROOT), kernel_environment(), files("go.mod", "notebooks/setup/kernel.py")], kernel_there, make_kernel)
WARM = Step("first build of the lab", lambda: [kernel_environment(), go_version(), files("go.*", "fleet/**/*.go", "widgets/**/*.go", "notebooks/setup/warm.py")],
            lambda: True, make_warm)
RELEASE = Step("student notebooks", lambda: [str(ROOT), files("notebooks/source/**/*", "notebooks/nbgrader_config.py", "notebooks/requirements.txt")],
               lambda: not assignments() or (CACHE / "course" / "release").exists(), make_release)
LAYOUT = Step("folder lab", time.time, lambda: False, make_layout)
BROWSER = Step("browser for the tests", lambda: "", lambda: not missing_for_tests(), make_browser)
TEST_PACKAGES = Step("pytest", lambda: [str(ROOT), sys.version, files("notebooks/requirements-test.txt", "notebooks/constraints.txt")],
                     lambda: bool(list(VENV.glob("lib/python*/site-packages/pytest"))), make_test_packages)
PLAYWRIGHT = Step("browser driver", lambda: files("notebooks/tests/browser/package*.json"), (BROWSER_TESTS / "node_modules" / "playwright-core").exists, make_playwright)
LINTER = Step("linter", lambda: [str(ROOT), go_version(), GOLANGCI_LINT], venv_runs, lambda: go_install(GOLANGCI_LINT), optional=True)

BASE = [VENV_STEP, PACKAGES, TOOLS, ECHARTS_STEP, KERNEL, WARM, RELEASE]
GOALS = {
    "lab": [*BASE, GOPLS_STEP, LAYOUT],
    "test": [BROWSER, *BASE, TEST_PACKAGES, PLAYWRIGHT, LINTER],
    "lint": [VENV_STEP, LINTER],
}

if __name__ == "__main__":
    main()
