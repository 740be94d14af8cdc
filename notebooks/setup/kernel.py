"""Installs the Go kernel for Jupyter into the virtual environment, never into the home folder.

GoNB's own installer writes the kernelspec. Then an environment is added to it, so that the kernel
runs wherever it is started from: with a PATH that lacks go, with an empty home, offline.
"""

import json
import os
import subprocess
from pathlib import Path

# The kernel builds with the caches that were warmed at set-up, whoever starts it.
GO_SETTINGS = ("GOCACHE", "GOMODCACHE", "GOPATH")

# The kernel's own log would fill the terminal that JupyterLab was started in. What is fatal still shows.
QUIET = {
    "-logtostderr=true": "-logtostderr=false",
    "-log_file=": "-log_file=/dev/null",
    "-stderrthreshold=2": "-stderrthreshold=3",
}


def environment(venv: Path, echarts: Path | None) -> dict[str, str]:
    """What a kernel needs beyond what it inherits. Jupyter fills in ${PATH} when it starts one."""
    answer = subprocess.run(["go", "env", "-json", "GOROOT", "GOFLAGS", *GO_SETTINGS], check=True, capture_output=True, text=True)
    go = json.loads(answer.stdout)
    env = {name: go[name] for name in GO_SETTINGS}
    env["CGO_ENABLED"] = "0"
    env["GOFLAGS"] = f"{go['GOFLAGS']} -ldflags=-s".strip()  # no symbol table: each cell links a fifth of a second faster
    env["PATH"] = os.pathsep.join([str(venv / "bin"), str(Path(go["GOROOT"]) / "bin"), "${PATH}"])
    if echarts:
        env["FLEETLAB_ECHARTS"] = str(echarts)
    return env


def install(root: Path, venv: Path, env: dict[str, str]) -> Path:
    """Writes share/jupyter/kernels/gonb in venv for the packages in root."""
    gonb, data = venv / "bin" / "gonb", venv / "share" / "jupyter"
    subprocess.run(
        [gonb, "--install", "--force_deps", f"-go_work={root}"],
        env=os.environ | {"JUPYTER_DATA_DIR": str(data)}, check=True, capture_output=True, text=True,
    )
    path = data / "kernels" / "gonb" / "kernel.json"
    spec = json.loads(path.read_text())
    spec["argv"][0] = str(gonb)  # from a folder under /tmp the installer makes a copy of itself
    spec["argv"] = [QUIET.get(flag, flag) for flag in spec["argv"]]
    spec["language"] = "go"
    spec["env"] = env
    for copy in path.parent.glob("gonb*"):
        copy.unlink()
    path.write_text(json.dumps(spec, indent=1) + "\n")
    return path
