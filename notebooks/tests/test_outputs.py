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


ABSURD = {  # what a student may put into levers(): what the cell has to say
    "c.Checkpoint = 0": "Checkpoint 0s: must be between 1m0s and 24h0m0s",
    "c.Checkpoint = -3 * time.Hour": "Checkpoint -3h0m0s: must be between 1m0s and 24h0m0s",
    "c.Checkpoint = 12": "Checkpoint 12ns: must be between 1m0s and 24h0m0s",  # hours without a unit
    "c.Checkpoint = 1_000_000_000 * time.Second": "Checkpoint 277777h46m40s: must be between 1m0s and 24h0m0s",
    "c.Checkpoint = time.Duration(math.NaN())": "Checkpoint ",
    "c.Policy = nil": "Policy nil: must be FCFS, BestFit, EASY, Preemption or a policy of your own",
    "c.Policy = fleet.Placing(\"mine\", nil)": "Policy nil: must be FCFS, BestFit, EASY, Preemption or a policy of your own",
    "c.Rescale = nil": "Rescale nil: must be elastic.Restart",
    "c.RateUSD = math.NaN()": "RateUSD NaN: must be between 0 and 1000",
    "c.RateUSD = 1e9": "RateUSD 1e+09: must be between 0 and 1000",
    "c.MFU = math.Inf(1)": "MFU +Inf: must be above 0 and at most 1",
    "c.Topology.Pods = 1_000_000_000": "Topology.Pods 1000000000: must be between 1 and 1000",
    "c.Topology = fleet.Topology{}": "Topology.Pods 0: must be between 1 and 1000",
    "c.Horizon = -1": "Horizon -1ns: must be between 1s and ",
    "c.Migration.Concurrency = 0": "Migration.Concurrency 0: must be between 1 and 100000",
    "c.SLA.Start = -time.Hour": "SLA.Start -1h0m0s: must be between 0s and ",
    "c = fleet.Config{}": "Policy nil: must be",
}


def test_absurd_levers_are_told(execute):
    """In every act a lever that can't be set gives a message in the cell that names it, its value and its range, and no trace of the program."""
    acts = ["scenario.Fragmented(c)", "scenario.Gamble(c)", "scenario.Rescaled(c)"]
    sets = ("c.Topology", "c.Horizon")  # Acts II and III set these themselves
    cases = [(lever, says, acts[0 if lever.startswith(sets) else i % len(acts)]) for i, (lever, says) in enumerate(ABSURD.items())]
    cases += [("c.Checkpoint = 0", ABSURD["c.Checkpoint = 0"], act) for act in acts[1:]]
    header = 'import ("math"; "time"; "%s/fleet"; "%s/fleet/scenario"; "%s/widgets")' % (books.MODULE, books.MODULE, books.MODULE)
    book = execute(books.go_notebook(
        header + "\nvar _ = math.Pi\nvar _ = time.Second",
        *(f"%%\nc := fleet.Default()\n{lever}\nrun := widgets.Must(fleet.Simulate({act}))\nwidgets.Show(widgets.Cockpit(run))" for lever, _, act in cases),
    ), allow_errors=True)
    wrong = []
    for (lever, says, act), cell in zip(cases, books.code(book)[1:], strict=True):
        text = books.text_of(cell)
        if not any(o.output_type == "error" for o in cell.outputs) or says not in text or "goroutine" in text or "panic" in text:
            wrong.append(f"{act} with {lever} should say {says!r}:\n{text}")
    assert not wrong, "\n".join(wrong)
