"""Opens JupyterLab on a folder: serve.py FOLDER [flags for JupyterLab]. Runs in the virtual environment."""

import os
import sys
from pathlib import Path


def flags(folder: Path, given: list[str]) -> list[str]:
    """JupyterLab's flags for this machine; those that were given come last and win."""
    own = [f"--ServerApp.root_dir={folder}", "--Application.log_level=WARN"]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        own.append("--allow-root")
    if sys.platform == "linux" and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        own.append("--no-browser")
    return own + given


def main() -> None:
    folder = Path(sys.argv[1]).resolve()
    bin = Path(sys.executable).parent
    os.environ["PATH"] = os.pathsep.join([str(bin), os.environ.get("PATH", "")])  # nbgrader finds its own programs there
    os.chdir(Path(__file__).resolve().parents[1])  # where nbgrader's extension finds nbgrader_config.py
    print("Opening JupyterLab; its address follows. Ctrl-C ends it.", flush=True)
    os.execv(sys.executable, [sys.executable, "-m", "jupyterlab", *flags(folder, sys.argv[2:])])


if __name__ == "__main__":
    main()
