"""Lays the released notebooks out in lab/ and never overwrites what a student did there.

A manifest in the folder remembers the hash of each file as it was laid out:

- a file that is still as it was laid out is the lab's: it may be replaced by a newer version
- a file that differs is the student's: it stays, and a newer version is put beside it, once
- a file that was deleted is laid out again
- a file that the manifest doesn't know (a lost manifest, a file of that name made by hand) counts
  as the student's, unless it is equal to the new one
"""

import hashlib
import json
import os
import tempfile
from pathlib import Path

MANIFEST = ".fleetlab.json"


def lay_out(release: Path, lab: Path) -> list[str]:
    """Brings lab up to the state of release; returns one message per thing that a student should know."""
    if lab.exists() and not lab.is_dir():
        raise NotADirectoryError(f"{lab.name} is in the way: it is a file, and the notebooks need a folder of that name")
    lab.mkdir(parents=True, exist_ok=True)
    laid, messages = _read_manifest(lab)
    before = json.dumps(laid)
    for source in sorted(p for p in release.rglob("*") if p.is_file()):
        name = source.relative_to(release).as_posix()
        new = source.read_bytes()
        laid[name], message = _lay_out_one(lab, name, new, laid.get(name, {}))
        if message:
            messages.append(message)
    if json.dumps(laid) != before or not (lab / MANIFEST).is_file():  # a folder that may not be written to is fine as it is
        _write(lab / MANIFEST, json.dumps(laid, indent=1, sort_keys=True).encode() + b"\n")
    return messages


def _lay_out_one(lab: Path, name: str, new: bytes, entry: dict) -> tuple[dict, str]:
    """Lays out one file. An entry holds `laid`, the hash of what the lab wrote under this name, and
    `offered`, the hash of the newest version that a student with a changed file has been shown."""
    target, digest = lab / name, _hash(new)
    if not os.path.lexists(target):
        _write(target, new)
        return {"laid": digest}, ""
    current = _hash(target.read_bytes()) if target.is_file() else None
    if current == digest:
        return {"laid": digest}, ""
    if current is not None and current == entry.get("laid"):
        _write(target, new)
        return {"laid": digest}, f"{name}: updated (you had not changed it)"
    if digest in (entry.get("laid"), entry.get("offered")):
        return entry, ""
    beside = _free_name(target, new)
    _write(beside, new)
    kept = {"offered": digest} | ({"laid": entry["laid"]} if "laid" in entry else {})
    return kept, f"{name}: yours is kept, the new version is beside it as {beside.name}"


def _free_name(target: Path, new: bytes) -> Path:
    """A name beside target that is free, or already holds the same."""
    for n in range(1, 1000):
        number = "" if n == 1 else f"-{n}"
        beside = target.with_name(f"{target.stem}.new-version{number}{target.suffix}")
        if not os.path.lexists(beside) or (beside.is_file() and beside.read_bytes() == new):
            return beside
    raise FileExistsError(f"a thousand new versions lie beside {target.name}: remove some")


def _read_manifest(lab: Path) -> tuple[dict, list[str]]:
    path = lab / MANIFEST
    if not path.exists():
        return {}, []
    try:
        laid = json.loads(path.read_text())
        if isinstance(laid, dict) and all(isinstance(e, dict) for e in laid.values()):
            return laid, []
    except ValueError:
        pass
    return {}, [f"{MANIFEST} could not be read: every file that differs from the new version is kept as yours"]


def _write(path: Path, data: bytes) -> None:
    """Writes all or nothing: a full disk or a stopped run leaves the old file whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".fleetlab-")
    try:
        with os.fdopen(handle, "wb") as f:
            f.write(data)
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(name, 0o666 & ~umask)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
