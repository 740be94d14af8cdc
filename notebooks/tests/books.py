"""Notebooks as the tests see them: where they are, their code, their outputs as text."""

import copy
import re
from pathlib import Path

import nbformat

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "notebooks" / "source"
MODULE = "github.com/fleetlab/fleetlab"

_REGION = re.compile(r"^.*?BEGIN (SOLUTION|HIDDEN TESTS).*?$(.*?)^.*?END \1.*?$", re.MULTILINE | re.DOTALL)
_IMPORT = re.compile(r'^\s*import\s+(?:[\w.]+\s+)?"([^"]+)"|^\s*import\s*\((.*?)\)', re.MULTILINE | re.DOTALL)


def source_notebooks() -> list[Path]:
    """The instructor's notebooks of all assignments."""
    return sorted(SOURCE.glob("*/*.ipynb"))


def read(book) -> nbformat.NotebookNode:
    """A notebook of its own from a path or a node."""
    return copy.deepcopy(book) if isinstance(book, dict) else nbformat.read(book, as_version=4)


def code(book: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    return [cell for cell in book.cells if cell.cell_type == "code"]


def go_notebook(*cells: str) -> nbformat.NotebookNode:
    """A notebook of Go code cells, for tests that need one."""
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in cells])
    book.metadata.kernelspec = {"name": "gonb", "language": "go", "display_name": "Go (gonb)"}
    return book


def text_of(cell: nbformat.NotebookNode, *kinds: str) -> str:
    """All that a cell put out, as text; only outputs of the kinds named (stream, error, display_data), if any are."""
    parts = []
    for output in cell.get("outputs", ()):
        if kinds and output.output_type not in kinds:
            continue
        if output.output_type == "stream":
            parts.append(output.text)
        elif output.output_type == "error":
            parts += [output.ename, output.evalue, *output.traceback]
        else:
            parts += [value if isinstance(value, str) else str(value) for value in output.data.values()]
    return "\n".join(parts)


def errors(cell: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    return [output for output in cell.get("outputs", ()) if output.output_type == "error"]


def is_test(cell: nbformat.NotebookNode) -> bool:
    """Whether nbgrader scores the cell by running it."""
    mark = cell.metadata.get("nbgrader", {})
    return cell.cell_type == "code" and bool(mark.get("grade")) and not mark.get("solution")


def is_answer(cell: nbformat.NotebookNode) -> bool:
    return bool(cell.metadata.get("nbgrader", {}).get("solution"))


def secret_regions(cell: nbformat.NotebookNode) -> list[str]:
    """The texts between the marks of solutions and hidden tests."""
    return [match.group(2) for match in _REGION.finditer(cell.source)]


def imports(cell: nbformat.NotebookNode) -> list[str]:
    paths = []
    for single, block in _IMPORT.findall(cell.source):
        paths += [single] if single else re.findall(r'"([^"]+)"', block)
    return paths


def where(cell: nbformat.NotebookNode, book: nbformat.NotebookNode) -> str:
    """Names a cell in a message: its number among all cells and its first line."""
    number = next(i for i, other in enumerate(book.cells, 1) if other is cell)
    first = next(iter(cell.source.splitlines()), "")
    return f"cell {number} ({first[:60]!r})"
