"""Opens JupyterLab on a folder: serve.py FOLDER START [flags for JupyterLab], where START is the subfolder that it
shows first. Runs in the virtual environment."""

import os
import sys
from pathlib import Path


def flags(folder: Path, start: str, given: list[str]) -> list[str]:
    """JupyterLab's flags for this machine; those that were given come last and win."""
    own = [f"--ServerApp.root_dir={folder}", "--Application.log_level=WARN"]
    if (folder / start).is_dir():
        own.append(f"--LabApp.default_url=/lab/tree/{start}")
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        own.append("--allow-root")
    if sys.platform == "linux" and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        own.append("--no-browser")
    if folder.name == "lab":  # students grade nothing
        own.append("--ServerApp.jpserver_extensions={'nbgrader.server_extensions.formgrader': False}")
    return own + given


def main() -> None:
    folder = Path(sys.argv[1]).resolve()
    start, given = sys.argv[2], sys.argv[3:]
    bin = Path(sys.executable).parent
    os.environ["PATH"] = os.pathsep.join([str(bin), os.environ.get("PATH", "")])  # nbgrader finds its own programs there
    os.chdir(Path(__file__).resolve().parents[1])  # where nbgrader's extension finds nbgrader_config.py
    print("Opening JupyterLab; its address follows. Ctrl-C ends it.", flush=True)
    os.execv(sys.executable, [sys.executable, "-m", "jupyterlab", *flags(folder, start, given)])


if __name__ == "__main__":
    main()
