package check

import (
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/fleetlab/fleetlab/fleet"
)

func right(v fleet.View, j fleet.Job) int {
	n, _ := tightest(v, j)
	return n
}

func last(v fleet.View, j fleet.Job) int { // of the tightest nodes the highest: just as good
	best := fleet.Wait
	for n := range v.Nodes() {
		if v.Free(n) >= j.GPUs && (best == fleet.Wait || v.Free(n) <= v.Free(best)) {
			best = n
		}
	}
	return best
}

func firstFit(v fleet.View, j fleet.Job) int {
	for n := range v.Nodes() {
		if v.Free(n) >= j.GPUs {
			return n
		}
	}
	return fleet.Wait
}

func TestRightAnswersPass(t *testing.T) {
	for name, place := range map[string]fleet.Placement{"lowest of equals": right, "highest of equals": last} {
		for check, err := range map[string]error{"Fits": Fits(place), "Tightest": Tightest(place), "ActI": ActI(place)} {
			if err != nil {
				t.Errorf("%s: %s: %v", name, check, err)
			}
		}
	}
	if err := Fits(firstFit); err != nil {
		t.Errorf("first fit finds room too: %v", err)
	}
}

// Each wrong answer is told what is wrong with it, in the lab's terms.
func TestWrongAnswersAreTold(t *testing.T) {
	for _, c := range []struct {
		name  string
		check func(fleet.Placement) error
		place fleet.Placement
		want  string
	}{
		{"not implemented", Fits, func(fleet.View, fleet.Job) int { panic("not implemented") }, "your function panicked: not implemented"},
		{"nil", Fits, nil, "it is nil"},
		{"always node 0", Fits, func(fleet.View, fleet.Job) int { return 0 }, "which has only"},
		{"a node that isn't there", Fits, func(v fleet.View, _ fleet.Job) int { return v.Nodes() }, "nodes are numbered from 0 to"},
		{"gives up", Fits, func(fleet.View, fleet.Job) int { return fleet.Wait }, "answer fleet.Wait only if no node has room"},
		{"wants more room than needed", Fits, func(v fleet.View, j fleet.Job) int {
			for n := range v.Nodes() {
				if v.Free(n) > j.GPUs {
					return n
				}
			}
			return fleet.Wait
		}, "waits, though node"},
		{"first fit", Tightest, firstFit, "would leave fewer GPUs over"},
		{"worst fit", Tightest, func(v fleet.View, j fleet.Job) int {
			best := fleet.Wait
			for n := range v.Nodes() {
				if v.Free(n) >= j.GPUs && (best == fleet.Wait || v.Free(n) > v.Free(best)) {
					best = n
				}
			}
			return best
		}, "would leave fewer"},
		{"first fit, all day", ActI, firstFit, "would leave fewer"},
		{"index out of range", ActI, func(v fleet.View, _ fleet.Job) int { return make([]int, 3)[v.Nodes()] }, "your function panicked: runtime error: index out of range"},
		{"Goexit", Tightest, func(fleet.View, fleet.Job) int { runtime.Goexit(); return 0 }, "ended its goroutine"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := c.check(c.place)
			if !errors.Is(err, ErrCheck) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want ErrCheck with %q", err, c.want)
			}
		})
	}
}

func TestEndlessLoopIsStopped(t *testing.T) {
	stop := make(chan struct{})
	defer close(stop)
	err := bounded(20*time.Millisecond, func() error { <-stop; return nil })
	if !errors.Is(err, ErrCheck) || !strings.Contains(err.Error(), "does a loop never end?") {
		t.Error(err)
	}
}

func TestOneOf(t *testing.T) {
	if err := OneOf(func() string { return "kill" }, "kill", "migrate"); err != nil {
		t.Error(err)
	}
	for want, answer := range map[string]func() string{
		`the answer is "": must be one of ["kill" "migrate"]`: func() string { return "" },
		"panicked: not implemented":                           func() string { panic("not implemented") },
		"it is nil":                                           nil,
	} {
		if err := OneOf(answer, "kill", "migrate"); !errors.Is(err, ErrCheck) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
