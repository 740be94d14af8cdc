#!/bin/sh
# Says in one line what this machine lacks, before anything else starts.
# Plain sh, because a Python that is too old could not read the other scripts.
PYTHON=${PYTHON:-python3}

lacks() {
    echo "$1" >&2
    exit 1
}

command -v go >/dev/null 2>&1 ||
    lacks "Go is missing: install Go 1.26 or newer from https://go.dev/dl/ and put its bin folder on PATH."
# Asked inside the project, an older go may fetch the version that go.mod names; then that one counts.
version=$(go env GOVERSION 2>/dev/null)
[ -n "$version" ] || version=$(cd / && go env GOVERSION 2>/dev/null)
[ -n "$version" ] || version=$(cd / && go version 2>/dev/null | cut -d' ' -f3)
numbers=$(echo "$version" | sed -n 's/^go\([0-9]*\)\.\([0-9]*\).*/\1 \2/p')
major=${numbers%% *}
minor=${numbers##* }
if [ -n "$numbers" ] && { [ "$major" -lt 1 ] || { [ "$major" -eq 1 ] && [ "$minor" -lt 26 ]; }; }; then
    lacks "Go is too old: this lab needs Go 1.26 or newer, and the go on PATH is $version (https://go.dev/dl/)."
fi

command -v "$PYTHON" >/dev/null 2>&1 ||
    lacks "Python is missing: install Python 3.11 or newer (Debian, Ubuntu: sudo apt-get install python3 python3-venv)."
"$PYTHON" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null ||
    lacks "Python is too old: this lab needs Python 3.11 or newer, and $PYTHON is $("$PYTHON" -V 2>&1); another one can be named: make lab PYTHON=python3.12"
"$PYTHON" -c 'import venv, ensurepip' 2>/dev/null ||
    lacks "Python's venv module is missing: install it (Debian, Ubuntu: sudo apt-get install python3-venv)."
