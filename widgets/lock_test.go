package widgets

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/fleetlab/fleetlab/fleet"
	"github.com/fleetlab/fleetlab/fleet/scenario"
)

func guess(hole int, wait float64) func() scenario.FragmentedGuess {
	return func() scenario.FragmentedGuess { return scenario.FragmentedGuess{LargestHole: hole, BigWait: wait} }
}

func unanswered() scenario.FragmentedGuess { panic("not implemented") }

// shows is a view with this text.
func shows(text string) View {
	return view(func() (Output, error) { return Output{HTML: "<p>" + text + "</p>", Text: text + "\n"}, nil })
}

func TestNothingShowsBeforeThePrediction(t *testing.T) {
	run := simulate(t, small(1, fleet.FCFS, false, false, time.Hour))
	act := simulate(t, scenario.Fragmented(fleet.Default()))
	for name, v := range map[string]View{
		"unanswered":     Locked(unanswered, run, shows("the result")),
		"nil":            Locked[scenario.FragmentedGuess](nil, run, shows("the result")),
		"gap":            Gap(unanswered, run),
		"locked failure": Locked(unanswered, nil, Cockpit(nil)), // not even rendered
	} {
		out := render(t, v)
		if !strings.Contains(out.HTML, "Locked until you predict") || out.Text != lockText || strings.Contains(out.HTML, "result") {
			t.Errorf("%s: %s", name, out.HTML)
		}
	}
	if out := render(t, Locked(guess(1, 1), act, shows("one"), shows("two"))); out.HTML != "<p>one</p><p>two</p>" || out.Text != "one\ntwo\n" {
		t.Errorf("answered: %+v", out)
	}
	if _, err := Locked(guess(1, 1), act, shows("one"), Cockpit(nil)).Render(); !errors.Is(err, ErrRun) {
		t.Errorf("a view that fails: %v", err)
	}
}

func TestGapSetsTheGuessAgainstTheRun(t *testing.T) {
	run := simulate(t, scenario.Fragmented(fleet.Default()))
	hole := run.At(run.Ledger().Window.Start).LargestHole
	out := render(t, Gap(guess(hole, 0.5), run))
	for _, want := range []string{"you said 1 node, the fleet says 1 node – exactly right", "you said 0.5 hours, the fleet says 7.5 hours – 7 hours too few"} {
		if !strings.Contains(strings.ReplaceAll(out.Text, nbsp, " "), want) {
			t.Errorf("%q lacks %q", out.Text, want)
		}
	}
	if !strings.Contains(out.HTML, "exactly right") || !strings.Contains(out.HTML, "too few") {
		t.Error(out.HTML)
	}
	if out := render(t, Gap(guess(60, 7.5), run)); !strings.Contains(strings.ReplaceAll(out.Text, nbsp, " "), "59 nodes too many") {
		t.Error(out.Text)
	}
}

func TestImpossiblePredictionsAreTold(t *testing.T) {
	run := simulate(t, scenario.Fragmented(fleet.Default()))
	for want, g := range map[string]func() scenario.FragmentedGuess{
		"LargestHole 1251: must be between 0 and 1250 nodes": guess(1251, 0),
		"LargestHole -1: must be":                            guess(-1, 0),
		"BigWait 8: must be between 0 and 7.5 hours":         guess(0, 8),
	} {
		for _, v := range []View{Gap(g, run), Locked(g, run, shows("the result"))} {
			if _, err := v.Render(); !errors.Is(err, scenario.ErrPrediction) || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want ErrPrediction with %q", err, want)
			}
		}
	}
	if _, err := Gap(guess(0, 0), nil).Render(); !errors.Is(err, ErrRun) {
		t.Errorf("no run: %v", err)
	}
}

func TestVerdicts(t *testing.T) {
	golden(t, "passed.html", render(t, verdict("each job goes to a node with room", nil)).HTML)
	failed := render(t, verdict("a <b> claim", errors.New("job 3 goes to node 7, which has only 2 free")))
	golden(t, "notpassed.html", failed.HTML)
	if failed.Text != "✗ not passed: a <b> claim\n  job 3 goes to node 7, which has only 2 free\n" || strings.Contains(failed.HTML, "<b> claim") {
		t.Errorf("%+v", failed)
	}
}
