"""Every notebook under notebooks/source: how it is stored, how it is released, and that both forms run."""

import time

import books
import nbformat
import pytest

# A class starts with the kernel's caches warm. The instructor's form, all cells, has to run within this.
INSTRUCTOR_LIMIT_S = 90
CELL_LIMIT_LINES = 12

each_notebook = pytest.mark.parametrize("path", books.source_notebooks(), ids=lambda p: f"{p.parent.name}/{p.stem}")


def report(faults: list[str]) -> None:
    if faults:
        pytest.fail("\n".join(faults), pytrace=False)


# How it is stored.


@each_notebook
def test_stores_no_results(path):
    book = books.read(path)
    report([f"{books.where(c, book)} holds {what}: clear all outputs before you save"
            for c in books.code(book)
            for what, held in (("outputs", c.outputs), ("an execution count", c.execution_count)) if held])


@each_notebook
def test_has_unique_ids(path):
    book = books.read(path)
    seen, faults = {}, []
    for cell in book.cells:
        marks = [("cell id", cell.get("id")), ("nbgrader grade_id", cell.metadata.get("nbgrader", {}).get("grade_id"))]
        for kind, value in marks:
            if kind == "cell id" and not value:
                faults.append(f"{books.where(cell, book)} has no {kind}")
            elif value and (kind, value) in seen:
                faults.append(f"{books.where(cell, book)} has the same {kind} as {seen[kind, value]}: {value}")
            elif value:
                seen[kind, value] = books.where(cell, book)
    report(faults)


@each_notebook
def test_names_the_go_kernel(path):
    spec = books.read(path).metadata.get("kernelspec", {})
    assert spec.get("name") == "gonb", f"metadata.kernelspec.name is {spec.get('name')!r}, not 'gonb'"
    assert spec.get("language") == "go", (
        f"metadata.kernelspec.language is {spec.get('language')!r}, not 'go': nbgrader would put Python in the answer cells "
        "(Colab and VS Code drop it when they save)")


@each_notebook
def test_imports_only_this_project_and_the_standard_library(path):
    book = books.read(path)
    report([f"{books.where(c, book)} imports {p}: the kernel would fetch it from the internet; reach it through a package of ours"
            for c in books.code(book) for p in books.imports(c)
            if "." in p.split("/")[0] and p != books.MODULE and not p.startswith(books.MODULE + "/")])


@each_notebook
def test_answers_have_a_solution_region(path):
    book = books.read(path)
    report([f"{books.where(c, book)} is an answer without BEGIN SOLUTION … END SOLUTION: its release would be no valid Go"
            for c in books.code(book) if books.is_answer(c) and not books.secret_regions(c)])


# How it is released.


@each_notebook
def test_release_has_short_cells(path, released):
    book = books.read(released(path))
    report([f"{books.where(c, book)} has {lines} lines, and a student reads it: {CELL_LIMIT_LINES} at most"
            for c in books.code(book) if not books.is_test(c)
            if (lines := len(c.source.strip().splitlines())) > CELL_LIMIT_LINES])


@each_notebook
def test_release_holds_no_secret(path, released):
    source, release = books.read(path), books.read(released(path))
    shown = "\n".join(c.source for c in release.cells)
    faults = [f"the release holds {mark!r}" for mark in ("BEGIN SOLUTION", "BEGIN HIDDEN TESTS", "BEGIN MARK SCHEME") if mark in shown]
    for cell in source.cells:
        secrets = books.secret_regions(cell)
        if books.is_answer(cell) and not secrets:
            secrets = [cell.source]
        elsewhere = "\n".join(c.source for c in source.cells if c is not cell)
        for line in {line.strip() for secret in secrets for line in secret.splitlines()}:
            if len(line) >= 10 and line in shown and line not in elsewhere and line not in outside(cell, secrets):
                faults.append(f"the release shows a line of the solution or hidden test of {books.where(cell, source)}: {line}")
    report(faults)


def outside(cell, secrets: list[str]) -> str:
    """The text of a cell that is no secret."""
    text = cell.source
    for secret in secrets:
        text = text.replace(secret, "")
    return text


@each_notebook
def test_release_has_go_stubs(path, released):
    book = books.read(released(path))
    report([f"{books.where(c, book)}: the released answer does not hold panic(\"not implemented\")"
            for c in books.code(book) if books.is_answer(c) and 'panic("not implemented")' not in c.source])


# That both run.


@each_notebook
def test_instructor_form_runs(path, execute):
    began = time.monotonic()
    book = execute(path)
    took = time.monotonic() - began
    report([f"{books.where(c, book)} writes to stderr, which nbgrader scores 0: {o.text}"
            for c in books.code(book) if books.is_test(c) for o in c.outputs
            if o.output_type == "stream" and o.name == "stderr"])
    size = len(nbformat.writes(book).encode())
    assert size <= 3_000_000, f"the executed notebook has {size} bytes, the limit is 3,000,000"
    assert took < INSTRUCTOR_LIMIT_S, f"the notebook took {took:.0f} s, the limit is {INSTRUCTOR_LIMIT_S} s"


@each_notebook
def test_released_form_runs_to_its_end(path, released, execute):
    book = execute(released(path), allow_errors=True)
    report([f"{books.where(c, book)} did not run" for c in books.code(book) if c.source.strip() and not c.execution_count])
    tests = [c for c in books.code(book) if books.is_test(c)]
    report([f"{books.where(c, book)} passes though nothing is answered yet" for c in tests if not books.errors(c)])
    report([f"{books.where(c, book)} fails without saying that the answer is not implemented:\n{books.text_of(c)}"
            for c in tests if "not implemented" not in books.text_of(c).lower()])
