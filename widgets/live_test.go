package widgets

import (
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fleetlab/fleetlab/fleet"
	"github.com/fleetlab/fleetlab/fleet/scenario"
)

func goodKnobs() Knobs {
	return Knobs{
		Number{Name: "load", Unit: "%", Min: 0, Max: 100, Start: 33.3}, Whole{Name: "pods", Min: -3, Max: 1000, Start: 7},
		Span{Name: "every", Min: time.Second, Max: 24 * time.Hour, Start: 100 * time.Minute}, Choice{Name: "mix", Options: []string{"small", "large"}},
	}
}

func TestKnobsThatCannotBeTurnedAreNamed(t *testing.T) {
	ten := 10.0
	for want, ks := range map[string]Knobs{
		`Number "x": Min NaN: must be between -1e+12 and 1e+12`:              {Number{Name: "x", Min: math.NaN(), Max: 1}},
		`Number "x": Max +Inf: must be between`:                              {Number{Name: "x", Max: math.Inf(1)}},
		`Number "x": Start NaN: must be between 0 and 10`:                    {Number{Name: "x", Max: ten, Start: math.NaN()}},
		`Number "x": Start 1e+09: must be between 0 and 10`:                  {Number{Name: "x", Max: ten, Start: 1e9}},
		`Number "x": Min 2: must be below Max 1`:                             {Number{Name: "x", Min: 2, Max: 1}},
		`Number "x": Min 1: must be below Max 1`:                             {Number{Name: "x", Min: 1, Max: 1}},
		`Number "x": Max 1e+12: must be above Min by at least`:               {Number{Name: "x", Min: 1e12 - 0.001, Max: 1e12, Start: 1e12}},
		`Whole "n": Start 1000000000: must be between 1 and 5`:               {Whole{Name: "n", Min: 1, Max: 5, Start: 1e9}},
		`Whole "n": Min 0: must be below Max 0`:                              {Whole{Name: "n"}},
		`Span "s": Min 0s: must be between 1ms and`:                          {Span{Name: "s", Max: time.Hour, Start: time.Minute}},
		`Span "s": Start -1s: must be between 1s and 1h0m0s`:                 {Span{Name: "s", Min: time.Second, Max: time.Hour, Start: -time.Second}},
		`Choice "c": 0 Options: must be between 2 and 20`:                    {Choice{Name: "c"}},
		`Choice "c": Options[1] "": must be 1 to 60 characters`:              {Choice{Name: "c", Options: []string{"a", ""}}},
		`Choice "c": Options[1] "a": is there twice`:                         {Choice{Name: "c", Options: []string{"a", "a"}}},
		`Choice "c": Start "z": must be one of a, b`:                         {Choice{Name: "c", Options: []string{"a", "b"}, Start: "z"}},
		`knob 1: Name "": must be 1 to 60 characters`:                        {Number{Max: 1}},
		`knob 2: Name "x": knob 1 has it already`:                            {Number{Name: "x", Max: 1}, Whole{Name: "x", Max: 1}},
		`0 knobs: must be between 1 and 12`:                                  {},
		`13 knobs: must be between 1 and 12`:                                 slices.Repeat(Knobs{Number{Name: "x", Max: 1}}, 13),
		`knob 1 is nil: must be a Number, Whole, Span or Choice`:             {nil},
		"knob 2 is nil: must be a Number, Whole, Span or Choice: not a knob": {Number{Name: "x", Max: 1}, (*Number)(nil)},
	} {
		err := ks.check()
		if !errors.Is(err, ErrKnob) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		} else if text := strings.Join(errorText(err), "\n"); strings.Contains(text, ErrKnob.Error()) {
			t.Errorf("the sentinel is shown: %q", text)
		}
	}
	if err := goodKnobs().check(); err != nil {
		t.Error(err)
	}
}

