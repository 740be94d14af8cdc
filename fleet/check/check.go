// Package check is what a notebook's test cells call. Each check takes a student's function, runs it in bounds on small fleets and
// returns nil or an error that says, in the terms of the lab, what was expected and what came. A check never panics and never waits
// for ever, whatever the function does.
//
//	widgets.Judge("finds a node with room", check.Fits(bestFit))
package check

import (
	"errors"
	"fmt"
	"time"
)

// ErrCheck is wrapped by the error of every check that did not pass.
var ErrCheck = errors.New("check not passed")

// Limit is how long the code under a check may run: a hundred times as long as the slowest right answer that we have seen.
const Limit = 10 * time.Second

func failed(format string, args ...any) error {
	return fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), ErrCheck)
}

// bounded runs f, which calls a student's code, and turns a panic, an early end of its goroutine or a loop without end into an error.
// A loop without end goes on in the background until the cell's process ends.
func bounded(limit time.Duration, f func() error) error {
	result := make(chan error, 1)
	go func() {
		err := failed("your function ended its goroutine instead of returning")
		defer func() {
			if p := recover(); p != nil {
				err = failed("your function panicked: %v", p)
			}
			result <- err
		}()
		err = f()
	}()
	timer := time.NewTimer(limit) //nolint:forbidigo // a student's loop is bounded by real time; no simulation reads it
	defer timer.Stop()
	select {
	case err := <-result:
		return err
	case <-timer.C:
		return failed("your function was still running after %v: does a loop never end?", limit)
	}
}
