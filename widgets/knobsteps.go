package widgets

import (
	"math"
	"slices"
	"strconv"
	"time"
)

// This file says where the sliders of knobs can stand. They go by steps, each with its label written here, so that the browser neither
// reckons nor writes a number, and what it sends back is the number of a step, which is either there or not.

// mostSteps is about the number of places on a slider: an arrow key moves it by one.
const mostSteps = 200

// stepsOf is the places between low and high, with the ends and the start, each once and in order.
func stepsOf[T int | float64 | time.Duration](at []T, low, high, start T, text func(T) string) []step {
	at = slices.DeleteFunc(append(at, low, high, start), func(x T) bool { return x < low || x > high })
	slices.Sort(at)
	at = slices.Compact(at)
	out := make([]step, len(at))
	for i, x := range at {
		out[i] = step{x, text(x)}
	}
	return out
}

// roundStep is the least of 1, 2, 5, 10, 20 … (or 0.5, 0.2, 0.1 …) that is not below x.
func roundStep(x float64) float64 {
	ten := math.Pow(10, math.Floor(math.Log10(x)))
	for _, m := range []float64{1, 2, 5} {
		if m*ten >= x*(1-1e-9) {
			return m * ten
		}
	}
	return 10 * ten
}

// roundTo takes away what adding up steps has left behind the last decimal: 0.30000000000000004.
func roundTo(x, size float64) float64 {
	digits := max(0, int(math.Ceil(-math.Log10(size)-1e-9)))
	y, err := strconv.ParseFloat(strconv.FormatFloat(x, 'f', digits, 64), 64)
	if err != nil || y == 0 {
		return 0 // never −0
	}
	return y
}

func numberText(x float64) string {
	if math.Abs(x) >= 1000 && x == math.Trunc(x) {
		return count(int64(x))
	}
	return strconv.FormatFloat(x, 'g', 6, 64)
}

func withUnit(text, unit string) string {
	if unit == "" {
		return text
	}
	return text + nbsp + unit
}

// spanText writes a time; fleet's own form stops at seconds.
func spanText(d time.Duration) string {
	if d%time.Second != 0 {
		return d.String()
	}
	return duration(d)
}

// rounds is the times that people say, by unit.
var rounds = []struct {
	unit time.Duration
	at   []int64
}{
	{time.Millisecond, []int64{1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700}},
	{time.Second, []int64{1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50}},
	{time.Minute, []int64{1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50}},
	{time.Hour, []int64{1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 18}},
	{24 * time.Hour, []int64{1, 2, 3, 4, 5, 7, 10, 14, 21, 30, 45, 60, 90, 120, 180, 270, 365, 550, 730, 1095, 1460, 1825, 2555, 3650}},
}

// spans is round times between low and high; where those are close together, many times that are not round.
func spans(low, high time.Duration) []time.Duration {
	var at []time.Duration
	for _, r := range rounds {
		for _, n := range r.at {
			if d := r.unit * time.Duration(n); d > low && d < high {
				at = append(at, d)
			}
		}
	}
	if len(at) >= 10 {
		return at
	}
	unit := time.Millisecond
	if low >= time.Minute {
		unit = time.Second
	}
	ratio := float64(high) / float64(low)
	for i := 1; i < mostSteps/2; i++ {
		at = append(at, time.Duration(float64(low)*math.Pow(ratio, float64(i)/(mostSteps/2))).Round(unit))
	}
	return at
}
