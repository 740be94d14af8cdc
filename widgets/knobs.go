package widgets

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// ErrKnob is wrapped by the error of a knob of Live that cannot be turned.
var ErrKnob = errors.New("not a knob")

// Knob is a lever of Live: a Number, Whole, Span or Choice.
type Knob interface {
	name() string
	check() error
	steps() []step // where it can stand, from the lowest to the highest
	start() any
}

// step is a place where a knob can stand.
type step struct {
	value any
	label string
}

// Knobs are the levers of one Live cell, in the order in which they are shown.
type Knobs []Knob

// Number is a knob for a number with decimals, on a slider of round steps.
type Number struct {
	Name, Unit      string
	Min, Max, Start float64
}

// Whole is a knob for a whole number.
type Whole struct {
	Name, Unit      string
	Min, Max, Start int
}

// Span is a knob for a time. Its slider is logarithmic.
type Span struct {
	Name            string
	Min, Max, Start time.Duration
}

// Choice is a knob for one of a few words. Without Start it stands at the first.
type Choice struct {
	Name    string
	Options []string
	Start   string
}

// What a knob may be: beyond, its figures would be mistakes.
const (
	mostKnobs   = 12
	mostOptions = 20
	longestName = 60 // characters
	mostNumber  = 1e12
	shortest    = time.Millisecond
	longestSpan = 10 * 365 * 24 * time.Hour
)

func (k Number) name() string { return k.Name }
func (k Whole) name() string  { return k.Name }
func (k Span) name() string   { return k.Name }
func (k Choice) name() string { return k.Name }

func (k Number) start() any { return k.Start }
func (k Whole) start() any  { return k.Start }
func (k Span) start() any   { return k.Start }

func (k Choice) start() any {
	if k.Start == "" && len(k.Options) > 0 {
		return k.Options[0]
	}
	return k.Start
}

func (k Number) check() error {
	if err := checkRange("Number", k.Name, k.Min, k.Max, k.Start, -mostNumber, mostNumber); err != nil {
		return err
	}
	// Closer together, float64 has no steps between them.
	if least := max(1e-12, 1e-9*max(math.Abs(k.Min), math.Abs(k.Max))); k.Max-k.Min < least {
		return fmt.Errorf("%s %q: Max %v: must be above Min by at least %v: %w", "Number", k.Name, k.Max, least, ErrKnob)
	}
	return nil
}

func (k Whole) check() error {
	return checkRange("Whole", k.Name, k.Min, k.Max, k.Start, -int(mostNumber), int(mostNumber))
}

func (k Span) check() error {
	return checkRange("Span", k.Name, k.Min, k.Max, k.Start, shortest, longestSpan)
}

// checkRange holds lowest ≤ Min < Max ≤ highest, and Start between them. NaN is in no range.
func checkRange[T int | float64 | time.Duration](kind, name string, low, high, start, lowest, highest T) error {
	bad := func(field string, is, from, to T) error {
		return fmt.Errorf("%s %q: %s %v: must be between %v and %v: %w", kind, name, field, is, from, to, ErrKnob)
	}
	switch {
	case !inside(low, lowest, highest):
		return bad("Min", low, lowest, highest)
	case !inside(high, lowest, highest):
		return bad("Max", high, lowest, highest)
	case low >= high:
		return fmt.Errorf("%s %q: Min %v: must be below Max %v: %w", kind, name, low, high, ErrKnob)
	case !inside(start, low, high):
		return bad("Start", start, low, high)
	}
	return nil
}

// inside is false for NaN.
func inside[T int | float64 | time.Duration](x, low, high T) bool { return x >= low && x <= high }

func (k Choice) check() error {
	if n := len(k.Options); n < 2 || n > mostOptions {
		return fmt.Errorf("%s %q: %d Options: must be between 2 and %d: %w", "Choice", k.Name, n, mostOptions, ErrKnob)
	}
	for i, o := range k.Options {
		if err := checkName(o); err != nil {
			return fmt.Errorf("%s %q: Options[%d] %q: %w", "Choice", k.Name, i, o, err)
		}
		if slices.Index(k.Options, o) < i {
			return fmt.Errorf("%s %q: Options[%d] %q: is there twice: %w", "Choice", k.Name, i, o, ErrKnob)
		}
	}
	if k.Start != "" && !slices.Contains(k.Options, k.Start) {
		return fmt.Errorf("%s %q: Start %q: must be one of %s: %w", "Choice", k.Name, k.Start, strings.Join(k.Options, ", "), ErrKnob)
	}
	return nil
}

func checkName(s string) error {
	if n := utf8.RuneCountInString(s); strings.TrimSpace(s) == "" || n > longestName || strings.ContainsAny(s, "\r\n\t") {
		return fmt.Errorf("must be 1 to %d characters on one line: %w", longestName, ErrKnob)
	}
	return nil
}

// check says all that is wrong with the knobs.
func (ks Knobs) check() error {
	if len(ks) < 1 || len(ks) > mostKnobs {
		return fmt.Errorf("%d knobs: must be between 1 and %d: %w", len(ks), mostKnobs, ErrKnob)
	}
	var errs []error
	known := map[string]int{}
	for i, k := range ks {
		if isNil(k) {
			errs = append(errs, fmt.Errorf("knob %d is nil: must be a Number, Whole, Span or Choice: %w", i+1, ErrKnob))
			continue
		}
		name := k.name()
		if err := checkName(name); err != nil {
			errs = append(errs, fmt.Errorf("knob %d: Name %q: %w", i+1, name, err))
		} else if first, twice := known[name]; twice {
			errs = append(errs, fmt.Errorf("knob %d: Name %q: knob %d has it already: %w", i+1, name, first, ErrKnob))
		} else {
			known[name] = i + 1
		}
		errs = append(errs, k.check())
	}
	return errors.Join(errs...)
}

// isNil tells whether there is no knob, also where a nil pointer takes its place.
func isNil(k Knob) bool {
	switch k := k.(type) {
	case nil:
		return true
	case *Number:
		return k == nil
	case *Whole:
		return k == nil
	case *Span:
		return k == nil
	case *Choice:
		return k == nil
	}
	return false
}

func (k Number) steps() []step {
	var at []float64
	size := roundStep((k.Max - k.Min) / mostSteps)
	for i := math.Ceil(k.Min / size); i*size < k.Max; i++ {
		at = append(at, roundTo(i*size, size))
	}
	return stepsOf(at, k.Min, k.Max, k.Start, func(x float64) string { return withUnit(numberText(x), k.Unit) })
}

func (k Whole) steps() []step {
	size := max(1, int(roundStep(float64(k.Max-k.Min)/mostSteps)))
	var at []int
	for i := k.Min / size * size; i < k.Max; i += size {
		at = append(at, i)
	}
	return stepsOf(at, k.Min, k.Max, k.Start, func(n int) string { return withUnit(count(int64(n)), k.Unit) })
}

func (k Span) steps() []step { return stepsOf(spans(k.Min, k.Max), k.Min, k.Max, k.Start, spanText) }

func (k Choice) steps() []step {
	out := make([]step, len(k.Options))
	for i, o := range k.Options {
		out[i] = step{o, o}
	}
	return out
}
