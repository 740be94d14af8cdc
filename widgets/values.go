package widgets

import (
	"fmt"
	"strings"
	"time"
)

// Values is where the knobs of a Live cell stand. Asking for a knob that is not there panics, and Live draws what is wrong.
type Values struct {
	knobs Knobs
	steps [][]step
	at    []int
}

// newValues puts the knobs, which are right, at their starts.
func newValues(ks Knobs) Values {
	v := Values{knobs: ks}
	for _, k := range ks {
		steps := k.steps()
		at := 0
		for i, s := range steps {
			if s.value == k.start() {
				at = i
			}
		}
		v.steps = append(v.steps, steps)
		v.at = append(v.at, at)
	}
	return v
}

// moved is the values with the knobs at other steps.
func (v Values) moved(at []int) (Values, error) {
	if len(at) != len(v.knobs) {
		return v, fmt.Errorf("%d values: must be one for each of the %d knobs: %w", len(at), len(v.knobs), ErrKnob)
	}
	for i, n := range at {
		if n < 0 || n >= len(v.steps[i]) {
			return v, fmt.Errorf("%q step %d: must be between 0 and %d: %w", v.knobs[i].name(), n, len(v.steps[i])-1, ErrKnob)
		}
	}
	v.at = at
	return v, nil
}

// labels is where each knob stands, in words.
func (v Values) labels() []standing {
	out := make([]standing, len(v.knobs))
	for i, k := range v.knobs {
		out[i] = standing{k.name(), v.steps[i][v.at[i]].label}
	}
	return out
}

// standing is a knob and where it stands.
type standing struct{ Name, Label string }

// Number is where a Number stands.
func (v Values) Number(name string) float64 { return valueOf[float64](v, "Number", name) }

// Whole is where a Whole stands.
func (v Values) Whole(name string) int { return valueOf[int](v, "Whole", name) }

// Span is where a Span stands.
func (v Values) Span(name string) time.Duration { return valueOf[time.Duration](v, "Span", name) }

// Choice is what a Choice stands at.
func (v Values) Choice(name string) string { return valueOf[string](v, "Choice", name) }

func valueOf[T any](v Values, kind, name string) T {
	var names []string
	for i, k := range v.knobs {
		if k.name() != name {
			names = append(names, fmt.Sprintf("%q", k.name()))
			continue
		}
		x, ok := v.steps[i][v.at[i]].value.(T)
		if !ok {
			panic(fmt.Errorf("%s(%q): that knob is a %s: %w", kind, name, strings.TrimPrefix(fmt.Sprintf("%T", k), "widgets."), ErrKnob))
		}
		return x
	}
	panic(fmt.Errorf("%s(%q): no such knob, there are %s: %w", kind, name, strings.Join(names, ", "), ErrKnob))
}
