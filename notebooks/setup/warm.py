"""Runs one small notebook through the kernel, so that a student's first cell finds everything built.

Takes the import paths to build as arguments. Runs in the virtual environment.
"""

import re
import sys

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError


def notebook(packages: list[str]) -> nbformat.NotebookNode:
    imports = "\n".join(f'import _ "{p}"' for p in packages)
    cells = [
        f'import "fmt"\n{imports}\n%%\nfmt.Println("warm")',
        'import "testing"\n%test\nfunc TestWarm(t *testing.T) { t.Log("warm") }',
    ]
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in cells])
    book.metadata.kernelspec = {"name": "gonb", "language": "go", "display_name": "Go (gonb)"}
    return book


def main() -> None:
    book = notebook(sys.argv[1:])
    try:
        NotebookClient(book, timeout=300, kernel_name="gonb").execute()
    except CellExecutionError as e:
        print(re.sub(r"<[^>]+>|&#?\w+;", " ", str(book.cells)))  # for the log: the compiler's words are among the outputs
        sys.exit(f"the kernel could not build the lab's packages: {e.evalue or e}")
    if "warm" not in str(book.cells[0].outputs):
        sys.exit(f"the kernel ran a cell and gave no output: {book.cells[0].outputs}")


if __name__ == "__main__":
    main()
