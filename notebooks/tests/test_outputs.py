"""What cells show reaches the notebook, every time."""

import books


def test_no_output_is_lost(execute):
    """GoNB drops what it has not read when a cell's program ends; without the wait in widgets.Show it lost one output in about fifteen."""
    cells = 20
    book = execute(books.go_notebook(
        f'import "{books.MODULE}/widgets"',
        *(f'%%\nwidgets.Judge("claim {i}", nil)' for i in range(cells)),
    ))
    lost = [i for i, cell in enumerate(books.code(book)[1:]) if f"passed: claim {i}" not in books.text_of(cell)]
    assert not lost, f"the outputs of {len(lost)} of {cells} cells were lost: {lost}"


def test_an_error_is_drawn_and_counts(execute):
    book = execute(books.go_notebook(
        f'import ("errors"; "{books.MODULE}/widgets"; "{books.MODULE}/fleet")',
        '%%\nwidgets.Judge("the sky is green", errors.New("it is blue"))',
        "%%\nc := fleet.Default()\nc.Checkpoint = 0\nwidgets.Must(fleet.Simulate(c))",
    ), allow_errors=True)
    judged, bad = books.code(book)[1:]
    assert books.errors(judged) and "not passed: the sky is green" in books.text_of(judged) and "it is blue" in books.text_of(judged)
    assert books.errors(bad) and "Checkpoint 0s: must be between 1m0s and 24h0m0s" in books.text_of(bad)
    for cell in (judged, bad):
        assert "goroutine" not in books.text_of(cell) and "panic" not in books.text_of(cell)
        assert {o.text for o in cell.outputs if o.output_type == "stream" and o.name == "stderr"} <= {"exit status 1\n"}  # GoNB's own word