func TestSlidersHaveRoundStepsWithBothEndsAndTheStart(t *testing.T) {
	for _, k := range []Knob{
		Number{Name: "x", Min: 0, Max: 100, Start: 33.3}, Number{Name: "x", Min: -1, Max: 1, Start: 0.123456789}, Number{Name: "x", Min: 1e-9, Max: 3e-9, Start: 2e-9},
		Number{Name: "x", Min: -1e12, Max: 1e12}, Number{Name: "x", Min: 0.25, Max: 1.5, Start: 1}, Whole{Name: "n", Min: -1e12, Max: 1e12}, Whole{Name: "n", Min: 3, Max: 4, Start: 3},
		Whole{Name: "n", Min: -7, Max: 993, Start: 500}, Span{Name: "s", Min: time.Millisecond, Max: longestSpan, Start: time.Hour}, Span{Name: "s", Min: time.Minute, Max: 61 * time.Second, Start: time.Minute},
		Span{Name: "s", Min: time.Minute, Max: 24 * time.Hour, Start: 3 * time.Hour},
	} {
		if err := (Knobs{k}).check(); err != nil {
			t.Fatal(err)
		}
		v := newValues(Knobs{k})
		steps := v.steps[0]
		if n := len(steps); n < 2 || n > 420 {
			t.Errorf("%+v: %d steps", k, n)
		}
		if steps[v.at[0]].value != k.start() {
			t.Errorf("%+v: stands at %v", k, steps[v.at[0]])
		}
		var low, high any
		switch k := k.(type) {
		case Number:
			low, high = k.Min, k.Max
		case Whole:
			low, high = k.Min, k.Max
		case Span:
			low, high = k.Min, k.Max
		}
		if steps[0].value != low || steps[len(steps)-1].value != high {
			t.Errorf("%+v: from %v to %v", k, steps[0], steps[len(steps)-1])
		}
		for _, s := range steps {
			if strings.Contains(s.label, "0000001") || strings.Contains(s.label, "99999") && len(s.label) > 12 {
				t.Errorf("%+v: label %q", k, s.label)
			}
		}
	}
	for d, want := range map[time.Duration]string{time.Minute: "1 m", 1500 * time.Millisecond: "1.5s", 90 * time.Minute: "1 h 30 m", 365 * 24 * time.Hour: "365 d"} {
		if got := strings.ReplaceAll(spanText(d), nbsp, " "); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
}

func TestValuesAreThoseOfTheSteps(t *testing.T) {
	v := newValues(goodKnobs())
	if v.Number("load") != 33.3 || v.Whole("pods") != 7 || v.Span("every") != 100*time.Minute || v.Choice("mix") != "small" {
		t.Errorf("%+v", v.labels())
	}
	v, err := v.moved([]int{0, 0, 0, 1})
	if err != nil || v.Number("load") != 0 || v.Whole("pods") != -3 || v.Span("every") != time.Second || v.Choice("mix") != "large" {
		t.Errorf("%+v, %v", v.labels(), err)
	}
	for want, at := range map[string][]int{
		"3 values: must be one for each of the 4 knobs": {0, 0, 0}, `"mix" step 2: must be between 0 and 1`: {0, 0, 0, 2}, `"load" step -1: must be between 0 and`: {-1, 0, 0, 0},
		`"pods" step 1000000000: must be between 0 and`: {0, 1e9, 0, 0},
	} {
		if w, err := v.moved(at); !errors.Is(err, ErrKnob) || !strings.Contains(err.Error(), want) || w.Number("load") != 0 {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// Whatever the student's function does, there is something to show, without a stack.
func TestTheFunctionCannotBreakTheCell(t *testing.T) {
	v := newValues(goodKnobs())
	for want, f := range map[string]func(Values) (View, error){
		"Checkpoint 0s": func(Values) (View, error) {
			return nil, fmt.Errorf("%s 0s: must be longer: %w", "Checkpoint", fleet.ErrConfig)
		},
		"the function panicked: not answered":   func(Values) (View, error) { panic("not answered") },
		"index out of range [3] with length 0":  func(Values) (View, error) { return nil, fmt.Errorf("%v", []int{}[v.Whole("pods")-4]) },
		"gave no view: it is nil":               func(Values) (View, error) { return nil, nil },
		"the run of the cockpit is nil":         func(Values) (View, error) { return Cockpit(nil), nil },
		`Number("speed"): no such knob, there`:  func(v Values) (View, error) { return nil, fmt.Errorf("%v", v.Number("speed")) },
		`Whole("load"): that knob is a Number`:  func(v Values) (View, error) { return nil, fmt.Errorf("%v", v.Whole("load")) },
		"the function panicked: panic called w": func(Values) (View, error) { panic(nil) },
	} {
		out := compute(f, v)
		if !strings.Contains(out.Text, want) || strings.Contains(out.HTML+out.Text, "goroutine ") || strings.Contains(out.Text, ".go:") {
			t.Errorf("%q, want %q", out.Text, want)
		}
	}
}

// fakeSession is a session whose computations take as long as the knob "pods" says, in seconds, and whose frames are kept.
func fakeSession() (*session, *[]liveFrame) {
	var shown []liveFrame
	s := &session{
		limits: liveLimits, came: time.Now(), retry: func() {}, show: func(f liveFrame) { shown = append(shown, f) },
		compute: func(v Values) Output {
			time.Sleep(time.Duration(v.Whole("pods")) * time.Second)
			return Output{Text: fmt.Sprint(v.Number("load"))}
		},
	}
	s.last = liveFrame{values: newValues(goodKnobs()), out: Output{Text: "first"}}
	return s, &shown
}

// life runs a session against a script of messages at given times, and says why and when it ended.
func life(t *testing.T, s *session, script map[time.Duration]message) (why ending, after time.Duration) {
	t.Helper()
	in, interrupt, began := make(chan message, 1), make(chan os.Signal, 1), time.Now()
	over := make(chan bool)
	go func() {
		for _, at := range slices.Sorted(func(yield func(time.Duration) bool) {
			for at := range script {
				if !yield(at) {
					return
				}
			}
		}) {
			time.Sleep(at - time.Since(began))
			if script[at].Kind == "SIGINT" {
				interrupt <- os.Interrupt
				continue
			}
			select {
			case in <- script[at]:
			case <-over:
				return
			}
		}
	}()
	why = s.run(in, interrupt)
	close(over)
	after = time.Since(began)
	time.Sleep(2 * time.Hour) // what was left behind ends: the script and a computation
	return why, after
}

// beats is signs of life each second until the end.
func beats(until time.Duration, hidden bool, more map[time.Duration]message) map[time.Duration]message {
	script := map[time.Duration]message{50*time.Millisecond + 1: {Kind: "hello", Hidden: hidden}}
	for at := time.Second; at < until; at += time.Second {
		script[at+7] = message{Kind: "alive", Hidden: hidden}
	}
	for at, m := range more {
		script[at] = m
	}
	return script
}

func TestALiveCellEnds(t *testing.T) {
	const forever = time.Hour
	for name, x := range map[string]struct {
		script      map[time.Duration]message
		why         ending
		least, most time.Duration
	}{
		"nobody answers":           {nil, nobody, 2 * time.Second, 3 * time.Second},
		"other cells wait":         {beats(forever, false, map[time.Duration]message{50*time.Millisecond + 1: {Kind: "hello", Waiting: true}}), queued, 2 * time.Second, 3 * time.Second},
		"cells begin to wait":      {beats(forever, false, map[time.Duration]message{time.Minute: {Kind: "wait"}}), queued, 62 * time.Second, 64 * time.Second},
		"a hand stops that":        {beats(forever, false, map[time.Duration]message{50*time.Millisecond + 1: {Kind: "hello", Waiting: true}, time.Second: {Kind: "touch"}}), idle, 10 * time.Minute, 10*time.Minute + 2*time.Second},
		"quiet":                    {beats(forever, false, nil), idle, 10 * time.Minute, 10*time.Minute + time.Second},
		"quiet after a touch":      {beats(forever, false, map[time.Duration]message{9 * time.Minute: {Kind: "touch"}}), idle, 19 * time.Minute, 19*time.Minute + time.Second},
		"the page is gone":         {beats(20*time.Second, false, nil), closed, 33 * time.Second, 35 * time.Second},
		"gone from the background": {beats(20*time.Second, true, nil), closed, 108 * time.Second, 110 * time.Second},
		"goodbye":                  {beats(20*time.Second, false, map[time.Duration]message{8 * time.Second: {Kind: "bye"}}), closed, 8 * time.Second, 9 * time.Second},
		"stop while it computes": {beats(forever, false, map[time.Duration]message{
			time.Second: {Kind: "move", Seq: 1, At: []int{0, 50, 0, 0}}, 3 * time.Second: {Kind: "stop"},
		}), stopped, 3 * time.Second, 3100 * time.Millisecond},
		"interrupt": {beats(forever, false, map[time.Duration]message{3 * time.Second: {Kind: "SIGINT"}}), wasInterrupted, 3 * time.Second, 3100 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, _ := fakeSession()
				why, after := life(t, s, x.script)
				if why != x.why || after < x.least || after > x.most {
					t.Errorf("ends after %v because of %d; want %d between %v and %v", after, why, x.why, x.least, x.most)
				}
			})
		})
	}
}

// The newest change takes the place of those that wait, a computation that runs is let to its end, and what comes out of order is old.
func TestOnlyTheNewestChangeIsComputed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, shown := fakeSession()
		pods := slices.IndexFunc(s.last.values.steps[1], func(x step) bool { return x.value == 7 })
		script := beats(20*time.Second, false, map[time.Duration]message{19*time.Second + 500: {Kind: "stop"}})
		for i := 1; i <= 40; i++ {
			script[time.Second+time.Duration(i)*10*time.Millisecond] = message{Kind: "move", Seq: i, At: []int{i, pods, 0, 0}}
		}
		script[2*time.Second] = message{Kind: "move", Seq: 3, At: []int{99, pods, 0, 0}}
		if why, _ := life(t, s, script); why != stopped {
			t.Fatal(why)
		}
		var seqs []int
		for _, f := range *shown {
			seqs = append(seqs, f.seq)
		}
		if !slices.Equal(seqs, []int{0, 1, 40}) || s.last.out.Text != fmt.Sprint(s.last.values.Number("load")) {
			t.Errorf("frames %v, last %+v", seqs, s.last.out)
		}
	})
}

func TestAFewFramesASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, shown := fakeSession()
		zero := slices.IndexFunc(s.last.values.steps[1], func(x step) bool { return x.value == 0 })
		script := beats(20*time.Second, false, map[time.Duration]message{12 * time.Second: {Kind: "stop"}})
		for i := 1; i <= 1000; i++ {
			script[time.Second+time.Duration(i)*10*time.Millisecond] = message{Kind: "move", Seq: i, At: []int{i % 50, zero, 0, 0}}
		}
		life(t, s, script)
		if n := len(*shown); n < 20 || n > 45 || s.last.seq != 1000 {
			t.Errorf("%d frames in 10 s, the last is %d", n, s.last.seq)
		}
	})
}

func TestAMoveBeyondTheStepsIsDrawn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, shown := fakeSession()
		life(t, s, beats(20*time.Second, false, map[time.Duration]message{
			time.Second: {Kind: "move", Seq: 1, At: []int{1e9, 0, 0, 0}}, 5 * time.Second: {Kind: "stop"},
		}))
		if out := (*shown)[len(*shown)-1].out; !strings.Contains(out.Text, `"load" step 1000000000: must be between 0 and`) {
			t.Errorf("%q", out.Text)
		}
	})
}

func TestSummaryIsSmallAndSays(t *testing.T) {
	out := render(t, Summary(simulate(t, scenario.Fragmented(fleet.Default()))))
	t.Logf("%d bytes", len(out.HTML))
	if len(out.HTML) > 60_000 {
		t.Errorf("%d bytes", len(out.HTML))
	}
	for _, want := range []string{"data-badge=\"goodput\"", "data-card=\"tco\"", "class=\"split\"", "data:image/png", "largest hole", "<table>"} {
		if !strings.Contains(out.HTML, want) {
			t.Errorf("the summary lacks %q", want)
		}
	}
	for _, want := range []string{"Goodput", "TCO", "GPU-time", "largest hole", "useful"} {
		if !strings.Contains(out.Text, want) {
			t.Errorf("the text lacks %q:\n%s", want, out.Text)
		}
	}
	if strings.Contains(out.HTML, "<script") || strings.Contains(out.HTML, "ZgotmplZ") {
		t.Error("a summary needs no script")
	}
	if _, err := Summary(nil).Render(); !errors.Is(err, ErrRun) {
		t.Error(err)
	}
}

