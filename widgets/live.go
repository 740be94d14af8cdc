package widgets

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"time"
)

// Live puts knobs above a view that the kernel computes anew whenever one is turned. The cell runs on while it is live:
//
//	widgets.Live(widgets.Knobs{
//		widgets.Number{Name: "students", Unit: "× Act I", Min: 0.25, Max: 1.5, Start: 1},
//		widgets.Choice{Name: "policy", Options: []string{"FCFS", "Best-Fit"}},
//	}, func(v widgets.Values) (widgets.View, error) {
//		run, err := fleet.Simulate(day(v.Number("students"), v.Choice("policy")))
//		return widgets.Summary(run), err
//	})
//
// A change waits for the computation that runs, and takes the place of changes that wait. An error or a panic of the function is drawn
// where the view was, and the knobs stay.
//
// It never stands in the way. Without a JupyterLab or Notebook 7 page that answers within 3 s it shows the view of the starts and ends; so
// it does after 3 s in which nobody has touched the levers while other cells wait, as under Run All. To take the levers then, run the cell by
// itself. It also ends after 10 minutes of quiet, when its page has been closed for 15 s (90 s if it was in the background, where browsers
// stop the clock), by its Stop button and by the kernel's. What stays in the notebook is the last view, without any script.
func Live(knobs Knobs, f func(Values) (View, error)) {
	if err := knobs.check(); err != nil {
		fail(err)
	}
	if f == nil {
		fail(fmt.Errorf("the function of Live is nil: must return the view for the knobs' values: %w", ErrKnob))
	}
	interrupt := make(chan os.Signal, 1)
	signal.Notify(interrupt, os.Interrupt)
	// The front end interrupts the whole process group and GoNB the cell once more: the second signal must not kill what comes after.
	defer time.AfterFunc(time.Second, func() { signal.Stop(interrupt) })
	values := newValues(knobs)
	first := make(chan Output, 1)
	if !listening() {
		go func() { first <- compute(f, values) }()
		select {
		case out := <-first:
			sendStill(values, out)
		case <-interrupt:
			sendStill(values, interrupted())
		}
		return
	}
	liveInNotebook(values, f, interrupt)
}

// interrupted is shown if there is no view yet.
func interrupted() Output {
	return errorOutput(errors.New("interrupted before the first view was there"))
}

// compute is the view of f in a form that can be shown, whatever f does.
func compute(f func(Values) (View, error), v Values) (out Output) {
	ended := false
	defer func() {
		if p := recover(); p != nil {
			out = errorOutput(panicError(p))
		} else if !ended { // runtime.Goexit
			out = errorOutput(errors.New("the function ended its goroutine and gave no view"))
		}
	}()
	view, err := f(v)
	if err == nil && view == nil {
		err = fmt.Errorf("the function gave no view: it is nil: %w", ErrRun)
	}
	if err == nil {
		out, err = view.Render()
	}
	if err != nil {
		out = errorOutput(err)
	}
	ended = true
	return out
}

// panicError is what a panic says, without its stack.
func panicError(p any) error {
	if err, ok := p.(error); ok && errors.Is(err, ErrKnob) {
		return err
	}
	return fmt.Errorf("the function panicked: %v", p)
}
