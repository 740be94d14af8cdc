package checkpoint

import (
	"errors"
	"fmt"
	"time"
)

// ErrModel is wrapped by every error of Model.Validate.
var ErrModel = errors.New("invalid checkpoint model")

// Model is what the best interval and the goodput depend on. Its methods are total functions: for a model that Validate rejects, a
// time is 0 (but Wall says Forever) and a ratio is NaN.
type Model struct {
	MTBF    time.Duration // M: mean time between failures of all that the job runs on; 1 s to 10 years
	Write   time.Duration // δ: the job stands still while it saves; of an asynchronous checkpoint, the snapshot alone; 0 to 10 years
	Restart time.Duration // R: from a failure until the job works again; a failure in it starts it anew; 0 to 10 years
	Persist time.Duration // P: the snapshot counts only after so long in the background; 0 (synchronous: counts when written) to 10 years
}

const (
	minMTBF = time.Second
	maxTime = 10 * 365 * 24 * time.Hour // ten years: sums of a few of them stay inside a time.Duration, which ends after 292
)

// Validate reports every field that is out of range, each with its value and its range. The errors wrap ErrModel.
func (m Model) Validate() error {
	var errs []error
	check := func(field string, d, low time.Duration) {
		if d < low || d > maxTime {
			errs = append(errs, fmt.Errorf("%s %v: must be between %v and %v: %w", field, d, low, maxTime, ErrModel))
		}
	}
	check("MTBF", m.MTBF, minMTBF)
	check("Write", m.Write, 0)
	check("Restart", m.Restart, 0)
	check("Persist", m.Persist, 0)
	return errors.Join(errs...)
}

// valid is Validate without its words: the methods ask it at each call.
func (m Model) valid() bool {
	in := func(d, low time.Duration) bool { return low <= d && d <= maxTime }
	return in(m.MTBF, minMTBF) && in(m.Write, 0) && in(m.Restart, 0) && in(m.Persist, 0)
}

// perMTBF is a time in units of M.
func (m Model) perMTBF(d time.Duration) float64 { return float64(d) / float64(m.MTBF) }

// ofMTBF is the time that x times M is, to the nearest nanosecond.
func (m Model) ofMTBF(x float64) time.Duration { return time.Duration(x*float64(m.MTBF) + 0.5) }