// What stays in the notebook has no script; names and values are text.
func TestWhatALiveCellLeavesBehind(t *testing.T) {
	v := newValues(Knobs{Choice{Name: "<script>alert(1)</script>", Options: []string{"<img src=x>", "</script>"}}})
	levers, err := leversOutput("k", v)
	if err != nil || strings.Contains(levers.HTML, "<script>alert") || strings.Contains(levers.HTML, "<img") || strings.Count(levers.HTML, "<script") != strings.Count(levers.HTML, "</script") {
		t.Errorf("%v: %s", err, levers.HTML)
	}
	f := liveFrame{values: v, out: Output{HTML: "<p>view</p>", Text: "view\n"}, seq: 3}
	still := hintOutput().HTML + viewOutput("", f).HTML
	if strings.Contains(still, "<script") || strings.Contains(still, "data-seq") || !strings.Contains(still, "not live") || !strings.Contains(still, "<p>view</p>") {
		t.Error(still)
	}
	if shown := viewOutput("k", f).HTML; !strings.Contains(shown, `data-fleet-live-of="k" data-seq="3" data-at="0" data-heard="false"`) {
		t.Error(shown)
	}
}

// Outside a notebook, and in one that no page has started, a Live cell ends by itself and is quiet.
func TestLiveEndsWithoutABrowser(t *testing.T) {
	view := func(v Values) (View, error) { return shows(fmt.Sprint("load is ", v.Number("load"))), nil }
	switch os.Getenv("WIDGETS_CELL") {
	case "still":
		Live(goodKnobs(), view)
		fmt.Println("after")
		os.Exit(0)
	case "bad":
		Live(Knobs{Number{Name: "x", Min: 2, Max: 1}}, view)
		os.Exit(0)
	case "nil":
		Live(goodKnobs(), nil)
		os.Exit(0)
	case "panics":
		Live(goodKnobs(), func(Values) (View, error) { panic("not implemented") })
		os.Exit(0)
	case "interrupted":
		Live(goodKnobs(), func(Values) (View, error) {
			p, err := os.FindProcess(os.Getpid())
			if err == nil {
				err = p.Signal(os.Interrupt)
			}
			time.Sleep(time.Hour)
			return nil, err
		})
		os.Exit(0)
	}
	for cell, want := range map[string]struct {
		text   string
		status int
	}{
		"still": {"load is 33.3\nafter\n", 0}, "bad": {`Number "x": Min 2: must be below Max 1`, 1}, "nil": {"the function of Live is nil", 1},
		"panics": {"the function panicked: not implemented", 0}, "interrupted": {"interrupted before the first view", 0},
	} {
		cmd := exec.Command(os.Args[0], "-test.run", "^TestLiveEndsWithoutABrowser$")
		cmd.Env = append(os.Environ(), "WIDGETS_CELL="+cell)
		var stdout, stderr strings.Builder
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		began := time.Now()
		err := cmd.Run()
		if status := cmd.ProcessState.ExitCode(); status != want.status || time.Since(began) > 3500*time.Millisecond {
			t.Errorf("%s: %v after %v, want status %d", cell, err, time.Since(began), want.status)
		}
		if !strings.Contains(stdout.String(), want.text) || strings.Contains(stdout.String(), "goroutine") || stderr.Len() > 0 {
			t.Errorf("%s: stdout %q, stderr %q; want %q on stdout only", cell, stdout.String(), stderr.String(), want.text)
		}
	}
}
